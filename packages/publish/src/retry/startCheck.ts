import { DelayTopologyError } from "@rabbitmq-delay/topology";
import type { CheckedOptions } from "./consumerOptions";
import type { Look } from "./look";
import type { RepublishStep } from "./mechanism";

/** What a failed message needs, and has to be there. */
interface Need {
  /** The option that asks for it. */
  option: "errorQueue" | "errorExchange" | "mechanism";
  type: "queue" | "exchange";
  name: string;
  /**
   * Whether the consumer's user has to have a right on it anyway. RabbitMQ 4.3 lets nobody look at what he has no right on, 3.10 lets
   * everybody; what a least user may not see is left out.
   */
  isOwn: boolean;
}

/**
 * Looks, before the first message, for all that a message needs whose handler fails: one that has nowhere to go would go round for
 * ever. That a queue is bound, no user can see over AMQP: copies are mandatory, and what later comes back to no queue is parked.
 * @throws DelayTopologyError that names what is missing, or what the user has no right on
 */
export async function checkWaysOut(look: Look, queue: string, options: CheckedOptions): Promise<void> {
  for (const { option, type, name, isOwn } of needsOf(queue, options)) {
    try {
      await look[type](name);
    } catch (error) {
      const { code, message } = error as Error & { code?: number };
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

function needsOf(queue: string, options: CheckedOptions): Need[] {
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

/** The copies that the policy asks for. */
function stepsOf(queue: string, { policy, mechanism }: CheckedOptions): RepublishStep[] {
  return policy.delaysMs.flatMap((delayMs, index) => {
    const step = mechanism?.plan({ queue, routingKey: queue, delayMs, redelivery: index + 1 });
    return step?.kind === "republish" ? [step] : [];
  });
}

/** Asks for the right to write to the default exchange, which reaches all queues of the vhost, where failed messages leave by it. */
async function checkDefaultExchange(look: Look, steps: RepublishStep[], errorExchange: string): Promise<void> {
  if (errorExchange !== "" && steps.every(({ exchange }) => exchange !== "")) return;
  try {
    await look.defaultExchange();
  } catch (error) {
    if ((error as { code?: number }).code !== 403) throw error;
    const [option, value] = errorExchange === "" ? ["errorExchange", ""] : ["mechanism", "hold queues"];
    throw new DelayTopologyError(
      option,
      value,
      "failed messages leave by the default exchange, which this user may not write to; give errorExchange, an exchange that is " +
        `bound to the error queue, and for retries another mechanism than hold queues (${(error as Error).message})`,
    );
  }
}

/** Declares the queues that copies would be the first to declare. */
async function checkDeclares(look: Look, steps: RepublishStep[]): Promise<void> {
  const queues = new Map(steps.flatMap(({ declare }) => (declare === undefined ? [] : [[declare.name, declare]])));
  for (const queue of queues.values()) {
    try {
      await look.declare(queue);
    } catch (error) {
      const { code, message } = error as Error & { code?: number };
      if (code === undefined) throw error;
      const reason = `it is a queue that copies wait in, and that this user has to be able to declare`;
      throw new DelayTopologyError("mechanism", queue.name, `${reason} (${message})`);
    }
  }
}

/** Why a consumer ended, with the right that its user lacks where that is the reason. */
export function closedError(queue: string, reason: Error | undefined): Error {
  const start = `the channel that consumes ${queue} closed`;
  if (reason === undefined) return new Error(start);
  const advice =
    (reason as { code?: unknown }).code === 403
      ? "; without this right no failed message can be passed on: each closes the channel, and comes again"
      : "";
  return new Error(`${start}: ${reason.message}${advice}`, { cause: reason });
}
