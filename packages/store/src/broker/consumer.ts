import { randomUUID } from "node:crypto";
import { OpenDelivery, toConsumePort } from "@rabbitmq-delay/publish/parts";
import { Pace } from "../resilience/pace";
import { Bodies } from "./bodies";
import type { BrokerConnection } from "./brokerConnection";

/** Events of a consumer. */
export interface ConsumerEvents {
  onConsuming?: () => void;
  /** A batch has come, and is being handled. */
  onBatch?: () => void;
  /** A batch has been handled. */
  onHandled?: () => void;
  /**
   * The consumer has stopped, and starts again automatically.
   * @param isInHand whether it stopped with a batch in hand, which then comes again
   */
  onFault?: (error: unknown, isInHand?: boolean) => void;
  /** A body that should wait in a file stays in memory, because it can't be written. */
  onBodyFault?: (error: Error) => void;
}

/** The consumption of one channel, as the handler of its messages sees it. */
export interface ConsumerSession {
  readonly id: string;
  /** Aborted with the channel, and when the consumer is told to end. */
  readonly closing: AbortSignal;
  /** Whether the channel is gone, so that no message can be settled any more. */
  readonly isLost: boolean;
  /** Stops the deliveries until this batch is handled; returns the messages that came meanwhile. */
  pause(): Promise<OpenDelivery[]>;
  /** Acknowledges deliveries in hand; where they are all of those, at once, so that the broker has it for all of them or for none. */
  acknowledge(deliveries: readonly OpenDelivery[]): void;
  /** Resolves when the broker has processed everything sent to it before, such as acknowledgements; rejects when the channel is gone. */
  roundTrip(): Promise<void>;
}

/** Handles the consumed messages. */
export interface BatchHandler {
  /** Prepares for a new channel, before its first message comes. */
  begin?: (session: ConsumerSession) => Promise<void>;
  /** Handles one batch at a time; messages that it has not settled at its end go back to the queue when the channel closes. */
  handle: (batch: OpenDelivery[], session: ConsumerSession) => Promise<void>;
  /** Ends a session properly: acknowledgements are on their way to the broker, and the channel still exists. */
  end?: (session: ConsumerSession) => Promise<void>;
  /** Resolves when nothing is being sent any more of what was in hand; its bodies can be read until then, also if the channel is gone. */
  settled?: () => Promise<void>;
}

/** Bounds of what is in hand. */
export interface ConsumerLimits {
  /** Messages that are not settled yet. */
  prefetch: number;
  /** Messages of one batch. */
  batchSize: number;
  /** Bytes of their bodies that are kept in memory; see {@link Bodies}. */
  bodyMemoryBytes: number;
}

/** Consumes a queue in batches until the signal, on a new channel whenever the old one breaks. */
export async function consumeBatches(
  connection: BrokerConnection,
  queue: string,
  limits: ConsumerLimits,
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
        events.onBatch?.();
        await handler.handle(batch, session);
        isInHand = false;
        pace.reset();
        events.onHandled?.();
      };
      await consumeOnce(connection, queue, limits, { ...handler, handle }, signal, events);
    } catch (error) {
      if (signal.aborted) return;
      events.onFault?.(error, isInHand);
      await pace.pauseAfterFailure(signal);
    }
  }
}

async function consumeOnce(
  connection: BrokerConnection,
  queue: string,
  { prefetch, batchSize, bodyMemoryBytes }: ConsumerLimits,
  { begin, handle, end, settled }: BatchHandler,
  signal: AbortSignal,
  { onConsuming, onBodyFault }: ConsumerEvents,
): Promise<void> {
  const channel = await connection.channel();
  const port = toConsumePort(channel);
  const waiting: OpenDelivery[] = [];
  const unsettled = new Map<OpenDelivery, () => void>();
  const bodies = new Bodies(bodyMemoryBytes, onBodyFault);
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
        return close(
          new Error(
            `the broker cancelled the consumer of ${queue}: the queue is gone, or messages were in hand for longer than its consumer timeout`,
          ),
        );
      waiting.push(trackDelivery(delivery, unsettled, bodies));
      wake();
    });
  };
  const pause = async (): Promise<OpenDelivery[]> => {
    const running = cancel;
    cancel = undefined;
    await running?.();
    return waiting.splice(0);
  };
  const acknowledge = (deliveries: readonly OpenDelivery[]): void => {
    const last = [...unsettled.keys()].at(-1);
    if (last === undefined || deliveries.length < unsettled.size) return deliveries.forEach((one) => one.acknowledge());
    last.acknowledge(true);
    for (const drop of unsettled.values()) drop();
    unsettled.clear();
  };
  const session: ConsumerSession = {
    id: randomUUID(),
    closing: closing.signal,
    get isLost() {
      return isLost;
    },
    pause,
    acknowledge,
    roundTrip: () => port.prefetch(prefetch),
  };
  channel.on("error", lose);
  port.onClose(() => {
    const { lastFailure } = connection;
    const cause = lastFailure === undefined ? "" : ` (${lastFailure.message})`;
    lose(new Error(`the channel that consumes ${queue} closed${cause}`));
  });
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
    // Messages that are given back would come again at once.
    await pause();
    if (!isLost) {
      await settled?.();
      await end?.(session);
    }
    if (isLost) void dropWhen(settled, unsettled);
    else await giveBack(channel, unsettled);
  }
}

/** Tracks whether a delivery is still in hand, and keeps its body meanwhile. */
function trackDelivery(delivery: OpenDelivery, unsettled: Map<OpenDelivery, () => void>, bodies: Bodies): OpenDelivery {
  const settling =
    <T extends unknown[]>(settle: (...how: T) => void): ((...how: T) => void) =>
    (...how) => {
      unsettled.get(one)?.();
      unsettled.delete(one);
      settle(...how);
    };
  const one: OpenDelivery = {
    ...delivery,
    acknowledge: settling(delivery.acknowledge),
    giveBack: settling(delivery.giveBack),
    reject: settling(delivery.reject),
    deadLetter: settling(delivery.deadLetter),
  };
  unsettled.set(one, bodies.keep(one));
  return one;
}

/**
 * Gives back the messages in hand, and closes the channel. If a channel closes with messages in hand, each counts as a failed delivery, and
 * RabbitMQ 4 allows twenty of these; giving them back one by one is not counted there.
 */
async function giveBack(
  channel: { close(): Promise<void> },
  unsettled: ReadonlyMap<OpenDelivery, unknown>,
): Promise<void> {
  for (const delivery of [...unsettled.keys()]) delivery.giveBack();
  await Promise.resolve()
    .then(() => channel.close())
    .catch(() => undefined);
}

/** Drops the bodies of a lost session when nothing of it is being sent any more: one that is missed there would come after later ones. */
async function dropWhen(
  settled: (() => Promise<void>) | undefined,
  unsettled: ReadonlyMap<unknown, () => void>,
): Promise<void> {
  await settled?.().catch(() => undefined);
  for (const drop of unsettled.values()) drop();
}
