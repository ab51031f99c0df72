import type { EntityPlan } from "../entities";
import { checkEntityName } from "../names";
import type { QueueType } from "../network/delayNetwork";
import type { ErrorQueuesOptions } from "../options.generated";
import { readErrorQueuesOptions } from "../readers.generated";

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
export function planErrorQueues(options: ErrorQueuesOptions): EntityPlan {
  const { names, queueType } = readErrorQueuesOptions(options, "errorQueues");
  const plans = names.map((name) => planErrorQueue(name, queueType));
  return {
    exchanges: plans.flatMap(({ exchanges }) => exchanges),
    queues: plans.flatMap(({ queues }) => queues),
    bindings: plans.flatMap(({ bindings }) => bindings),
  };
}
