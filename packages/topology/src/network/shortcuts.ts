import { BindingPlan, EntityPlan, bindingIdentity } from "../entities";

/**
 * Others' bindings at a network's exchanges, by which messages skip or repeat a part of their delay, or are copied before it is over.
 * @param plan the whole network
 * @param found all bindings of the vhost
 */
export function shortcutsOf({ exchanges, queues, bindings }: EntityPlan, found: readonly BindingPlan[]): BindingPlan[] {
  const planned = new Set(bindings.map(bindingIdentity));
  const inner = new Set([...exchanges, ...queues].map(({ name }) => name));
  // From the parking exchange on, no delay is left.
  const parking = new Set(exchanges.filter(({ type }) => type === "fanout").map(({ name }) => name));
  const levels = new Set(bindings.map(({ source }) => source).filter((source) => !parking.has(source)));
  return found.filter(
    (binding) =>
      (levels.has(binding.source) || (inner.has(binding.source) && inner.has(binding.destination))) &&
      !planned.has(bindingIdentity(binding)),
  );
}
