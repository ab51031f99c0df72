import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import type { DelayGateway } from "@rabbitmq-delay/topology";
import type { BrokerConnection } from "../broker/brokerConnection";
import { ConsumerEvents, ConsumerSession, consumeBatches } from "../broker/consumer";
import type { NewDelayedMessage } from "../delayedMessage";
import { BatchPublisher, BrokerFaultError } from "../dispatch/batchPublisher";
import type { Outcome } from "../dispatch/outcomes";
import { undeliveredCopy } from "../dispatch/parking";
import { RefusalEvents, Refusals } from "../dispatch/refusals";
import { RetrySettings, retryTime } from "../dispatch/settings";
import { Breaker, BreakerEvents, LastingFailures, watchConsumer } from "../resilience/breaker";
import type { SteadyClock } from "../resilience/steadyClock";
import { Returned, checkReturned, isProbe, leftMs, unwrap } from "./envelope";
import type { NetworkEntry } from "./networkEntry";

/** Events of a gateway's returns. */
export interface ReturnEvents extends BreakerEvents, ConsumerEvents, RefusalEvents {
  /** The broker has confirmed them; how late each was, in milliseconds. */
  onDelivered?: (messages: NewDelayedMessage[], latenessMs: number[]) => void;
  /** A delivery failed, and is tried again. */
  onRetry?: (message: NewDelayedMessage, failureCount: number, error: Error, retryAt: Date) => void;
  /** Messages came back before their time, and wait on: their delay takes several rounds, or something has shortened it. */
  onWaitingOn?: (count: number) => void;
}

/** The parts that returns work with. */
export interface ReturnParts {
  connection: BrokerConnection;
  publisher: BatchPublisher;
  entry: NetworkEntry;
  clock: SteadyClock;
  gateway: DelayGateway;
  settings: RetrySettings & {
    prefetch: number;
    batchSize: number;
    timeToTriggerConsumeBreakerMs: number;
    timeToTriggerDispatchBreakerMs: number;
  };
  events?: ReturnEvents;
}

type Taken = Returned & { delivery: OpenDelivery };

/** Delivers what comes back from the network, and acknowledges each message when it is delivered, waits once more, or is in the error queue. */
export class Returns {
  readonly breakers: Record<"consume" | "dispatch" | "refuse", Breaker>;
  private readonly refusals: Refusals;

  constructor(private readonly parts: ReturnParts) {
    const { settings, events, gateway } = parts;
    const { timeToTriggerConsumeBreakerMs, timeToTriggerDispatchBreakerMs } = settings;
    this.breakers = {
      consume: new Breaker("return", new LastingFailures(timeToTriggerConsumeBreakerMs), events),
      dispatch: new Breaker("dispatch", new LastingFailures(timeToTriggerDispatchBreakerMs), events),
      refuse: new Breaker("recovery", new LastingFailures(timeToTriggerDispatchBreakerMs), events),
    };
    const parking = { exchange: gateway.errorQueue, source: gateway.returnQueue };
    this.refusals = new Refusals({ ...parts, parking, breaker: this.breakers.refuse });
  }

  /** Works until the signal; resolves when nothing is in hand any more. */
  run(signal: AbortSignal): Promise<void> {
    const { connection, gateway, settings, events } = this.parts;
    const handler = {
      begin: async (session: ConsumerSession) => this.refusals.begin(session),
      handle: (batch: OpenDelivery[]) => this.deliver(batch),
    };
    const watched = watchConsumer(this.breakers.consume, events);
    return consumeBatches(connection, gateway.returnQueue, settings, handler, signal, watched);
  }

  private async deliver(batch: OpenDelivery[]): Promise<void> {
    const { clock, events, publisher, entry } = this.parts;
    const returned = await this.read(batch);
    const nowMs = clock.now();
    const { now } = entry;
    // The network may have a copy of these already; delivered as well, or sent there again, they would come twice.
    const underway = returned.filter((one) => entry.isUnderway(one));
    const fresh = returned.filter((one) => !underway.includes(one));
    const left = new Map(fresh.map((one) => [one, leftMs(one, now)]));
    const early = fresh.filter((one) => left.get(one) !== 0);
    if (early.length > 0) events?.onWaitingOn?.(early.length);
    const due = fresh.filter((one) => left.get(one) === 0);
    const held = publisher.findHeldBack(due.map(({ message }) => message));
    const open = due.filter(({ message }) => !held.has(message));
    const { outcomes, fault } = await this.publish(open);
    for (const { message, isSilent } of outcomes.values())
      if (isSilent === true) held.set(message, publisher.pauseOf(message));

    this.acknowledgeDelivered(open.filter(({ message }) => isDelivered(outcomes.get(message))));
    const postponed = due.filter(({ message }) => held.has(message));
    const again = early.map((one) => ({ ...one, waitMs: left.get(one) as number }));
    const later = postponed.map((one) => ({ ...one, waitMs: held.get(one.message) as number }));
    const failed = open.filter(({ message }) => outcomes.get(message)?.error !== undefined && !held.has(message));
    const retried = await this.retryOrRefuse(failed, outcomes, nowMs);
    await this.waitOn([...underway, ...again, ...later, ...retried]);
    if (fault !== undefined) throw fault;
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
    const byMessage = (all: Outcome<NewDelayedMessage>[]): Outcomes => new Map(all.map((one) => [one.message, one]));
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

  /** Sends messages into the network once more; what can't be sent goes to the error queue. */
  private async waitOn(waiting: Taken[]): Promise<void> {
    if (waiting.length === 0) return;
    const { entry } = this.parts;
    let refusal: MessageRefusedError | undefined;
    try {
      await entry.enter(waiting);
    } catch (error) {
      if (!(error instanceof MessageRefusedError)) throw error;
      refusal = error;
    } finally {
      for (const one of waiting) if (entry.hasEntered(one)) one.delivery.acknowledge();
    }
    if (refusal === undefined) return;
    const [only, ...others] = waiting.filter((one) => !entry.hasEntered(one));
    if (waiting.length === 1 && only !== undefined) return this.refuse(only.delivery, refusal, only);
    for (const one of only === undefined ? [] : [only, ...others]) await this.waitOn([one]);
  }

  /** Puts a message into the error queue: as it was published, where that is known, and else as it came. */
  private refuse(delivery: OpenDelivery, error: Error, known: Taken | undefined): Promise<void> {
    if (known === undefined) return this.refusals.refuse(delivery, error);
    const { gateway } = this.parts;
    const parking = { exchange: gateway.errorQueue, source: gateway.name };
    const copy = undeliveredCopy(known.message, parking, { error, tries: known.failureCount + 1 });
    return this.refusals.refuse(delivery, error, copy);
  }
}

type Outcomes = Map<NewDelayedMessage, Outcome<NewDelayedMessage>>;

function isDelivered(outcome: Outcome<NewDelayedMessage> | undefined): boolean {
  return outcome !== undefined && outcome.error === undefined;
}
