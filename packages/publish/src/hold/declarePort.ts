import type { QueuePlan } from "@rabbitmq-delay/topology/descriptors";
import { MessageRefusedError } from "../errors";

/** Declares queues over a channel. */
export interface DeclarePort {
  /** Declares a queue, which renews the lease of a classic one; the broker closes the channel if the queue exists with other arguments. */
  declareQueue(queue: QueuePlan): Promise<void>;
}

/** The part of amqplib's channels that is used. */
interface AmqplibChannel {
  assertQueue(name: string, options: { durable: boolean; arguments: Record<string, unknown> }): Promise<unknown>;
}

/** The part of rabbitmq-client's channel that is used. */
interface RabbitmqClientChannel {
  queueDeclare(params: { queue: string; durable: boolean; arguments: Record<string, unknown> }): Promise<unknown>;
}

/**
 * Wraps a channel that the caller owns: amqplib's or rabbitmq-client's.
 * @throws MessageRefusedError for anything else
 */
export function toDeclarePort(channel: unknown): DeclarePort {
  const candidate = channel as Partial<AmqplibChannel & RabbitmqClientChannel> | null | undefined;
  if (typeof candidate?.queueDeclare === "function") {
    const client = channel as RabbitmqClientChannel;
    return {
      async declareQueue({ name, durable, arguments: values }) {
        await client.queueDeclare({ queue: name, durable, arguments: values });
      },
    };
  }
  if (typeof candidate?.assertQueue === "function") {
    const amqplib = channel as AmqplibChannel;
    return {
      async declareQueue({ name, durable, arguments: values }) {
        await amqplib.assertQueue(name, { durable, arguments: values });
      },
    };
  }
  throw new MessageRefusedError("channel", "it must be a channel of amqplib or rabbitmq-client");
}
