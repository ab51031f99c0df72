import type { ConfirmChannel } from "amqplib";
import { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import type { BrokerConnection } from "../broker/brokerConnection";
import { ConsumerEvents, ConsumerSession, consumeBatches } from "../broker/consumer";
import type { DelayedMessageStore } from "../delayedMessageStore";
import { lostBytes } from "../intake/lostBytes";
import { Breaker, BreakerEvents, LastingFailures, watchConsumer } from "../resilience/breaker";
import { Pace } from "../resilience/pace";
import type { SteadyClock } from "../resilience/steadyClock";
import { isTooLate } from "./deadline";
import { DEFAULT_PAGE } from "../sql/page";
import { ErrorQueueCount, ListRequest, StoreAnswers, StoreRequest, checkRequest, perform } from "./operations";

/** The parts that a control works with. */
export interface ControlParts {
  connection: BrokerConnection;
  /** Where replies are published: the broker may stop reading from it, so nothing is consumed on it. */
  replyConnection: BrokerConnection;
  store: DelayedMessageStore;
  clock: SteadyClock;
  queue: string;
  /** The queue of messages that could not be stored or delivered; counted for requests. */
  errorQueue: string;
  maximumDelayMs: number;
  /** Tells the dispatcher of a message that may be due earlier now. */
  onRescheduled?: (at: Date) => void;
  settings: { timeToTriggerConsumeBreakerMs: number };
  events?: ConsumerEvents & BreakerEvents;
}

/** The JSON that is sent back to `replyTo`. */
export type Reply = { ok: true; answer: unknown } | { ok: false; error: string };

/** Requests come one at a time, and are small. */
const LIMITS = { prefetch: 1, batchSize: 1, bodyMemoryBytes: Number.POSITIVE_INFINITY };

/** Answers requests over AMQP: a JSON request in the control queue, a JSON reply to its `replyTo`. */
export class Control {
  readonly breaker: Breaker;
  private replies: ConfirmChannel | undefined;

  constructor(private readonly parts: ControlParts) {
    const { settings, events } = parts;
    this.breaker = new Breaker("control", new LastingFailures(settings.timeToTriggerConsumeBreakerMs), events);
  }

  /** Works until the signal. */
  run(signal: AbortSignal): Promise<void> {
    const { connection, queue, events } = this.parts;
    const watched = watchConsumer(this.breaker, events);
    const handle = async ([delivery]: OpenDelivery[], { closing }: ConsumerSession): Promise<void> => {
      if (delivery !== undefined) await this.handle(delivery, closing);
    };
    return consumeBatches(connection, queue, LIMITS, { handle }, signal, watched);
  }

  private async handle(delivery: OpenDelivery, closing: AbortSignal): Promise<void> {
    const reply = await this.replyTo(delivery, closing);
    if (reply === undefined) return;
    // Acknowledge first, because a reply that the broker refuses closes the channel.
    delivery.acknowledge();
    await Promise.race([this.send(delivery, reply), ending(closing)]);
  }

  /** @returns undefined if the session ends before the store could be asked */
  private async replyTo(delivery: OpenDelivery, closing: AbortSignal): Promise<Reply | undefined> {
    const { events } = this.parts;
    const { body, properties } = delivery;
    // The deadline may be among the headers that can't be read.
    const lost = lostBytes(delivery);
    if (lost !== undefined) return { ok: false, error: `${lost} of the request can't be read; it was not done` };
    if (isTooLate(properties, Date.now())) {
      return {
        ok: false,
        error: "the request came after its deadline and was not done; if it was not, the clocks are apart",
      };
    }
    const pace = new Pace();
    const givenUpMs = performance.now() + patienceOf(properties);
    for (;;) {
      try {
        return await this.breaker.execute(() => this.answer(body));
      } catch (error) {
        events?.onFault?.(error);
        await pace.pauseAfterFailure(closing);
        if (closing.aborted) return undefined;
        // The requester has been told that nobody answered, and may have done something else meanwhile.
        if (performance.now() >= givenUpMs) return { ok: false, error: "the store's database did not answer in time" };
      }
    }
  }

  /** Does what the request asks, or says why it is refused for good. @throws errors that may pass */
  private async answer(body: Buffer): Promise<Reply> {
    const { store, clock, maximumDelayMs, onRescheduled } = this.parts;
    try {
      const request = parse(body);
      const nowMs = clock.now();
      const countErrors = (): Promise<ErrorQueueCount | undefined> => this.countErrors();
      const answer =
        request.operation === "list"
          ? await listInParts(request, (part, count) => perform(store, part, maximumDelayMs, nowMs, count), countErrors)
          : await perform(store, request, maximumDelayMs, nowMs, countErrors);
      if (request.operation === "reschedule") onRescheduled?.(new Date(request.at));
      return { ok: true, answer };
    } catch (error) {
      if (isRefusal(error as Error)) return { ok: false, error: (error as Error).message };
      throw error;
    }
  }

  /** Counts on a channel of its own, which the broker closes when there is no such queue. */
  private async countErrors(): Promise<ErrorQueueCount | undefined> {
    const { connection, errorQueue } = this.parts;
    try {
      const channel = await connection.channel();
      const { messageCount } = await channel.checkQueue(errorQueue);
      await channel.close().catch(() => undefined);
      return { name: errorQueue, messages: messageCount };
    } catch {
      return undefined;
    }
  }

  private async send({ properties }: OpenDelivery, reply: Reply): Promise<void> {
    const { replyTo, correlationId } = properties;
    if (replyTo === undefined || replyTo === "") return;
    const channel = (this.replies ??= await this.open());
    channel.sendToQueue(replyTo, Buffer.from(JSON.stringify(reply)), {
      contentType: "application/json",
      ...(correlationId === undefined ? {} : { correlationId }),
    });
  }

  private async open(): Promise<ConfirmChannel> {
    const channel = await this.parts.replyConnection.channel();
    channel.on("close", () => (this.replies = undefined));
    return channel;
  }
}

/** Resolves when a session ends: a broker short of memory or disk opens no channel on a connection that has published. */
function ending(closing: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (closing.aborted) resolve();
    else closing.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** RabbitMQ 4 takes messages of 16 MiB by default. */
const LARGEST_ANSWER_BYTES = 15 << 20;

/** Messages of a list that are read at once: decoded, or as JSON, their headers take many times their bytes. */
const PART = 40;

type CountErrors = () => Promise<ErrorQueueCount | undefined>;

/**
 * Lists messages part by part, and fewer if the answer is too large for the broker. Its `next` leads to the others. Messages read before are
 * kept as text.
 */
async function listInParts(
  request: ListRequest,
  list: (part: ListRequest, countErrors?: CountErrors) => Promise<StoreAnswers["list"]>,
  countErrors: CountErrors,
): Promise<object> {
  const { limit = DEFAULT_PAGE } = request;
  const listed: string[] = [];
  let { after } = request;
  let bytes = 0;
  let errorQueue: ErrorQueueCount | undefined;
  do {
    const isFirst = listed.length === 0;
    const next = { ...request, limit: Math.min(PART, limit - listed.length), after };
    const part = await list(next, isFirst ? countErrors : undefined);
    const texts = part.messages.map((message) => JSON.stringify(message));
    bytes += texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (!isFirst && bytes > LARGEST_ANSWER_BYTES) break;
    errorQueue ??= part.errorQueue;
    listed.push(...texts);
    after = part.next;
  } while (after !== undefined && listed.length < limit);
  const messages = listed.map((text) => ({ toJSON: () => JSON.parse(text) as unknown }));
  return { messages, next: after, errorQueue };
}

/** Whether repeating a request would not help. PostgreSQL's manual, error codes, lists the classes of errors about values. */
function isRefusal({ name, code }: Error & { code?: unknown }): boolean {
  return REFUSALS.includes(name) || (typeof code === "string" && /^(22|23|54)[0-9A-Z]{3}$/.test(code));
}

const REFUSALS = ["StoreMismatchError", "MessageRefusedError", "SyntaxError"];

/** How long the requester waits, according to the request's expiration, in milliseconds. */
function patienceOf({ expiration }: OpenDelivery["properties"]): number {
  return typeof expiration === "string" && /^\d+$/.test(expiration) ? Number(expiration) : Number.POSITIVE_INFINITY;
}

function parse(body: Buffer): StoreRequest {
  let given: StoreRequest;
  try {
    given = JSON.parse(body.toString()) as StoreRequest;
  } catch (error) {
    throw new SyntaxError(`the request is not JSON (${(error as Error).message})`);
  }
  checkRequest(given);
  return given;
}
