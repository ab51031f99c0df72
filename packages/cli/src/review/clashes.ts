import { BoundPatterns, networkOfDelivery } from "rabbitmq-delay-topology";
import type { EntityChange } from "./entityChange";

/** A new binding, and the destination whose messages it takes too. */
export interface Clash {
  change: EntityChange;
  other: string;
}

/** Whether a binding comes with this update. */
export function isNew({ action }: EntityChange): boolean {
  return action === "create" || action === "replace";
}

/**
 * New bindings at a network's delivery exchange by which a message would arrive at two destinations; judged by the rule that
 * keeps the endpoints of one topology apart.
 */
export function clashesOf(changes: EntityChange[]): Clash[] {
  const bound = new Map<string, BoundPatterns>();
  const boundAt = (values: Record<string, unknown>): BoundPatterns | undefined => {
    if (networkOfDelivery(String(values.source)) === undefined) return undefined;
    const key = JSON.stringify([values.vhost, values.source]);
    if (!bound.has(key)) bound.set(key, new BoundPatterns());
    return bound.get(key);
  };
  const bindings = changes.filter(({ kind, after }) => kind === "binding" && after !== undefined);
  const clashes: Clash[] = [];
  // What is there first, so that a clash is the new one's.
  for (const change of [...bindings.filter((binding) => !isNew(binding)), ...bindings.filter(isNew)]) {
    const values = change.after as Record<string, unknown>;
    const routingKey = String(values.routingKey);
    const candidate = { endpoint: String(values.destination), pattern: routingKey, bindingKey: routingKey };
    const patterns = boundAt(values);
    // Its own other key may not hide another destination's.
    const clash = patterns?.clashOf(candidate, ({ endpoint }) => endpoint === candidate.endpoint);
    if (clash !== undefined && clash.endpoint !== candidate.endpoint) clashes.push({ change, other: clash.endpoint });
    patterns?.remember(candidate);
  }
  return clashes;
}
