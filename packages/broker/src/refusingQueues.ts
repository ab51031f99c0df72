import type { BindingPlan } from "@rabbitmq-delay/topology";
import { effectiveSetting } from "@rabbitmq-delay/topology/stack";

/** A queue with its settings, as far as they decide what it refuses. */
export interface LimitedQueue {
  name: string;
  arguments: Record<string, unknown>;
  /** Settings of the policies that apply to it; undefined if the broker does not say. */
  effective_policy_definition?: Record<string, unknown>;
}

/**
 * Describes queues that refuse messages when they are full, and hold up everybody's messages behind them: a queue that dead-letters at least once
 * keeps trying 32 messages, and 32 for a full queue stop it for all others. Measured on RabbitMQ 3.10.8 and 4.3.6.
 * @param deliveries exchanges to which messages come when their time is over
 * @returns a sentence for each, by the queue's name
 */
export function refusingQueues(
  deliveries: ReadonlySet<string>,
  bindings: readonly Pick<BindingPlan, "source" | "destination" | "destinationType">[],
  queues: readonly LimitedQueue[],
): Map<string, string> {
  const led = bindings.filter(({ source }) => deliveries.has(source));
  const between = new Set(
    led.filter(({ destinationType }) => destinationType === "exchange").map((one) => one.destination),
  );
  const reached = new Set(
    [...led, ...bindings.filter(({ source }) => between.has(source))]
      .filter(({ destinationType }) => destinationType === "queue")
      .map(({ destination }) => destination),
  );
  return new Map(
    queues
      .filter(({ name }) => reached.has(name))
      .flatMap((queue) => {
        const limit = limitOf(queue);
        return limit === undefined ? [] : [[queue.name, describe(queue.name, limit)] as const];
      }),
  );
}

function describe(name: string, limit: string): string {
  return (
    `queue ${name} refuses messages once it holds ${limit} (reject-publish): 32 that are due for it then hold up everybody's messages of the same delay, ` +
    "until it has room. Take the limit off, or let the queue drop or dead-letter its oldest messages (overflow: drop-head)"
  );
}

function limitOf({ arguments: values, effective_policy_definition: policy }: LimitedQueue): string | undefined {
  const settingOf = (key: string): unknown => effectiveSetting(key, values, policy);
  // A quorum queue takes reject-publish-dlx for drop-head. Measured on RabbitMQ 3.10.8 and 4.3.6.
  const refusing = ["reject-publish", ...(values["x-queue-type"] === "quorum" ? [] : ["reject-publish-dlx"])];
  if (!refusing.includes(String(settingOf("overflow")))) return undefined;
  const [messages, bytes] = [settingOf("max-length"), settingOf("max-length-bytes")];
  if (messages !== undefined) return `${String(messages)} messages`;
  return bytes === undefined ? undefined : `${String(bytes)} bytes`;
}
