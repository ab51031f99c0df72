import { takesBindingsAlong } from "../judge/bindingsLeftOut";
import type { Finding } from "../judge/findings";
import { rules } from "../judge/rules";
import { EntityChange, brokerName, isReadable } from "../preview/entityChange";
import { alternateOf } from "./liveAlternate";
import type { LiveVhosts, VhostContent } from "./liveVhosts";

/**
 * Finds queues and exchanges that no resource of the plan declares, e.g. hold queues that publishers make, and that pass messages on to what is
 * deleted without waiting for its confirm.
 */
export function liveFeeders(changes: readonly EntityChange[], live: LiveVhosts): Finding[] {
  const planned = new Set(
    changes.map(({ kind, before, after }) => JSON.stringify([kind, (before ?? after)?.vhost, (before ?? after)?.name])),
  );
  return changes.flatMap((change): Finding[] => {
    const { urn, kind, action, parent, before } = change;
    if (!takesBindingsAlong(change) || (kind === "queue" && action === "replace")) return [];
    const content = isReadable(before?.vhost) ? live.get(before.vhost) : undefined;
    if (content === undefined) return [];
    const queues = [...content.queues.values()].filter((queue) => feeds(queue, change, content));
    const exchanges = [...content.exchanges.keys()].filter(
      (name) => kind === "exchange" && alternateOf(name, content, changes) === before?.name,
    );
    const feeders = [
      ...queues.map(({ name }) => ["queue", name]),
      ...exchanges.map((name) => ["exchange", name]),
    ].filter(([kindOf, name]) => !planned.has(JSON.stringify([kindOf, before?.vhost, name])));
    const [first] = feeders;
    if (first === undefined) return [];
    const more = feeders.length === 1 ? "" : `, and ${feeders.length - 1} more,`;
    const found = `${first.join(" ")}${more} passes messages on to it, and is on the broker alone`;
    const rule = "unroutable-lost";
    const entity = `${kind} ${brokerName(change)}`;
    return [{ rule, severity: rules[rule].severity, urn, parent, entity, causes: [], found }];
  });
}

/** Whether a queue dead-letters to an exchange, or to a queue by the default exchange, without waiting for a confirm. */
function feeds(
  { arguments: values, policy }: { arguments: Record<string, unknown>; policy?: string },
  { kind, before }: EntityChange,
  { policies }: VhostContent,
): boolean {
  const said = policies?.get(policy ?? "")?.definition;
  const settingOf = (name: string): unknown => values[`x-${name}`] ?? said?.[name];
  if (settingOf("dead-letter-strategy") === "at-least-once") return false;
  const exchange = settingOf("dead-letter-exchange");
  if (kind === "exchange") return exchange === before?.name;
  // Without a key of its own, it passes each message on by that message's key, to any queue.
  const key = settingOf("dead-letter-routing-key");
  return exchange === "" && (key === undefined || key === before?.name);
}
