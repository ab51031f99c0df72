import type { ConfirmChannel } from "amqplib";
import { MessageReturnedError, createDelayPublisher } from "@rabbitmq-delay/publish";
import { DelayNetwork, encodeDelay } from "@rabbitmq-delay/topology";
import type { LastingChannel } from "./channels";
import type { History } from "./history";
import type { DelayedPlannedMessage, PlannedMessage, Publisher } from "./plan/types";

let sequence = 0;

/** How long a publisher waits for a channel to be there. */
const CHANNEL_TIMEOUT_MS = 60_000;

/** Publishes as soon as there is a channel, and notes what is said of it. @param sendOn makes what sends now */
export async function noted(
  history: History,
  part: string,
  message: PlannedMessage & { delayMs: number },
  sendOn: () => (() => Promise<unknown>) | undefined,
): Promise<void> {
  const deadline = Date.now() + CHANNEL_TIMEOUT_MS;
  let send = sendOn();
  while (send === undefined && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    send = sendOn();
  }
  if (send === undefined) throw new Error("a publisher got no channel; did the broker come back?");
  const { n, delayMs, messageId } = message;
  const attempt = `main-${sequence++}`;
  history.record({ kind: "published", part, n, attempt, delayMs, messageId });
  try {
    await send();
    history.record({ kind: "confirmed", part, n, attempt });
  } catch (error) {
    const { name, message: text } = error as Error;
    const kind = kindOf(name);
    history.record({ kind, part, n, attempt, error: `${name}: ${text}` });
  }
}

function kindOf(name: string): "returned" | "refused" | "unknown" {
  if (name === MessageReturnedError.name) return "returned";
  return name === "MessageRefusedError" || name === "DelayTopologyError" ? "refused" : "unknown";
}

const CONFIRM_TIMEOUT_MS = 15_000;

/** Publishes by bare amqplib to the broker's confirm, mandatory. */
export function sendByHand(
  channel: ConfirmChannel,
  exchange: string,
  routingKey: string,
  body: string,
  properties: Record<string, unknown>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no confirm in time")), CONFIRM_TIMEOUT_MS);
    const options = { ...properties, persistent: true };
    channel.publish(exchange, routingKey, Buffer.from(body), options, (error: unknown) => {
      clearTimeout(timer);
      if (error === null || error === undefined) resolve();
      else reject(error as Error);
    });
  });
}

type DelayPublisher = ReturnType<typeof createDelayPublisher>;
const helpers = new WeakMap<object, DelayPublisher>();

/** What sends a message through a network now; undefined while the publisher has no channel. */
export function networkSend(
  channels: Record<"amqplib" | "rabbitmq-client", LastingChannel>,
  network: DelayNetwork,
  message: DelayedPlannedMessage,
): (() => Promise<unknown>) | undefined {
  const { n, delayMs, destination, messageId, publisher } = message;
  const { channel } = channels[libraryOf(publisher)];
  if (channel === undefined) return undefined;
  const properties = messageId === undefined ? {} : { messageId };
  if (publisher === "by-hand") {
    return () => {
      const { exchange, routingKey } = encodeDelay(network, delayMs, destination);
      return sendByHand(channel as ConfirmChannel, exchange, routingKey, n, properties);
    };
  }
  let helper = helpers.get(channel as object);
  if (helper === undefined) {
    helper = createDelayPublisher(channel, network, { confirmTimeoutMs: CONFIRM_TIMEOUT_MS });
    helpers.set(channel as object, helper);
  }
  const through = helper;
  return () => through.publish(destination, n, { delayMs, ...properties });
}

/** The client library that a publisher takes. */
export function libraryOf(publisher: Publisher): "amqplib" | "rabbitmq-client" {
  return publisher === "rabbitmq-client" ? "rabbitmq-client" : "amqplib";
}
