import { MessageRefusedError, OpenDelivery } from "rabbitmq-delay-publish";
import type { DelayedStore } from "rabbitmq-delay-topology";
import type { BrokerConnection } from "../broker/brokerConnection";
import { ConsumerEvents, consumeBatches } from "../broker/consumer";
import type { MessageLimits, NewDelayedMessage } from "../delayedMessage";
import type { DelayedMessageStore } from "../delayedMessageStore";
import type { BatchPublisher } from "../dispatch/batchPublisher";
import { parkedCopy } from "../dispatch/parking";
import { Breaker, BreakerEvents, LastingFailures } from "../resilience/breaker";
import { Pace } from "../resilience/pace";
import type { SteadyClock } from "../resilience/steadyClock";
import { interpret } from "./interpret";

/** What an intake tells of. */
export interface IntakeEvents extends BreakerEvents, ConsumerEvents {
  onStored?: (messages: NewDelayedMessage[]) => void;
  /** A message can't be stored, and is in the error queue. */
  onRefused?: (delivery: OpenDelivery, error: Error) => void;
}

/** What an intake works with. */
export interface IntakeParts {
  connection: BrokerConnection;
  store: DelayedMessageStore;
  publisher: BatchPublisher;
  clock: SteadyClock;
  descriptor: DelayedStore;
  limits: MessageLimits;
  settings: { prefetch: number; batchSize: number; timeToTriggerStoreBreakerMs: number };
  events?: IntakeEvents;
}

interface Accepted {
  delivery: OpenDelivery;
  message: NewDelayedMessage;
}

/** Takes messages out of the intake queue into the store; each is acknowledged when its row is committed. */
export class Intake {
  readonly breaker: Breaker;

  constructor(private readonly parts: IntakeParts) {
    const { settings, events } = parts;
    this.breaker = new Breaker("store", new LastingFailures(settings.timeToTriggerStoreBreakerMs), events);
  }

  /** Works until the signal; resolves when nothing is in hand any more. */
  run(signal: AbortSignal): Promise<void> {
    const { connection, descriptor, settings, events } = this.parts;
    const handle = (batch: OpenDelivery[], closing: AbortSignal): Promise<void> => this.take(batch, closing);
    return consumeBatches(connection, descriptor.intakeQueue, settings, handle, signal, events);
  }

  private async take(batch: OpenDelivery[], closing: AbortSignal): Promise<void> {
    const accepted: Accepted[] = [];
    for (const delivery of batch) {
      try {
        const { descriptor, limits, clock } = this.parts;
        accepted.push({ delivery, message: interpret(delivery, descriptor, limits, clock.now()) });
      } catch (error) {
        if (!(error instanceof MessageRefusedError)) throw error;
        await this.refuse(delivery, error);
      }
    }
    for (const isRedelivered of [false, true]) {
      const part = accepted.filter(({ delivery }) => delivery.isRedelivered === isRedelivered);
      for (const some of inStatements(part)) await this.storePart(some, isRedelivered, closing);
    }
  }

  private async storePart(part: Accepted[], isRedelivered: boolean, closing: AbortSignal): Promise<void> {
    const { store, events } = this.parts;
    const messages = part.map(({ message }) => message);
    const pace = new Pace();
    for (;;) {
      try {
        // What the broker delivers again may have been committed before its acknowledgement was lost.
        await this.breaker.execute(() => store.storeAll(messages, { unlessPending: isRedelivered }));
        break;
      } catch (error) {
        if (error instanceof MessageRefusedError) return this.storeOneByOne(part, isRedelivered, closing, error);
        events?.onFault?.(error);
        await pace.failed(closing);
        // The broker has them still.
        if (closing.aborted) return;
      }
    }
    for (const { delivery } of part) delivery.acknowledge();
    events?.onStored?.(messages);
  }

  private async storeOneByOne(
    part: Accepted[],
    isRedelivered: boolean,
    closing: AbortSignal,
    error: MessageRefusedError,
  ): Promise<void> {
    const [only] = part;
    if (part.length === 1 && only !== undefined) return this.refuse(only.delivery, error);
    for (const one of part) await this.storePart([one], isRedelivered, closing);
  }

  /** To the error queue, as it came. */
  private async refuse(delivery: OpenDelivery, error: MessageRefusedError): Promise<void> {
    const { publisher, descriptor, clock, events } = this.parts;
    const { exchange, routingKey, body, properties } = delivery;
    const { messageId = "", ...others } = properties;
    const message = { messageId, dueAt: new Date(clock.now()), exchange, routingKey, body, properties: others };
    const parking = { exchange: descriptor.errorQueue, source: descriptor.intakeQueue };
    const [outcome] = await publisher.publishAll([parkedCopy(message, parking, { error, tries: 1 })]);
    if (outcome?.error !== undefined) throw outcome.error;
    delivery.acknowledge();
    events?.onRefused?.(delivery, error);
  }
}

/** Bytes of bodies in one statement, or one message that has more. */
const STATEMENT_BYTES = 16 << 20;

function inStatements(all: Accepted[]): Accepted[][] {
  const parts: Accepted[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const one of all) {
    bytes += one.message.body.length;
    if (bytes > STATEMENT_BYTES) {
      parts.push([]);
      bytes = one.message.body.length;
    }
    parts.at(-1)?.push(one);
  }
  return parts;
}
