import { randomUUID } from "node:crypto";
import { MessageRefusedError } from "@rabbitmq-delay/publish";
import type { DelayGateway } from "@rabbitmq-delay/topology";
import type { NewDelayedMessage } from "../delayedMessage";
import { BatchPublisher, BrokerFaultError, Outcome } from "../dispatch/batchPublisher";
import type { SteadyClock } from "../resilience/steadyClock";
import { pause } from "../resilience/pace";
import { Sending, Waiting, firstWaitMs, probe, wrap } from "./envelope";

/** For how long the way back from the network is believed to be there. */
const CHECK_MS = 3000;

/** Publishes messages into a delay network, where an intake has a store. */
export class NetworkEntry {
  private readonly sender = randomUUID();
  /** When the way back was last there. */
  private checkedMs = Number.NEGATIVE_INFINITY;
  /** Messages that the network has, so that a repeated try of a batch sends none of them again. */
  private readonly entered = new WeakSet<NewDelayedMessage>();
  /** What is sent and has no answer yet; sent again, the network would have it twice once it answers. */
  private readonly unanswered = new WeakMap<NewDelayedMessage, Promise<void>>();

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

  /** Whether the network has confirmed a message. */
  has(message: NewDelayedMessage): boolean {
    return this.entered.has(message);
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
    const open = all.filter(({ message }) => !this.entered.has(message));
    if (open.length === 0) return;
    const late = open.filter(({ message }) => this.unanswered.has(message));
    const fresh = open.filter((one) => !late.includes(one));
    const [fault] = await Promise.all([this.publish(fresh), this.awaitAnswers(late.map(({ message }) => message))]);
    const left = open.filter(({ message }) => !this.entered.has(message));
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
    const originals = new Map(open.map((one) => [wrap(one, gateway, now), one.message]));
    let outcomes: readonly Outcome<NewDelayedMessage>[];
    let fault: unknown;
    try {
      outcomes = await publisher.publishAll([...originals.keys()]);
    } catch (error) {
      outcomes = error instanceof BrokerFaultError ? error.outcomes : [];
      fault = error;
    }
    for (const { message, error } of outcomes)
      if (error === undefined) this.entered.add(originals.get(message) as NewDelayedMessage);
    for (const [wrapped, original] of originals) this.noteAnswer(original, publisher.answerTo(wrapped));
    const failures = outcomes.map(({ error }) => error).filter((error) => error !== undefined);
    const [first] = failures;
    if (fault !== undefined || first === undefined) return fault;
    return failures.find((error) => error instanceof MessageRefusedError) ?? new NetworkFaultError(gateway, first);
  }

  /** Remembers a message until its answer comes: then the network has it, or it is sent again. */
  private noteAnswer(message: NewDelayedMessage, answer: Promise<void> | undefined): void {
    if (answer === undefined || this.entered.has(message)) return;
    const settled = answer.then(
      () => void this.entered.add(message),
      () => undefined,
    );
    this.unanswered.set(
      message,
      settled.finally(() => this.unanswered.delete(message)),
    );
  }

  /** Waits for answers that are late already, but not for ever: each try says again that the network does not take messages. */
  private async awaitAnswers(messages: readonly NewDelayedMessage[]): Promise<void> {
    const answers = messages.map((message) => this.unanswered.get(message)).filter((answer) => answer !== undefined);
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
