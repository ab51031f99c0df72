import type { EntityPlan } from "../entities";
import { checkEntityName } from "../names";

/**
 * Plans an error queue behind an exchange of the same name, so that a consumer that may not write to the default exchange, which
 * reaches every queue, can still put away what used up its tries: `consumeWithRetries` takes the name as `errorQueue` and as `errorExchange`.
 * @throws DelayTopologyError for a name that is none
 */
export function planErrorQueue(name: string): EntityPlan {
  checkEntityName("errorQueue", name);
  return {
    exchanges: [{ name, type: "fanout", durable: true }],
    queues: [{ name, durable: true, arguments: { "x-queue-type": "quorum" } }],
    bindings: [{ source: name, destination: name, destinationType: "queue", routingKey: "" }],
  };
}
