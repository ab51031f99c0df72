import { BindingPlan, DelayTopologyError } from "@rabbitmq-delay/topology";
import { bindingIdentity } from "@rabbitmq-delay/topology/stack";
import type { LiveMatching } from "./liveMatching";
import type { MatchingChange } from "./matchingChange";

/**
 * The bindings that the new end of a network needs, so that each destination of the old one gets its messages there: with one word for each
 * digit, whatever key the destination has at the old end.
 * @throws DelayTopologyError for a binding that can't be made exact, and that the new end does not have
 */
export function endpointBindings(
  { from, to, network }: Pick<MatchingChange, "from" | "to" | "network">,
  { bindings: found, queues }: Pick<LiveMatching, "bindings" | "queues">,
): BindingPlan[] {
  const there = found.filter(({ source }) => source === to);
  const wanted = new Map<string, BindingPlan>();
  for (const binding of found.filter(({ source }) => source === from)) {
    const pattern = patternOf(binding.routingKey, network.levels);
    const { destination, destinationType, routingKey } = binding;
    if (destinationType === "queue" && queues.get(destination)?.exclusive === true) {
      const allowed =
        "it is exclusive, so that nobody but its own connection may bind it; close that, and run this again";
      throw new DelayTopologyError("queue", destination, allowed);
    }
    if (pattern === undefined) {
      if (there.some((one) => one.destination === destination && one.destinationType === destinationType)) continue;
      throw new DelayTopologyError(
        "binding",
        routingKey,
        `${destinationType} ${destination} is bound to ${from} with this key, which takes the messages of several destinations; ` +
          `unbind it, or bind ${destination} to exchange ${to} as it shall be, and declare that (topic, durable) if it is not there`,
      );
    }
    // Behind suffix matching, an exact key beside it would be nobody's, and outlive its endpoint.
    const isCovered = there.some(
      (one) =>
        one.destination === destination &&
        one.destinationType === destinationType &&
        patternOf(one.routingKey, network.levels) === pattern,
    );
    if (isCovered && network.matching !== "enforced") continue;
    const exact = { source: to, destination, destinationType, routingKey: `${"*.".repeat(network.levels)}${pattern}` };
    wanted.set(bindingIdentity(exact), exact);
  }
  const has = new Set(there.map(bindingIdentity));
  return [...wanted].filter(([key]) => !has.has(key)).map(([, binding]) => binding);
}

/**
 * The bindings that the old end lacks of what the new one has, as far as they can be made: messages that still go to the old end, for an
 * endpoint that only its senders have bound, would keep the queue before it from running empty.
 */
export function bindingsForOldEnd(
  { from, to, network }: Pick<MatchingChange, "from" | "to" | "network">,
  { bindings, queues }: Pick<LiveMatching, "bindings" | "queues">,
): BindingPlan[] {
  const at = bindings.filter(({ source }) => source === from);
  const movable = bindings.filter(
    ({ source, destination, destinationType, routingKey }) =>
      source === to &&
      patternOf(routingKey, network.levels) !== undefined &&
      !(destinationType === "queue" && queues.get(destination)?.exclusive === true),
  );
  return endpointBindings({ from: to, to: from, network }, { bindings: [...at, ...movable], queues });
}

/** What follows the digits in a binding's key, as the vendor's clients bind it (`#.NAME`) or as this project does; undefined for another one. */
export function patternOf(routingKey: string, levels: number): string | undefined {
  const start = ["*.".repeat(levels), "#."].find((prefix) => routingKey.startsWith(prefix));
  const pattern = start === undefined ? "" : routingKey.slice(start.length);
  return pattern === "" || pattern.split(".").includes("#") ? undefined : pattern;
}
