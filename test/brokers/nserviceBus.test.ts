import { strict as assert } from "node:assert";
import { delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { declareAsNServiceBus, generations } from "../support/nserviceBus";

describe("NServiceBus's declarations", () => {
  onEachBroker((broker) => {
    for (const [name, generation] of Object.entries(generations)) {
      for (const order of ["ours first", "theirs first"]) {
        it(`of ${name} and ours are the same, ${order}`, async () => {
          const { management } = broker();
          const vhost = await management.createVhost();
          const network = delayNetwork({ preset: generation.preset });
          const channel = await openChannel(broker(), vhost);
          const ours = (): Promise<void> => management.declare(vhost, network, ["Sales"]);
          if (order === "ours first") await ours();
          await declareAsNServiceBus(channel, generation);
          if (order === "theirs first") await declareOverAmqp(channel, planEntities(network));
          await ours();
          const bindings = await management.get<{ source: string }[]>(`bindings/${vhost}`);
          const planned = planEntities(network).bindings.length + 1;
          assert.equal(
            bindings.filter(({ source }) => source !== "").length,
            planned,
            "neither adds a binding to the other's",
          );
        });
      }
    }
  });
});
