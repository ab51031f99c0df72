import type { EntityPlan } from "../entities";
import { DelayTopologyError, checkOneOf } from "../errors";
import { checkEntityName } from "../names";
import { QueueType, queueTypes } from "../network/delayNetwork";

/** Queues that several services share for what they failed at, or have worked off. */
export interface ErrorQueuesOptions {
  /** The names, each once. */
  names: readonly string[];
  /** Type of the queues; default `quorum`. */
  queueType?: QueueType;
}

/**
 * Plans an error queue behind an exchange of the same name, so that a consumer that may not write to the default exchange, which
 * reaches every queue, can still put away what used up its tries: `consumeWithRetries` takes the name as `errorQueue` and as `errorExchange`.
 * It is what NServiceBus's installers declare, with no argument for a classic queue.
 * @throws DelayTopologyError for a name that is none
 */
export function planErrorQueue(name: string, queueType: QueueType = "quorum"): EntityPlan {
  checkEntityName("errorQueue", name);
  return {
    exchanges: [{ name, type: "fanout", durable: true }],
    queues: [{ name, durable: true, arguments: queueType === "classic" ? {} : { "x-queue-type": "quorum" } }],
    bindings: [{ source: name, destination: name, destinationType: "queue", routingKey: "" }],
  };
}

/**
 * Plans the error queues that services share.
 * @throws DelayTopologyError for a list that is none or empty, a name that can't be or stands there twice, and a type that is none
 */
export function planErrorQueues({ names, queueType = "quorum" }: ErrorQueuesOptions): EntityPlan {
  if (!Array.isArray(names) || names.length === 0)
    throw new DelayTopologyError("names", names, "it must be a list of at least one name");
  checkErrorQueueNames("names", names);
  checkOneOf("queueType", queueType, queueTypes);
  const plans = names.map((name: string) => planErrorQueue(name, queueType));
  return {
    exchanges: plans.flatMap(({ exchanges }) => exchanges),
    queues: plans.flatMap(({ queues }) => queues),
    bindings: plans.flatMap(({ bindings }) => bindings),
  };
}

/** @throws DelayTopologyError for a name that can't be an exchange's and a queue's, or that stands there twice */
export function checkErrorQueueNames(property: string, names: unknown): void {
  if (!Array.isArray(names)) throw new DelayTopologyError(property, names, "it must be a list");
  names.forEach((name: unknown, index) => {
    const place = `${property}[${index}]`;
    checkEntityName(place, name);
    if (names.indexOf(name) !== index) throw new DelayTopologyError(place, name, "it is there twice; name it once");
  });
}
