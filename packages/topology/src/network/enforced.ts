import { networkOfDelivery } from "./recognize";

/** Arguments of a queue, as a plan, a broker or a state has them. */
type Arguments = Readonly<Record<string, unknown>>;

/**
 * How the matching of a network changes if a queue gets other arguments: `enforced` where it leads to the exchange that no client knows
 * from then on, `undone` where it did before. Undefined for any other change.
 */
export function matchingChangeOf(before: Arguments, after: Arguments): "enforced" | "undone" | undefined {
  const [from, to] = [before, after].map((values) => networkOfDelivery(String(values["x-dead-letter-exchange"])));
  if (from === undefined || to === undefined || from.prefix !== to.prefix || from.matching === to.matching)
    return undefined;
  return to.matching === "enforced" ? "enforced" : "undone";
}

/**
 * What no longer works with a network whose exact matching is enforced, in a sentence without its end. Undefined for a queue that is not
 * such a network's level 0.
 * @param target the exchange to which the queue dead-letters
 */
export function describeEnforced(queue: string, target: unknown): string | undefined {
  const network = networkOfDelivery(String(target));
  if (network?.matching !== "enforced") return undefined;
  return (
    `exact matching is enforced: queue ${queue} leads to ${network.bindingExchange}, so NServiceBus's installers and ` +
    `rabbitmq-transport's delays create fail with 406 (inequivalent arg 'x-dead-letter-exchange'); leave EnableInstallers() out of the ` +
    `services, and declare their queues here`
  );
}
