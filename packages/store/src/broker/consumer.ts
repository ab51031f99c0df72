import { randomUUID } from "node:crypto";
import { OpenDelivery, toConsumePort } from "@rabbitmq-delay/publish";
import { Pace } from "../resilience/pace";
import type { BrokerConnection } from "./brokerConnection";

/** What a consumer tells of. */
export interface ConsumerEvents {
  onConsuming?: () => void;
  /** A batch is handled. */
  onHandled?: () => void;
  /**
   * It has stopped, and starts again by itself.
   * @param isInHand whether it did so with a batch in hand, which comes again then
   */
  onFault?: (error: unknown, isInHand?: boolean) => void;
}

/** One channel's consumption, as who handles its messages sees it. */
export interface ConsumerSession {
  readonly id: string;
  /** Ends with the channel, and when the consumer is told to end. */
  readonly closing: AbortSignal;
  /** Whether the channel is gone, so that nothing can be settled any more. */
  readonly isLost: boolean;
  /** Stops the deliveries until this batch is handled; gives the messages that came meanwhile. */
  pause(): Promise<OpenDelivery[]>;
  /** Resolves when the broker has gone through what was sent to it before, which are acknowledgements; rejects when the channel is gone. */
  roundTrip(): Promise<void>;
}

/** Who handles what is consumed. */
export interface BatchHandler {
  /** Gets ready for a new channel, before its first message comes. */
  begin?: (session: ConsumerSession) => Promise<void>;
  /** Handles one batch at a time; what it doesn't settle by its end goes back to the queue when the channel closes. */
  handle: (batch: OpenDelivery[], session: ConsumerSession) => Promise<void>;
  /** Ends a session in order: what it has settled is on its way to the broker, and its channel is still there. */
  end?: (session: ConsumerSession) => Promise<void>;
}

/** Consumes a queue in batches until the signal, on a new channel whenever the old one breaks. */
export async function consumeBatches(
  connection: BrokerConnection,
  queue: string,
  limits: { prefetch: number; batchSize: number },
  handler: BatchHandler,
  signal: AbortSignal,
  events: ConsumerEvents = {},
): Promise<void> {
  const pace = new Pace();
  while (!signal.aborted) {
    let isInHand = false;
    try {
      const handle: BatchHandler["handle"] = async (batch, session) => {
        isInHand = true;
        await handler.handle(batch, session);
        isInHand = false;
        pace.succeeded();
        events.onHandled?.();
      };
      await consumeOnce(connection, queue, limits, { ...handler, handle }, signal, events.onConsuming);
    } catch (error) {
      if (signal.aborted) return;
      events.onFault?.(error, isInHand);
      await pace.failed(signal);
    }
  }
}

async function consumeOnce(
  connection: BrokerConnection,
  queue: string,
  { prefetch, batchSize }: { prefetch: number; batchSize: number },
  { begin, handle, end }: BatchHandler,
  signal: AbortSignal,
  onConsuming: (() => void) | undefined,
): Promise<void> {
  const channel = await connection.channel();
  const port = toConsumePort(channel);
  const waiting: OpenDelivery[] = [];
  const unsettled = new Set<OpenDelivery>();
  const closing = new AbortController();
  let refusal: Error | undefined;
  let isLost = false;
  let wake: () => void = () => undefined;
  let cancel: (() => Promise<void>) | undefined;
  const close = (error?: Error): void => {
    refusal ??= error;
    closing.abort();
    wake();
  };
  const lose = (error: Error): void => {
    isLost = true;
    close(error);
  };
  const stop = (): void => close();
  const consume = async (): Promise<void> => {
    cancel = await port.consume(queue, (delivery) => {
      if (delivery === undefined)
        return close(new Error(`the broker cancelled the consumer; is queue ${queue} still there?`));
      waiting.push(tracked(delivery, unsettled));
      wake();
    });
  };
  const pause = async (): Promise<OpenDelivery[]> => {
    const running = cancel;
    cancel = undefined;
    await running?.();
    return waiting.splice(0);
  };
  const session: ConsumerSession = {
    id: randomUUID(),
    closing: closing.signal,
    get isLost() {
      return isLost;
    },
    pause,
    roundTrip: () => port.prefetch(prefetch),
  };
  channel.on("error", lose);
  port.onClose(() => lose(new Error(`the channel that consumes ${queue} closed`)));
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) return;
    await port.prefetch(prefetch);
    await begin?.(session);
    if (closing.signal.aborted) throw refusal ?? new Error("it was told to end");
    await consume();
    onConsuming?.();
    while (!closing.signal.aborted) {
      if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      else {
        await handle(waiting.splice(0, batchSize), session);
        if (cancel === undefined && !closing.signal.aborted) await consume();
      }
    }
    if (refusal !== undefined) throw refusal;
  } catch (error) {
    throw refusal ?? error;
  } finally {
    signal.removeEventListener("abort", stop);
    // What is given back would come again at once.
    await pause();
    if (!isLost) await end?.(session);
    await giveBack(channel, unsettled);
  }
}

/** Notes whether a delivery is still in hand. */
function tracked(delivery: OpenDelivery, unsettled: Set<OpenDelivery>): OpenDelivery {
  const settling =
    (settle: () => void): (() => void) =>
    () => {
      unsettled.delete(one);
      settle();
    };
  const one: OpenDelivery = {
    ...delivery,
    acknowledge: settling(delivery.acknowledge),
    giveBack: settling(delivery.giveBack),
    reject: settling(delivery.reject),
  };
  unsettled.add(one);
  return one;
}

/**
 * Gives back what is in hand, and closes the channel. A channel that closes with messages in hand counts each as a failed delivery,
 * which RabbitMQ 4 bears twenty times; giving them back one by one counts nothing there.
 */
async function giveBack(channel: { close(): Promise<void> }, unsettled: Set<OpenDelivery>): Promise<void> {
  for (const delivery of [...unsettled]) delivery.giveBack();
  await Promise.resolve()
    .then(() => channel.close())
    .catch(() => undefined);
}
