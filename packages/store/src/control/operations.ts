import * as z from "zod";
import { dueTime } from "../delayedMessage";
import type { DelayedMessageStore, ListedMessage, MessageCount, MessageFilter } from "../delayedMessageStore";
import { checkSettings } from "../dispatch/settings";
import { propertiesToJson } from "../messageProperties";
import { LARGEST_PAGE } from "../sql/page";

const time = z.iso.datetime({ offset: true, error: "it must be an ISO-8601 time with its zone" });
const filter = z.strictObject({
  messageId: z.string().optional(),
  exchange: z.string().optional(),
  routingKey: z.string().optional(),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  before: time.optional(),
  after: time.optional(),
  minimumFailures: z.number().int().min(0).optional(),
});

const request = z.discriminatedUnion("operation", [
  z.strictObject({
    operation: z.literal("list"),
    filter: filter.optional(),
    limit: z.number().int().min(1).max(LARGEST_PAGE).optional(),
    after: z.string().optional(),
  }),
  z.strictObject({ operation: z.literal("cancel"), filter }),
  z.strictObject({ operation: z.literal("reschedule"), filter, at: time }),
  z.strictObject({ operation: z.literal("stats") }),
]);

/** What may be asked of a store, as JSON: times as ISO-8601 text. */
export type StoreRequest = z.input<typeof request>;
/** See {@link StoreRequest}. */
export type FilterRequest = z.input<typeof filter>;

/** A listed message as JSON; its properties as the store keeps them, bytes in base64. */
export type ListedJson = Omit<ListedMessage, "dueAt" | "attemptAt" | "storedAt" | "properties"> & {
  dueAt: string;
  attemptAt: string;
  storedAt: string;
  properties: Record<string, unknown>;
};

/** What is answered, as JSON. */
export interface StoreAnswers {
  list: { messages: ListedJson[]; next?: string };
  cancel: { count: number };
  reschedule: { count: number };
  stats: Omit<MessageCount, "next"> & { next?: string };
}

/** The answer to a request. */
export type StoreAnswer<R extends StoreRequest> = StoreAnswers[R["operation"]];

/**
 * Does what is asked.
 * @param maximumDelayMs longest delay of a rescheduled message
 * @throws StoreMismatchError or MessageRefusedError for a request that is none; what the store throws
 */
export async function perform<R extends StoreRequest>(
  store: DelayedMessageStore,
  given: R,
  maximumDelayMs: number,
  nowMs = Date.now(),
): Promise<StoreAnswer<R>> {
  const asked = checkSettings(request, given);
  const answer = async (): Promise<StoreAnswers[keyof StoreAnswers]> => {
    switch (asked.operation) {
      case "list": {
        const { filter: chosen = {}, limit, after } = asked;
        const { messages, next } = await store.list(toFilter(chosen), { limit, after });
        return { messages: messages.map(toJson), ...(next === undefined ? {} : { next }) };
      }
      case "cancel":
        return { count: await store.cancelAll(toFilter(asked.filter)) };
      case "reschedule": {
        const at = dueTime(undefined, new Date(asked.at), maximumDelayMs, nowMs);
        return { count: await store.rescheduleAll(toFilter(asked.filter), at) };
      }
      case "stats": {
        const { next, ...counts } = await store.count(new Date(nowMs));
        return { ...counts, ...(next === undefined ? {} : { next: next.toISOString() }) };
      }
    }
  };
  return (await answer()) as StoreAnswer<R>;
}

function toFilter({ before, after, ...others }: z.output<typeof filter>): MessageFilter {
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
