import { randomUUID } from "node:crypto";
import {
  HoldDestination,
  HoldQueues,
  HoldSettingsOptions,
  QueuePlan,
  declaredHoldQueue,
  holdSettings,
  parseHoldQueues,
  planHoldQueue,
} from "rabbitmq-delay-topology";
import { toConfirmPort } from "../confirmPort";
import { ConfirmedSender } from "../confirmedSender";
import { MessageRefusedError, MessageReturnedError, PublishTimeoutError } from "../errors";
import { dueHeader } from "../headers";
import type { MessageProperties } from "../options";
import { refuseForbidden, toBuffer } from "../outgoing";
import { AliveQueues } from "./aliveQueues";
import { DeclarePort, toDeclarePort } from "./declarePort";
import { DEFAULT_LEASE_MS, checkLease, leaseOf } from "./lease";

/** How long a message is held, and where it goes then. */
export interface Hold extends HoldDestination {
  delayMs: number;
}

/** A message to hold. */
export interface HoldMessage extends MessageProperties {
  /** Bytes, text (as UTF-8), or a value that is sent as JSON. */
  body: unknown;
}

/** What a hold queue's use tells the hook. */
export interface HoldQueueUse {
  queue: string;
  delayMs: number;
  /** Whether this process had not declared it before, or its lease was over. */
  isNew: boolean;
  /** How many hold queues of this process are alive. */
  queues: number;
}

/** How messages are held. */
export interface HoldOptions extends HoldSettingsOptions {
  /** Hold queues that a stack declared; then only those are used, and a queue without a lease is not declared again. */
  declared?: HoldQueues;
  /** How long to wait for the broker's confirm, in milliseconds; shorter than the lease. Default 30000. */
  confirmTimeoutMs?: number;
  /** How many hold queues this process may have on the broker at once. Default 1000. */
  maxQueues?: number;
  /** Called for each declare, e.g. to count queues. */
  onQueue?: (use: HoldQueueUse) => void;
}

/** What the broker has taken. */
export interface HoldReceipt {
  queue: string;
  /** The earliest time at which the message arrives. */
  dueAt: Date;
  messageId: string;
}

const DEFAULT_CONFIRM_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_QUEUES = 1000;
/** Only somebody who deletes a queue just after its declare makes a message come back. */
const ATTEMPTS = 3;

const alive = new AliveQueues();

/**
 * Holds one message in a queue for its delay and destination. The queue is declared before each message, which renews its
 * lease, and goes by itself when the lease is over after the last message.
 * @param channel amqplib's confirm channel or rabbitmq-client's channel, which the caller owns
 * @returns when the broker has confirmed the message
 * @throws DelayTopologyError or MessageRefusedError before anything is sent; MessageReturnedError, MessageNackedError,
 * ChannelClosedError or PublishTimeoutError afterwards, also when the confirm came too late to be sure of the lease
 */
export async function holdFor(
  channel: unknown,
  hold: Hold,
  message: HoldMessage,
  options: HoldOptions = {},
): Promise<HoldReceipt> {
  const { delayMs, exchange, routingKey } = hold;
  const { body, ...properties } = message;
  refuseForbidden(properties);
  const confirmTimeoutMs = options.confirmTimeoutMs ?? DEFAULT_CONFIRM_TIMEOUT_MS;
  const queue = planOf(options, delayMs, { exchange, routingKey });
  checkLease(queue, confirmTimeoutMs);
  const bytes = toBuffer(body, properties);
  const { port, sender } = holderOf(channel, confirmTimeoutMs);
  return sender.inTurn(async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await sendOnce(port, sender, queue, bytes, properties, options);
      } catch (error) {
        if (!(error instanceof MessageReturnedError) || attempt === ATTEMPTS || !isDeclaredHere(queue, options))
          throw error;
      }
    }
  });
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

/** Queues that a stack declared for ever are not the publisher's to declare. */
function isDeclaredHere(queue: QueuePlan, { declared }: HoldOptions): boolean {
  return declared === undefined || leaseOf(queue) !== undefined;
}

async function sendOnce(
  port: DeclarePort,
  sender: ConfirmedSender,
  queue: QueuePlan,
  body: Buffer,
  properties: MessageProperties,
  options: HoldOptions,
): Promise<HoldReceipt> {
  const delayMs = Number(queue.arguments["x-message-ttl"]);
  const start = performance.now();
  if (isDeclaredHere(queue, options)) {
    noteUse(queue, delayMs, options);
    await port.declareQueue(queue);
  }
  const dueAt = new Date(Date.now() + delayMs);
  const messageId = properties.messageId ?? randomUUID();
  const headers = { ...properties.headers, [dueHeader]: dueAt.toISOString() };
  await sender.send("", queue.name, body, { ...properties, messageId, headers });
  const leaseMs = leaseOf(queue);
  if (leaseMs !== undefined && performance.now() - start >= leaseMs) {
    throw new PublishTimeoutError("", queue.name, leaseMs);
  }
  return { queue: queue.name, dueAt, messageId };
}

function noteUse(queue: QueuePlan, delayMs: number, { maxQueues = DEFAULT_MAX_QUEUES, onQueue }: HoldOptions): void {
  const expiresMs = Number(queue.arguments["x-expires"] ?? Number.POSITIVE_INFINITY);
  const isNew = alive.note(queue.name, expiresMs, maxQueues);
  try {
    onQueue?.({ queue: queue.name, delayMs, isNew, queues: alive.count });
  } catch (error) {
    process.emitWarning(`onQueue threw: ${String(error)}`);
  }
}

interface Holder {
  port: DeclarePort;
  sender: ConfirmedSender;
}
const holders = new WeakMap<object, Map<number, Holder>>();

/** One sender for all messages of a channel, because each listens to the channel's events. */
function holderOf(channel: unknown, confirmTimeoutMs: number): Holder {
  const confirms = typeof channel === "object" && channel !== null ? holders.get(channel) : undefined;
  const known = confirms?.get(confirmTimeoutMs);
  if (known !== undefined) return known;
  const holder = {
    port: toDeclarePort(channel),
    sender: new ConfirmedSender(toConfirmPort(channel), { confirmTimeoutMs }),
  };
  holders.set(channel as object, new Map([...(confirms ?? []), [confirmTimeoutMs, holder]]));
  return holder;
}
