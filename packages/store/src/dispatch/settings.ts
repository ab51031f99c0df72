import * as z from "zod";
import { StoreMismatchError } from "../errors";

const HOUR_MS = 3_600_000;
const timeMs = z.number().int().min(1).max(HOUR_MS);

/** How due messages are dispatched. Names and defaults of retries and breakers are those of the MSMQ transport. */
export const dispatchSettings = z.object({
  /** How often a message is tried again before it goes to the error queue. Default 0. */
  numberOfRetries: z.number().int().min(0).max(1_000_000).default(0),
  /** Pause before the first of them, in milliseconds; each further one is twice as long, up to a minute. Default 1000. */
  retryDelayMs: timeMs.default(1000),
  /** How long storing may do nothing but fail, in milliseconds. Default 30000. */
  timeToTriggerStoreBreakerMs: timeMs.default(30_000),
  /** How long fetching may do nothing but fail, in milliseconds. Default 30000. */
  timeToTriggerFetchBreakerMs: timeMs.default(30_000),
  /** How long publishing may do nothing but fail, in milliseconds. Default 30000. */
  timeToTriggerDispatchBreakerMs: timeMs.default(30_000),
  /** Failures a second, over half a minute, to put messages into the error queue. Default 1. */
  maximumRecoveryFailuresPerSecond: z.number().positive().max(1000).default(1),
  /** Messages in one lock. Default 500. */
  batchSize: z.number().int().min(1).max(10_000).default(500),
  /** Bytes of their bodies together. Default 16 MiB. */
  maximumBatchBytes: z
    .number()
    .int()
    .min(1)
    .default(16 << 20),
  /** Locks at once, where the store can, each on a connection of its own. Default 2. */
  concurrency: z.number().int().min(1).max(8).default(2),
  /** How long to wait for the broker's confirm, in milliseconds. Default 30000. */
  confirmTimeoutMs: timeMs.default(30_000),
});

/** See {@link dispatchSettings}. */
export type DispatchSettings = z.infer<typeof dispatchSettings>;
/** The same, with what may be left out. */
export type DispatchOptions = z.input<typeof dispatchSettings>;

/**
 * Checks values against a schema.
 * @throws StoreMismatchError naming the property, the value and what is allowed
 */
export function checkSettings<T extends z.ZodType>(schema: T, given: unknown): z.output<T> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0] as z.core.$ZodIssue;
  const value = issue.path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown>)?.[key], given);
  throw new StoreMismatchError(
    issue.path.join(".") || "settings",
    `${JSON.stringify(value)} is not allowed; ${issue.message}`,
  );
}

const LONGEST_RETRY_DELAY_MS = 60_000;

/** When a message is tried again that has failed so often before. */
export function retryTime(failureCount: number, { retryDelayMs }: DispatchSettings, nowMs: number): Date {
  return new Date(nowMs + Math.min(LONGEST_RETRY_DELAY_MS, retryDelayMs * 2 ** Math.min(failureCount, 20)));
}
