import { randomUUID } from "node:crypto";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import type { DelayGateway, DelayedStore } from "@rabbitmq-delay/topology";
import { bodyBytesOf } from "../broker/bodies";
import type { BrokerConnection } from "../broker/brokerConnection";
import { ConsumerEvents, ConsumerLimits, ConsumerSession, consumeBatches } from "../broker/consumer";
import type { MessageLimits, NewDelayedMessage } from "../delayedMessage";
import type { DelayedMessageStore, IntakeReceipts, TakenMessage } from "../delayedMessageStore";
import type { BatchPublisher } from "../dispatch/batchPublisher";
import type { RefusalEvents } from "../dispatch/refusalEvents";
import { Refusals } from "../dispatch/refusals";
import { Breaker, BreakerEvents, BreakerName, LastingFailures, watchConsumer } from "../resilience/breaker";
import { Pace, pause } from "../resilience/pace";
import type { SteadyClock } from "../resilience/steadyClock";
import { SWEEP_MS } from "../sql/receipts";
import { earlierDeliveriesOf, fingerprintOf, hasMessageId } from "./fingerprint";
import { DelayReading, hasDueTime, interpret, replayHeaders } from "./interpret";

/** Events of an intake. */
export interface IntakeEvents extends BreakerEvents, ConsumerEvents, RefusalEvents {
  onStored?: (messages: NewDelayedMessage[]) => void;
  /** The broker has delivered messages again that are or were stored; they are acknowledged, and not stored once more. */
  onRecognized?: (deliveries: OpenDelivery[]) => void;
  /** Nothing is taken in for this long, in milliseconds, until it is known what another process, which may have crashed, has stored. */
  onWaiting?: (waitMs: number) => void;
}

/** The parts that an intake works with. */
export interface IntakeParts {
  connection: BrokerConnection;
  /** Where messages are stored: a store, or a delay network. */
  store: Pick<DelayedMessageStore, "storeAll" | "receipts"> & {
    /** Whether it has a message although storing it together with others failed; default: it never has. */
    has?(message: NewDelayedMessage): boolean;
    /** Told of each message that was read and has no due time of its own, before it is stored, with the time from which its delay counts. */
    noteRead?(message: NewDelayedMessage, nowMs: number): void;
  };
  publisher: BatchPublisher;
  clock: SteadyClock;
  descriptor: DelayedStore | DelayGateway;
  limits: MessageLimits;
  /** How delays are read, and from when they count; default: strictly, and from the intake. */
  reading?: DelayReading;
  settings: ConsumerLimits & {
    timeToTriggerStoreBreakerMs: number;
    timeToTriggerConsumeBreakerMs: number;
  };
  /** What the breaker is called that watches storing; default `store`. */
  storeBreaker?: BreakerName;
  events?: IntakeEvents;
}

interface Accepted {
  delivery: OpenDelivery;
  message: NewDelayedMessage;
}

/** How many ended sessions are remembered, because receipts of them may be left. */
const ENDED_SESSIONS = 100;
/** How often lots are dropped for which the broker has all acknowledgements. */
const SETTLE_MS = 250;

/**
 * Takes messages out of the intake queue into the store, and acknowledges each when its row is committed. A message that the broker
 * delivers once more is recognized by what was committed with it; see IntakeReceipts.
 */
export class Intake {
  readonly breakers: Record<"consume" | "store" | "refuse", Breaker>;
  /** This instance's own sessions, the current one last. */
  private sessions: string[] = [];
  /** Lots whose messages were acknowledged in the current session, but not yet with an answer of the broker. */
  private acknowledged: string[] = [];
  /** Lots for which the broker has all acknowledgements, and that are not dropped yet. */
  private answered: string[] = [];
  /** The settling in progress. The next one, above all the last of a session, waits for it. */
  private settling: Promise<void> = Promise.resolve();
  private readonly refusals: Refusals;

  constructor(private readonly parts: IntakeParts) {
    const { settings, events, descriptor, storeBreaker = "store" } = parts;
    const { timeToTriggerConsumeBreakerMs, timeToTriggerStoreBreakerMs } = settings;
    const hasStuck = (): boolean => this.refusals.hasStuck;
    const refuse = new Breaker("refuse", new LastingFailures(timeToTriggerConsumeBreakerMs), events, hasStuck);
    this.breakers = {
      consume: new Breaker("consume", new LastingFailures(timeToTriggerConsumeBreakerMs), events),
      store: new Breaker(storeBreaker, new LastingFailures(timeToTriggerStoreBreakerMs), events),
      refuse,
    };
    const parking = { exchange: descriptor.errorQueue, source: descriptor.intakeQueue };
    this.refusals = new Refusals({
      ...parts,
      parking,
      breaker: refuse,
      headersOf: (delivery) => replayHeaders(delivery, descriptor),
    });
  }

  /** Whether so many refused messages are in hand, because the error queue does not accept them, that no other one comes. */
  get isHeldUp(): boolean {
    return this.refusals.stuckCount >= this.parts.settings.prefetch;
  }

  /** Works until the signal; resolves when nothing is in hand any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { connection, descriptor, settings, events } = this.parts;
    const handler = {
      begin: (session: ConsumerSession) => this.begin(session),
      handle: (batch: OpenDelivery[], session: ConsumerSession) => this.take(batch, session),
      end: (session: ConsumerSession) => this.settle(session),
    };
    const watched = watchConsumer(this.breakers.consume, events);
    const consumed = consumeBatches(connection, descriptor.intakeQueue, settings, handler, signal, watched);
    await Promise.all([consumed, this.sweep(signal)]);
  }

  /** Drops records by which no message can be recognized any more, whether messages come or not. */
  private async sweep(signal: AbortSignal): Promise<void> {
    const { receipts } = this.parts.store;
    while (receipts !== undefined && !signal.aborted) {
      await pause(SWEEP_MS, signal);
      // Nothing depends on it: records that are too old are not matched either, and a failure also shows when messages are stored.
      if (!signal.aborted) await receipts.sweep().catch(() => undefined);
    }
  }

  private async begin(session: ConsumerSession): Promise<void> {
    const { id, closing } = session;
    const { receipts } = this.parts.store;
    const ended = this.sessions;
    this.sessions = [...ended, id].slice(-ENDED_SESSIONS);
    // Those of a channel that broke may come back, so they stay.
    this.acknowledged = [];
    this.refusals.begin(session);
    if (receipts === undefined) return;
    await this.waitAndRun((isPatient) => receipts.begin(id, ended, isPatient), closing);
    void this.keepSettling(session, receipts);
  }

  /** Drops records by which no message with an id can be recognized any more, while a session lasts. */
  private async keepSettling(session: ConsumerSession, receipts: IntakeReceipts): Promise<void> {
    for (let sweptMs = performance.now(); ;) {
      await pause(SETTLE_MS, session.closing);
      if (session.closing.aborted) return;
      await this.settle(session);
      if (performance.now() - sweptMs < SWEEP_MS) continue;
      sweptMs = performance.now();
      // As with receipts: a failure also shows when messages are stored, and the next call repeats this.
      await receipts.sweepLots(session.id).catch(() => undefined);
    }
  }

  /**
   * Drops the lots for which the broker has all acknowledgements. After a failure they are left to the next time, or to the next session.
   * Resolves when none is being dropped any more: a lot that outlives its session would swallow an equal message that is published anew.
   */
  private settle(session: ConsumerSession): Promise<void> {
    this.settling = this.settling.then(() => this.dropAnswered(session));
    return this.settling;
  }

  private async dropAnswered(session: ConsumerSession): Promise<void> {
    const lots = this.acknowledged.splice(0);
    try {
      if (lots.length > 0) await session.roundTrip();
      this.answered.push(...lots);
    } catch {
      if (!session.isLost) this.acknowledged.push(...lots);
    }
    const answered = this.answered.splice(0);
    if (answered.length === 0) return;
    try {
      await this.parts.store.receipts?.settleLots(answered);
    } catch {
      this.answered.push(...answered);
    }
  }

  private async take(batch: OpenDelivery[], session: ConsumerSession): Promise<void> {
    const accepted = await this.read(batch);
    const { receipts } = this.parts.store;
    if (receipts !== undefined && accepted.some(isNameless)) {
      // Messages in hand together are committed before any of them is acknowledged; see IntakeReceipts.
      accepted.push(...(await this.read(await session.pause())));
      if (session.isLost) return;
    }
    const nameless = receipts === undefined ? [] : accepted.filter(isNameless);
    const others = accepted.filter((one) => !nameless.includes(one));
    for (const some of inStatements(others)) await this.storePart(some, session);
    if (receipts !== undefined && nameless.length > 0) await this.storeNameless(nameless, receipts, session);
  }

  /** Reads deliveries as messages to store; those that can't be stored go to the error queue. */
  private async read(batch: OpenDelivery[]): Promise<Accepted[]> {
    const accepted: Accepted[] = [];
    for (const delivery of batch) {
      try {
        const { descriptor, limits, clock, reading, store } = this.parts;
        const [nowMs, delaysFromMs] = [clock.now(), clock.forDelays()];
        const message = interpret(delivery, descriptor, limits, nowMs, reading, delaysFromMs);
        if (!hasDueTime(delivery)) store.noteRead?.(message, delaysFromMs);
        accepted.push({ delivery, message });
      } catch (error) {
        if (!(error instanceof MessageRefusedError)) throw error;
        await this.refusals.refuse(delivery, error);
      }
    }
    return accepted;
  }

  private async storePart(part: Accepted[], session: ConsumerSession): Promise<void> {
    const { store, connection } = this.parts;
    const { receipts } = store;
    const taken = part.map((one) => toTaken(one, connection.brokerVersion));
    // The same for each try, because a try may have been committed before its answer was lost.
    const lot = { id: randomUUID(), session: session.id };
    let known: readonly TakenMessage[] = [];
    let open = part;
    // What is stored need not wait for the rest: unacknowledged, it would come a second time after a crash.
    const acknowledgeSome = (error: unknown): never => {
      const stored = open.filter(({ message }) => store.has?.(message) === true);
      open = open.filter((one) => !stored.includes(one));
      this.acknowledge(stored);
      throw error;
    };
    const work = async (): Promise<number> => {
      if (receipts !== undefined) known = await receipts.storeLot(taken, lot);
      else await store.storeAll(open.map(({ message }) => message)).catch(acknowledgeSome);
      return 0;
    };
    const result = await this.commitPersistently(work, session.closing);
    if (result === "closing") return;
    if (result !== "committed") return this.storeApart(open, result, (one) => this.storePart([one], session));
    const left = new Set(known.map(({ message }) => message));
    this.acknowledge(
      open.filter(({ message }) => !left.has(message)),
      open.filter(({ message }) => left.has(message)),
    );
    if (receipts !== undefined) this.acknowledged.push(lot.id);
  }

  private async storeNameless(all: Accepted[], receipts: IntakeReceipts, session: ConsumerSession): Promise<void> {
    const committed: Accepted[] = [];
    const ended = this.sessions.filter((id) => id !== session.id);
    const storeSome = async (part: Accepted[]): Promise<boolean> => {
      const taken = part.map((one) => toTaken(one, this.parts.connection.brokerVersion));
      const work = (isPatient: boolean): Promise<number> => receipts.store(taken, session.id, ended, isPatient);
      const result = await this.commitPersistently(work, session.closing);
      if (result === "committed") committed.push(...part);
      else if (result !== "closing") await this.storeApart(part, result, (one) => storeSome([one]));
      return result !== "closing";
    };
    // Without an acknowledgement the broker still has all of them, and the receipts tell which are stored.
    for (const some of inStatements(all)) if (!(await storeSome(some))) return;
    session.acknowledge(committed.map(({ delivery }) => delivery));
    this.tell(committed);
    await session.roundTrip();
    await this.commitPersistently(async () => {
      await receipts.settle(session.id);
      return 0;
    }, session.closing);
  }

  /** Tries until the work is committed or refused, or the channel closes; then the broker delivers the messages again. */
  private async commitPersistently(
    work: (isPatient: boolean) => Promise<number>,
    closing: AbortSignal,
  ): Promise<"committed" | "closing" | MessageRefusedError> {
    const { events } = this.parts;
    const pace = new Pace();
    for (;;) {
      try {
        const isDone = await this.waitAndRun(
          (isPatient) => this.breakers.store.execute(() => work(isPatient)),
          closing,
        );
        return isDone ? "committed" : "closing";
      } catch (error) {
        if (error instanceof MessageRefusedError) return error;
        events?.onFault?.(error);
        await pace.pauseAfterFailure(closing);
        if (closing.aborted) return "closing";
      }
    }
  }

  /** Waits as long as it is told to, once; after that the work has to do with what is known. @returns whether it was done */
  private async waitAndRun(work: (isPatient: boolean) => Promise<number>, closing: AbortSignal): Promise<boolean> {
    const waitMs = await work(true);
    if (waitMs === 0) return true;
    this.parts.events?.onWaiting?.(waitMs);
    await pause(waitMs, closing);
    if (closing.aborted) return false;
    await work(false);
    return true;
  }

  private acknowledge(stored: Accepted[], known: Accepted[] = []): void {
    for (const { delivery } of [...stored, ...known]) delivery.acknowledge();
    this.tell(stored, known);
  }

  private tell(stored: Accepted[], known: Accepted[] = []): void {
    const { events } = this.parts;
    if (stored.length > 0) events?.onStored?.(stored.map(({ message }) => message));
    if (known.length > 0) events?.onRecognized?.(known.map(({ delivery }) => delivery));
  }

  private async storeApart(
    part: Accepted[],
    error: MessageRefusedError,
    storeOne: (one: Accepted) => Promise<unknown>,
  ): Promise<void> {
    const [only] = part;
    if (part.length === 1 && only !== undefined) return this.refusals.refuse(only.delivery, error);
    for (const one of part) await storeOne(one);
  }
}

/** Whether the message's id was generated by this package. */
function isNameless({ delivery }: Accepted): boolean {
  return !hasMessageId(delivery);
}

function toTaken({ delivery, message }: Accepted, brokerVersion: string | undefined): TakenMessage {
  const earlierDeliveries = earlierDeliveriesOf(delivery, brokerVersion);
  return { message, fingerprint: fingerprintOf(delivery), earlierDeliveries };
}

/** Total size of bodies in one statement, or of a single larger message. */
const STATEMENT_BYTES = 16 << 20;

function inStatements(all: Accepted[]): Accepted[][] {
  const parts: Accepted[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const one of all) {
    const bodyBytes = bodyBytesOf(one.message);
    bytes += bodyBytes;
    if (bytes > STATEMENT_BYTES) {
      parts.push([]);
      bytes = bodyBytes;
    }
    parts.at(-1)?.push(one);
  }
  return parts;
}
