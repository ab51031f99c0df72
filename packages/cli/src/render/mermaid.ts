import { QueuePlan, readableDelay } from "@rabbitmq-delay/topology";
import { waitMsOf } from "@rabbitmq-delay/topology/stack";
import type { NetworkPlan, RenderedPlan } from "./plan";

/** Draws the plan as a Mermaid flowchart: exchanges are round, queues square, and the way of expired messages dotted. */
export function renderMermaid(plan: RenderedPlan): string {
  const ids = new Map<string, string>();
  const id = (kind: string, name: string): string => {
    const key = `${kind} ${name}`;
    if (!ids.has(key)) ids.set(key, `${kind}${ids.size}`);
    return ids.get(key) as string;
  };
  const label = escapeLabel;
  const lines = ["flowchart TD"];
  for (const { name } of plan.exchanges) lines.push(`  ${id("exchange", name)}(["${label(name)}"])`);
  for (const { name, arguments: values } of plan.queues) {
    const waitMs = waitMsOf(values);
    const waits = waitMs === undefined ? "" : `<br/>waits ${readableDelay(waitMs)}`;
    lines.push(`  ${id("queue", name)}["${label(name)}${waits}"]`);
  }
  for (const { destination, destinationType } of plan.endpointBindings) {
    lines.push(`  ${id(destinationType, destination)}[/"${label(destination)}"/]`);
  }
  for (const { source, destination, destinationType, routingKey } of [...plan.bindings, ...plan.endpointBindings]) {
    const arrow = routingKey === "" ? "-->" : `-- "${label(shorten(routingKey))}" -->`;
    lines.push(`  ${id("exchange", source)} ${arrow} ${id(destinationType, destination)}`);
  }
  for (const { name, arguments: values } of plan.queues) lines.push(...deadLetters(plan, name, values, id));
  for (const { definition, pattern } of plan.policies) {
    const parking = definition["alternate-exchange"];
    if (typeof parking !== "string" || !("network" in plan)) continue;
    const { bindingExchange } = (plan as NetworkPlan).network;
    if (!new RegExp(pattern).test(bindingExchange)) continue;
    lines.push(`  ${id("exchange", bindingExchange)} -. "unroutable" .-> ${id("exchange", parking)}`);
  }
  return lines.join("\n");
}

/** Where a queue's expired messages, rejected messages, or messages out of tries go. */
function deadLetters(
  { exchanges, queues, policies }: RenderedPlan,
  name: string,
  own: QueuePlan["arguments"],
  id: (kind: string, name: string) => string,
): string[] {
  const policy = policies.find(({ applyTo, pattern }) => applyTo === "quorum_queues" && new RegExp(pattern).test(name));
  const inherited = Object.entries(policy?.definition ?? {}).map(([key, value]) => [`x-${key}`, value]);
  const values: QueuePlan["arguments"] = { ...(Object.fromEntries(inherited) as QueuePlan["arguments"]), ...own };
  const lines: string[] = [];
  const { "x-dead-letter-exchange": exchange, "x-dead-letter-routing-key": key } = values;
  const retryMs = values["x-delayed-retry-min"];
  if (typeof retryMs === "number") {
    const longest = readableDelay(Number(values["x-delayed-retry-max"]));
    const label = `${values["x-delayed-retry-type"]}: waits ${readableDelay(retryMs)} × n, at most ${longest}`;
    lines.push(`  ${id("queue", name)} -. "${label}" .-> ${id("queue", name)}`);
  }
  if (typeof exchange !== "string") return lines;
  const limit = values["x-delivery-limit"];
  const why =
    "x-message-ttl" in values ? "expired" : limit === undefined ? "rejected" : `failed more than ${limit} times`;
  const [target, shape] =
    exchange === ""
      ? [id("queue", String(key)), `["${escapeLabel(String(key))}"]`]
      : [id("exchange", exchange), `(["${escapeLabel(exchange)}"])`];
  const label = key === undefined || exchange === "" ? why : `${why}, as ${escapeLabel(String(key))}`;
  const isDeclared =
    exchange === "" ? queues.some((queue) => queue.name === key) : exchanges.some((other) => other.name === exchange);
  lines.push(`  ${id("queue", name)} -. "${label}" .-> ${target}${isDeclared ? "" : shape}`);
  return lines;
}

/** Shortens `*.*.*.*.1.#` to `*×4 1.#`, because only the number of stars matters. */
function shorten(routingKey: string): string {
  const stars = /^(?:\*\.)+/.exec(routingKey)?.[0] ?? "";
  return stars.length > 4 ? `*×${stars.length / 2} ${routingKey.slice(stars.length)}` : routingKey;
}

function escapeLabel(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
