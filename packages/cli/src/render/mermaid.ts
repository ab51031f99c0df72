import { formatDelay } from "rabbitmq-delay-topology";
import type { RenderedPlan } from "./plan";

/** The plan as a Mermaid flowchart: exchanges round, queues square, what a TTL ends dotted. */
export function renderMermaid(plan: RenderedPlan): string {
  const ids = new Map<string, string>();
  const id = (kind: string, name: string): string => {
    const key = `${kind} ${name}`;
    if (!ids.has(key)) ids.set(key, `${kind}${ids.size}`);
    return ids.get(key) as string;
  };
  const label = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const lines = ["flowchart TD"];
  for (const { name } of plan.exchanges) lines.push(`  ${id("exchange", name)}(["${label(name)}"])`);
  for (const { name, arguments: values } of plan.queues) {
    const ttlMs = values["x-message-ttl"];
    const waits = typeof ttlMs === "number" ? `<br/>waits ${formatDelay(ttlMs)}` : "";
    lines.push(`  ${id("queue", name)}["${label(name)}${waits}"]`);
  }
  for (const { destination, destinationType } of plan.endpointBindings) {
    lines.push(`  ${id(destinationType, destination)}[/"${label(destination)}"/]`);
  }
  for (const { source, destination, destinationType, routingKey } of [...plan.bindings, ...plan.endpointBindings]) {
    const arrow = routingKey === "" ? "-->" : `-- "${label(shorten(routingKey))}" -->`;
    lines.push(`  ${id("exchange", source)} ${arrow} ${id(destinationType, destination)}`);
  }
  for (const { name, arguments: values } of plan.queues) {
    const next = values["x-dead-letter-exchange"];
    if (typeof next === "string") lines.push(`  ${id("queue", name)} -. "expired" .-> ${id("exchange", next)}`);
  }
  if (plan.network.parkingExchange !== undefined) {
    lines.push(
      `  ${id("exchange", plan.network.deliveryExchange)} -. "unroutable" .-> ${id("exchange", plan.network.parkingExchange)}`,
    );
  }
  return lines.join("\n");
}

/** `*.*.*.*.1.#` as `*×4 1.#`: the number of stars is what matters. */
function shorten(routingKey: string): string {
  const stars = /^(?:\*\.)+/.exec(routingKey)?.[0] ?? "";
  return stars.length > 4 ? `*×${stars.length / 2} ${routingKey.slice(stars.length)}` : routingKey;
}
