import * as z from "zod";
import { dueTime } from "../delayedMessage";
import type {
  CancelCount,
  DelayedMessageStore,
  ListedMessage,
  MessageCount,
  MessageFilter,
} from "../delayedMessageStore";
import { checkSettings } from "../dispatch/settings";
import { StoreMismatchError } from "../errors";
import { TAG, isOwnTag, propertiesToJson } from "../messageProperties";
import { LARGEST_PAGE } from "../sql/page";

const time = z.iso.datetime({ offset: true, error: "it must be an ISO-8601 time with its zone" });
/** No AMQP name or key contains NUL, and PostgreSQL doesn't accept it. */
const text = z.string().regex(/^[^\0]*$/, "it must be a text without NUL");
/** The largest number that the column of failures holds. */
const MOST_FAILURES = 2 ** 31 - 1;
const filter: z.ZodType<FilterRequest, FilterRequest> = z.strictObject({
  messageId: text.optional(),
  exchange: text.optional(),
  routingKey: text.optional(),
  headers: z.record(text, z.union([text, z.number(), z.boolean()])).optional(),
  before: time.optional(),
  after: time.optional(),
  minimumFailures: z.number().int().min(0).max(MOST_FAILURES).optional(),
});

const request: z.ZodType<StoreRequest, StoreRequest> = z.discriminatedUnion("operation", [
  z.strictObject({
    operation: z.literal("list"),
    filter: filter.optional(),
    limit: z.number().int().min(1).max(LARGEST_PAGE).optional(),
    after: text.optional(),
  }),
  z.strictObject({ operation: z.literal("cancel"), filter }),
  z.strictObject({ operation: z.literal("reschedule"), filter, at: time }),
  z.strictObject({ operation: z.literal("stats") }),
]);

/** Conditions that select messages of a store, as JSON; a message must meet all of them. */
export interface FilterRequest {
  messageId?: string;
  exchange?: string;
  routingKey?: string;
  headers?: Record<string, string | number | boolean>;
  /** ISO-8601 text with a zone, before which messages are due. */
  before?: string;
  /** ISO-8601 text with a zone, after which messages are due. */
  after?: string;
  /** Least number of failed deliveries. */
  minimumFailures?: number;
}

/** A request to a store, as JSON: times as ISO-8601 text. */
export type StoreRequest =
  | {
      operation: "list";
      filter?: FilterRequest;
      /** Most messages of an answer. */
      limit?: number;
      /** The `next` of the answer before. */
      after?: string;
    }
  | { operation: "cancel"; filter: FilterRequest }
  | { operation: "reschedule"; filter: FilterRequest; at: string }
  | { operation: "stats" };

/** Request for a list of messages, see {@link StoreRequest}. */
export type ListRequest = Extract<StoreRequest, { operation: "list" }>;

/** A listed message as JSON; its properties as the store keeps them, bytes in base64. */
export type ListedJson = Omit<ListedMessage, "dueAt" | "attemptAt" | "storedAt" | "properties"> & {
  dueAt: string;
  attemptAt: string;
  storedAt: string;
  properties: Record<string, unknown>;
};

/** The queue of messages that could not be stored or delivered, and how many messages are in it. */
export interface ErrorQueueCount {
  name: string;
  messages: number;
}

/**
 * The answers, as JSON. `errorQueue` is left out if nobody could count it: if only the store's database was asked, or without the queue.
 */
export interface StoreAnswers {
  /**
   * Fewer messages than `limit` where more would be too large for one answer of a running store; `next` selects the page after them.
   * `errorQueue` when failed messages were asked for: messages that used up their tries are there, and no longer in the store.
   */
  list: { messages: ListedJson[]; next?: string; errorQueue?: ErrorQueueCount };
  /** `inDoubt` if it is not 0: messages that were deleted, too, but which the broker may have. */
  cancel: { count: number; inDoubt?: number };
  /** `inDoubt` if it is not 0: messages that have the new time, too, but may have been delivered before it. */
  reschedule: { count: number; inDoubt?: number };
  stats: Omit<MessageCount, "next"> & { next?: string; errorQueue?: ErrorQueueCount };
}

/** The answer to a request. */
export type StoreAnswer<R extends StoreRequest> = StoreAnswers[R["operation"]];

/**
 * Checks a request.
 * @throws StoreMismatchError naming the property, the value and what is allowed
 */
export function checkRequest(given: StoreRequest): z.output<typeof request> {
  const asked = checkSettings(request, given);
  if ("filter" in given) checkHeaders(given.filter?.headers);
  return asked;
}

/**
 * Does what a request asks.
 * @param maximumDelayMs longest delay of a rescheduled message
 * @param nowMs the time, in milliseconds since 1970
 * @param countErrors counts the error queue; returns undefined if that can't be done
 * @throws StoreMismatchError or MessageRefusedError for an invalid request; errors of the store
 * @example
 * ```ts
 * import { defaultLimits, openStore, perform } from "@rabbitmq-delay/store";
 *
 * const store = openStore("sqlite:/var/lib/shop/delayed.db");
 * await store.setUpInfrastructure("delayed");
 * await store.initialize("delayed");
 * const { messages } = await perform(store, { operation: "list", limit: 10 }, defaultLimits.maximumDelayMs);
 * console.log(messages.map(({ messageId, dueAt }) => `${messageId} is due at ${dueAt}`));
 * ```
 */
export async function perform<R extends StoreRequest>(
  store: DelayedMessageStore,
  given: R,
  maximumDelayMs: number,
  nowMs = Date.now(),
  countErrors: () => Promise<ErrorQueueCount | undefined> = () => Promise.resolve(undefined),
): Promise<StoreAnswer<R>> {
  const asked = checkRequest(given);
  const answer = async (): Promise<StoreAnswers[keyof StoreAnswers]> => {
    switch (asked.operation) {
      case "list": {
        const { filter: chosen = {}, limit, after } = asked;
        const { messages, next } = await store.list(toFilter(chosen), { limit, after });
        const errorQueue = (chosen.minimumFailures ?? 0) > 0 ? await countErrors() : undefined;
        return {
          messages: messages.map(toJson),
          ...(next === undefined ? {} : { next }),
          ...(errorQueue === undefined ? {} : { errorQueue }),
        };
      }
      case "cancel":
        return await cancelMessages(store, toFilter(asked.filter));
      case "reschedule": {
        const at = dueTime(undefined, new Date(asked.at), maximumDelayMs, nowMs);
        return await rescheduleMessages(store, toFilter(asked.filter), at);
      }
      case "stats": {
        const { next, ...counts } = await store.count(new Date(nowMs));
        const errorQueue = await countErrors();
        return {
          ...counts,
          ...(next === undefined ? {} : { next: next.toISOString() }),
          ...(errorQueue === undefined ? {} : { errorQueue }),
        };
      }
    }
  };
  return (await answer()) as StoreAnswer<R>;
}

/** Refuses conditions that select other messages than they say: Zod drops this name, and stores write this value themselves. */
function checkHeaders(headers: FilterRequest["headers"] = {}): void {
  if (Object.hasOwn(headers, "__proto__"))
    throw new StoreMismatchError("filter.headers.__proto__", "no stored message has a header of this name");
  if (isOwnTag(headers[TAG]))
    throw new StoreMismatchError(`filter.headers.${TAG}`, "values that begin with rabbitmq-delay. can't be looked for");
}

/** Cancels messages. A store that does not record doubts has none. */
async function cancelMessages(store: DelayedMessageStore, filter: MessageFilter): Promise<StoreAnswers["cancel"]> {
  if (store.cancelNoted === undefined) return { count: await store.cancelAll(filter) };
  return withoutNone(await store.cancelNoted(filter));
}

/** Reschedules messages, likewise. */
async function rescheduleMessages(
  store: DelayedMessageStore,
  filter: MessageFilter,
  at: Date,
): Promise<StoreAnswers["reschedule"]> {
  if (store.rescheduleNoted === undefined) return { count: await store.rescheduleAll(filter, at) };
  return withoutNone(await store.rescheduleNoted(filter, at));
}

function withoutNone({ count, inDoubt }: CancelCount): { count: number; inDoubt?: number } {
  return inDoubt === 0 ? { count } : { count, inDoubt };
}

function toFilter({ before, after, ...others }: FilterRequest): MessageFilter {
  return {
    ...others,
    ...(before === undefined ? {} : { before: new Date(before) }),
    ...(after === undefined ? {} : { after: new Date(after) }),
  };
}

function toJson({ dueAt, attemptAt, storedAt, properties, ...others }: ListedMessage): ListedJson {
  return {
    ...others,
    dueAt: dueAt.toISOString(),
    attemptAt: attemptAt.toISOString(),
    storedAt: storedAt.toISOString(),
    properties: JSON.parse(propertiesToJson(properties)) as Record<string, unknown>,
  };
}
