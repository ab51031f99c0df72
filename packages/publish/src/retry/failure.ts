import type { OriginalMessage } from "./delivery";

/** A message whose tries at hand have failed. */
export interface Failure {
  message: OriginalMessage;
  error: unknown;
  /** Tries so far, of all deliveries together. */
  tries: number;
  /** Whether no further try is allowed, whatever is left of the policy. */
  isFinal: boolean;
}

/** A handler took longer than it may. */
export class HandlerTimeoutError extends Error {
  override readonly name = "HandlerTimeoutError";

  constructor(readonly timeoutMs: number) {
    super(`the handler did not finish within ${timeoutMs} ms`);
  }
}

/** Headers of a message in an error queue. */
export const errorHeaders = {
  /** The last error's message, at most 1,000 characters. */
  reason: "rabbitmq-delay.error-reason",
  /** The last error's name. */
  type: "rabbitmq-delay.error-type",
  /** When it failed for good, ISO-8601 in UTC. */
  time: "rabbitmq-delay.error-time",
  /** How often it was tried. */
  tries: "rabbitmq-delay.error-tries",
  /** The queue that it was consumed from. */
  queue: "rabbitmq-delay.error-queue",
} as const;

const REASON_CHARACTERS = 1000;

/** Says in headers why a message is in the error queue. */
export function failureHeaders(
  queue: string,
  { error, tries }: Pick<Failure, "error" | "tries">,
): Record<string, unknown> {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) };
  return {
    [errorHeaders.reason]: message.slice(0, REASON_CHARACTERS),
    [errorHeaders.type]: name,
    [errorHeaders.time]: new Date().toISOString(),
    [errorHeaders.tries]: tries,
    [errorHeaders.queue]: queue,
  };
}
