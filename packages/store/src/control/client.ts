import { randomUUID } from "node:crypto";
import type { ConfirmChannel, ConsumeMessage, Message } from "amqplib";
import { checkTimer } from "../timer";
import type { Reply } from "./control";
import { deadlineHeader } from "./deadline";
import { StoreAnswer, StoreRequest } from "./operations";

/** RabbitMQ's pseudo-queue for replies to the same channel. */
const DIRECT_REPLY = "amq.rabbitmq.reply-to";

/**
 * Asks a running store over AMQP. Several callers may ask over one channel at once; the channel's pseudo-queue for direct replies is in use
 * meanwhile.
 * @param channel amqplib's confirm channel, owned by the caller
 * @param exchange the store's control exchange (`controlQueue` of its descriptor)
 * @param timeoutMs how long to wait, 1 to 2,147,483,647; the store ignores a request that reaches it later
 * @throws Error when nobody answers, which says if the request may nevertheless be done, or with the reason of the store's refusal;
 * StoreMismatchError for an invalid time
 * @example
 * ```ts
 * import { connect } from "amqplib";
 * import { askStore } from "@rabbitmq-delay/store";
 *
 * const channel = await (await connect("amqp://localhost")).createConfirmChannel();
 * const filter = { headers: { tenant: "acme" } };
 * const { count } = await askStore(channel, "delayed.control", { operation: "cancel", filter });
 * console.log(`${count} messages cancelled`);
 * ```
 */
export async function askStore<R extends StoreRequest>(
  channel: ConfirmChannel,
  exchange: string,
  request: R,
  timeoutMs = 10_000,
): Promise<StoreAnswer<R>> {
  checkTimer("timeoutMs", timeoutMs);
  let desk = desks.get(channel);
  if (desk === undefined) desks.set(channel, (desk = new Desk(channel)));
  const reply = await desk.ask(exchange, request, timeoutMs);
  if (!reply.ok) throw new StoreRefusedError(reply.error);
  return reply.answer as StoreAnswer<R>;
}

/**
 * The store answered that it refuses the request.
 * @example
 * ```ts
 * import { StoreRefusedError } from "@rabbitmq-delay/store";
 *
 * // Whether a second attempt with the same request would be refused too.
 * export const isFinal = (error: unknown): boolean => error instanceof StoreRefusedError;
 * ```
 */
export class StoreRefusedError extends Error {
  override readonly name = "StoreRefusedError";
}

/**
 * How long to wait for the end of a consumer, in milliseconds: a broker with an alarm reads nothing from a connection that publishes, and
 * never answers.
 */
const LEAVE_MS = 2000;

async function waitBriefly(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, LEAVE_MS)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

interface Question {
  exchange: string;
  settle: (reply: Reply) => void;
  fail: (error: Error) => void;
}

function isChange({ operation }: StoreRequest): boolean {
  return operation === "cancel" || operation === "reschedule";
}

const desks = new WeakMap<ConfirmChannel, Desk>();

/** All requests over one channel: it has one consumer of replies, which exists while somebody waits. */
class Desk {
  private readonly open = new Map<string, Question>();
  /** The consumer is created and cancelled in turn. */
  private consumer: Promise<string | undefined> = Promise.resolve(undefined);

  constructor(private readonly channel: ConfirmChannel) {}

  async ask(exchange: string, request: StoreRequest, timeoutMs: number): Promise<Reply> {
    const correlationId = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    let isSent = false;
    const deadlineMs = Date.now() + timeoutMs;
    const replied = new Promise<Reply>((settle, fail) => {
      if (this.open.size === 0) this.watch();
      this.open.set(correlationId, { exchange, settle, fail });
      timer = setTimeout(() => {
        const text = `no store answered within ${timeoutMs} ms; is one running?`;
        fail(
          new Error(isSent && isChange(request) ? `${text} What was asked for may still be done; look again` : text),
        );
      }, timeoutMs);
    });
    // It may fail before anybody awaits it.
    replied.catch(() => undefined);
    try {
      await Promise.race([this.listen(), replied]);
      isSent = true;
      this.channel.publish(exchange, "", Buffer.from(JSON.stringify(request)), {
        replyTo: DIRECT_REPLY,
        correlationId,
        expiration: String(timeoutMs),
        headers: { [deadlineHeader]: deadlineMs },
        contentType: "application/json",
        mandatory: true,
      });
      return await replied;
    } finally {
      clearTimeout(timer);
      this.open.delete(correlationId);
      if (this.open.size === 0) {
        this.unwatch();
        await waitBriefly(this.leave());
      }
    }
  }

  private listen(): Promise<unknown> {
    this.consumer = this.consumer.then(async (tag) => {
      if (tag !== undefined) return tag;
      const { consumerTag } = await this.channel.consume(DIRECT_REPLY, (message) => this.onReply(message), {
        noAck: true,
      });
      return consumerTag;
    });
    const made = this.consumer;
    this.consumer = made.catch(() => undefined);
    return made;
  }

  private leave(): Promise<unknown> {
    this.consumer = this.consumer.then(async (tag) => {
      // Somebody may have sent a request meanwhile.
      if (tag === undefined || this.open.size > 0) return tag;
      await Promise.resolve()
        .then(() => this.channel.cancel(tag))
        .catch(() => undefined);
      return undefined;
    });
    return this.consumer;
  }

  private watch(): void {
    this.channel.on("error", this.failAll).on("close", this.onClose).on("return", this.onReturn);
  }

  private unwatch(): void {
    this.channel.off("error", this.failAll).off("close", this.onClose).off("return", this.onReturn);
  }

  private onReply(message: ConsumeMessage | null): void {
    if (message === null) return this.failAll(new Error("the broker cancelled the consumer of replies"));
    const question = this.open.get(String(message.properties.correlationId));
    if (question === undefined) return;
    try {
      question.settle(JSON.parse(message.content.toString()) as Reply);
    } catch (error) {
      question.fail(new Error(`the answer is not JSON (${(error as Error).message})`));
    }
  }

  private readonly onReturn = ({ properties }: Message): void => {
    const question = this.open.get(String(properties.correlationId));
    question?.fail(new Error(`exchange ${question.exchange} leads to no queue`));
  };

  private readonly onClose = (): void => this.failAll(new Error("the channel closed before a store answered"));

  private readonly failAll = (error: Error): void => {
    for (const { fail } of this.open.values()) fail(error);
  };
}
