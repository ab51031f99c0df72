import { DelayTopologyError } from "rabbitmq-delay-topology";
import { Slots } from "../slots";
import { ConsumePort, OpenDelivery, toConsumePort } from "./consumePort";
import { CheckedOptions, RetryConsumerOptions, RetryEvent, RetryHandler, checkOptions } from "./consumerOptions";
import type { OriginalMessage } from "./delivery";
import { restore } from "./envelope";
import { Failure, HandlerTimeoutError } from "./failure";
import type { RedeliveryStep } from "./mechanism";
import { Outlet } from "./outlet";

/** A running consumer. */
export interface RetryConsumer {
  /** Takes no more messages, lets the handlers at work finish, gives the rest back; resolves when that is done. */
  stop(): Promise<void>;
  /** Resolves when the consumer has stopped; rejects when its channel closed or the broker cancelled it. */
  readonly ended: Promise<void>;
}

/** Before a message is given back because its copy could not be published: else it would come again at once. */
const GIVE_BACK_PAUSE_MS = 1000;

/**
 * Consumes a queue. A failed message is tried again at once as often as the policy says, then published as a copy that
 * comes back later, and at last to the error queue. The copy is confirmed before the original is acknowledged: a crash in
 * between makes a duplicate, never a loss.
 * @param channel amqplib's confirm channel, which the caller owns
 * @throws DelayTopologyError for a delay of the policy that the mechanism's queues don't have, or a bad option;
 * MessageRefusedError for another channel; the broker's error when a queue is missing
 */
export async function consumeWithRetries(
  channel: unknown,
  queue: string,
  handler: RetryHandler,
  options: RetryConsumerOptions,
): Promise<RetryConsumer> {
  const checked = checkOptions(queue, options);
  const port = toConsumePort(channel);
  const { prefetch, confirmTimeoutMs, errorQueue } = checked;
  const outlet = new Outlet(channel, { maxUnconfirmed: prefetch, confirmTimeoutMs });
  await checkErrorQueue(port, errorQueue);
  const consumer = new QueueConsumer(port, outlet, queue, handler, checked);
  await consumer.start();
  return consumer;
}

class QueueConsumer implements RetryConsumer {
  readonly ended: Promise<void>;
  private readonly slots: Slots;
  private readonly running = new Set<Promise<void>>();
  private readonly aborting = new AbortController();
  private cancel: () => Promise<void> = () => Promise.resolve();
  private stopping: Promise<void> | undefined;
  private isClosed = false;
  private end: (error?: Error) => void = () => undefined;

  constructor(
    private readonly port: ConsumePort,
    private readonly outlet: Outlet,
    private readonly queue: string,
    private readonly handler: RetryHandler,
    private readonly options: CheckedOptions,
  ) {
    this.slots = new Slots(options.concurrency);
    this.ended = new Promise((resolve, reject) => {
      this.end = (error) => (error === undefined ? resolve() : reject(error));
    });
    // Who doesn't look at it shall not be ended by it.
    this.ended.catch(() => undefined);
  }

  async start(): Promise<void> {
    const { prefetch, signal } = this.options;
    this.port.onClose(() => this.onClose());
    await this.port.prefetch(prefetch);
    this.cancel = await this.port.consume(this.queue, (delivery) => this.onDelivery(delivery));
    if (signal?.aborted) this.abort();
    signal?.addEventListener("abort", () => this.abort(), { once: true });
  }

  private abort(): void {
    this.aborting.abort(this.options.signal?.reason);
    void this.stop();
  }

  stop(): Promise<void> {
    return (this.stopping ??= this.finish());
  }

  private async finish(): Promise<void> {
    if (!this.isClosed) await this.cancel();
    await Promise.all(this.running);
    this.end();
  }

  private onClose(): void {
    this.isClosed = true;
    this.aborting.abort(new Error("the channel closed"));
    if (this.stopping === undefined) this.end(new Error(`the channel that consumes ${this.queue} closed`));
  }

  private onDelivery(delivery: OpenDelivery | undefined): void {
    if (delivery === undefined) {
      this.end(new Error(`the broker cancelled the consumer of ${this.queue}; was the queue deleted?`));
      return;
    }
    const work = this.inTurn(delivery).finally(() => this.running.delete(work));
    this.running.add(work);
  }

  /** Deliveries wait for a free handler; those that still wait when the consumer stops are given back untried. */
  private async inTurn(delivery: OpenDelivery): Promise<void> {
    await this.slots.take();
    try {
      if (this.isClosed) return;
      if (this.stopping !== undefined) delivery.giveBack();
      else await this.process(delivery);
    } finally {
      this.slots.giveBack();
    }
  }

  /** Whatever goes wrong on the way gives the message back: a copy not taken, or a policy's own function that throws. */
  private async process(delivery: OpenDelivery): Promise<void> {
    try {
      await this.settle(delivery);
    } catch (error) {
      this.report({ kind: "given-back", error });
      if (this.isClosed) return;
      await new Promise((resolve) => setTimeout(resolve, GIVE_BACK_PAUSE_MS));
      if (!this.isClosed) delivery.giveBack();
    }
  }

  private async settle(delivery: OpenDelivery): Promise<void> {
    const failure = await this.tryAll(delivery);
    if (this.isClosed) return;
    if (failure === undefined) return delivery.acknowledge();
    if (this.aborting.signal.aborted) return delivery.giveBack();
    const isRejected = (await this.passOn(failure)) === "reject";
    if (this.isClosed) return;
    if (isRejected) delivery.reject();
    else delivery.acknowledge();
  }

  /** The first try and the immediate ones; undefined when one succeeded. */
  private async tryAll(delivery: OpenDelivery): Promise<Failure | undefined> {
    const { policy } = this.options;
    let message: OriginalMessage;
    try {
      message = this.restore(delivery);
    } catch (error) {
      return { message: { ...delivery, redeliveries: 0 }, error, tries: 0, isFinal: true };
    }
    const before = message.redeliveries * (1 + policy.immediateTries);
    for (let tries = 1; ; tries++) {
      try {
        await this.handle(message, before + tries - 1);
        return undefined;
      } catch (error) {
        const isFinal = !policy.retries(error);
        if (isFinal || tries > policy.immediateTries || this.aborting.signal.aborted) {
          return { message, error, tries: before + tries, isFinal };
        }
      }
    }
  }

  /** The message as it was first published; the broker counts what it brings back itself. */
  private restore(delivery: OpenDelivery): OriginalMessage {
    const message = restore(delivery);
    const counted = this.options.mechanism?.countedByBroker?.(delivery.properties.headers ?? {}) ?? 0;
    return { ...message, redeliveries: message.redeliveries + counted };
  }

  private async handle(message: OriginalMessage, previousTries: number): Promise<void> {
    const { handlerTimeoutMs } = this.options;
    if (handlerTimeoutMs === undefined) {
      await this.handler({ ...message, previousTries, signal: this.aborting.signal });
      return;
    }
    const own = new AbortController();
    const signal = AbortSignal.any([own.signal, this.aborting.signal]);
    const handled = (async () => void (await this.handler({ ...message, previousTries, signal })))();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new HandlerTimeoutError(handlerTimeoutMs);
        own.abort(error);
        reject(error);
      }, handlerTimeoutMs);
    });
    try {
      await Promise.race([handled, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Publishes the copy that comes back, or the one for the error queue, to the broker's confirm; or leaves it to a rejection. */
  private async passOn(failure: Failure): Promise<RedeliveryStep["kind"]> {
    const { policy, mechanism, errorQueue, errorExchange } = this.options;
    const { message, error, tries, isFinal } = failure;
    const delayMs = isFinal ? undefined : policy.delaysMs[message.redeliveries];
    if (delayMs === undefined || mechanism === undefined) {
      await this.outlet.fail({ exchange: errorExchange, queue: errorQueue }, this.queue, failure);
      this.report({ kind: "failed", errorQueue, tries, error });
      return "republish";
    }
    const redelivery = message.redeliveries + 1;
    const step = mechanism.plan({ queue: this.queue, routingKey: message.routingKey, delayMs, redelivery });
    if (step.kind === "republish") await this.outlet.republish(step, message, redelivery);
    this.report({ kind: "redelivered", delayMs, redeliveries: redelivery, error });
    return step.kind;
  }

  /** A listener's own mistake must not make a duplicate of the message. */
  private report(event: RetryEvent): void {
    try {
      this.options.onFailure?.(event);
    } catch (error) {
      process.emitWarning(`onFailure threw: ${String(error)}`);
    }
  }
}

/** Asked for before the first message: one that has nowhere to go in the end would go round for ever. */
async function checkErrorQueue(port: ConsumePort, errorQueue: string): Promise<void> {
  try {
    await port.checkQueue(errorQueue);
  } catch (error) {
    throw new DelayTopologyError(
      "errorQueue",
      errorQueue,
      `it must exist before messages are consumed (${(error as Error).message})`,
    );
  }
}
