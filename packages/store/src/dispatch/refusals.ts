import { MessageRefusedError } from "@rabbitmq-delay/publish";
import { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import { withBodyOf } from "../broker/bodies";
import type { BrokerConnection } from "../broker/brokerConnection";
import type { ConsumerSession } from "../broker/consumer";
import type { NewDelayedMessage } from "../delayedMessage";
import type { Breaker } from "../resilience/breaker";
import { Pace } from "../resilience/pace";
import type { SteadyClock } from "../resilience/steadyClock";
import type { BatchPublisher } from "./batchPublisher";
import { lostBytes } from "../intake/lostBytes";
import { unsendable } from "../sendable";
import { MovedMessages } from "./movedMessages";
import { Parking, parkedCopy } from "./parking";
import type { RefusalEvents } from "./refusalEvents";

/** The parts that refusals work with. */
export interface RefusalParts {
  /** Consumes the messages. */
  connection: BrokerConnection;
  publisher: BatchPublisher;
  clock: SteadyClock;
  /** The error queue, and the queue that messages come from; its dead-letter target is the error queue too. */
  parking: Parking;
  /** Further headers for the copy of a delivery as it came; default: none. */
  headersOf?: (delivery: OpenDelivery) => Record<string, unknown>;
  /** Watches the error queue. */
  breaker: Breaker;
  events?: RefusalEvents;
}

/** A refused message, and the reason. */
interface Refused {
  delivery: OpenDelivery;
  error: Error;
  /** Undefined for a delivery that can't be sent again with all of its headers: the broker moves it to the error queue as it is. */
  copy: NewDelayedMessage | undefined;
}

/** How many stay in hand while there is another place for the rest. */
const MOST_IN_HAND = 10;

function throwIf(error: Error | undefined): void {
  if (error !== undefined) throw error;
}

/** Puts consumed messages that are refused into the error queue; those that it does not accept stay in hand while others are handled. */
export class Refusals {
  /** Messages that the error queue has not accepted yet, in hand of the current session. */
  private stuck: Refused[] = [];
  private readonly moved: MovedMessages;

  constructor(private readonly parts: RefusalParts) {
    this.moved = new MovedMessages(parts);
  }

  /** Begins a session. Messages in hand of one that broke are tried anew when they come again. */
  begin(session: ConsumerSession): void {
    this.stuck = [];
    void this.keepTrying(session);
    this.moved.begin(session.closing);
  }

  /**
   * Sends a delivery to the error queue, and acknowledges it then.
   * @param copy what is put there; default: the delivery as it came, with the reason
   * @param putOff lets it wait elsewhere, and acknowledges it then, where the error queue has not accepted others for a while; default: it
   *   stays in hand
   */
  async refuse(
    delivery: OpenDelivery,
    error: Error,
    copy = this.copyOf(delivery, error),
    putOff?: () => void,
  ): Promise<void> {
    const refused = { delivery, error, copy };
    if (putOff !== undefined && this.stuck.length >= MOST_IN_HAND) {
      this.parts.events?.onStuck?.(delivery, new Error(`${this.stuck.length} others wait for the error queue`));
      return putOff();
    }
    // What the broker moves waits there as well. Of others, each try may take as long as a confirm may.
    const isTried = this.stuck.length === 0 || (copy === undefined && this.stuck.length >= MOST_IN_HAND);
    if (!isTried || !(await this.park(refused))) this.stuck.push(refused);
  }

  /** How many messages are in hand that the error queue has not accepted yet. */
  get stuckCount(): number {
    return this.stuck.length;
  }

  /** Whether messages wait, because the error queue has not accepted them. */
  get hasStuck(): boolean {
    return this.stuck.length > 0 || this.moved.hasStuck;
  }

  private async keepTrying({ closing }: ConsumerSession): Promise<void> {
    const { breaker } = this.parts;
    const pace = new Pace();
    while (!closing.aborted) {
      await pace.pauseAfterFailure(closing);
      const [first] = this.stuck;
      if (first === undefined && this.moved.lateCount === 0 && breaker.isTriggered)
        await breaker.execute(async () => undefined);
      if (first === undefined || closing.aborted) continue;
      const isParked = await this.park(first);
      // Meanwhile the next session may have begun, with a list of its own.
      if (closing.aborted) return;
      const others = this.stuck.filter((one) => one !== first);
      // One that is never accepted does not keep the others from being tried.
      this.stuck = isParked ? others : [...others, first];
      if (isParked) pace.reset();
    }
  }

  private copyOf(delivery: OpenDelivery, error: Error): NewDelayedMessage | undefined {
    const { clock, parking, headersOf } = this.parts;
    const { exchange, routingKey, properties } = delivery;
    if (unsendable(properties).has("headers") || lostBytes(delivery) !== undefined) return undefined;
    const { messageId = "", ...given } = properties;
    const others = { ...given, headers: { ...given.headers, ...headersOf?.(delivery) } };
    const message = { messageId, dueAt: new Date(clock.now()), exchange, routingKey, properties: others };
    return parkedCopy(withBodyOf(message, delivery), parking, { error, tries: 1 });
  }

  /** @returns whether the error queue has it, or the broker moves it there */
  private async park({ delivery, error, copy }: Refused): Promise<boolean> {
    const { breaker, events } = this.parts;
    const parkOrMove = async (): Promise<boolean> => {
      if (copy !== undefined && (await this.send(copy))) return true;
      await this.moved.move(delivery, error, this.stuck.length >= MOST_IN_HAND);
      return false;
    };
    try {
      if (!(await breaker.execute(parkOrMove))) return true;
    } catch (failure) {
      events?.onStuck?.(delivery, failure);
      return false;
    }
    delivery.acknowledge();
    events?.onRefused?.(delivery, error);
    return true;
  }

  /** @returns false for a copy that can't be sent with all that it has */
  private async send(copy: NewDelayedMessage): Promise<boolean> {
    const [outcome] = await this.parts.publisher.publishAll([copy]);
    if (outcome?.error instanceof MessageRefusedError) return false;
    throwIf(outcome?.error);
    return true;
  }
}
