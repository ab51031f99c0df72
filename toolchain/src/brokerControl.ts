import { dirname, join } from "node:path";
import { commandInside, nodeEnvironment } from "./brokerCommand";
import type { BrokerNode } from "./broker";
import { run } from "./run";

/** Runs RabbitMQ's own command on a node; returns what it prints. @throws Error when the node refuses */
export function rabbitmqctl(node: BrokerNode, ...given: string[]): Promise<string> {
  return tool(node, "rabbitmqctl", given);
}

/** Enables a plugin on a running node. */
export async function enablePlugin(node: BrokerNode, plugin: string): Promise<void> {
  await tool(node, "rabbitmq-plugins", ["-q", "enable", plugin]);
}

/** Disables a plugin on a running node. */
export async function disablePlugin(node: BrokerNode, plugin: string): Promise<void> {
  await tool(node, "rabbitmq-plugins", ["-q", "disable", plugin]);
}

function tool(node: BrokerNode, name: string, given: string[]): Promise<string> {
  const [command, args] = commandInside(node.installation, join(dirname(node.installation.script), name));
  return run(command, [...args, ...given], { env: { ...process.env, ...nodeEnvironment(node) } });
}
