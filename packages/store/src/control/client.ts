import { randomUUID } from "node:crypto";
import type { ConfirmChannel } from "amqplib";
import { StoreAnswer, StoreRequest } from "./operations";
import type { Reply } from "./control";

/** RabbitMQ's pseudo-queue for replies to the same channel. */
const DIRECT_REPLY = "amq.rabbitmq.reply-to";

/**
 * Asks a running store over AMQP.
 * @param channel amqplib's confirm channel, which the caller owns
 * @param exchange the store's control exchange (`controlQueue` of its descriptor)
 * @param timeoutMs how long to wait; what is not read by then is dropped
 * @throws Error when nobody answers, or with what the store refuses
 */
export async function askStore<R extends StoreRequest>(
  channel: ConfirmChannel,
  exchange: string,
  request: R,
  timeoutMs = 10_000,
): Promise<StoreAnswer<R>> {
  const correlationId = randomUUID();
  let settle: (reply: Reply) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const replied = new Promise<Reply>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  const onError = (error: Error): void => fail(error);
  channel.on("error", onError);
  channel.on("return", () => fail(new Error(`exchange ${exchange} leads to no queue`)));
  const { consumerTag } = await channel.consume(
    DIRECT_REPLY,
    (message) => {
      if (message?.properties.correlationId === correlationId) settle(JSON.parse(message.content.toString()) as Reply);
    },
    { noAck: true },
  );
  const timer = setTimeout(
    () => fail(new Error(`no store answered within ${timeoutMs} ms; is one running?`)),
    timeoutMs,
  );
  try {
    channel.publish(exchange, "", Buffer.from(JSON.stringify(request)), {
      replyTo: DIRECT_REPLY,
      correlationId,
      expiration: String(timeoutMs),
      contentType: "application/json",
      mandatory: true,
    });
    const reply = await replied;
    if (!reply.ok) throw new StoreRefusedError(reply.error);
    return reply.answer as StoreAnswer<R>;
  } finally {
    clearTimeout(timer);
    channel.off("error", onError);
    await Promise.resolve()
      .then(() => channel.cancel(consumerTag))
      .catch(() => undefined);
  }
}

/** The store answered that it doesn't do what was asked. */
export class StoreRefusedError extends Error {
  override readonly name = "StoreRefusedError";
}
