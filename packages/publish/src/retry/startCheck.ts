import { DelayTopologyError } from "@rabbitmq-delay/topology/descriptors";
import { refusalCode } from "../brokerRefusal";
import type { CheckedRecoveryOptions } from "./recoveryOptions";
import type { Look } from "./look";
import type { RepublishStep } from "./mechanism";

/** Something that a failed message needs, and that must exist. */
interface Need {
  /** The option that asks for it. */
  option: "errorQueue" | "errorExchange" | "mechanism";
  type: "queue" | "exchange";
  name: string;
  /**
   * Whether the consumer's user must have a right on it anyway. RabbitMQ 4.3 lets nobody look at a thing without some right on it, 3.10
   * lets everybody; things that a user with few rights may not see are left out.
   */
  isOwn: boolean;
}

/**
 * Looks, before the first message, for everything that a failed message needs: a message that has nowhere to go would go round for ever. No
 * user can see over AMQP whether a queue is bound: copies are mandatory, and a copy that later reaches no queue is parked.
 * @throws DelayTopologyError that names what is missing, or the right that the user lacks
 */
export async function checkWaysOut(look: Look, queue: string, options: CheckedRecoveryOptions): Promise<void> {
  for (const { option, type, name, isOwn } of needsOf(queue, options)) {
    try {
      await look[type](name);
    } catch (error) {
      const { message } = error as Error;
      const code = refusalCode(error);
      if (code === undefined) throw error;
      if (code === 403 && !isOwn) continue;
      const what = type === "queue" ? "a queue" : "an exchange";
      const reason =
        code === 403
          ? `it is ${what} that must exist before messages are consumed, and that the user may look at, for which the right to write is enough`
          : `it is ${what} that must exist before messages are consumed`;
      throw new DelayTopologyError(option, name, `${reason} (${message})`);
    }
  }
  const steps = stepsOf(queue, options);
  await checkDefaultExchange(look, steps, options.errorExchange);
  await checkDeclares(look, steps);
}

function needsOf(queue: string, options: CheckedRecoveryOptions): Need[] {
  const { errorQueue, errorExchange } = options;
  const steps = stepsOf(queue, options).filter(({ declare }) => declare === undefined);
  const back = steps.length === 0 ? undefined : options.mechanism?.wayBack?.(Math.max(...options.policy.delaysMs));
  const needs: Need[] = [
    { option: "errorQueue", type: "queue", name: errorQueue, isOwn: true },
    { option: "errorExchange", type: "exchange", name: errorExchange, isOwn: true },
    ...steps.map(({ exchange, routingKey }): Need => {
      if (exchange === "") return { option: "mechanism", type: "queue", name: routingKey, isOwn: false };
      return { option: "mechanism", type: "exchange", name: exchange, isOwn: true };
    }),
    ...(back?.exchanges ?? []).map((name): Need => ({ option: "mechanism", type: "exchange", name, isOwn: false })),
    ...(back?.queues ?? []).map((name): Need => ({ option: "mechanism", type: "queue", name, isOwn: false })),
  ];
  const first = new Map<string, Need>();
  for (const need of needs) {
    const key = `${need.type} ${need.name}`;
    if (need.name !== "" && !first.has(key)) first.set(key, need);
  }
  return [...first.values()];
}

/** The copies that the policy requires. */
function stepsOf(queue: string, { policy, mechanism }: CheckedRecoveryOptions): RepublishStep[] {
  return policy.delaysMs.flatMap((delayMs, index) => {
    const step = mechanism?.plan({ queue, routingKey: queue, delayMs, redelivery: index + 1 });
    return step?.kind === "republish" ? [step] : [];
  });
}

/** Asks for the right to write to the default exchange, which reaches all queues of the vhost, if failed messages leave by it. */
async function checkDefaultExchange(look: Look, steps: RepublishStep[], errorExchange: string): Promise<void> {
  if (errorExchange !== "" && steps.every(({ exchange }) => exchange !== "")) return;
  try {
    await look.defaultExchange();
  } catch (error) {
    if (refusalCode(error) !== 403) throw error;
    const [option, value] = errorExchange === "" ? ["errorExchange", ""] : ["mechanism", "hold queues"];
    throw new DelayTopologyError(
      option,
      value,
      "failed messages leave by the default exchange, which this user may not write to; give errorExchange, an exchange that is " +
        `bound to the error queue, and for retries another mechanism than hold queues (${(error as Error).message})`,
    );
  }
}

/** Declares the queues that copies would otherwise be the first to declare. */
async function checkDeclares(look: Look, steps: RepublishStep[]): Promise<void> {
  const queues = new Map(steps.flatMap(({ declare }) => (declare === undefined ? [] : [[declare.name, declare]])));
  for (const queue of queues.values()) {
    try {
      await look.declare(queue);
    } catch (error) {
      const { message } = error as Error;
      const code = refusalCode(error);
      if (code === undefined) throw error;
      const reason = `it is a queue that copies wait in, and that this user has to be able to declare`;
      throw new DelayTopologyError("mechanism", queue.name, `${reason} (${message})`);
    }
  }
}

/** Explains why a consumer ended, with the right that its user lacks if that is the reason. */
export function closedError(queue: string, reason: Error | undefined): Error {
  const start = `the channel that consumes ${queue} closed`;
  if (reason === undefined) return new Error(start);
  const advice =
    refusalCode(reason) === 403
      ? "; without this right no failed message can be passed on: each closes the channel, and comes again"
      : "";
  return new Error(`${start}: ${reason.message}${advice}`, { cause: reason });
}
