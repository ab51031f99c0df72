import { strict as assert } from "node:assert";
import { join } from "node:path";
import { DelayNetwork, delayNetwork } from "@rabbitmq-delay/topology";
import { root } from "../../toolchain/dist/paths";
import { onEachBroker } from "../support/brokers";
import { brokerSwitch } from "../support/brokerSwitch";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";

interface LastingPublisher {
  publish(destination: string, body: string, options: { delayMs: number }): Promise<unknown>;
  close(): Promise<void>;
}

interface Example {
  createLastingPublisher(url: string, network: DelayNetwork): LastingPublisher;
}

const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 4, unitMs: 10 });
const MESSAGES = 3000;
const WORKERS = 50;
const CUTS = 4;

describe("a publisher over connections that break", () => {
  onEachBroker((broker) => {
    for (const library of ["amqp-connection-manager", "rabbitmq-client"]) {
      it(`loses nothing, as examples/lost-connection has it for ${library}`, async () => {
        const { management, node } = broker();
        const vhost = await management.createVhost();
        await management.declare(vhost, network, ["Sales"]);
        const all = `[P || P <- rabbit_networking:connections(), (catch rabbit_networking:connection_info(P, [vhost])) =:= [{vhost, <<"${vhost}">>}]]`;
        const cut = await brokerSwitch(
          broker(),
          `[catch rabbit_networking:close_connection(P, "cut") || P <- ${all}]`,
          "ok",
        );
        const { createLastingPublisher } = (await import(
          join(root, "examples", "lost-connection", `${library}.js`)
        )) as Example;
        const publisher = createLastingPublisher(`${node.amqpUrl}/${vhost}`, network);
        const bodies = Array.from({ length: MESSAGES }, (_, index) => String(index));
        let confirmed = 0;
        const publish = async (first: number): Promise<void> => {
          for (const [index, body] of bodies.entries()) {
            if (index % WORKERS !== first) continue;
            await publisher.publish("Sales", body, { delayMs: index % 200 });
            confirmed++;
          }
        };
        const publishing = Promise.all(Array.from({ length: WORKERS }, (_, first) => publish(first)));
        for (let cuts = 1; cuts <= CUTS; cuts++) {
          while (confirmed < (cuts * MESSAGES) / (CUTS + 2)) await new Promise((resolve) => setTimeout(resolve, 1));
          await cut.turnOn();
          assert.ok(confirmed < MESSAGES, "it is underway");
          await cut.turnOff();
        }
        await publishing;
        await publisher.close();
        const receiver = await Receiver.on(await openChannel(broker(), vhost), ["Sales"]);
        const came = (): Set<string> => new Set(receiver.arrivals.map(({ message }) => message.content.toString()));
        while (came().size < MESSAGES) await new Promise((resolve) => setTimeout(resolve, 50));
        // Copies come under one id, by which a consumer knows them.
        const idsOf = new Map<string, Set<unknown>>();
        for (const { message } of receiver.arrivals) {
          const ids = idsOf.get(message.content.toString()) ?? new Set();
          idsOf.set(message.content.toString(), ids.add(message.properties.messageId));
        }
        const ids = [...idsOf.values()].flatMap((found) => [...found]);
        assert.ok(!ids.includes(undefined));
        assert.deepEqual([ids.length, new Set(ids).size], [MESSAGES, MESSAGES]);
      });
    }
  });
});
