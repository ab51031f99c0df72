import { strict as assert } from "node:assert";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { DelayNetworkOptions, delayNetwork, encodeDelay, planEntities } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { runKombu } from "../support/kombu";
import { Receiver } from "../support/receive";

const variants: [string, DelayNetworkOptions & { preset: "celery" }][] = [
  ["quorum", { preset: "celery" }],
  ["classic", { preset: "celery", queueType: "classic" }],
  ["prefixed", { preset: "celery", prefix: "shop" }],
];
/** What kombu binds of its own: the queue to its exchange as usual and with `#.`, and the exchange to the network. */
const KOMBU_BINDINGS = 3;

describe("Celery's own library", () => {
  onEachBroker((broker) => {
    for (const [name, options] of variants) {
      for (const order of ["ours first", "theirs first"]) {
        it(`and we declare the same, ${name}, ${order}; delayed tasks of both arrive`, async () => {
          const { management, node } = broker();
          const vhost = await management.createVhost();
          const network = delayNetwork(options);
          const plan = planEntities(network);
          const kombu = { queueType: options.queueType ?? "quorum", prefix: options.prefix };
          const url = `${node.amqpUrl}/${vhost}`;
          const ours = (): Promise<void> => management.declare(vhost, network, []);

          if (order === "ours first") await ours();
          await runKombu(url, kombu);
          await ours();
          const channel = await openChannel(broker(), vhost);
          await declareOverAmqp(channel, plan);
          const found = await management.get<{ source: string }[]>(`bindings/${vhost}`);
          const named = found.filter(({ source }) => source !== "");
          assert.equal(named.length, plan.bindings.length + KOMBU_BINDINGS, "neither adds to the other's");

          const receiver = await Receiver.on(channel, ["tasks"]);
          const keys = await runKombu(url, { ...kombu, countdownsSeconds: [1, 3] });
          await createDelayPublisher(channel, network).publish("tasks", "ours", { delayMs: 2000 });
          assert.deepEqual(
            keys,
            [1, 3].map((seconds) => encodeDelay(network, seconds * 1000, "tasks").routingKey),
          );
          const arrivals = await receiver.until(3);
          assert.deepEqual(arrivals.map(({ message }) => message.content.toString()).sort(), ["1", "3", "ours"]);
        });
      }
    }
  });
});
