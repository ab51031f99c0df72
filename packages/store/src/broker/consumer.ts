import { OpenDelivery, toConsumePort } from "rabbitmq-delay-publish";
import { Pace } from "../resilience/pace";
import type { BrokerConnection } from "./brokerConnection";

/** What a consumer tells of. */
export interface ConsumerEvents {
  onConsuming?: () => void;
  /** It has stopped, and starts again by itself. */
  onFault?: (error: unknown) => void;
}

/**
 * Consumes a queue in batches until the signal, on a new channel whenever the old one breaks.
 * @param handle one batch at a time; what it doesn't settle by its end is delivered again when the channel closes, so it ends
 * by settling all of them, or by throwing
 */
export async function consumeBatches(
  connection: BrokerConnection,
  queue: string,
  limits: { prefetch: number; batchSize: number },
  handle: (batch: OpenDelivery[], signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  events: ConsumerEvents = {},
): Promise<void> {
  const pace = new Pace();
  while (!signal.aborted) {
    try {
      const handleOne = async (batch: OpenDelivery[], closing: AbortSignal): Promise<void> => {
        await handle(batch, closing);
        pace.succeeded();
      };
      await consumeOnce(connection, queue, limits, handleOne, signal, events.onConsuming);
    } catch (error) {
      if (signal.aborted) return;
      events.onFault?.(error);
      await pace.failed(signal);
    }
  }
}

async function consumeOnce(
  connection: BrokerConnection,
  queue: string,
  { prefetch, batchSize }: { prefetch: number; batchSize: number },
  handle: (batch: OpenDelivery[], signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  onConsuming: (() => void) | undefined,
): Promise<void> {
  const channel = await connection.channel();
  const port = toConsumePort(channel);
  const waiting: OpenDelivery[] = [];
  const closing = new AbortController();
  let refusal: Error | undefined;
  let wake: () => void = () => undefined;
  const close = (error?: Error): void => {
    refusal ??= error;
    closing.abort();
    wake();
  };
  const stop = (): void => close();
  channel.on("error", close);
  port.onClose(() => close(new Error(`the channel that consumes ${queue} closed`)));
  signal.addEventListener("abort", stop);
  try {
    await port.prefetch(prefetch);
    const cancel = await port.consume(queue, (delivery) => {
      if (delivery === undefined)
        return close(new Error(`the broker cancelled the consumer; is queue ${queue} still there?`));
      waiting.push(delivery);
      wake();
    });
    onConsuming?.();
    while (!closing.signal.aborted) {
      if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      else await handle(waiting.splice(0, batchSize), closing.signal);
    }
    if (signal.aborted) await cancel();
    if (refusal !== undefined) throw refusal;
  } catch (error) {
    throw refusal ?? error;
  } finally {
    signal.removeEventListener("abort", stop);
    // What is in hand unsettled goes back to the queue with the channel.
    await channel.close().catch(() => undefined);
  }
}
