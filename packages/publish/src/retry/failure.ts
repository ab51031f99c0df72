import type { OriginalMessage } from "./delivery";

/** A message whose tries for this delivery have failed. */
export interface Failure {
  message: OriginalMessage;
  error: unknown;
  /** Tries so far, of all deliveries together. */
  tries: number;
  /** Whether no further try is allowed, whatever the policy has left. */
  isFinal: boolean;
}

/**
 * A handler took longer than it may.
 * @example
 * ```ts
 * import { HandlerTimeoutError, RetryPolicy } from "@rabbitmq-delay/publish";
 *
 * // A message whose handler was too slow goes to the error queue at once.
 * export const policy = RetryPolicy.intervals(["5s", "1m"]).ignore(HandlerTimeoutError);
 * ```
 */
export class HandlerTimeoutError extends Error {
  override readonly name = "HandlerTimeoutError";

  constructor(readonly timeoutMs: number) {
    super(`the handler did not finish within ${timeoutMs} ms`);
  }
}

/**
 * A function of the policy threw when it was asked about an error, the `cause`, so nobody knows whether to try again.
 * @example
 * ```ts
 * import { PolicyError, RetryEvent } from "@rabbitmq-delay/publish";
 *
 * export const onFailure = (event: RetryEvent): void => {
 *   if (event.error instanceof PolicyError) console.error("the retry policy threw", event.error.cause);
 * };
 * ```
 */
export class PolicyError extends Error {
  override readonly name = "PolicyError";

  constructor(mistake: unknown, cause: unknown) {
    super(`a function of the policy threw: ${errorText(mistake)}; it was asked about: ${errorText(cause)}`, { cause });
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
  /** Names of the parts that the copy lacks because they could not be sent; absent if there are none. */
  omitted: "rabbitmq-delay.error-omitted",
} as const;

const REASON_CHARACTERS = 1000;
const TYPE_CHARACTERS = 255;

/** Says in headers why a message is in the error queue. */
export function failureHeaders(
  queue: string,
  { error, tries }: Pick<Failure, "error" | "tries">,
): Record<string, unknown> {
  return {
    [errorHeaders.reason]: textOf(() => (error instanceof Error ? error.message : error), REASON_CHARACTERS),
    [errorHeaders.type]: textOf(() => (error instanceof Error ? error.name : typeof error), TYPE_CHARACTERS),
    [errorHeaders.time]: new Date().toISOString(),
    [errorHeaders.tries]: tries,
    [errorHeaders.queue]: queue,
  };
}

/** The text of an error, for warnings; whatever was thrown. */
export function errorText(error: unknown): string {
  return textOf(() => error, REASON_CHARACTERS);
}

/**
 * Reads a text from a thrown value. JavaScript lets anything be thrown: an error whose name is a function, or an object without any text.
 */
function textOf(read: () => unknown, maximum: number): string {
  try {
    // An unpaired surrogate is not a character.
    return String(read())
      .slice(0, maximum)
      .replace(/[\uD800-\uDBFF]$/, "");
  } catch {
    return "(it has no text)";
  }
}
