import { EntityChange, brokerName, isReadable } from "../preview/entityChange";
import { mayShareBroker } from "../preview/planBroker";
import { Dependencies } from "./dependencies";

/** An exchange or a queue that goes, with a binding of the program that the update leaves as it is. */
export interface LeftOut {
  change: EntityChange;
  /** The bindings, in words. */
  detail: string;
}

/**
 * Finds bindings of the program itself that go with their exchange or queue, and that the engine does not declare anew, or not after it, because
 * they name it by a text and not by its output.
 */
export function bindingsLeftOut(changes: readonly EntityChange[]): LeftOut[] {
  const left = changes.filter(
    ({ kind, action }) => kind === "binding" && ["same", "update", "replace"].includes(action),
  );
  const gone = changes.filter(takesBindingsAlong);
  if (left.length === 0 || gone.length === 0) return [];
  const isOneBroker = mayShareBroker(changes);
  const dependencies = new Dependencies(changes);
  /** Whether a binding may be there before an end of it is deleted, and goes with it. */
  const mayComeFirst = (binding: EntityChange, change: EntityChange): boolean =>
    binding.isDeletedFirst === false &&
    change.isDeletedFirst === true &&
    isAt(binding.after, change) &&
    !dependencies.neededBy(binding).has(change.urn);
  const isLeft = (binding: EntityChange, change: EntityChange): boolean =>
    binding.action === "replace" ? mayComeFirst(binding, change) : isAt(binding.before, change);
  return gone.flatMap((change): LeftOut[] => {
    const own = left.filter((binding) => isLeft(binding, change) && isOneBroker(binding, change));
    const [first] = own;
    if (first === undefined) return [];
    const more = own.length === 1 ? "" : `, and ${own.length - 1} more`;
    return [{ change, detail: `The program's own binding ${brokerName(first)}${more}.` }];
  });
}

/** Whether an exchange or a queue is deleted, or declared anew, on the broker. */
export function takesBindingsAlong({ kind, action, isRetained, before }: EntityChange): boolean {
  const isDeleted = (action === "delete" || action === "replace") && !isRetained;
  return (kind === "exchange" || kind === "queue") && isDeleted && isReadable(before?.name);
}

/** What a binding binds, as a state or a broker has it. */
interface Ends {
  vhost?: unknown;
  source?: unknown;
  destination?: unknown;
  destinationType?: unknown;
}

/** Whether a binding is from or to an exchange, or to a queue. */
export function isAt(binding: Ends | undefined, { kind, before }: EntityChange): boolean {
  const { vhost, source, destination, destinationType } = binding ?? {};
  if (vhost !== before?.vhost) return false;
  return (destination === before?.name && destinationType === kind) || (kind === "exchange" && source === before?.name);
}
