import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import type { TestBroker } from "./brokers";

/**
 * Declares what NServiceBus.RabbitMQ itself left on RabbitMQ 4.3.6: its network, six endpoints, and an error and an audit queue.
 * @param isNewest whether the broker has delivery limits; on an older one, the client sets no policies
 */
export async function declareVendors(
  { management }: TestBroker,
  vhost: string,
  topology: "conventional" | "direct",
  isNewest: boolean,
): Promise<void> {
  const file = join(root, "test", "engine", "fixtures", `nservicebus-${topology}.json`);
  const { exchanges, queues, bindings, policies } = JSON.parse(readFileSync(file, "utf8")) as Record<string, object[]>;
  await management.call("POST", `definitions/${vhost}`, {
    ...{ exchanges, queues, bindings },
    policies: isNewest ? policies : [],
  });
}
