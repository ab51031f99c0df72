import { inPlainWords } from "@rabbitmq-delay/topology/stack";
import * as z from "zod";
import { StoreMismatchError } from "../errors";
import { UnknownNameError, nearest, showName } from "../service/secrets";

const HOUR_MS = 3_600_000;
const timeMs = z.number().int().min(1).max(HOUR_MS);

/** How due messages are dispatched. Names and defaults of retries and breakers are those of the MSMQ transport. */
export const dispatchSettings = z.object({
  /** How often a message is tried again before it goes to the error queue. Default 0. */
  numberOfRetries: z.number().int().min(0).max(1_000_000).default(0),
  /** Pause before the first of these tries, in milliseconds; each further pause is twice as long, up to a minute. Default 1000. */
  retryDelayMs: timeMs.default(1000),
  /** How long it may be impossible to consume the intake or the control queue, in milliseconds. Default 30000. */
  timeToTriggerConsumeBreakerMs: timeMs.default(30_000),
  /** How long storing may only fail, in milliseconds. Default 30000. */
  timeToTriggerStoreBreakerMs: timeMs.default(30_000),
  /** How long fetching may only fail, in milliseconds. Default 30000. */
  timeToTriggerFetchBreakerMs: timeMs.default(30_000),
  /** How long publishing may only fail, in milliseconds. Default 30000. */
  timeToTriggerDispatchBreakerMs: timeMs.default(30_000),
  /** Failures a second, over half a minute, to put messages into the error queue. Default 1. */
  maximumRecoveryFailuresPerSecond: z.number().positive().max(1000).default(1),
  /** Messages in one lock. Default 500. */
  batchSize: z.number().int().min(1).max(10_000).default(500),
  /** Total size of their bodies in bytes. Default 16 MiB. */
  maximumBatchBytes: z
    .number()
    .int()
    .min(1)
    .default(16 << 20),
  /** Number of simultaneous locks, if the store supports them, each on a connection of its own. Default 2. */
  concurrency: z.number().int().min(1).max(8).default(2),
  /** How long to wait for the broker's confirm, in milliseconds. Default 30000. */
  confirmTimeoutMs: timeMs.default(30_000),
});

/** How a failed delivery is tried again. */
export type RetrySettings = Pick<DispatchSettings, "numberOfRetries" | "retryDelayMs">;

/** See {@link dispatchSettings}. */
export type DispatchSettings = z.infer<typeof dispatchSettings>;
/** The same, with optional properties. */
export type DispatchOptions = z.input<typeof dispatchSettings>;

/**
 * Checks values against a schema.
 * @param show how a text is shown, if it may be a password in the wrong place; default: as it is
 * @throws StoreMismatchError naming the property, the value and what is allowed
 */
export function checkSettings<T extends z.ZodType>(
  schema: T,
  given: unknown,
  show: (text: string) => string = JSON.stringify,
): z.output<T> {
  const parsed = schema.safeParse(given, { error: inPlainWords });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0] as z.core.$ZodIssue;
  const property = issue.path.join(".") || "settings";
  if (issue.code === "unrecognized_keys") throw new UnknownNameError(property, unknownKeys(issue.keys, schema));
  const value = issue.path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown>)?.[key], given);
  throw new StoreMismatchError(property, `${describeValue(value, show, issue)} is not allowed; ${issue.message}`);
}

/** The message for unknown keys. It never contains their values, because a password may be among them. */
function unknownKeys(keys: string[], schema: z.ZodType): string {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const described = keys.map((key) => {
    const [name, meant] = [showName(key, known), nearest(key, known)];
    if (name === undefined) return "a name that is not shown, because it may be a value in the wrong place,";
    return `${JSON.stringify(name)}${meant === undefined ? "" : ` (is ${meant} meant?)`}`;
  });
  return `${described.join(" and ")} is no known name${known.length === 0 ? "" : `; known are ${known.join(", ")}`}`;
}

/** A value as text, without its content if it is a list or an object, or a number where none belongs: a password may have digits alone. */
function describeValue(value: unknown, show: (text: string) => string, { code }: z.core.$ZodIssue): string {
  if (typeof value === "string") return show(value);
  if (typeof value === "number") return code === "invalid_type" && !isFraction(value) ? "this number" : String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : JSON.stringify(value);
}

/** Whether a number is none that stands for a text; where a whole one belongs, it is of the wrong type all the same. */
function isFraction(value: number): boolean {
  return !Number.isSafeInteger(value);
}

const LONGEST_RETRY_DELAY_MS = 60_000;

/** When a message that has failed this often is tried again. */
export function retryTime(failureCount: number, { retryDelayMs }: RetrySettings, nowMs: number): Date {
  return new Date(nowMs + Math.min(LONGEST_RETRY_DELAY_MS, retryDelayMs * 2 ** Math.min(failureCount, 20)));
}
