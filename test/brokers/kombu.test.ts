import { strict as assert } from "node:assert";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import {
  DelayNetworkOptions,
  EntityPlan,
  delayNetwork,
  encodeDelay,
  planBinding,
  planEntities,
} from "@rabbitmq-delay/topology";
import { planOwnEntities } from "@rabbitmq-delay/topology/stack";
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
/** The endpoint that kombu declares: a queue, its exchange, both bindings between them, and the exchange at the network. */
const tasks = { name: "tasks", type: "exchange", client: "celery" } as const;

describe("Celery's own library", () => {
  onEachBroker((broker) => {
    for (const [name, options] of variants) {
      for (const order of ["ours first", "theirs first"]) {
        it(`and we declare the same, ${name}, ${order}; delayed tasks of both arrive`, async () => {
          const { management, node } = broker();
          const vhost = await management.createVhost();
          const network = delayNetwork(options);
          const endpoint = planOwnEntities({ ...tasks, type: undefined }) as EntityPlan;
          const plan = planEntities(network);
          const bindings = [...plan.bindings, ...endpoint.bindings, ...planBinding(network, tasks).bindings];
          const kombu = { queueType: options.queueType ?? "quorum", prefix: options.prefix };
          const url = `${node.amqpUrl}/${vhost}`;
          const channel = await openChannel(broker(), vhost);
          const ours = async (): Promise<void> => {
            await management.declare(vhost, network, []);
            await declareOverAmqp(channel, endpoint);
            await declareOverAmqp(channel, { ...plan, bindings });
          };

          if (order === "ours first") await ours();
          await runKombu(url, kombu);
          await ours();
          const found = await management.get<{ source: string }[]>(`bindings/${vhost}`);
          const named = found.filter(({ source }) => source !== "");
          assert.equal(named.length, bindings.length, "neither adds to the other's");

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
