import type { DelayedMessage, NewDelayedMessage } from "../delayedMessage";
import type { DelayedMessageStore, DueMessages } from "../delayedMessageStore";
import { Breaker, BreakerEvents, FrequentFailures, LastingFailures } from "../resilience/breaker";
import { Pace, pause } from "../resilience/pace";
import { SteadyClock } from "../resilience/steadyClock";
import { Alarm } from "./alarm";
import { BatchPublisher, BrokerFaultError } from "./batchPublisher";
import { LateAnswers } from "./lateAnswers";
import type { Outcome } from "./outcomes";
import { Parking, isUsedUp, undeliveredCopy } from "./parking";
import { DispatchSettings, retryTime } from "./settings";
import { Unremoved } from "./unremoved";

/** Events of a dispatcher. */
export interface DispatcherEvents extends BreakerEvents {
  /** The broker has confirmed them; how late each was, in milliseconds. */
  onDelivered?: (messages: DelayedMessage[], latenessMs: number[]) => void;
  /** A delivery failed, and is tried again. */
  onRetry?: (message: DelayedMessage, error: Error, retryAt: Date) => void;
  /** A message is in the error queue. */
  onParked?: (message: DelayedMessage, error: Error) => void;
  /** A message could not be put into the error queue, and stays in the store. */
  onStuck?: (message: DelayedMessage, error: unknown) => void;
  /** The database or the broker failed; the dispatcher goes on automatically. */
  onFault?: (error: unknown) => void;
}

/** The parts that a dispatcher works with. */
export interface DispatcherParts {
  store: DelayedMessageStore;
  publisher: BatchPublisher;
  clock: SteadyClock;
  parking: Parking;
  settings: DispatchSettings;
  events?: DispatcherEvents;
}

/** The longest sleep, in case a wake-up call was missed. */
const LONGEST_SLEEP_MS = 30_000;
/** How often a broker is looked for that failed at the last delivery, while nothing is due. */
const TRIED_AGAIN_MS = 5000;
/** How long other messages wait for one whose destination was silent before, in milliseconds. */
const TRIAL_PATIENCE_MS = 250;
/** How long to wait, time after time, for messages that others have in hand. */
const OTHERS_MS = [0, 5, 20, 50];

/**
 * Publishes messages when they are due, and removes them: under the store's lock, waiting for each confirm. A failed message is tried
 * again, and goes to the error queue when its tries are used up. A message that the broker or the database holds up waits.
 */
export class Dispatcher {
  readonly breakers: Record<"fetch" | "dispatch" | "recovery" | "removal", Breaker>;
  private readonly unremoved = new Unremoved();
  private readonly late = new LateAnswers(this.unremoved);
  /** Messages that the broker has taken after all, and that are to be removed. */
  private takenLate: DelayedMessage[] = [];
  private readonly alarms: Alarm[];
  /** Time by which all messages have been offered again that the error queue has not accepted, on a clock that never jumps. */
  private stuckUntilMs = 0;

  constructor(private readonly parts: DispatcherParts) {
    const { settings, events, store } = parts;
    this.breakers = {
      fetch: new Breaker("fetch", new LastingFailures(settings.timeToTriggerFetchBreakerMs), events),
      dispatch: new Breaker("dispatch", new LastingFailures(settings.timeToTriggerDispatchBreakerMs), events),
      removal: new Breaker("removal", new LastingFailures(settings.timeToTriggerDispatchBreakerMs), events),
      recovery: new Breaker(
        "recovery",
        new FrequentFailures(settings.maximumRecoveryFailuresPerSecond),
        events,
        () => performance.now() < this.stuckUntilMs,
      ),
    };
    const count = store.isConcurrent === false ? 1 : settings.concurrency;
    this.alarms = Array.from({ length: count }, () => new Alarm());
  }

  /** Announces a message that was stored or rescheduled. */
  wake(attemptAt: Date): void {
    for (const alarm of this.alarms) alarm.call(attemptAt.getTime());
  }

  /** Works until the signal; resolves when nothing is in hand any more. */
  async run(signal: AbortSignal): Promise<void> {
    const stopListening = this.parts.store.onStored?.((attemptAt) => this.wake(attemptAt));
    await Promise.all(this.alarms.map((alarm) => this.work(alarm, signal)));
    stopListening?.();
    // Another process would publish them once more.
    if (this.takenLate.length > 0)
      await this.parts.store
        .inLock((due) => this.removeTakenLate(due))
        .catch((error: unknown) => this.parts.events?.onFault?.(error));
  }

  private async work(alarm: Alarm, signal: AbortSignal): Promise<void> {
    const pace = new Pace();
    let inVain = 0;
    while (!signal.aborted) {
      try {
        alarm.reset();
        const isMore = await this.dispatchDue();
        pace.reset();
        if (isMore || signal.aborted) inVain = 0;
        else inVain = (await this.sleep(alarm, signal, inVain)) ? inVain + 1 : 0;
      } catch (error) {
        this.parts.events?.onFault?.(error);
        await pace.pauseAfterFailure(signal);
      }
    }
  }

  /**
   * Sleeps until something may be due.
   * @param inVain how often in a row due messages could not be had
   * @returns whether that is so again, because another instance has them in hand
   */
  private async sleep(alarm: Alarm, signal: AbortSignal, inVain: number): Promise<boolean> {
    const { store, clock, publisher } = this.parts;
    const next = await this.breakers.fetch.execute(() => store.next());
    if (next !== undefined && next.getTime() <= clock.now()) {
      await pause(OTHERS_MS[Math.min(inVain, OTHERS_MS.length - 1)] as number, signal);
      return true;
    }
    if (next !== undefined) alarm.call(next.getTime());
    const { dispatch } = this.breakers;
    await publisher.tryFor(dispatch);
    const longestMs = dispatch.isTriggered ? TRIED_AGAIN_MS : LONGEST_SLEEP_MS;
    await alarm.sleep(Math.min(longestMs, store.pollMs ?? longestMs), () => clock.now(), signal);
    return false;
  }

  /**
   * Dispatches one batch.
   * @returns whether there may be more
   * @throws Error of the database, or BrokerFaultError
   */
  private async dispatchDue(): Promise<boolean> {
    const { store, clock, settings } = this.parts;
    let fault: BrokerFaultError | undefined;
    const through: DelayedMessage[] = [];
    const work = (): Promise<number> =>
      store.inLock(async (due) => {
        through.push(...(await this.removeTakenLate(due)));
        const messages = await due.fetchDue(new Date(clock.now()), settings.batchSize, settings.maximumBatchBytes);
        if (messages.length === 0) return 0;
        const before = messages.filter((message) => this.unremoved.has(message));
        through.push(...before);
        await due.removeAll(before);
        const open = messages.filter((message) => !this.unremoved.has(message));
        const held = this.findHeldBack(due, open);
        const published = await this.publish(
          open.filter((message) => !held.has(message)),
          due.postpone === undefined ? undefined : TRIAL_PATIENCE_MS,
        );
        fault = published.fault;
        if (due.postpone !== undefined)
          for (const { message, isSilent } of published.outcomes)
            if (isSilent === true) held.set(message, this.parts.publisher.pauseOf(message));
        const inDoubt = (fault?.inDoubt ?? []) as DelayedMessage[];
        this.follow([...published.outcomes.filter(({ message }) => held.has(message)), ...inDoubt.map(toOutcome)]);
        const answered = published.outcomes.filter(({ message }) => !held.has(message));
        await this.settle(due, answered, through);
        await this.postpone(due, held);
        const doubtful = published.outcomes.filter(({ isInDoubt }) => isInDoubt).map(({ message }) => message);
        await due.noteDoubts?.([...doubtful, ...inDoubt]);
        return messages.length;
      });
    const count = await this.breakers.fetch.execute(() => this.watchRemoval(through, work));
    if (fault !== undefined) throw fault;
    return count > 0;
  }

  /**
   * Messages whose destination does not answer, each with the time until it is tried, in milliseconds; none if the store can't postpone
   * them.
   */
  private findHeldBack(due: DueMessages, messages: DelayedMessage[]): Map<DelayedMessage, number> {
    return due.postpone === undefined ? new Map() : this.parts.publisher.findHeldBack(messages);
  }

  private async postpone(due: DueMessages, held: Map<DelayedMessage, number>): Promise<void> {
    if (held.size === 0) return;
    const nowMs = this.parts.clock.now();
    const postponed = [...held].map(([message, ms]) => ({ message, retryAt: new Date(nowMs + Math.ceil(ms)) }));
    await due.postpone?.(postponed);
    for (const { message, retryAt } of postponed) this.late.postpone(message, retryAt);
  }

  /** Removes what the broker has taken after all, and returns it. If that fails, it is removed when it is due again. */
  private async removeTakenLate(due: DueMessages): Promise<DelayedMessage[]> {
    if (due.removeUnchanged === undefined) return [];
    const taken = this.takenLate.splice(0);
    if (taken.length > 0) await due.removeUnchanged(taken);
    return taken;
  }

  /** Waits for the ends of trials, and for late answers, while other messages are dispatched. */
  private follow(silent: Outcome<DelayedMessage>[]): void {
    const { publisher, clock, events } = this.parts;
    const onTaken = (message: DelayedMessage): void => {
      this.takenLate.push(message);
      this.wake(new Date(clock.now()));
      events?.onDelivered?.([message], [Math.max(0, clock.now() - message.dueAt.getTime())]);
    };
    for (const { message, trial } of silent) {
      if (trial !== undefined) this.breakers.dispatch.execute(() => trial).catch(() => undefined);
      const answer = publisher.answerTo(message);
      if (answer !== undefined) this.late.await(message, answer, onTaken);
    }
  }

  /**
   * Watches work at whose end messages are removed.
   * @param through the messages that are to be removed then, as far as known when the work ends
   */
  private async watchRemoval<T>(through: DelayedMessage[], work: () => Promise<T>): Promise<T> {
    const { removal } = this.breakers;
    try {
      const result = await work();
      if (through.length > 0) await removal.execute(() => Promise.resolve());
      this.unremoved.delete(through);
      return result;
    } catch (error) {
      this.unremoved.add(through);
      if (through.length > 0) await removal.execute(() => Promise.reject(error as Error)).catch(() => undefined);
      throw error;
    }
  }

  private async publish(
    messages: DelayedMessage[],
    trialPatienceMs: number | undefined,
  ): Promise<{ outcomes: Outcome<DelayedMessage>[]; fault?: BrokerFaultError }> {
    if (messages.length === 0) return { outcomes: [] };
    const { dispatch } = this.breakers;
    try {
      const outcomes = await this.parts.publisher.publishAll(messages, { trialPatienceMs });
      // Trials that go on are no success yet.
      if (outcomes.some(({ trial }) => trial === undefined)) await dispatch.execute(() => Promise.resolve());
      return { outcomes };
    } catch (error) {
      await dispatch.execute(() => Promise.reject(error as Error)).catch(() => undefined);
      if (!(error instanceof BrokerFaultError)) throw error;
      return { outcomes: error.outcomes as Outcome<DelayedMessage>[], fault: error };
    }
  }

  /** @param through gets the messages that are to be removed */
  private async settle(
    due: DueMessages,
    outcomes: Outcome<DelayedMessage>[],
    through: DelayedMessage[],
  ): Promise<void> {
    const { clock, settings, events } = this.parts;
    const nowMs = clock.now();
    const delivered = outcomes.filter(({ error }) => error === undefined).map(({ message }) => message);
    const failed = outcomes.filter((outcome): outcome is Failed => outcome.error !== undefined);
    const parked = await this.park(failed.filter(({ message }) => isUsedUp(message, settings.numberOfRetries)));
    const kept = failed
      .filter(({ message }) => !parked.has(message))
      .map(({ message, error }) => ({ message, error, retryAt: retryTime(message.failureCount, settings, nowMs) }));
    this.noteStuck(
      kept.filter(({ message }) => isUsedUp(message, settings.numberOfRetries)),
      parked.size,
      nowMs,
    );
    through.push(...delivered, ...parked);
    await due.removeAll([...delivered, ...parked]);
    await due.incrementFailureCounts(kept);
    for (const { message, error, retryAt } of kept) {
      if (!isUsedUp(message, settings.numberOfRetries)) events?.onRetry?.(message, error, retryAt);
    }
    if (delivered.length > 0) {
      events?.onDelivered?.(
        delivered,
        delivered.map(({ dueAt }) => Math.max(0, nowMs - dueAt.getTime())),
      );
    }
  }

  /**
   * Notes until when messages wait for the error queue. If none is offered again in time, they were cancelled, or another instance has put
   * them there.
   */
  private noteStuck(stuck: { retryAt: Date }[], parkedCount: number, nowMs: number): void {
    // Both to its destination and to the error queue.
    const triedMs = 2 * this.parts.settings.confirmTimeoutMs;
    const pausesMs = stuck.map(({ retryAt }) => retryAt.getTime() - nowMs);
    if (stuck.length > 0)
      this.stuckUntilMs = Math.max(this.stuckUntilMs, performance.now() + Math.max(...pausesMs) + triedMs);
    else if (parkedCount > 0) this.stuckUntilMs = 0;
  }

  /** @returns the messages that are in the error queue */
  private async park(failed: Failed[]): Promise<Set<DelayedMessage>> {
    const { publisher, parking, events } = this.parts;
    const parked = new Set<DelayedMessage>();
    if (failed.length === 0) return parked;
    const copies = failed.map(({ message, error }) =>
      undeliveredCopy(message, parking, { error, tries: message.failureCount + 1 }),
    );
    let outcomes: Outcome<NewDelayedMessage>[];
    let reason: unknown = new Error("the broker did not say what became of it");
    try {
      outcomes = await publisher.publishAll(copies);
    } catch (error) {
      if (!(error instanceof BrokerFaultError)) throw error;
      ({ outcomes } = error);
      reason = error;
    }
    const failures = new Map(outcomes.map(({ message, error }) => [message, error]));
    for (const [index, { message, error }] of failed.entries()) {
      const copy = copies[index] as NewDelayedMessage;
      const failure = failures.has(copy) ? failures.get(copy) : reason;
      const isParked = await this.breakers.recovery
        .execute(async () => {
          if (failure !== undefined) throw failure;
        })
        .then(
          () => true,
          () => false,
        );
      if (isParked) {
        parked.add(message);
        events?.onParked?.(message, error);
      } else events?.onStuck?.(message, failure);
    }
    return parked;
  }
}

function toOutcome(message: DelayedMessage): Outcome<DelayedMessage> {
  return { message };
}

/** A message whose delivery failed because of the message itself. */
interface Failed {
  message: DelayedMessage;
  error: Error;
}
