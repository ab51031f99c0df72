/* eslint-disable @typescript-eslint/no-explicit-any -- the client libraries' own types are wider than what is used, and differ by release */

/** amqplib's `ConfirmChannel` (`await connection.createConfirmChannel()`), as far as a publisher uses it. */
export interface AmqplibConfirmChannel {
  publish(exchange: string, routingKey: string, content: Buffer, options?: any, callback?: any): boolean;
  waitForConfirms(): unknown;
  /** Only needed for hold queues. */
  assertQueue?(queue: string, options?: any): Promise<unknown>;
  on(event: string, listener: (...args: any[]) => void): unknown;
}

/** amqplib's `ConfirmChannel`, as far as a consumer uses it. */
export interface AmqplibConsumerChannel extends AmqplibConfirmChannel {
  prefetch(count: number): Promise<unknown>;
  checkQueue(queue: string): Promise<unknown>;
  consume(queue: string, callback: (message: any) => void, options?: any): Promise<{ consumerTag: string }>;
  cancel(consumerTag: string): Promise<unknown>;
  ack(message: any): void;
  nack(message: any, allUpTo?: boolean, requeue?: boolean): void;
  reject(message: any, requeue?: boolean): void;
}

/** rabbitmq-client's `Channel` (`await connection.acquire()`). */
export interface RabbitmqClientChannel {
  basicPublish(envelope: any, body: any): Promise<void>;
  confirmSelect(...args: any[]): Promise<void>;
  /** Only needed for hold queues. */
  queueDeclare?(params: any): Promise<unknown>;
  on(event: any, listener: (...args: any[]) => void): unknown;
}

/** A channel with confirms, owned by the caller. */
export type PublishChannel = AmqplibConfirmChannel | RabbitmqClientChannel;
