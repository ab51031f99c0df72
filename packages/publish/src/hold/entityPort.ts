import type { QueuePlan } from "@rabbitmq-delay/topology/descriptors";
import { MessageRefusedError } from "../errors";

/** Declares queues over a channel. */
export interface DeclarePort {
  /** Declares a queue, which renews the lease of a classic one; the broker closes the channel if the queue exists with other arguments. */
  declareQueue(queue: QueuePlan): Promise<void>;
}

/** Asks for what others declared, too. Each refusal of the broker closes the channel. */
export interface EntityPort extends DeclarePort {
  /** Refused if there is no such queue, or the user has no right on its name. */
  checkQueue(name: string): Promise<void>;
  /** Refused if there is no such exchange, or the user has no right on its name. */
  checkExchange(name: string): Promise<void>;
  /** Always refused: by the right to write to the default exchange, or because no queue has left it. Nothing changes. */
  unbindDefaultExchange(): Promise<void>;
}

/** The part of amqplib's channels that is used. */
interface AmqplibChannel {
  assertQueue(name: string, options: { durable: boolean; arguments: Record<string, unknown> }): Promise<unknown>;
  checkQueue(name: string): Promise<unknown>;
  checkExchange(name: string): Promise<unknown>;
  unbindExchange(destination: string, source: string, pattern: string): Promise<unknown>;
}

/** The part of rabbitmq-client's channel that is used. */
interface RabbitmqClientChannel {
  queueDeclare(params: {
    queue: string;
    passive?: boolean;
    durable?: boolean;
    arguments?: Record<string, unknown>;
  }): Promise<unknown>;
  exchangeDeclare(params: { exchange: string; passive: boolean }): Promise<unknown>;
  exchangeUnbind(params: { destination: string; source: string; routingKey: string }): Promise<unknown>;
}

const NOWHERE = "rabbitmq-delay.nowhere";

/**
 * Wraps a channel that the caller owns: amqplib's or rabbitmq-client's.
 * @throws MessageRefusedError for anything else
 */
export function toEntityPort(channel: unknown): EntityPort {
  const candidate = channel as Partial<AmqplibChannel & RabbitmqClientChannel> | null | undefined;
  if (typeof candidate?.queueDeclare === "function") return rabbitmqClientPort(channel as RabbitmqClientChannel);
  if (typeof candidate?.assertQueue === "function") return amqplibPort(channel as AmqplibChannel);
  throw new MessageRefusedError("channel", "it must be a channel of amqplib or rabbitmq-client");
}

function amqplibPort(channel: AmqplibChannel): EntityPort {
  return {
    async declareQueue({ name, durable, arguments: values }) {
      await channel.assertQueue(name, { durable, arguments: values });
    },
    async checkQueue(name) {
      await channel.checkQueue(name);
    },
    async checkExchange(name) {
      await channel.checkExchange(name);
    },
    async unbindDefaultExchange() {
      await channel.unbindExchange("", NOWHERE, "");
    },
  };
}

function rabbitmqClientPort(channel: RabbitmqClientChannel): EntityPort {
  return {
    async declareQueue({ name, durable, arguments: values }) {
      await channel.queueDeclare({ queue: name, durable, arguments: values });
    },
    async checkQueue(name) {
      await channel.queueDeclare({ queue: name, passive: true });
    },
    async checkExchange(name) {
      await channel.exchangeDeclare({ exchange: name, passive: true });
    },
    async unbindDefaultExchange() {
      await channel.exchangeUnbind({ destination: "", source: NOWHERE, routingKey: "" });
    },
  };
}
