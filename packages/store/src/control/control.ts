import type { ConfirmChannel } from "amqplib";
import { OpenDelivery } from "rabbitmq-delay-publish";
import type { BrokerConnection } from "../broker/brokerConnection";
import { ConsumerEvents, consumeBatches } from "../broker/consumer";
import type { DelayedMessageStore } from "../delayedMessageStore";
import { Pace } from "../resilience/pace";
import { StoreRequest, perform } from "./operations";

/** What a control works with. */
export interface ControlParts {
  connection: BrokerConnection;
  store: DelayedMessageStore;
  queue: string;
  maximumDelayMs: number;
  /** Tells the dispatcher of a message that may be due earlier now. */
  onRescheduled?: (at: Date) => void;
  events?: ConsumerEvents;
}

/** What is sent back to `replyTo`, as JSON. */
export type Reply = { ok: true; answer: unknown } | { ok: false; error: string };

/** Does what is asked over AMQP: a JSON request in the control queue, a JSON reply to its `replyTo`. */
export class Control {
  private replies: ConfirmChannel | undefined;

  constructor(private readonly parts: ControlParts) {}

  /** Works until the signal. */
  run(signal: AbortSignal): Promise<void> {
    const { connection, queue, events } = this.parts;
    const handle = async ([delivery]: OpenDelivery[], closing: AbortSignal): Promise<void> => {
      if (delivery !== undefined) await this.handle(delivery, closing);
    };
    return consumeBatches(connection, queue, { prefetch: 1, batchSize: 1 }, handle, signal, events);
  }

  private async handle(delivery: OpenDelivery, closing: AbortSignal): Promise<void> {
    const reply = await this.replyTo(delivery, closing);
    if (reply === undefined) return;
    // First, because a reply that the broker refuses closes the channel.
    delivery.acknowledge();
    await this.send(delivery, reply);
  }

  /** @returns undefined when it ends before the store could be asked */
  private async replyTo({ body }: OpenDelivery, closing: AbortSignal): Promise<Reply | undefined> {
    const { store, maximumDelayMs, onRescheduled, events } = this.parts;
    const pace = new Pace();
    for (;;) {
      try {
        const request = parse(body);
        const answer = await perform(store, request, maximumDelayMs);
        if (request.operation === "reschedule") onRescheduled?.(new Date(request.at));
        return { ok: true, answer };
      } catch (error) {
        if (isRefusal(error as Error)) return { ok: false, error: (error as Error).message };
        events?.onFault?.(error);
        await pace.failed(closing);
        if (closing.aborted) return undefined;
      }
    }
  }

  private async send({ properties }: OpenDelivery, reply: Reply): Promise<void> {
    const { replyTo, correlationId } = properties;
    if (replyTo === undefined || replyTo === "") return;
    const channel = (this.replies ??= await this.open());
    channel.sendToQueue(replyTo, Buffer.from(JSON.stringify(reply)), {
      contentType: "application/json",
      ...(correlationId === undefined ? {} : { correlationId }),
    });
  }

  private async open(): Promise<ConfirmChannel> {
    const channel = await this.parts.connection.channel();
    channel.on("close", () => (this.replies = undefined));
    return channel;
  }
}

/** Repeating it would not help. */
function isRefusal({ name }: Error): boolean {
  return name === "StoreMismatchError" || name === "MessageRefusedError" || name === "SyntaxError";
}

function parse(body: Buffer): StoreRequest {
  try {
    return JSON.parse(body.toString()) as StoreRequest;
  } catch (error) {
    throw new SyntaxError(`the request is not JSON (${(error as Error).message})`);
  }
}
