import { strict as assert } from "node:assert";
import { join } from "node:path";
import { delayNetwork, planBinding, planEntities } from "@rabbitmq-delay/topology";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { pythonPackages } from "../support/pythonPackages";

const client = join(root, "clients", "python");
const shape = { preset: "custom", radix: 16, levels: 3, unitMs: 10 } as const;

/** Runs the client's own tests with pika and aio-pika; gives what they say of themselves. */
async function runTests(environment: Record<string, string> = {}): Promise<string> {
  const requirements = join(client, "tests", "requirements.txt");
  const libraries = await pythonPackages("pika-1.4.4-aio-pika-10.2.1", requirements);
  const env = {
    ...process.env,
    PYTHONPATH: [join(client, "src"), libraries].join(":"),
    PYTHONDONTWRITEBYTECODE: "1",
    RABBITMQ_URL: "",
    ...environment,
  };
  return run("python3", ["-m", "unittest", "discover", "-s", join(client, "tests")], { env });
}

describe("the Python client", function () {
  // The first run fetches its libraries.
  this.timeout(300_000);

  onEachBroker((broker) => {
    it("passes all its tests, among them all vectors", async () => {
      const vhost = await broker().management.createVhost();
      const networks = {
        PARKED: delayNetwork({ ...shape, prefix: "parked", parking: true, vhost }),
        BARE: delayNetwork({ ...shape, prefix: "bare", parking: false, vhost }),
        NSERVICEBUS: delayNetwork({ preset: "nservicebus", vhost }),
      };
      const channel = await openChannel(broker(), vhost);
      for (const name of ["billing", "billing-bare"]) await channel.assertQueue(name, { durable: true });
      for (const [name, network] of Object.entries(networks)) {
        await declareOverAmqp(channel, planEntities(network));
        const endpoint = name === "BARE" ? "billing-bare" : "billing";
        for (const { source, destination, routingKey } of planBinding(network, { name: endpoint }).bindings)
          await channel.bindQueue(destination, source, routingKey);
      }
      const descriptors = Object.entries(networks).map(([name, network]) => [
        `${name}_NETWORK`,
        JSON.stringify(network),
      ]);
      const said = await runTests({
        RABBITMQ_URL: `${broker().node.amqpUrl}/${vhost}`,
        ...(Object.fromEntries(descriptors) as Record<string, string>),
      });
      assert.match(said, /^Ran 11 tests in .*\n\nOK$/m);
    });
  });
});
