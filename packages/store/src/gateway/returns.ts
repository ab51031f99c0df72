import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import type { DelayGateway } from "@rabbitmq-delay/topology";
import type { BrokerConnection } from "../broker/brokerConnection";
import { ConsumerEvents, ConsumerLimits, ConsumerSession, consumeBatches } from "../broker/consumer";
import type { NewDelayedMessage } from "../delayedMessage";
import { BatchPublisher, BrokerFaultError } from "../dispatch/batchPublisher";
import { Outcome, byMessage, isTaken } from "../dispatch/outcomes";
import { undeliveredCopy } from "../dispatch/parking";
import { LONGEST_REASON, RefusalEvents } from "../dispatch/refusalEvents";
import { Refusals } from "../dispatch/refusals";
import { RetrySettings, retryTime } from "../dispatch/settings";
import { Breaker, BreakerEvents, LastingFailures, watchConsumer } from "../resilience/breaker";
import { Pace, endsWithin } from "../resilience/pace";
import type { SteadyClock } from "../resilience/steadyClock";
import { LONGEST_TIMER_MS } from "../timer";
import { Returned, Waiting, checkReturned, isProbe, leftMs, unwrap } from "./envelope";
import type { NetworkEntry } from "./networkEntry";
import { Rounds } from "./rounds";

/** Events of a gateway's returns. */
export interface ReturnEvents extends BreakerEvents, ConsumerEvents, RefusalEvents {
  /** The broker has confirmed them; how late each was, in milliseconds. */
  onDelivered?: (messages: NewDelayedMessage[], latenessMs: number[]) => void;
  /** A delivery failed, and is tried again. */
  onRetry?: (message: NewDelayedMessage, failureCount: number, error: Error, retryAt: Date) => void;
  /** Messages came back before their time, and wait on: their delay takes several rounds, or something has shortened it. */
  onWaitingOn?: (count: number) => void;
  /** The broker takes no deliveries; they are tried again. */
  onDispatchFault?: (error: unknown) => void;
  /** The network does not take messages that are to wait once more; they are tried again. */
  onNetworkFault?: (error: unknown) => void;
}

/** The parts that returns work with. */
export interface ReturnParts {
  connection: BrokerConnection;
  publisher: BatchPublisher;
  entry: NetworkEntry;
  clock: SteadyClock;
  gateway: DelayGateway;
  settings: RetrySettings &
    ConsumerLimits & {
      timeToTriggerConsumeBreakerMs: number;
      timeToTriggerDispatchBreakerMs: number;
      timeToTriggerNetworkBreakerMs: number;
    };
  events?: ReturnEvents;
}

type Taken = Returned & { delivery: OpenDelivery };

/** How long an answer is waited for that did not come in time, before the message waits in the network, in milliseconds. */
const LATE_ANSWER_MS = 60_000;
/** How long a message waits in the network that the error queue has not accepted, before it is offered again, in milliseconds. */
const PUT_OFF_MS = 30_000;

/** Delivers what comes back from the network, and acknowledges each message when it is delivered, waits once more, or is in the error queue. */
export class Returns {
  readonly breakers: Record<"consume" | "round" | "dispatch" | "refuse", Breaker>;
  private readonly refusals: Refusals;
  private readonly rounds: Rounds;
  /** Whether the broker takes no deliveries now. */
  private isFaulty = false;
  /** Deliveries to destinations that have not answered lately. */
  private readonly trials = new Set<Promise<void>>();

  constructor(private readonly parts: ReturnParts) {
    const { settings, events, gateway, entry } = parts;
    const { timeToTriggerConsumeBreakerMs, timeToTriggerDispatchBreakerMs, timeToTriggerNetworkBreakerMs } = settings;
    const hasStuck = (): boolean => this.refusals.hasStuck;
    this.breakers = {
      consume: new Breaker("return", new LastingFailures(timeToTriggerConsumeBreakerMs), events),
      round: new Breaker("round", new LastingFailures(timeToTriggerNetworkBreakerMs), events),
      dispatch: new Breaker("dispatch", new LastingFailures(timeToTriggerDispatchBreakerMs), events),
      refuse: new Breaker("recovery", new LastingFailures(timeToTriggerDispatchBreakerMs), events, hasStuck),
    };
    const parking = { exchange: gateway.errorQueue, source: gateway.returnQueue };
    this.refusals = new Refusals({ ...parts, parking, breaker: this.breakers.refuse });
    this.rounds = new Rounds({
      entry,
      gateway,
      breaker: this.breakers.round,
      refuse: ({ delivery, ...one }, error) => this.refusals.refuse(delivery, error, this.copyOf(one, error)),
      onFault: events?.onNetworkFault,
    });
  }

  /** Whether the broker takes no deliveries, the network does not take what is to wait once more, or so much is in hand that nothing else comes. */
  get isHeldUp(): boolean {
    return this.isFaulty || this.rounds.heldCount > 0 || this.refusals.stuckCount >= this.parts.settings.prefetch;
  }

  /** Works until the signal; resolves when nothing is in hand any more. */
  run(signal: AbortSignal): Promise<void> {
    const { connection, gateway, settings, events } = this.parts;
    const handler = {
      begin: async (session: ConsumerSession) => {
        // What could not be delivered in the last session may be another process's by now.
        this.isFaulty = false;
        this.refusals.begin(session);
        this.rounds.begin(session);
      },
      handle: (batch: OpenDelivery[], session: ConsumerSession) => this.deliver(batch, session),
      settled: () => this.settled(),
    };
    const watched = watchConsumer(this.breakers.consume, events);
    return consumeBatches(connection, gateway.returnQueue, settings, handler, signal, watched);
  }

  /** Resolves when nothing is being sent any more: what were given back meanwhile would come twice. */
  private async settled(): Promise<void> {
    await Promise.all(this.trials);
    await this.rounds.settled();
  }

  private async deliver(batch: OpenDelivery[], { closing }: ConsumerSession): Promise<void> {
    const { events, publisher, entry } = this.parts;
    const returned = await this.read(batch);
    const { now } = entry;
    // The network may have a copy of these already; delivered as well, or sent there again, they would come twice.
    const underway = returned.filter((one) => entry.isUnderway(one));
    this.rounds.hold(underway);
    const fresh = returned.filter((one) => !underway.includes(one));
    const left = new Map(fresh.map((one) => [one, leftMs(one, now)]));
    const early = fresh.filter((one) => left.get(one) !== 0);
    if (early.length > 0) events?.onWaitingOn?.(early.length);
    const allDue = fresh.filter((one) => left.get(one) === 0);
    const refused = allDue.filter(({ refusal }) => refusal !== undefined);
    const due = allDue.filter((one) => !refused.includes(one));
    const held = publisher.findHeldBack(due.map(({ message }) => message));
    const open = due.filter(({ message }) => !held.has(message));
    this.rounds.send([
      ...early.map((one) => ({ ...one, waitMs: left.get(one) as number })),
      ...due
        .filter(({ message }) => held.has(message))
        .map((one) => ({ ...one, waitMs: held.get(one.message) as number })),
    ]);
    await this.settleAll(open, closing);
    for (const one of refused) await this.refuse(one.delivery, new Error(one.refusal), one);
  }

  /** Delivers messages until it is known what became of each: ending the session would only bring them again, and others' trials to a halt. */
  private async settleAll(all: Taken[], closing: AbortSignal): Promise<void> {
    const { publisher, events } = this.parts;
    const pace = new Pace();
    let open = all;
    for (;;) {
      const tried = open.filter(({ message }) => publisher.isTrial(message));
      for (const one of tried) this.tryBeside(one, closing);
      const { left, fault } = await this.settle(open.filter((one) => !tried.includes(one)));
      this.isFaulty = fault !== undefined;
      if (fault === undefined) return;
      events?.onDispatchFault?.(fault);
      await pace.pauseAfterFailure(closing);
      if (closing.aborted) throw fault;
      const held = publisher.findHeldBack(left.map(({ message }) => message));
      for (const one of left) if (held.has(one.message)) this.waitOut(one);
      const others = left.filter(({ message }) => !held.has(message));
      // What the broker has not answered for, as in an alarm, it may take when that is over; sent again, it would come twice.
      const unanswered = others.filter(({ message }) => publisher.answerTo(message) !== undefined);
      for (const one of unanswered) this.beside(this.settleLate(one, closing));
      open = others.filter((one) => !unanswered.includes(one));
    }
  }

  /** Waits for the answer to a message that had none in time, however long, and delivers it anew where the broker has not taken it. */
  private async settleLate(one: Taken, closing: AbortSignal): Promise<void> {
    if (await this.isTakenLate(one.message, closing, LONGEST_TIMER_MS)) return this.acknowledgeDelivered([one]);
    try {
      if (!closing.aborted) await this.settleAll([one], closing);
    } catch (error) {
      // The session has ended, and the message is given back with it.
      if (!closing.aborted) throw error;
    }
  }

  /** Delivers a message whose destination has not answered lately, while others are delivered. */
  private tryBeside(one: Taken, closing: AbortSignal): void {
    this.beside(this.settleTrial(one, closing));
  }

  /** Lets work go on while others are delivered, until the session ends. */
  private beside(work: Promise<void>): void {
    const trial = work.finally(() => this.trials.delete(trial));
    this.trials.add(trial);
  }

  private async settleTrial(one: Taken, closing: AbortSignal): Promise<void> {
    const { message } = one;
    const nowMs = this.parts.clock.now();
    const { outcomes } = await this.publish([one]);
    const outcome = outcomes.get(message);
    if (isTaken(outcome) || (await this.isTakenLate(message, closing))) this.acknowledgeDelivered([one]);
    else if (closing.aborted) return;
    else if (outcome?.error === undefined || outcome.isSilent === true) this.waitOut(one);
    else this.rounds.send(await this.retryOrRefuse([one], outcomes, nowMs));
  }

  /** Whether the broker takes a message after all that it had not answered for in time. */
  private async isTakenLate(
    message: NewDelayedMessage,
    closing: AbortSignal,
    limitMs = LATE_ANSWER_MS,
  ): Promise<boolean> {
    const answer = this.parts.publisher.answerTo(message);
    if (answer === undefined) return false;
    let isAccepted = false;
    await endsWithin(
      answer.then(() => (isAccepted = true)),
      limitMs,
      closing,
    );
    return isAccepted;
  }

  /** Lets a message wait as long as its silent destination has to. */
  private waitOut(one: Taken): void {
    this.rounds.send([{ ...one, waitMs: this.parts.publisher.pauseOf(one.message) }]);
  }

  /** Delivers messages. @returns those of which it isn't known what became of them, and the fault of the broker */
  private async settle(open: Taken[]): Promise<{ left: Taken[]; fault?: BrokerFaultError }> {
    const nowMs = this.parts.clock.now();
    const { outcomes, fault } = await this.publish(open);
    const isSilent = ({ message }: Taken): boolean => outcomes.get(message)?.isSilent === true;
    this.acknowledgeDelivered(open.filter(({ message }) => isTaken(outcomes.get(message))));
    for (const one of open.filter(isSilent)) this.waitOut(one);
    const failed = open.filter((one) => outcomes.get(one.message)?.error !== undefined && !isSilent(one));
    this.rounds.send(await this.retryOrRefuse(failed, outcomes, nowMs));
    return { left: open.filter(({ message }) => !outcomes.has(message)), fault };
  }

  /** Reads deliveries; what no gateway has sent goes to the error queue. */
  private async read(batch: OpenDelivery[]): Promise<Taken[]> {
    const returned: Taken[] = [];
    for (const delivery of batch) {
      if (isProbe(delivery)) {
        delivery.acknowledge();
        continue;
      }
      let one: Taken | undefined;
      try {
        one = { delivery, ...unwrap(delivery) };
        checkReturned(one, this.parts.gateway);
        returned.push(one);
      } catch (error) {
        if (!(error instanceof MessageRefusedError)) throw error;
        await this.refuse(delivery, error, one);
      }
    }
    return returned;
  }

  /** @returns what became of each as far as known, and the fault of the broker because of which it isn't known of all */
  private async publish(open: Taken[]): Promise<{ outcomes: Outcomes; fault?: BrokerFaultError }> {
    if (open.length === 0) return { outcomes: new Map() };
    try {
      const messages = open.map(({ message }) => message);
      return {
        outcomes: byMessage(await this.breakers.dispatch.execute(() => this.parts.publisher.publishAll(messages))),
      };
    } catch (error) {
      if (!(error instanceof BrokerFaultError)) throw error;
      return { outcomes: byMessage(error.outcomes), fault: error };
    }
  }

  private acknowledgeDelivered(delivered: Taken[]): void {
    const { clock, events } = this.parts;
    for (const { delivery } of delivered) delivery.acknowledge();
    if (delivered.length === 0) return;
    const nowMs = clock.now();
    events?.onDelivered?.(
      delivered.map(({ message }) => message),
      delivered.map(({ message }) => Math.max(0, nowMs - message.dueAt.getTime())),
    );
  }

  /** Puts messages whose tries are used up into the error queue. @returns the others */
  private async retryOrRefuse(failed: Taken[], outcomes: Outcomes, nowMs: number): Promise<Taken[]> {
    const { settings, events } = this.parts;
    const retried: Taken[] = [];
    for (const one of failed) {
      const { message, delivery, failureCount } = one;
      const error = outcomes.get(message)?.error as Error;
      if (failureCount >= settings.numberOfRetries) {
        await this.refuse(delivery, error, one);
        continue;
      }
      const retryAt = retryTime(failureCount, settings, nowMs);
      retried.push({ ...one, failureCount: failureCount + 1, waitMs: retryAt.getTime() - nowMs });
      events?.onRetry?.(message, failureCount + 1, error, retryAt);
    }
    return retried;
  }

  /** Puts a message into the error queue: as it was published, where that is known, and else as it came. */
  private refuse(delivery: OpenDelivery, error: Error, known: Taken | undefined): Promise<void> {
    if (known === undefined) return this.refusals.refuse(delivery, error);
    const refusal = error.message.slice(0, LONGEST_REASON);
    const putOff = (): void => this.rounds.send([{ ...known, refusal, waitMs: PUT_OFF_MS }]);
    return this.refusals.refuse(delivery, error, this.copyOf(known, error), putOff);
  }

  private copyOf({ message, failureCount }: Waiting, error: Error): NewDelayedMessage {
    const { gateway } = this.parts;
    const parking = { exchange: gateway.errorQueue, source: gateway.name };
    return undeliveredCopy(message, parking, { error, tries: failureCount + 1 });
  }
}

type Outcomes = Map<NewDelayedMessage, Outcome<NewDelayedMessage>>;
