import { randomUUID } from "node:crypto";
import type { PublishChannel } from "../channels";
import {
  HoldDestination,
  HoldQueues,
  HoldSettingsOptions,
  QueuePlan,
  declaredHoldQueue,
  holdSettings,
  parseHoldQueues,
  planHoldQueue,
} from "@rabbitmq-delay/topology/descriptors";
import { toBuffer } from "../body";
import { toConfirmPort } from "../confirmPort";
import { ConfirmedSender } from "../confirmedSender";
import { ChannelClosedError, MessageRefusedError, MessageReturnedError } from "../errors";
import { dueHeader } from "../headers";
import { tell } from "../listener";
import type { MessageProperties } from "../options";
import { refuseForbidden } from "../outgoing";
import { LONGEST_TIMER_MS } from "../timers";
import { AliveQueues, aliveQueuesOf } from "./aliveQueues";
import type { DeclarePort } from "./entityPort";
import { DestinationCheck } from "./destinationCheck";
import { DEFAULT_LEASE_MS, checkLease, leaseOf, publishInLease } from "./lease";
import { LeaseRenewal } from "./leaseRenewal";

/** How long a message is held, and where it goes afterwards. */
export interface Hold extends HoldDestination {
  delayMs: number;
}

/** A message to hold. */
export interface HoldMessage extends MessageProperties {
  /** Bytes, text (sent as UTF-8), or a value that is sent as JSON. */
  body: unknown;
}

/** What the hook is told about the use of a hold queue. */
export interface HoldQueueUse {
  queue: string;
  delayMs: number;
  /** Whether this connection had not declared it before, or its lease was over. */
  isNew: boolean;
  /** How many hold queues declared by this connection exist now. */
  queues: number;
}

/** How messages are held. */
export interface HoldOptions extends HoldSettingsOptions {
  /** Hold queues that a stack declared; then only those are used, and a queue without a lease is not declared again. */
  declared?: HoldQueues;
  /**
   * How long a message may wait until it can be sent, and then how long for the broker's confirm; in milliseconds, shorter than the lease,
   * and at most 2147483647. Default 30000.
   */
  confirmTimeoutMs?: number;
  /**
   * How many hold queues this connection may have on the broker at once, each until its lease is over. With rabbitmq-client, whose channels
   * don't show their connection, the limit is for each channel. Default 1000.
   */
  maxQueues?: number;
  /** Called for each declare, e.g. to count queues. */
  onQueue?: (use: HoldQueueUse) => void;
}

/** What the broker has accepted. */
export interface HoldReceipt {
  queue: string;
  /** The earliest time at which the message arrives. */
  dueAt: Date;
  messageId: string;
}

const DEFAULT_CONFIRM_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_QUEUES = 1000;
/** A message comes back only if somebody deletes its queue just after the declare, so a few attempts are enough. */
const ATTEMPTS = 3;

/**
 * Holds one message in a queue for its delay and destination. The queue is declared before each message, which renews its lease. The broker
 * deletes it when the lease is over after the last message. The broker's own headers (`x-death` and its like) are left out: before RabbitMQ
 * 4.0 they would make it drop a message that is held a second time.
 *
 * For the first message to a destination, it checks over a second channel, one destination after another, that the exchange exists, or the
 * queue if the exchange is `""`. A destination passes unchecked if this user has no right to look at it, or if the client's own limit
 * leaves no room for a second channel. If the broker's limit leaves none, the broker ends the connection, and the error names the limit.
 * **Nobody can see over AMQP whether a queue is bound to the exchange for this key**: when a message is due and no queue is bound for it, the
 * broker drops it, unless the exchange has an alternate exchange. So give it one.
 * @param channel amqplib's confirm channel or rabbitmq-client's channel, owned by the caller; it needs no listener for its errors
 * @returns when the broker has confirmed the message
 * @throws DelayTopologyError or MessageRefusedError before anything is sent; MessageReturnedError, MessageNackedError, ChannelClosedError
 * or PublishTimeoutError afterwards, also when the confirm came too late to be sure of the lease
 * @example
 * ```ts
 * import { connect } from "amqplib";
 * import { holdFor } from "@rabbitmq-delay/publish";
 *
 * const connection = await connect("amqp://localhost");
 * connection.on("error", (error) => console.error(error.message));
 * const channel = await connection.createConfirmChannel();
 * await holdFor(channel, { delayMs: 90_000, exchange: "", routingKey: "Billing" }, { body: { order: 4711 } });
 * ```
 */
export async function holdFor(
  channel: PublishChannel,
  hold: Hold,
  message: HoldMessage,
  options: HoldOptions = {},
): Promise<HoldReceipt> {
  const { delayMs, exchange, routingKey } = hold;
  const { body, ...properties } = message;
  refuseForbidden(properties);
  const confirmTimeoutMs = checkConfirmTimeout(options.confirmTimeoutMs ?? DEFAULT_CONFIRM_TIMEOUT_MS);
  const queue = planOf(options, delayMs, { exchange, routingKey });
  checkLease(queue, confirmTimeoutMs);
  checkMaxQueues(options.maxQueues);
  const bytes = toBuffer(body, properties);
  const holder = holderOf(channel);
  // Copied and checked in the call: while the message waits for its turn, the caller may use the object for the next one, and no queue
  // should be declared for a message that can't be sent.
  const checked = holder.sender.toSendable(properties);
  for (let attempt = 1; ; attempt++) {
    try {
      const work = async (handOver: () => void): Promise<HoldReceipt> => {
        await holder.destinations.check({ exchange, routingKey });
        return sendOnce(holder, queue, bytes, checked, { ...options, confirmTimeoutMs }, handOver);
      };
      return await holder.sender.inTurn({ exchange: "", routingKey: queue.name, body: bytes }, work, confirmTimeoutMs);
    } catch (error) {
      if (!(error instanceof MessageReturnedError) || attempt === ATTEMPTS || !isDeclaredHere(queue, options))
        throw error;
    }
  }
}

function checkConfirmTimeout(confirmTimeoutMs: number): number {
  if (Number.isSafeInteger(confirmTimeoutMs) && confirmTimeoutMs >= 1 && confirmTimeoutMs <= LONGEST_TIMER_MS)
    return confirmTimeoutMs;
  throw new MessageRefusedError(
    "confirmTimeoutMs",
    `${confirmTimeoutMs} is not allowed; it must be a whole number from 1 to ${LONGEST_TIMER_MS}`,
  );
}

/** Refuses a limit that is not a number, because it would be no limit. */
function checkMaxQueues(maxQueues: unknown): void {
  if (maxQueues === undefined || (Number.isSafeInteger(maxQueues) && (maxQueues as number) >= 0)) return;
  const shown = typeof maxQueues === "number" ? String(maxQueues) : `a value of type ${typeof maxQueues}`;
  throw new MessageRefusedError("maxQueues", `${shown} is not allowed; it must be a whole number from 0`);
}

function planOf(options: HoldOptions, delayMs: number, destination: HoldDestination): QueuePlan {
  const { declared, prefix, queueType, atLeastOnce, leaseMs } = options;
  const given = { prefix, queueType, atLeastOnce, leaseMs };
  if (declared === undefined) {
    const lease = queueType === "quorum" ? leaseMs : (leaseMs ?? DEFAULT_LEASE_MS);
    return planHoldQueue(holdSettings({ ...given, leaseMs: lease }), delayMs, destination);
  }
  const extra = Object.entries(given).find(([, value]) => value !== undefined);
  if (extra !== undefined) throw new MessageRefusedError(extra[0], "the declared hold queues say it; leave it out");
  return declaredHoldQueue(parseHoldQueues(declared, "declared"), delayMs, destination);
}

/** Whether the publisher declares the queue itself; queues that a stack declared without a lease are not its to declare. */
function isDeclaredHere(queue: QueuePlan, { declared }: HoldOptions): boolean {
  return declared === undefined || leaseOf(queue) !== undefined;
}

async function sendOnce(
  { port, sender, alive }: Holder,
  queue: QueuePlan,
  body: Buffer,
  properties: MessageProperties,
  options: HoldOptions,
  handOver: () => void,
): Promise<HoldReceipt> {
  const delayMs = Number(queue.arguments["x-message-ttl"]);
  const messageId = properties.messageId ?? randomUUID();
  let dueAt = new Date(0);
  const send = async (): Promise<void> => {
    handOver();
    dueAt = new Date(Date.now() + delayMs);
    const headers = { ...properties.headers, [dueHeader]: dueAt.toISOString() };
    await sender.sendChecked("", queue.name, body, { ...properties, messageId, headers }, options.confirmTimeoutMs);
  };
  if (isDeclaredHere(queue, options)) await publishInLease(recordDeclares(port, alive, options), queue, send);
  else await send();
  return { queue: queue.name, dueAt, messageId };
}

/** Records each declare before it is made, so that the limit holds. */
function recordDeclares(
  port: DeclarePort,
  alive: AliveQueues,
  { maxQueues = DEFAULT_MAX_QUEUES, onQueue }: HoldOptions,
): DeclarePort {
  return {
    async declareQueue(queue) {
      const { "x-message-ttl": delayMs, "x-expires": expiresMs = Number.POSITIVE_INFINITY } = queue.arguments;
      const isNew = alive.note(queue.name, Number(expiresMs), maxQueues);
      tell("onQueue", onQueue, { queue: queue.name, delayMs: Number(delayMs), isNew, queues: alive.count });
      try {
        await port.declareQueue(queue);
      } catch (error) {
        if (isNew) alive.forget(queue.name);
        // The channel is already closed, or the broker's refusal closes it.
        throw new ChannelClosedError("", queue.name, error as Error);
      }
    },
  };
}

interface Holder {
  port: DeclarePort;
  sender: ConfirmedSender;
  alive: AliveQueues;
  destinations: DestinationCheck;
}
const holders = new WeakMap<object, Holder>();

/**
 * One holder for all messages of a channel, whatever their timeouts: a caller may give another timeout each time, e.g. the rest of a
 * deadline.
 */
function holderOf(channel: unknown): Holder {
  const known = typeof channel === "object" && channel !== null ? holders.get(channel) : undefined;
  if (known !== undefined) return known;
  const holder = {
    port: new LeaseRenewal(channel),
    sender: new ConfirmedSender(toConfirmPort(channel), {}),
    alive: aliveQueuesOf(channel as object),
    destinations: new DestinationCheck(channel as object),
  };
  holders.set(channel as object, holder);
  return holder;
}
