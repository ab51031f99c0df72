import { networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { EntityChange, brokerName } from "./entityChange";

/**
 * The exchanges to which endpoints of networks are bound, one for each network. Where matching is enforced, a network has its delivery
 * exchange as well, to which only its senders bind.
 */
export function networkEnds(changes: EntityChange[]): EntityChange[] {
  const ends = changes.filter(
    ({ kind, before, after }) =>
      kind === "exchange" && networkOfDelivery(String((after ?? before)?.name)) !== undefined,
  );
  const isSuperseded = (end: EntityChange): boolean =>
    ends.some(
      (other) => other !== end && other.action === end.action && isEnforced(other) && isSameNetwork(end, other),
    );
  return ends.filter((end) => !isSuperseded(end));
}

/** Whether an end is that of a network whose exact matching is enforced. */
export function isEnforced(end: EntityChange): boolean {
  return networkOfDelivery(brokerName(end))?.matching === "enforced";
}

/** Whether two ends are of one network. */
export function isSameNetwork(one: EntityChange, other: EntityChange): boolean {
  return (
    (one.after ?? one.before)?.vhost === (other.after ?? other.before)?.vhost &&
    networkOfDelivery(brokerName(one))?.prefix === networkOfDelivery(brokerName(other))?.prefix
  );
}
