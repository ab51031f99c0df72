import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { delayNetwork, planBinding, planEntities } from "@rabbitmq-delay/topology";
import { getCached } from "../../toolchain/dist/cache";
import type { TestBroker } from "./brokers";
import { openChannel } from "./connect";
import { declareOverAmqp } from "./declare";

const shape = { preset: "custom", radix: 16, levels: 3, unitMs: 10 } as const;

/**
 * Declares, in a vhost of its own, what the tests of the publish helpers in clients/ publish to: the queue `billing` at three networks, of
 * which `LONG` delays for up to 48 days, and `billing-bare` at one without parking.
 * @returns the variables by which those tests find their broker and the networks' descriptors
 */
export async function declareForPublishHelpers(broker: TestBroker): Promise<Record<string, string>> {
  const vhost = await broker.management.createVhost();
  const networks = {
    PARKED: delayNetwork({ ...shape, prefix: "parked", parking: true, vhost }),
    BARE: delayNetwork({ ...shape, prefix: "bare", parking: false, vhost }),
    NSERVICEBUS: delayNetwork({ preset: "nservicebus", vhost }),
    LONG: delayNetwork({ preset: "custom", prefix: "long", radix: 2, levels: 22, vhost }),
  };
  const channel = await openChannel(broker, vhost);
  for (const name of ["billing", "billing-bare"]) await channel.assertQueue(name, { durable: true });
  const environment: Record<string, string> = { RABBITMQ_URL: `${broker.node.amqpUrl}/${vhost}` };
  for (const [name, network] of Object.entries(networks)) {
    await declareOverAmqp(channel, planEntities(network));
    const endpoint = name === "BARE" ? "billing-bare" : "billing";
    for (const { source, destination, routingKey } of planBinding(network, { name: endpoint }).bindings)
      await channel.bindQueue(destination, source, routingKey);
    environment[`${name}_NETWORK`] = JSON.stringify(network);
  }
  return environment;
}

/**
 * A folder in the cache with the libraries that a file pins; another folder for each content of the file.
 * @param tool what fetches them, e.g. `pip`
 */
export function cachedLibraries(tool: string, pins: string, fetch: (folder: string) => Promise<void>): Promise<string> {
  const content = createHash("sha256").update(readFileSync(pins)).digest("hex").slice(0, 16);
  return getCached(`libraries-${tool}-${content}`, [{ name: tool, fill: fetch }], () => undefined);
}
