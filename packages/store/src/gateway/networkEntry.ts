import { randomUUID } from "node:crypto";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import type { DelayGateway } from "@rabbitmq-delay/topology";
import type { NewDelayedMessage } from "../delayedMessage";
import { BatchPublisher, BrokerFaultError } from "../dispatch/batchPublisher";
import type { Outcome } from "../dispatch/outcomes";
import type { SteadyClock } from "../resilience/steadyClock";
import { pause } from "../resilience/pace";
import { Sending, Waiting, firstWaitMs, probe, wrap } from "./envelope";
import { OpenCopies } from "./openCopies";

/** For how long the way back from the network is believed to be there. */
const CHECK_MS = 3000;

/** Publishes messages into a delay network, where an intake has a store. */
export class NetworkEntry {
  private readonly sender = randomUUID();
  /** When the way back was last there. */
  private checkedMs = Number.NEGATIVE_INFINITY;
  private readonly copies = new OpenCopies();

  /** The parts, and for how long an answer is waited for each time. */
  constructor(
    private readonly parts: {
      publisher: BatchPublisher;
      clock: SteadyClock;
      gateway: DelayGateway;
      confirmTimeoutMs: number;
    },
  ) {}

  /**
   * Publishes new messages; resolves when the network has all of them.
   * @throws MessageRefusedError for one that can't be sent, or any other error; a repeated call sends only what the network has not confirmed
   */
  storeAll(messages: readonly NewDelayedMessage[]): Promise<void> {
    const nowMs = this.parts.clock.now();
    const waitOf = (message: NewDelayedMessage): number => firstWaitMs(message, nowMs);
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
    throw new NetworkFaultError(this.parts.gateway, new Error(`no answer for ${left.length} messages`));
  }

  /** Publishes messages. @returns why the network does not have all of them, as far as it has said so */
  private async publish(open: readonly Waiting[]): Promise<unknown> {
    if (open.length === 0) return undefined;
    const { publisher, gateway } = this.parts;
    if (performance.now() - this.checkedMs > CHECK_MS) await this.checkReturn();
    const { now } = this;
    const originals = new Map(open.map((one) => [wrap(one, gateway, now), one]));
    let outcomes: readonly Outcome<NewDelayedMessage>[];
    let fault: unknown;
    try {
      outcomes = await publisher.publishAll([...originals.keys()]);
    } catch (error) {
      outcomes = error instanceof BrokerFaultError ? error.outcomes : [];
      fault = error;
    }
    for (const { message, error } of outcomes)
      if (error === undefined) this.copies.enter(originals.get(message) as Waiting);
    for (const [wrapped, one] of originals) {
      const answer = publisher.answerTo(wrapped);
      if (answer !== undefined && !this.copies.has(one)) this.copies.await(one, answer);
    }
    const failures = outcomes.map(({ error }) => error).filter((error) => error !== undefined);
    const [first] = failures;
    if (fault !== undefined || first === undefined) return fault;
    return failures.find((error) => error instanceof MessageRefusedError) ?? new NetworkFaultError(gateway, first);
  }

  /** Waits for answers that are late already, but not for ever: each try says again that the network does not take messages. */
  private async awaitAnswers(late: readonly Waiting[]): Promise<void> {
    const answers = late.map((one) => this.copies.answerTo(one)).filter((answer) => answer !== undefined);
    if (answers.length === 0) return;
    const patience = new AbortController();
    await Promise.race([Promise.all(answers), pause(this.parts.confirmTimeoutMs, patience.signal)]);
    patience.abort();
  }
}

/** The network does not take messages: it isn't there, or refuses them. */
export class NetworkFaultError extends Error {
  override readonly name = "NetworkFaultError";

  constructor({ network }: DelayGateway, cause: Error) {
    super(`the network ${network.prefix} does not take messages: ${cause.message}`, { cause });
  }
}
