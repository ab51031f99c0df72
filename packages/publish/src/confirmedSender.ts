import type { ConfirmPort } from "./confirmPort";
import {
  ChannelClosedError,
  MessageNackedError,
  MessageRefusedError,
  MessageReturnedError,
  PublishTimeoutError,
} from "./errors";
import { Flight, InFlight } from "./inFlight";
import { SendableProperties, toSendable } from "./sendable";
import { Slots } from "./slots";
import { LONGEST_TIMER_MS } from "./timers";

/** Limits of a sender; see `DelayPublisherOptions`. */
export interface SenderOptions {
  maxUnconfirmed?: number;
  maxUnconfirmedBytes?: number;
  confirmTimeoutMs?: number;
}

/** Destination of a message, and the room that its body takes. */
export interface Outgoing {
  exchange: string;
  routingKey: string;
  body: { readonly length: number };
}

/** Bodies of all messages on their way, in bytes. */
const MOST_UNCONFIRMED_BYTES = 64 << 20;

/** Sends messages one by one and waits for the broker's confirms, with a limited number of messages on their way. */
export class ConfirmedSender {
  private readonly inFlight: InFlight;
  private readonly slots: Slots;
  private readonly timeoutMs: number;
  /** Ends when every message that came before has found room in the socket. */
  private socketTurn: Promise<void> | undefined;
  private waitingCount = 0;
  private sentCount = 0;

  /**
   * @param room resolves when something may be sent, and is undefined meanwhile; default: when this channel's socket accepts more
   * @throws MessageRefusedError for an option out of range
   */
  constructor(
    private readonly port: ConfirmPort,
    options: SenderOptions,
    private readonly room: () => Promise<void> | undefined = () => port.writable(),
  ) {
    const { maxUnconfirmed = 1000, maxUnconfirmedBytes = MOST_UNCONFIRMED_BYTES } = options;
    this.slots = new Slots(
      checkCount("maxUnconfirmed", maxUnconfirmed, Number.MAX_SAFE_INTEGER),
      checkCount("maxUnconfirmedBytes", maxUnconfirmedBytes, Number.MAX_SAFE_INTEGER),
    );
    this.timeoutMs = checkCount("confirmTimeoutMs", options.confirmTimeoutMs ?? 30_000, LONGEST_TIMER_MS);
    this.inFlight = InFlight.over(port);
  }

  /**
   * The number of messages that the broker has not confirmed yet: those waiting for their turn, and those on their way, timed out or not.
   */
  get unconfirmed(): number {
    return this.waitingCount + this.sentCount;
  }

  /**
   * Runs some work in its turn, when there is a free place and the socket accepts more. A connection that the broker blocks, as it does
   * during an alarm, accepts and answers nothing. A message that was not handed to it in time is not published later either.
   * @param work calls `handOver` just before it publishes, which throws when the time is over
   * @param timeoutMs instead of the sender's own
   * @throws PublishTimeoutError when the message was not handed over within `confirmTimeoutMs`; from then on its confirm has its own time
   */
  async inTurn<T>(
    { exchange, routingKey, body }: Outgoing,
    work: (handOver: () => void) => Promise<T>,
    timeoutMs: number = this.timeoutMs,
  ): Promise<T> {
    const patience = new AbortController();
    return new Promise<T>((resolve, reject) => {
      let waits = true;
      this.waitingCount++;
      const endWaiting = (): void => {
        if (waits) this.waitingCount--;
        waits = false;
        clearTimeout(timer);
      };
      const timer = setTimeout(() => {
        endWaiting();
        patience.abort(new PublishTimeoutError(exchange, routingKey, timeoutMs, false));
        reject(patience.signal.reason as Error);
      }, timeoutMs);
      const handOver = (): void => {
        patience.signal.throwIfAborted();
        endWaiting();
      };
      this.inPlace(body.length, patience.signal, () => work(handOver))
        .then(resolve, reject)
        .finally(endWaiting);
    });
  }

  private async inPlace<T>(bytes: number, patience: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.slots.take(patience, bytes);
    try {
      return await this.onceWritable(() => {
        patience.throwIfAborted();
        return work();
      });
    } finally {
      this.slots.giveBack(bytes);
    }
  }

  /** Starts some work when the socket accepts more. Each message may fill it again, so those that wait look one after another. */
  private async onceWritable<T>(start: () => Promise<T>): Promise<T> {
    if (this.socketTurn === undefined && this.room() === undefined) return start();
    const before = this.socketTurn;
    let end: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => (end = resolve));
    this.socketTurn = turn;
    await before;
    for (let room = this.room(); room !== undefined; room = this.room()) await room;
    let started: Promise<T>;
    try {
      started = start();
    } finally {
      if (this.socketTurn === turn) this.socketTurn = undefined;
      end();
    }
    return started;
  }

  /**
   * Copies properties as they will be sent: without the broker's own headers, and independent of the caller's object.
   * @throws MessageRefusedError for a property that the client library can't encode
   */
  toSendable(properties: SendableProperties): SendableProperties {
    return toSendable(properties, this.port.library);
  }

  /**
   * Sends one message, persistent and mandatory; resolves when the broker has confirmed it. The broker's own headers, such as `x-death`,
   * are always left out.
   * @throws MessageRefusedError, MessageReturnedError, MessageNackedError, ChannelClosedError or PublishTimeoutError
   */
  async send(exchange: string, routingKey: string, body: Buffer, given: SendableProperties): Promise<void> {
    return this.sendChecked(exchange, routingKey, body, this.toSendable(given));
  }

  /** Like {@link send}, for properties made by {@link toSendable}, to which a few headers of this package may have been added. */
  async sendChecked(
    exchange: string,
    routingKey: string,
    body: Buffer,
    checked: SendableProperties,
    timeoutMs: number = this.timeoutMs,
  ): Promise<void> {
    const { inFlight } = this;
    if (inFlight.isClosed) throw new ChannelClosedError(exchange, routingKey, inFlight.closeReason);
    const flight: Flight = { exchange, routingKey, fail: () => undefined };
    const { properties, leave } = inFlight.enter(flight, checked);
    const published = this.port.publish(exchange, routingKey, body, properties);
    let isOnItsWay = true;
    this.sentCount++;
    const markSettled = (): void => {
      if (isOnItsWay) this.sentCount--;
      isOnItsWay = false;
      leave();
    };
    published.then(markSettled, markSettled);
    // Not awaited here, which would keep the body until then.
    return this.confirmation(flight, published, markSettled, timeoutMs);
  }

  /** Settles with the answer, or with a timeout before it. */
  private async confirmation(
    flight: Flight,
    published: Promise<boolean>,
    settled: () => void,
    timeoutMs: number,
  ): Promise<void> {
    const { exchange, routingKey } = flight;
    const answer = this.answer(flight, published, settled);
    return new Promise((resolve, reject) => {
      const expire = (): void => reject(new PublishTimeoutError(exchange, routingKey, timeoutMs, true, answer));
      const timer = setTimeout(expire, timeoutMs);
      answer.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  /** Settles with the first of these: confirm, nack, return (which comes before its confirm), closed channel. */
  private answer(flight: Flight, published: Promise<boolean>, settled: () => void): Promise<void> {
    const { exchange, routingKey } = flight;
    return new Promise((resolve, reject) => {
      flight.fail = (reason) => {
        settled();
        reject(new ChannelClosedError(exchange, routingKey, reason));
      };
      published.then(
        (taken) => {
          if (!taken) reject(new MessageNackedError(exchange, routingKey));
          else if (flight.returned === undefined) resolve();
          else reject(new MessageReturnedError(exchange, routingKey, flight.returned.replyText));
        },
        (error: unknown) =>
          reject(
            error instanceof MessageRefusedError
              ? error
              : new ChannelClosedError(exchange, routingKey, this.inFlight.closeReason),
          ),
      );
    });
  }
}

function checkCount(property: string, value: unknown, maximum: number): number {
  if (typeof value === "number" && value >= 1 && value <= maximum) return Math.floor(value);
  const shown = typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
  throw new MessageRefusedError(property, `${shown} is not allowed; it must be a number from 1 to ${maximum}`);
}
