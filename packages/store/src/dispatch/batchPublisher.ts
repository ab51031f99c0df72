import type { ConfirmChannel } from "amqplib";
import {
  ChannelClosedError,
  MessageNackedError,
  MessageRefusedError,
  MessageReturnedError,
  PublishTimeoutError,
} from "@rabbitmq-delay/publish";
import {
  ConfirmedSender,
  DeliveryProperties,
  toConfirmPort,
  withoutBrokerHeaders,
} from "@rabbitmq-delay/publish/parts";
import type { BrokerConnection } from "../broker/brokerConnection";
import type { NewDelayedMessage } from "../delayedMessage";
import { checkTimer } from "../timer";
import { SilentDestinations } from "./silentDestinations";

/** What became of a message: without an `error`, the broker has it. */
export interface Outcome<T extends NewDelayedMessage> {
  message: T;
  error?: Error;
  /** Whether the broker may nevertheless have it. */
  isInDoubt?: boolean;
  /** Whether its destination is known not to answer; then the message is not at fault, and is tried later. */
  isSilent?: boolean;
}

/** Messages could not be published because of the broker, and not because of a message. */
export class BrokerFaultError extends Error {
  override readonly name = "BrokerFaultError";

  /**
   * @param outcomes of the messages that were settled nevertheless
   * @param inDoubt those that were sent, and may or may not have been accepted; none of the others was accepted
   */
  constructor(
    cause: Error,
    readonly outcomes: Outcome<NewDelayedMessage>[],
    readonly inDoubt: NewDelayedMessage[],
  ) {
    super(`the broker does not take messages: ${cause.message}`, { cause });
  }
}

/** Leaves time for a message's turn behind a socket that accepts nothing, which the confirm's time limit does not cover. */
const DEADLINE_MARGIN_MS = 1000;
/** How long an exchange that existed is assumed to exist. */
const EXCHANGE_MEMORY_MS = 30_000;

/** Publishes batches of messages, waits for each confirm, and finds out which message is to blame when a channel closes. */
export class BatchPublisher {
  private readonly known = new Map<string, number>();
  private readonly refusing = new RefusingExchanges();
  private readonly silent: SilentDestinations;
  private line: Line | undefined;
  private opening: Promise<Line> | undefined;
  /** Answers that did not come in time, and may come yet. */
  private readonly answers = new WeakMap<NewDelayedMessage, Promise<void>>();

  /**
   * @param confirmTimeoutMs how long to wait for a confirm, in milliseconds
   * @throws StoreMismatchError for a time that no timer can wait for
   */
  constructor(
    private readonly connection: BrokerConnection,
    private readonly confirmTimeoutMs: number,
  ) {
    checkTimer("confirmTimeoutMs", confirmTimeoutMs, DEADLINE_MARGIN_MS);
    this.silent = new SilentDestinations(confirmTimeoutMs + DEADLINE_MARGIN_MS);
  }

  /** The messages that should not be published now, because their destination does not answer; see {@link SilentDestinations}. */
  findHeldBack<T extends NewDelayedMessage>(messages: readonly T[]): Map<T, number> {
    return this.silent.findHeldBack(messages);
  }

  /**
   * Publishes all of the messages.
   * @returns what became of each
   * @throws BrokerFaultError with what became of some
   */
  async publishAll<T extends NewDelayedMessage>(messages: T[]): Promise<Outcome<T>[]> {
    const outcomes = new Map<T, Outcome<T>>();
    const sent = new Sent<T>();
    const settle = (message: T, error?: Error): void => {
      const isSilent = error instanceof PublishTimeoutError && this.silent.has(message);
      if (isSilent) this.silent.note([message]);
      else if (error === undefined || isOfMessage(error)) this.silent.delete(message);
      outcomes.set(message, {
        message,
        error,
        ...(sent.mayHave(message, error) ? { isInDoubt: true } : {}),
        ...(isSilent ? { isSilent } : {}),
      });
    };
    try {
      // A blocked broker would accept messages later, once for each try.
      const { blockedReason } = this.connection;
      if (blockedReason !== undefined) throw new Error(blockedReason);
      const missing = await this.missingExchanges(messages);
      const open: T[] = [];
      for (const message of messages) {
        const error = missing.get(message.exchange);
        if (error === undefined) open.push(message);
        else settle(message, error);
      }
      // The broker closes a channel for a message without the right to publish, and the messages on their way are then sent a second time.
      const alone = open.filter((message) => this.refusing.has(message));
      const together = alone.length === 0 ? open : open.filter((message) => !this.refusing.has(message));
      const unsettled = await this.publishTogether(together, sent, settle);
      if (unsettled.length + alone.length > 0) await this.publishOneByOne([...unsettled, ...alone], sent, settle);
    } catch (error) {
      const inDoubt = messages.filter((message) => !outcomes.has(message) && sent.has(message));
      throw new BrokerFaultError(error as Error, [...outcomes.values()], inDoubt);
    }
    return [...outcomes.values()];
  }

  /** The answer to a message that was sent without one in time; it settles when the broker answers after all, or when the channel closes. */
  answerTo(message: NewDelayedMessage): Promise<void> | undefined {
    return this.answers.get(message);
  }

  /** Opens its channel before the first message needs it, if possible. */
  async prepare(): Promise<void> {
    await this.open().catch(() => undefined);
  }

  /**
   * Publishes all messages at once, over one channel.
   * @returns the messages that were on their way when the channel closed because of one of them
   * @throws Error if no message is to blame
   */
  private async publishTogether<T extends NewDelayedMessage>(
    messages: T[],
    sent: Sent<T>,
    settle: Settle<T>,
  ): Promise<T[]> {
    if (messages.length === 0) return [];
    const line = await this.open();
    const failures: { message: T; error: Error }[] = [];
    const sendOne = (message: T): Promise<void> => {
      sent.add(message);
      return line.send(message).then(
        () => settle(message),
        (error: Error) => {
          if (error instanceof PublishTimeoutError && error.answer !== undefined)
            this.answers.set(message, error.answer);
          if (isOfMessage(error)) settle(message, error);
          else failures.push({ message, error });
        },
      );
    };
    await this.inTime(line, () => Promise.all(messages.map(sendOne)));
    const [first] = failures;
    if (first === undefined) return [];
    if (line.channelError !== undefined) return failures.map(({ message }) => message);
    // If one destination never confirms while others do, the broker as a whole is not at fault; if a message couldn't be sent, it is.
    const isTimeout = failures.every(({ error }) => isUnanswered(error));
    if (isTimeout && failures.length < messages.length) {
      for (const { message, error } of failures) settle(message, error);
      return [];
    }
    if (isTimeout) this.noteSilence(failures.map(({ message }) => message));
    throw first.error;
  }

  /** Records destinations that do not answer, unless the broker has said that it accepts nothing: that explains it. */
  private noteSilence(messages: NewDelayedMessage[]): void {
    if (this.connection.blockedReason === undefined) this.silent.note(messages);
  }

  /** Publishes one message after the other, each alone on a channel, so that a channel that closes identifies its message. */
  private async publishOneByOne<T extends NewDelayedMessage>(
    messages: T[],
    sent: Sent<T>,
    settle: Settle<T>,
  ): Promise<void> {
    let own: Line | undefined;
    try {
      for (const message of messages) {
        if (own?.isClosed !== false) own = await this.newLine();
        const line = own;
        sent.add(message);
        try {
          await this.inTime(line, () => line.send(message));
          settle(message);
          this.refusing.delete(message);
        } catch (error) {
          if (line.channelError !== undefined) this.refusing.note(message, line.channelError);
          if (line.channelError === undefined && isUnanswered(error)) this.noteSilence([message]);
          if (line.channelError === undefined && !isOfMessage(error as Error)) throw error;
          settle(message, line.channelError ?? (error as Error));
        }
      }
    } finally {
      own?.close();
    }
  }

  /** Closes the channel when the work takes too long; messages that still wait for their turn are not sent any more then. */
  private async inTime(line: Line, work: () => Promise<unknown>): Promise<void> {
    const limitMs = this.confirmTimeoutMs + DEADLINE_MARGIN_MS;
    let timer: NodeJS.Timeout | undefined;
    // A promise of this batch alone: one that lived as long as the channel would keep something of every message.
    const expired = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        line.close();
        reject(new Error(`the broker took nothing for ${limitMs} ms`));
      }, limitMs);
    });
    const ended = work();
    // The first of the two decides; a later rejection of the other is ignored.
    ended.catch(() => undefined);
    try {
      await Promise.race([ended, expired]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The channel that all batches share. */
  private async open(): Promise<Line> {
    if (this.line?.isClosed === false) return this.line;
    this.opening ??= this.newLine().finally(() => (this.opening = undefined));
    this.line = await this.opening;
    return this.line;
  }

  private async newLine(): Promise<Line> {
    return new Line(await this.connection.channel(), this.confirmTimeoutMs);
  }

  /** Finds missing exchanges. A missing exchange would close the channel under all messages, so the question uses another channel. */
  private async missingExchanges(messages: NewDelayedMessage[]): Promise<Map<string, Error>> {
    const missing = new Map<string, Error>();
    for (const exchange of new Set(messages.map((message) => message.exchange))) {
      const knownUntilMs = this.known.get(exchange) ?? 0;
      if (exchange === "" || performance.now() < knownUntilMs) continue;
      const probe = await this.connection.channel();
      let refusal: Error | undefined;
      probe.on("error", (error: Error) => (refusal = error));
      try {
        await probe.checkExchange(exchange);
        this.known.set(exchange, performance.now() + EXCHANGE_MEMORY_MS);
        await probe.close();
      } catch (error) {
        if (refusal === undefined) throw error;
        missing.set(exchange, refusal);
      }
    }
    return missing;
  }
}

type Settle<T> = (message: T, error?: Error) => void;

/** Removes the headers about the message's way to the store; the broker would take the message for one that goes round in circles. */
function withoutPathHeaders(properties: DeliveryProperties): DeliveryProperties {
  return properties.headers === undefined
    ? properties
    : { ...properties, headers: withoutBrokerHeaders(properties.headers) };
}

/** Whether an error is about the message alone. */
function isOfMessage(error: Error): boolean {
  return [MessageRefusedError, MessageReturnedError, MessageNackedError].some((kind) => error instanceof kind);
}

/** Whether the broker was given a message and did not answer in time. */
function isUnanswered(error: unknown): boolean {
  return error instanceof PublishTimeoutError && error.wasSent;
}

const ACCESS_REFUSED = 403;
const MOST_REFUSING = 10_000;

/** Exchanges, or single routing keys of them, to which the broker did not let the store publish. */
class RefusingExchanges {
  private readonly keys = new Set<string>();

  has({ exchange, routingKey }: NewDelayedMessage): boolean {
    return this.keys.has(exchange) || this.keys.has(`${exchange}\0${routingKey}`);
  }

  /** Records a refusal; does nothing if the broker closed the channel for another reason. */
  note({ exchange, routingKey }: NewDelayedMessage, error: Error & { code?: unknown }): void {
    if (error.code !== ACCESS_REFUSED) return;
    const isOfKey = /access to topic/.test(error.message);
    if (this.keys.size < MOST_REFUSING) this.keys.add(isOfKey ? `${exchange}\0${routingKey}` : exchange);
  }

  delete({ exchange, routingKey }: NewDelayedMessage): void {
    this.keys.delete(exchange);
    this.keys.delete(`${exchange}\0${routingKey}`);
  }
}

/** Which messages were sent, and how often: an answer belongs to the last time, and says nothing about earlier ones. */
class Sent<T> {
  private readonly times = new Map<T, number>();

  add(message: T): void {
    this.times.set(message, (this.times.get(message) ?? 0) + 1);
  }

  has(message: T): boolean {
    return this.times.has(message);
  }

  /** Whether the broker may have a message whose last answer was this error. One queue may have a message that another one refused. */
  mayHave(message: T, error: Error | undefined): boolean {
    if (error === undefined) return false;
    const isRefusal = error instanceof MessageRefusedError || error instanceof MessageReturnedError;
    const isSure = isRefusal || typeof (error as { code?: unknown }).code === "number";
    return (this.times.get(message) ?? 0) > (isSure ? 1 : 0);
  }
}

/** A channel, its sender, and why it closed. */
class Line {
  isClosed = false;
  /** The error with which the broker closed the channel, and not the connection. */
  channelError: Error | undefined;
  private readonly sender: ConfirmedSender;

  constructor(
    private readonly channel: ConfirmChannel,
    confirmTimeoutMs: number,
  ) {
    channel.on("error", (error: Error) => (this.channelError = error));
    channel.on("close", () => (this.isClosed = true));
    this.sender = new ConfirmedSender(toConfirmPort(channel), { confirmTimeoutMs, maxUnconfirmed: 10_000 });
  }

  close(): void {
    this.isClosed = true;
    // It doesn't matter if the channel is closed already, or the broker doesn't answer.
    void Promise.resolve()
      .then(() => this.channel.close())
      .catch(() => undefined);
  }

  send({ exchange, routingKey, body, messageId, properties }: NewDelayedMessage): Promise<void> {
    return this.sender.inTurn(exchange, routingKey, async (handOver) => {
      handOver();
      if (this.isClosed) throw new ChannelClosedError(exchange, routingKey);
      await this.sender.send(exchange, routingKey, body, { ...withoutPathHeaders(properties), messageId });
    });
  }
}
