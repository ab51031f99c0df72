import { dirname, join } from "node:path";
import { commandInside, nodeEnvironment } from "./brokerCommand";
import type { BrokerNode } from "./broker";
import { run } from "./run";

/** Tells a node something by RabbitMQ's own command; gives what it prints. @throws Error when it refuses */
export function rabbitmqctl(node: BrokerNode, ...given: string[]): Promise<string> {
  return tool(node, "rabbitmqctl", given);
}

/** Enables a plugin on a node that runs. */
export async function enablePlugin(node: BrokerNode, plugin: string): Promise<void> {
  await tool(node, "rabbitmq-plugins", ["-q", "enable", plugin]);
}

function tool(node: BrokerNode, name: string, given: string[]): Promise<string> {
  const [command, args] = commandInside(node.installation, join(dirname(node.installation.script), name));
  return run(command, [...args, ...given], { env: { ...process.env, ...nodeEnvironment(node) } });
}
