import * as amqp from "amqplib";

/** What one version of NServiceBus.RabbitMQ calls its delay infrastructure, and how it declares it. */
export interface Generation {
  preset: "nservicebus" | "nservicebus-v1";
  level: (level: number) => string;
  delivery: string;
  arguments: (level: number, next: string) => Record<string, unknown>;
}

const padded = (level: number): string => `${level < 10 ? "0" : ""}${level}`;

/** A stand-in for NServiceBus, written down from its public sources and from what it sends: its own client needs .NET. */
export const generations = {
  v2: {
    preset: "nservicebus",
    level: (level) => `nsb.v2.delay-level-${padded(level)}`,
    delivery: "nsb.v2.delay-delivery",
    arguments: (level, next) => ({
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
      "x-message-ttl": Math.pow(2, level) * 1000,
      "x-dead-letter-exchange": next,
    }),
  },
  v1: {
    preset: "nservicebus-v1",
    level: (level) => `nsb.delay-level-${padded(level)}`,
    delivery: "nsb.delay-delivery",
    arguments: (level, next) => ({
      "x-queue-mode": "lazy",
      "x-message-ttl": Math.pow(2, level) * 1000,
      "x-dead-letter-exchange": next,
    }),
  },
} as const satisfies Record<string, Generation>;

/** Declares as its set-up loop does: from level 27 down, then the delivery exchange. */
export async function declareAsNServiceBus(channel: amqp.Channel, generation: Generation): Promise<void> {
  let stars = "";
  for (let level = 27; level >= 0; level--) {
    const [current, next] = [generation.level(level), level > 0 ? generation.level(level - 1) : generation.delivery];
    await channel.assertExchange(current, "topic", { durable: true });
    await channel.assertQueue(current, { durable: true, arguments: generation.arguments(level, next) });
    await channel.bindQueue(current, current, `${stars}1.#`);
    stars += "*.";
  }
  await channel.assertExchange(generation.delivery, "topic", { durable: true });
  stars = "";
  for (let level = 27; level >= 0; level--) {
    await channel.bindExchange(
      level > 0 ? generation.level(level - 1) : generation.delivery,
      generation.level(level),
      `${stars}0.#`,
    );
    stars += "*.";
  }
}

/** Declares an endpoint as its installers do in the conventional topology: the queue, a fanout exchange of that name, and the delay binding. */
export async function installEndpoint(
  channel: amqp.Channel,
  generation: Generation,
  name: string,
  isQuorum = true,
): Promise<void> {
  await channel.assertQueue(name, { durable: true, arguments: isQuorum ? { "x-queue-type": "quorum" } : {} });
  await channel.assertExchange(name, "fanout", { durable: true });
  await channel.bindQueue(name, name, "");
  await channel.bindExchange(name, generation.delivery, `#.${name}`);
}

/** Sends as its client does: binds the destination before each delayed send, with or without installers. */
export async function sendDelayed(
  channel: amqp.ConfirmChannel,
  generation: Generation,
  destination: string,
  seconds: number,
  body: string,
  routingTopology: "conventional" | "direct" = "conventional",
): Promise<void> {
  const key = `#.${destination}`;
  if (routingTopology === "conventional") await channel.bindExchange(destination, generation.delivery, key);
  else await channel.bindQueue(destination, generation.delivery, key);
  return publishDelayed(channel, generation, destination, seconds, body);
}

/** Publishes as its client does, to a destination that is bound already. */
export async function publishDelayed(
  channel: amqp.ConfirmChannel,
  generation: Generation,
  destination: string,
  seconds: number,
  body: string,
): Promise<void> {
  const digits = [...seconds.toString(2).padStart(28, "0")].join(".");
  const level = Math.max(0, seconds.toString(2).length - 1);
  const headers = { "NServiceBus.Transport.RabbitMQ.DelayInSeconds": { "!": "int32", value: seconds } };
  await new Promise<void>((resolve, reject) =>
    channel.publish(
      generation.level(level),
      `${digits}.${destination}`,
      Buffer.from(body),
      { mandatory: true, persistent: true, headers },
      (error: Error | null) => (error === null || error === undefined ? resolve() : reject(error)),
    ),
  );
}
