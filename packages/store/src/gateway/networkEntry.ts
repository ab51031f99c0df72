import { randomUUID } from "node:crypto";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import type { DelayGateway } from "@rabbitmq-delay/topology";
import type { NewDelayedMessage } from "../delayedMessage";
import { BatchPublisher, BrokerFaultError } from "../dispatch/batchPublisher";
import { Outcome, byMessage, isTaken } from "../dispatch/outcomes";
import type { SteadyClock } from "../resilience/steadyClock";
import { endsWithin } from "../resilience/pace";
import { Sending, Waiting, askedMs, firstWaitMs, probe, wrap } from "./envelope";
import { OpenCopies, OpenCopy } from "./openCopies";

/** Time after its reading in which a message still waits for all of its delay, in milliseconds: a batch that takes longer has met a failure. */
const LONGEST_BATCH_MS = 5000;
/** For how long the way back from the network is believed to be there. */
const CHECK_MS = 3000;

/** Publishes messages into a delay network, where an intake has a store. */
export class NetworkEntry {
  private readonly sender = randomUUID();
  /** When the way back was last there. */
  private checkedMs = Number.NEGATIVE_INFINITY;
  private readonly copies = new OpenCopies();
  /** Waits of messages when an intake had read them, and when that was, until the first try to store them. */
  private readonly waits = new WeakMap<NewDelayedMessage, { waitMs: number; elapsedMs: number }>();

  /** The parts, and for how long an answer is waited for each time. */
  constructor(
    private readonly parts: {
      publisher: BatchPublisher;
      clock: SteadyClock;
      gateway: DelayGateway;
      confirmTimeoutMs: number;
      /** Ends the waiting for late answers. */
      signal: AbortSignal;
    },
  ) {}

  /**
   * Notes how long a message waits that an intake has read, and whose delay counts from then. Its first try goes by that: a batch takes longer on a busy machine, and messages
   * of one delay with other waits would take other ways through the network, and lose their order.
   * @param nowMs the time from which its delay counts
   */
  noteRead(message: NewDelayedMessage, nowMs: number): void {
    this.waits.set(message, { waitMs: firstWaitMs(message, nowMs), elapsedMs: performance.now() });
  }

  /**
   * Publishes new messages; resolves when the network has all of them.
   * @throws MessageRefusedError for one that can't be sent, or any other error; a repeated call sends only what the network has not confirmed
   */
  storeAll(messages: readonly NewDelayedMessage[]): Promise<void> {
    const nowMs = this.parts.clock.now();
    const waitOf = (message: NewDelayedMessage): number => {
      const noted = this.waits.get(message);
      this.waits.delete(message);
      const isFresh = noted !== undefined && performance.now() - noted.elapsedMs < LONGEST_BATCH_MS;
      return isFresh && noted.waitMs === askedMs(message) ? noted.waitMs : firstWaitMs(message, nowMs);
    };
    return this.enter(messages.map((message) => ({ message, waitMs: waitOf(message), failureCount: 0 })));
  }

  /** This process and its clocks now. */
  get now(): Sending {
    return { sender: this.sender, elapsedMs: performance.now(), timeMs: Date.now() };
  }

  /** Whether the network has confirmed a message of the intake. */
  has(message: NewDelayedMessage): boolean {
    return this.copies.has({ message });
  }

  /** Whether the network has confirmed a message that is to wait once more. */
  hasEntered(one: Waiting): boolean {
    return this.copies.has(one);
  }

  /** Whether a message was sent into the network once more before, and is not to be sent there, or delivered, again. */
  isUnderway(one: Waiting): boolean {
    return this.copies.has(one) || this.copies.answerTo(one) !== undefined;
  }

  /** Copies that have had no answer for so long, in milliseconds. */
  openFor(longMs: number): OpenCopy[] {
    return this.copies.openFor(longMs);
  }

  /**
   * Makes sure that what waits in the network will come back. A network without a parking queue drops, or keeps in its last level, what no
   * binding takes then, and only a message without a delay is told so.
   * @throws NetworkFaultError if nothing is bound to it, BrokerFaultError
   */
  async checkReturn(): Promise<void> {
    const { publisher, gateway } = this.parts;
    if (gateway.network.parkingExchange === undefined) {
      const [outcome] = await publisher.publishAll([probe(gateway)]);
      if (outcome?.error !== undefined) throw new NetworkFaultError(gateway, outcome.error);
    }
    this.checkedMs = performance.now();
  }

  /** Does the same with messages that wait once more. */
  async enter(all: readonly Waiting[]): Promise<void> {
    const open = all.filter((one) => !this.copies.has(one));
    if (open.length === 0) return;
    const late = open.filter((one) => this.copies.answerTo(one) !== undefined);
    const fresh = open.filter((one) => !late.includes(one));
    const [fault] = await Promise.all([this.publish(fresh), this.awaitAnswers(late)]);
    const left = open.filter((one) => !this.copies.has(one));
    if (left.length === 0) return;
    if (fault instanceof Error) throw fault;
    throw noAnswer(this.parts.gateway, left.length);
  }

  /** Publishes messages. @returns why the network does not have all of them, as far as it has said so */
  private async publish(open: readonly Waiting[]): Promise<unknown> {
    if (open.length === 0) return undefined;
    const { publisher, gateway, signal } = this.parts;
    if (performance.now() - this.checkedMs > CHECK_MS) await this.checkReturn();
    // Both may take as long as a confirm may.
    if (signal.aborted) return new Error("the gateway ends");
    const { now } = this;
    const originals = new Map(open.map((one) => [wrap(one, gateway, now), one]));
    const published = publisher.publishAll([...originals.keys()]).then(
      (outcomes): Published => ({ outcomes: byMessage(outcomes) }),
      (fault: unknown): Published => ({
        outcomes: byMessage(fault instanceof BrokerFaultError ? fault.outcomes : []),
        fault,
      }),
    );
    for (const [copy, one] of originals) this.copies.await(one, copy, this.answer(copy, published));
    const { outcomes, fault } = await published;
    for (const [copy, one] of originals) if (isTaken(outcomes.get(copy))) this.copies.enter(one);
    const answered = [...originals].filter(([copy]) => publisher.answerTo(copy) === undefined);
    await Promise.all(answered.map(([, one]) => this.copies.answerTo(one)));
    const failures = [...outcomes.values()].map(({ error }) => error).filter((error) => error !== undefined);
    const [first] = failures;
    if (fault !== undefined || first === undefined) return fault;
    return failures.find((error) => error instanceof MessageRefusedError) ?? new NetworkFaultError(gateway, first);
  }

  /** The answer to a copy, whenever it comes. Rejects when it may be sent again. */
  private async answer(copy: NewDelayedMessage, published: Promise<Published>): Promise<void> {
    const { outcomes } = await published;
    if (isTaken(outcomes.get(copy))) return;
    const late = this.parts.publisher.answerTo(copy);
    if (late === undefined) throw new Error("the network has not taken it");
    return late;
  }

  /** Waits for answers that are late already, but not for ever: each try says again that the network does not take messages. */
  private async awaitAnswers(late: readonly Waiting[]): Promise<void> {
    const { confirmTimeoutMs, signal } = this.parts;
    const answers = late.map((one) => this.copies.answerTo(one)).filter((answer) => answer !== undefined);
    await endsWithin(Promise.all(answers), confirmTimeoutMs, signal);
  }
}

interface Published {
  outcomes: Map<NewDelayedMessage, Outcome<NewDelayedMessage>>;
  fault?: unknown;
}

/** The network does not take messages: it isn't there, or refuses them. */
export class NetworkFaultError extends Error {
  override readonly name = "NetworkFaultError";

  constructor({ network }: DelayGateway, cause: Error) {
    super(`the network ${network.prefix} does not take messages: ${cause.message}`, { cause });
  }
}

/** The fault of a network that has been sent messages, and does not answer. */
export function noAnswer(gateway: DelayGateway, count: number): NetworkFaultError {
  return new NetworkFaultError(gateway, new Error(`no answer for ${count} messages`));
}
