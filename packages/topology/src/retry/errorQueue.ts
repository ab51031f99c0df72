import type { z } from "zod";
import type { EntityPlan } from "../entities";
import { DelayTopologyError } from "../errors";
import { checkEntityName } from "../names";
import type { QueueType } from "../network/delayNetwork";
import { listBy, object, text } from "../schema/fields";
import { readOptions } from "../schema/options";
import { lazily } from "../schema/zod";
import { queueType } from "./fields";

/** Queues that several services share for what they failed at, or have worked off. */
export const errorQueuesSchema = lazily(() =>
  object({
    names: listBy(text(), checkNames).describe("Names of the queues and of their exchanges, each once."),
    queueType: queueType("quorum"),
  }),
);

/** What error queues are made from; {@link errorQueuesSchema} describes each property. */
export type ErrorQueuesOptions = z.input<ReturnType<typeof errorQueuesSchema>>;

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
  const { names, queueType } = readOptions(errorQueuesSchema(), options, "errorQueues");
  const plans = names.map((name) => planErrorQueue(name, queueType));
  return {
    exchanges: plans.flatMap(({ exchanges }) => exchanges),
    queues: plans.flatMap(({ queues }) => queues),
    bindings: plans.flatMap(({ bindings }) => bindings),
  };
}

function checkNames(property: string, names: unknown): void {
  if (!Array.isArray(names) || names.length === 0)
    throw new DelayTopologyError(property, names, "it must be a list of at least one name");
  checkErrorQueueNames(property, names);
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
