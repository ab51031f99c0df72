import type { Replies } from "amqplib";
import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import { Pace } from "../resilience/pace";
import type { BrokerConnection } from "../broker/brokerConnection";
import type { Breaker } from "../resilience/breaker";
import type { Parking } from "./parking";
import { LONGEST_REASON, RefusalEvents, RefusedMessage } from "./refusalEvents";

/** Time that the broker may take to move a message, and to count those of a queue, in milliseconds. */
const MOVE_MS = 5000;
/** Time after which RabbitMQ says of a quorum queue that does not answer that it has no messages, in milliseconds. */
const GUESS_MS = 250;
/** Messages that are watched at once. Beyond this number, the log gets the reasons of the oldest. */
const MOST_WATCHED = 1000;

/** The parts that these messages are watched with, as of refusals. */
interface MovedParts {
  connection: BrokerConnection;
  parking: Parking;
  breaker: Breaker;
  events?: RefusalEvents;
}

/** Identity and reason of a moved message. Its body and headers are the broker's again. */
interface Moved {
  message: RefusedMessage;
  error: Error;
  sinceMs: number;
}

/**
 * Has the broker move messages to the error queue. The broker reports to nobody whether that queue takes a message, and tries again after
 * minutes if not. So the count of the queue's messages is read: each further one counts as a moved message. If the queue has a consumer, or
 * fewer messages than before, all count as moved.
 */
export class MovedMessages {
  /** Rejected messages that have not been seen in the error queue. */
  private moved: Moved[] = [];
  /** Messages in the error queue at the last look. */
  private seenCount = 0;
  private looking: Promise<void> = Promise.resolve();
  private closing: AbortSignal = AbortSignal.abort();
  /** The session in which messages are being watched. */
  private watched: AbortSignal | undefined;
  /** Whether the last look found messages that the error queue has not taken. */
  private isStuck = false;

  constructor(private readonly parts: MovedParts) {}

  /** Begins a session. Of an earlier one, the broker may deliver anew what was rejected at its end. */
  begin(closing: AbortSignal): void {
    this.closing = closing;
    this.moved = this.late;
    this.isStuck &&= this.moved.length > 0;
    if (this.moved.length > 0) void this.watch(closing);
  }

  /** How many messages the error queue should have by now. */
  get lateCount(): number {
    return this.late.length;
  }

  /** Whether it is known that the error queue has not taken some. */
  get hasStuck(): boolean {
    return this.isStuck;
  }

  private get late(): Moved[] {
    const latestMs = performance.now() - MOVE_MS;
    return this.moved.filter(({ sinceMs }) => sinceMs <= latestMs);
  }

  /**
   * Has the broker move a message.
   * @param isUrgent whether it is moved though the error queue has not taken earlier ones
   * @throws Error if the error queue is gone, or has not taken earlier ones; the message stays in hand
   */
  async move(delivery: OpenDelivery, error: Error, isUrgent: boolean): Promise<void> {
    const { closing } = this;
    await this.look();
    if (!isUrgent) this.checkLate();
    if (closing.aborted) throw new Error("its session has ended");
    delivery.deadLetter();
    const { messageId } = delivery.properties;
    const reason = new Error(error.message.slice(0, LONGEST_REASON));
    this.moved.push({ message: { properties: { messageId } }, error: reason, sinceMs: performance.now() });
    this.reportUnseen(this.moved.splice(0, this.moved.length - MOST_WATCHED));
    if (this.watched !== closing) void this.watch(closing);
  }

  /** Watches until all moved messages are seen, or the session ends. */
  private async watch(closing: AbortSignal): Promise<void> {
    const { breaker, events } = this.parts;
    const pace = new Pace();
    this.watched = closing;
    while (this.moved.length > 0) {
      await pace.pauseAfterFailure(closing);
      if (closing.aborted) return this.reportUnseen(this.moved);
      try {
        await this.look();
        this.checkLate();
        this.isStuck = false;
      } catch (error) {
        const [first] = this.moved;
        this.isStuck = true;
        await breaker.execute(() => Promise.reject(error as Error)).catch(() => undefined);
        if (first !== undefined) events?.onStuck?.(first.message, error);
      }
    }
    this.watched = undefined;
    this.isStuck = false;
  }

  /** Reports why messages were refused: the broker moves them without the reason. */
  private reportUnseen(unseen: readonly Moved[]): void {
    for (const { message, error } of unseen)
      this.parts.events?.onStuck?.(message, new Error(`it is not in the error queue yet: ${error.message}`), true);
  }

  private checkLate(): void {
    const { late } = this;
    const [first] = late;
    if (first === undefined) return;
    throw new Error(
      `the error queue does not have more messages, though the broker moves ${late.length} there (${first.error.message})`,
    );
  }

  /** Looks once at a time: an older count after a newer one would seem to be lower. */
  private look(): Promise<void> {
    return (this.looking = this.looking.catch(() => undefined).then(() => this.lookOnce()));
  }

  private async lookOnce(): Promise<void> {
    const { messageCount, consumerCount } = await this.count();
    const isDrained = consumerCount > 0 || messageCount < this.seenCount;
    const arrived = this.moved.splice(0, isDrained ? this.moved.length : messageCount - this.seenCount);
    this.seenCount = messageCount;
    for (const { message, error } of arrived) this.parts.events?.onRefused?.(message, error, true);
  }

  private async count(): Promise<Replies.AssertQueue> {
    const { connection, parking } = this.parts;
    const channel = await connection.channel({ isCut: false });
    const beginMs = performance.now();
    try {
      while (performance.now() - beginMs < MOVE_MS) {
        const askedMs = performance.now();
        const counted = await channel.checkQueue(parking.exchange);
        if (performance.now() - askedMs < GUESS_MS) return counted;
      }
    } finally {
      await channel.close().catch(() => undefined);
    }
    throw new Error(`the queue ${parking.exchange} does not answer`);
  }
}
