import type { ConfirmChannel } from "amqplib";
import type { BrokerConnection } from "../broker/brokerConnection";
import type { NewDelayedMessage } from "../delayedMessage";
import { checkTimer } from "../timer";
import type { Breaker } from "../resilience/breaker";
import { endsWithin } from "../resilience/pace";
import { Destinations, ExchangeType } from "./destinations";
import { KnownExchanges } from "./knownExchanges";
import { Line } from "./line";
import { OpenTrialError, Outcome, Outcomes, SilentDestinationError, isOfMessage, isUnanswered } from "./outcomes";
import { RefusingExchanges } from "./refusingExchanges";
import { SilentDestinations } from "./silentDestinations";

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

/**
 * Publishes batches of messages, waits for each confirm, and finds out which message is to blame when a channel closes, or does not answer.
 *
 * All messages share a channel, but for two kinds, each of which may spoil it for the others. The broker closes a channel for a message to an
 * exchange that its user may not publish to; and a queue that does not answer may hold up the whole channel. So such a destination is tried
 * on a channel of its own, until it takes a message.
 */
export class BatchPublisher {
  private readonly known = new KnownExchanges(() => this.channel());
  private readonly refusing = new RefusingExchanges();
  private readonly silent: SilentDestinations | undefined;
  private line: Line | undefined;
  private readonly lines = new Set<Line>();
  private opening: Promise<Line> | undefined;
  /** Answers that did not come in time, and may come yet. */
  private readonly answers = new WeakMap<NewDelayedMessage, Promise<void>>();

  /**
   * @param confirmTimeoutMs how long to wait for a confirm, in milliseconds
   * @param isEachSentOnce whether the caller waits for late answers itself, and sends no message again before: then all share one channel
   * @param exchangeTypes types of the exchanges that are published to, as far as they are known
   * @throws StoreMismatchError for a time that no timer can wait for
   */
  constructor(
    private readonly connection: BrokerConnection,
    private readonly confirmTimeoutMs: number,
    {
      isEachSentOnce = false,
      exchangeTypes,
    }: { isEachSentOnce?: boolean; exchangeTypes?: ReadonlyMap<string, ExchangeType> } = {},
  ) {
    checkTimer("confirmTimeoutMs", confirmTimeoutMs, DEADLINE_MARGIN_MS);
    const tryMs = confirmTimeoutMs + DEADLINE_MARGIN_MS;
    const destinations = new Destinations(exchangeTypes);
    this.silent = isEachSentOnce ? undefined : new SilentDestinations(tryMs, undefined, destinations);
  }

  /** The messages that should not be published now, because their destination does not answer; see {@link SilentDestinations}. */
  findHeldBack<T extends NewDelayedMessage>(messages: readonly T[]): Map<T, number> {
    return this.silent?.findHeldBack(messages) ?? new Map<T, number>();
  }

  /** Whether a message's destination has not answered lately, so that it is tried on a channel of its own. */
  isTrial(message: NewDelayedMessage): boolean {
    return this.silent?.has(message) === true;
  }

  /** How long a message waits of which the outcome says that its destination was silent, in milliseconds. */
  pauseOf(message: NewDelayedMessage): number {
    return this.silent?.pauseOf(message) ?? 0;
  }

  /**
   * The answer to a message that had none when its outcome was told. It resolves when the broker takes the message after all; it rejects when
   * the broker refuses it, or when the channel closes.
   */
  answerTo(message: NewDelayedMessage): Promise<void> | undefined {
    return this.answers.get(message);
  }

  /** Opens its channel before the first message needs it, if possible. */
  async prepare(): Promise<void> {
    await this.open().catch(() => undefined);
  }

  /**
   * Lets a triggered breaker find out without a message whether the broker is back: what was to be delivered may be cancelled, or delivered by
   * another process. It stays triggered while a destination is silent, because only a message can tell of that.
   */
  async tryFor(breaker: Breaker): Promise<void> {
    if (!breaker.isTriggered || this.silent?.isEmpty === false) return;
    const reach = async (): Promise<void> => {
      this.checkBlocked();
      await this.open();
    };
    await breaker.execute(reach).catch(() => undefined);
  }

  /** Uses another channel from the next message on; the present one stays open for the answers that it owes. */
  renew(): void {
    this.line?.retire();
    this.line = undefined;
  }

  /**
   * Publishes all of the messages.
   * @param trialPatienceMs how long those wait whose destination was silent before, in milliseconds; such a trial goes on then, and its
   *   outcome says so. Default: until it has ended
   * @returns what became of each
   * @throws BrokerFaultError with what became of some
   */
  async publishAll<T extends NewDelayedMessage>(
    messages: T[],
    { trialPatienceMs }: { trialPatienceMs?: number } = {},
  ): Promise<Outcome<T>[]> {
    const outcomes = new Outcomes<T>();
    try {
      this.checkBlocked();
      const { together, alone, trials } = this.sort(await this.withoutMissing(messages, outcomes));
      const shared = this.publishTogether(together, outcomes).then(async (suspects) => {
        if (suspects.length + alone.length > 0) await this.publishOneByOne([...suspects, ...alone], outcomes);
      });
      const tried = [...trials.values()].map((some) => this.tryDestination(some, outcomes, trialPatienceMs));
      const ends = await Promise.allSettled([shared, ...tried]);
      for (const end of ends) if (end.status === "rejected") throw end.reason;
      // A trial that goes on says nothing of the broker yet.
      const [silent] = outcomes.silent.some(({ trial }) => trial !== undefined) ? [] : outcomes.silent;
      // If one destination never confirms while others do, the broker as a whole is not at fault.
      if (silent !== undefined && !outcomes.isAnswered) throw silent.error as Error;
      if (outcomes.silent.length > 0) this.checkBlocked();
    } catch (error) {
      throw new BrokerFaultError(error as Error, outcomes.certain, outcomes.inDoubt(messages));
    }
    return outcomes.all;
  }

  /** @throws Error if the broker has said that it takes nothing: it would take messages later, once for each try */
  private checkBlocked(): void {
    const { blockedReason } = this.connection;
    if (blockedReason !== undefined) throw new Error(blockedReason);
  }

  /** Sorts messages by the channel that they may use. */
  private sort<T extends NewDelayedMessage>(messages: readonly T[]): Sorted<T> {
    const sorted: Sorted<T> = { together: [], alone: [], trials: new Map() };
    for (const message of messages) {
      if (this.silent?.has(message) === true) {
        const destination = this.silent.destinationOf(message);
        sorted.trials.set(destination, [...(sorted.trials.get(destination) ?? []), message]);
      } else if (this.refusing.has(message)) sorted.alone.push(message);
      else sorted.together.push(message);
    }
    return sorted;
  }

  /**
   * Publishes all messages at once, over one channel.
   * @returns the messages that were on their way when the channel closed because of one of them
   * @throws Error if no message is to blame
   */
  private async publishTogether<T extends NewDelayedMessage>(messages: T[], outcomes: Outcomes<T>): Promise<T[]> {
    if (messages.length === 0) return [];
    const line = await this.open();
    const failures: { message: T; error: Error }[] = [];
    const sendOne = (message: T): Promise<void> =>
      this.sendOn(line, message, outcomes).catch((error: Error) => void failures.push({ message, error }));
    await this.inTime(line, () => Promise.all(messages.map(sendOne)));
    if (line.channelError !== undefined) return failures.map(({ message }) => message);
    const other = failures.find(({ error }) => !isUnanswered(error));
    // What couldn't even be sent is no fault of its destination.
    if (other !== undefined) throw other.error;
    if (failures.length > 0) this.noteSilence(failures, line);
    for (const { message, error } of failures) outcomes.settleSilent(message, error);
    return [];
  }

  /**
   * Publishes one message to a destination that has not answered lately, on a channel of its own, and the others when that one was taken.
   * @param patienceMs how long it is waited for, while the trial itself goes on
   * @throws Error if the broker is to blame
   */
  private async tryDestination<T extends NewDelayedMessage>(
    messages: T[],
    outcomes: Outcomes<T>,
    patienceMs: number | undefined,
  ): Promise<void> {
    const [first, ...others] = messages;
    if (first === undefined) return;
    const holdBack = (some: readonly T[]): void => {
      for (const message of some) outcomes.settleSilent(message, new SilentDestinationError(message));
    };
    if (this.silent?.isAnswerOpen(first) === true) return holdBack(messages);
    const trial = this.tryOne(first, outcomes);
    if (patienceMs !== undefined && !(await endsWithin(trial, patienceMs))) {
      const answer = trial.catch(lateAnswer);
      answer.catch(() => undefined);
      this.answers.set(first, answer);
      outcomes.settleSilent(first, new OpenTrialError(first), trial);
      return holdBack(others);
    }
    try {
      await trial;
    } catch (error) {
      if (outcomes.errorOf(first) === undefined && !isUnanswered(error)) throw error;
      if (isUnanswered(error)) {
        outcomes.settleSilent(first, error);
        return holdBack(others);
      }
    }
    const suspects = await this.publishTogether(others, outcomes);
    if (suspects.length > 0) await this.publishOneByOne(suspects, outcomes);
  }

  /** Sends one message on a channel of its own. @throws why the broker does not have it, PublishTimeoutError if it has not answered */
  private async tryOne<T extends NewDelayedMessage>(message: T, outcomes: Outcomes<T>): Promise<void> {
    const line = await this.newLine();
    try {
      await this.inTime(line, () => this.sendOn(line, message, outcomes));
    } catch (error) {
      if (line.channelError === undefined && isUnanswered(error)) {
        this.noteSilence([{ message, error }], line);
        throw error;
      }
      line.close();
      if (line.channelError === undefined) throw error;
      this.refuse(message, line.channelError, outcomes);
    }
    line.close();
    const error = outcomes.errorOf(message);
    if (error !== undefined) throw error;
  }

  /** Publishes one message after the other, each alone on a channel, so that a channel that closes identifies its message. */
  private async publishOneByOne<T extends NewDelayedMessage>(messages: T[], outcomes: Outcomes<T>): Promise<void> {
    let own: Line | undefined;
    try {
      for (const message of messages) {
        if (own?.isClosed !== false) own = await this.newLine();
        const line = own;
        try {
          await this.inTime(line, () => this.sendOn(line, message, outcomes));
          this.refusing.delete(message);
        } catch (error) {
          if (line.channelError === undefined) {
            if (!isUnanswered(error)) throw error;
            own = undefined;
            this.noteSilence([{ message, error }], line);
            throw error;
          }
          this.refuse(message, line.channelError, outcomes);
        }
      }
    } finally {
      own?.close();
    }
  }

  /** Sends a message, and settles it if the answer is about it. @throws any other error */
  private async sendOn<T extends NewDelayedMessage>(line: Line, message: T, outcomes: Outcomes<T>): Promise<void> {
    outcomes.sending(message);
    try {
      await line.send(message);
    } catch (error) {
      if (isUnanswered(error) && error.answer !== undefined) this.answers.set(message, error.answer);
      if (!isOfMessage(error)) throw error;
      this.silent?.delete(message);
      return outcomes.settle(message, error);
    }
    this.silent?.delete(message);
    outcomes.settle(message);
  }

  /** Settles a message for which the broker has closed the channel. */
  private refuse<T extends NewDelayedMessage>(message: T, error: Error, outcomes: Outcomes<T>): void {
    this.refusing.note(message, error);
    this.silent?.delete(message);
    outcomes.settle(message, error);
  }

  /**
   * Records destinations that do not answer, unless the broker has said that it accepts nothing: that explains it. The channel is not used
   * for others any more, and stays open for the answers that may come yet.
   */
  private noteSilence(failures: readonly { message: NewDelayedMessage; error: Error }[], line: Line): void {
    const { silent } = this;
    if (silent === undefined) return;
    if (this.line === line) this.line = undefined;
    line.retire();
    if (this.connection.blockedReason !== undefined) return;
    const messages = failures.map(({ message }) => message);
    silent.note(messages);
    const [first] = failures;
    // One of several destinations may only be held up by another one, and is tried once more.
    if (
      new Set(messages.map((message) => silent.destinationOf(message))).size > 1 ||
      first === undefined ||
      !isUnanswered(first.error)
    )
      return;
    if (first.error.answer !== undefined) silent.awaitAnswer(first.message, first.error.answer);
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
    const line = new Line(await this.channel(), this.confirmTimeoutMs, () => this.room());
    for (const other of this.lines) if (other.isClosed) this.lines.delete(other);
    this.lines.add(line);
    return line;
  }

  /** Resolves when all channels take more: they share a socket, and each would read a body of its own for it. */
  private room(): Promise<void> | undefined {
    for (const line of this.lines) if (line.room !== undefined) return line.room;
    return undefined;
  }

  /** Opens a channel. Where each message is sent once, the connection is not cut because that takes long: its answers would be lost. */
  private channel(): Promise<ConfirmChannel> {
    return this.connection.channel({ isCut: this.silent !== undefined });
  }

  /** Settles messages whose exchange is missing, and returns the others. */
  private async withoutMissing<T extends NewDelayedMessage>(messages: T[], outcomes: Outcomes<T>): Promise<T[]> {
    const missing = await this.known.findMissing(messages.map(({ exchange }) => exchange));
    const open: T[] = [];
    for (const message of messages) {
      const error = missing.get(message.exchange);
      if (error === undefined) open.push(message);
      else outcomes.settle(message, error);
    }
    return open;
  }
}

/** The answer that may come yet to a message that had none in time. */
function lateAnswer(error: unknown): Promise<void> {
  return isUnanswered(error) && error.answer !== undefined ? error.answer : Promise.reject(error as Error);
}

/** Messages by the channel that they may use. */
interface Sorted<T> {
  /** Over the shared one. */
  together: T[];
  /** One after the other, because the broker closes the channel for those that it refuses. */
  alone: T[];
  /** Those to a destination that has not answered, by destination. */
  trials: Map<string, T[]>;
}
