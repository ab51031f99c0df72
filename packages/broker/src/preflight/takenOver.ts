import type { QueuePlan } from "@rabbitmq-delay/topology";
import type { StackState } from "./stackState";
import { BrokerCheckError } from "../brokerCheckError";
import { FORGET } from "./claims";

const QUEUE = "rabbitmq:index/queue:Queue";

/**
 * Warns about queues that are on the broker already, and not in this stack's state. Nobody claims networks, work queues and hold queues, so
 * another stack may have them, and its `removal` does not protect them from this stack's. It is not an error, because a stack whose update
 * was killed looks the same.
 */
export async function warnOfTakenOver(
  state: StackState,
  vhost: string,
  queues: readonly QueuePlan[],
  found: { exchanges: ReadonlyMap<string, unknown>; queues: ReadonlyMap<string, unknown> },
): Promise<string[]> {
  const isClaimed = (name: string): boolean => found.exchanges.has(`rabbitmq-delay.owner-of-endpoint.${name}`);
  const there = queues.map(({ name }) => name).filter((name) => found.queues.has(name) && !isClaimed(name));
  if (there.length === 0) return [];
  const own = await state.names(QUEUE, vhost);
  const [first, ...more] = own === undefined ? [] : there.filter((name) => !own.has(name));
  if (first === undefined) return [];
  const which = more.length === 0 ? `queue ${first} is` : `queue ${first} and ${more.length} more are`;
  return [
    `${which} on the broker already, and not in this stack's state: if another stack has it, both have it from now on, and under ` +
      `removal: delete it goes with the one that leaves first, with the messages in it; keep removal: retain in both`,
  ];
}

/**
 * Checks whether another kind of component of this very stack has a queue: the engine would declare it for the new one, which changes
 * nothing on the broker, and then delete it for the old one.
 * @param declarers names of queues, each with the component that is going to declare it
 * @throws BrokerCheckError with the queue, and the way out
 */
export async function checkMoved(
  state: StackState,
  vhost: string,
  declarers: readonly (readonly [string, string])[],
): Promise<void> {
  if (declarers.length === 0) return;
  const own = ((await state.resources()) ?? []).filter(
    ({ type, outputs }) => type === QUEUE && outputs.vhost === vhost,
  );
  for (const [queue, component] of declarers) {
    const urns = own.filter(({ outputs }) => outputs.name === queue).map(({ urn }) => urn);
    const other = urns.find((urn) => urn.includes("rabbitmq-delay:index:"));
    if (other === undefined || urns.some((urn) => urn.includes(`rabbitmq-delay:index:${component}$${QUEUE}::`)))
      continue;
    throw new BrokerCheckError(
      `queue: ${JSON.stringify(queue)} is another component's in this stack's state; nothing was made. Under removal: delete, the ` +
        `queue would be deleted with its messages once ${component} has it. Let the stack forget the other one first, which ` +
        `touches nothing on the broker, by ${FORGET}: ${other}`,
    );
  }
}
