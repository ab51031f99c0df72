import { MessageRefusedError } from "@rabbitmq-delay/publish";
import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import type { DelayGateway } from "@rabbitmq-delay/topology";
import type { ConsumerSession } from "../broker/consumer";
import type { Breaker } from "../resilience/breaker";
import { pause } from "../resilience/pace";
import type { Waiting } from "./envelope";
import { NetworkEntry, noAnswer } from "./networkEntry";

/** How often messages are tried that the network has not taken. */
const RETRY_MS = 1000;

/** A message that came back, and is to wait once more. */
export type Round = Waiting & { delivery: OpenDelivery };

/** The parts that rounds work with. */
export interface RoundParts {
  entry: NetworkEntry;
  gateway: DelayGateway;
  /** Watches whether the network takes them. */
  breaker: Breaker;
  /** Puts a message that can't be sent into the error queue. */
  refuse: (one: Round, error: MessageRefusedError) => Promise<void>;
  onFault?: (error: unknown) => void;
}

/**
 * Sends messages into the network once more, beside all other work, and acknowledges each when the network has it. What it does not take stays
 * in hand, and is tried again: a queue of the network that does not answer holds nothing else up.
 */
export class Rounds {
  /** Messages of the current session that the network has not taken at once. */
  private held = new Set<Round>();
  private readonly sending = new Set<Promise<void>>();
  /** The end of the last sending; the next one waits for it where order counts. */
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly parts: RoundParts) {}

  /** How many messages are in hand that the network has not taken at once. */
  get heldCount(): number {
    return this.held.size;
  }

  /** Begins a session. Messages in hand of one that broke come again. */
  begin(session: ConsumerSession): void {
    this.held = new Set();
    void this.keepTrying(session, this.held);
  }

  /** Sends messages, in the background. */
  send(some: readonly Round[]): void {
    if (some.length === 0) return;
    const { held } = this;
    const before = this.parts.gateway.singleActiveConsumer ? this.turn : Promise.resolve();
    const work = before
      .then(() => this.enter(some))
      .then((left) => left.forEach((one) => held.add(one)))
      .finally(() => this.sending.delete(work));
    this.sending.add(work);
    this.turn = work;
  }

  /** Waits for the answers to messages that were sent before, and came again meanwhile. */
  hold(some: readonly Round[]): void {
    for (const one of some) this.held.add(one);
  }

  /** Resolves when nothing is being sent any more; messages that have had no answer in time stay in hand. */
  async settled(): Promise<void> {
    await Promise.all(this.sending);
  }

  private async keepTrying({ closing }: ConsumerSession, held: Set<Round>): Promise<void> {
    const { entry, gateway } = this.parts;
    while (!closing.aborted) {
      await pause(RETRY_MS, closing);
      if (held.size === 0 || closing.aborted) continue;
      this.acknowledgeEntered(held);
      const fresh = [...held].filter((one) => !entry.isUnderway(one));
      if (fresh.length > 0) {
        const left = new Set(await this.enter(fresh));
        for (const one of fresh) if (!left.has(one)) held.delete(one);
      } else if (held.size > 0) await this.fail(noAnswer(gateway, held.size));
    }
  }

  private acknowledgeEntered(held: Set<Round>): void {
    for (const one of [...held].filter((each) => this.parts.entry.hasEntered(each))) {
      one.delivery.acknowledge();
      held.delete(one);
    }
  }

  /** Sends messages; what can't be sent goes to the error queue. @returns those that the network has not taken */
  private async enter(some: readonly Round[]): Promise<Round[]> {
    const { entry, breaker, refuse } = this.parts;
    let refusal: MessageRefusedError | undefined;
    try {
      await entry.enter(some);
      await breaker.execute(() => Promise.resolve());
    } catch (error) {
      if (error instanceof MessageRefusedError) refusal = error;
      else await this.fail(error);
    }
    const left: Round[] = [];
    for (const one of some)
      if (entry.hasEntered(one)) one.delivery.acknowledge();
      else left.push(one);
    const [only] = left;
    if (refusal === undefined || only === undefined) return left;
    if (some.length === 1) {
      await refuse(only, refusal);
      return [];
    }
    const apart: Round[] = [];
    for (const one of left) apart.push(...(await this.enter([one])));
    return apart;
  }

  private async fail(error: unknown): Promise<void> {
    await this.parts.breaker.execute(() => Promise.reject(error as Error)).catch(() => undefined);
    this.parts.onFault?.(error);
  }
}
