import { dirname, join } from "node:path";
import { commandInside, nodeEnvironment } from "./brokerCommand";
import type { BrokerNode } from "./brokerNode";
import { run } from "./run";

/** Tells a node something by RabbitMQ's own command; gives what it prints. @throws Error when it refuses */
export function rabbitmqctl(node: BrokerNode, ...given: string[]): Promise<string> {
  const script = join(dirname(node.installation.script), "rabbitmqctl");
  const [command, args] = commandInside(node.installation, script);
  return run(command, [...args, ...given], { env: { ...process.env, ...nodeEnvironment(node) } });
}
