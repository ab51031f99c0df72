import { MessageRefusedError } from "./errors";
import { isInt32 } from "./headerFields";
import { nserviceBusDelayHeader } from "./headers";
import { Int32Headers } from "./int32Headers";
import type { SendableProperties } from "./sendable";
import type { ClientLibrary } from "./clientLibrary";

/** A message that came back because no queue takes it. */
export interface ReturnedMessage {
  exchange: string;
  routingKey: string;
  replyText: string;
  messageId: string | undefined;
  headers: Record<string, unknown> | undefined;
}

/** The few operations that a publisher needs from a client library. */
export interface ConfirmPort {
  readonly library: ClientLibrary;
  /** Publishes persistent and mandatory; resolves with whether the broker accepted the message, and rejects when the channel ended. */
  publish(exchange: string, routingKey: string, body: Buffer, properties: SendableProperties): Promise<boolean>;
  /** Undefined while the socket accepts more, and else a promise of when it may again. */
  writable(): Promise<void> | undefined;
  onReturn(listener: (message: ReturnedMessage) => void): void;
  /** Calls back when the channel has closed, with the channel's own error if it had one. */
  onClose(listener: (reason?: Error) => void): void;
}

type Listen = (event: string, listener: (...args: never[]) => void) => unknown;

/** The part of amqplib's ConfirmChannel that is used. */
interface AmqplibChannel {
  publish(exchange: string, key: string, body: Buffer, options: object, callback: (error: unknown) => void): boolean;
  waitForConfirms: unknown;
  on: Listen;
  connection?: { frameMax?: number };
}

/** The part of rabbitmq-client's Channel (`await connection.acquire()`) that is used. */
interface RabbitmqClientChannel {
  basicPublish(envelope: object, body: Buffer): Promise<void>;
  confirmSelect(): Promise<void>;
  on: Listen;
  _state?: { maxFrameSize?: number };
  _conn?: { _state?: { frameMax?: number } };
}

/**
 * One port for all senders over a channel: the port listens to the channel's events, and has to know all messages that are on their way.
 */
const ports = new WeakMap<object, ConfirmPort>();

/**
 * Wraps a channel that the caller owns: amqplib's ConfirmChannel or rabbitmq-client's Channel. A channel has one port, however often it is
 * asked for.
 *
 * The port listens to the channel's `error`, because without a listener Node ends the process, for a refusal that rejects the caller's
 * promise anyway. Other listeners are still called.
 * @throws MessageRefusedError for anything else, such as amqplib's channel without confirms
 */
export function toConfirmPort(channel: unknown): ConfirmPort {
  const known = typeof channel === "object" && channel !== null ? ports.get(channel) : undefined;
  if (known !== undefined) return known;
  const port = newPort(channel);
  ports.set(channel as object, port);
  return port;
}

function newPort(channel: unknown): ConfirmPort {
  const candidate = channel as Partial<AmqplibChannel & RabbitmqClientChannel> | null | undefined;
  if (typeof candidate?.basicPublish === "function") return rabbitmqClientPort(channel as RabbitmqClientChannel);
  if (typeof candidate?.waitForConfirms === "function") return amqplibPort(channel as AmqplibChannel);
  throw new MessageRefusedError(
    "channel",
    "it must be amqplib's confirm channel (connection.createConfirmChannel()) or rabbitmq-client's channel " +
      "(connection.acquire()): without confirms nobody knows whether the broker has the message",
  );
}

/** Calls back when a channel has closed, with the error that came before; Node does not repeat that error at the close. */
function onCloseOf(channel: { on: Listen }): ConfirmPort["onClose"] {
  let reason: Error | undefined;
  channel.on("error", (error: Error) => void (reason = error));
  return (listener) => void channel.on("close", () => listener(reason));
}

/** The largest size of a frame in bytes; in AMQP, 0 means no limit. */
function frameLimit(frameMax: number | undefined, otherwise: number): number {
  if (frameMax === undefined) return otherwise;
  return frameMax === 0 ? Infinity : frameMax;
}

/** Room in a frame of properties for what is not the caller's: the frame's head, an id, and the headers that this package adds. */
const RESERVED_BYTES = 320;
/** The size of amqplib's buffer for headers; it would cut longer ones off, and the broker would end the connection. */
const AMQPLIB_HEADERS_BYTES = 65_536;
/** rabbitmq-client's default. */
const RABBITMQ_CLIENT_FRAME_BYTES = 8192;

function amqplibPort(channel: AmqplibChannel): ConfirmPort {
  const largest = Math.min(AMQPLIB_HEADERS_BYTES, frameLimit(channel.connection?.frameMax, AMQPLIB_HEADERS_BYTES));
  let drained: Promise<void> | undefined;
  let open: () => void = () => undefined;
  const release = (): void => {
    drained = undefined;
    open();
  };
  channel.on("drain", release);
  channel.on("close", release);
  return {
    library: { name: "amqplib", maximumPropertiesBytes: largest - RESERVED_BYTES },
    publish: (exchange, routingKey, body, properties) =>
      new Promise((resolve, reject) => {
        const options = { ...properties, persistent: true, mandatory: true };
        const answer = new Answer(resolve, reject);
        const goesOn = unlessUnsendable(() => channel.publish(exchange, routingKey, body, options, answer.done));
        if (!goesOn && !answer.isThere) drained ??= new Promise((resume) => (open = resume));
      }),
    writable: () => drained,
    onReturn: (listener) => {
      channel.on("return", (message: { fields: ReturnedMessage; properties: SendableProperties }) =>
        listener({
          exchange: message.fields.exchange,
          routingKey: message.fields.routingKey,
          replyText: message.fields.replyText,
          messageId: message.properties.messageId,
          headers: message.properties.headers,
        }),
      );
    },
    onClose: onCloseOf(channel),
  };
}

/** The broker's answer to a message, which does not keep its body. */
class Answer {
  isThere = false;

  constructor(
    private readonly resolve: (isTaken: boolean) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  /** A nack and a closed channel come through the same callback; only the latter follows the close event. */
  readonly done = (error: unknown): void => {
    this.isThere = true;
    if (error === null || error === undefined) this.resolve(true);
    else if (/clos/i.test(String((error as Error).message))) this.reject(error as Error);
    else this.resolve(false);
  };
}

/** An error that a client throws at once, on an open channel, is about the message, and nothing was sent. */
function unlessUnsendable<T>(publish: () => T): T {
  try {
    return publish();
  } catch (error) {
    if ((error as Error).name === "IllegalOperationError") throw error;
    throw new MessageRefusedError("message", `it can't be sent (${(error as Error).message})`);
  }
}

function rabbitmqClientPort(channel: RabbitmqClientChannel): ConfirmPort {
  let confirming: Promise<void> | undefined;
  const largest = Math.min(
    frameLimit(channel._state?.maxFrameSize, RABBITMQ_CLIENT_FRAME_BYTES),
    frameLimit(channel._conn?._state?.frameMax, Infinity),
  );
  const publishNow = (envelope: object, headers: Record<string, unknown>, body: Buffer): Promise<void> => {
    if (!Object.values(headers).some(isInt32)) return channel.basicPublish({ ...envelope, headers }, body);
    const int32Headers = Int32Headers.of(channel);
    if (int32Headers !== undefined) {
      return int32Headers.publish(headers, (map) => channel.basicPublish({ ...envelope, headers: map }, body));
    }
    // Leave the header out rather than send another type, which ends NServiceBus's tool for the whole network.
    const others = Object.entries(headers).filter(([name]) => name !== nserviceBusDelayHeader);
    const plain = others.map(([name, value]) => [name, isInt32(value) ? value.value : value] as const);
    return channel.basicPublish({ ...envelope, headers: Object.fromEntries(plain) }, body);
  };
  return {
    library: { name: "rabbitmq-client", maximumPropertiesBytes: largest - RESERVED_BYTES },
    async publish(exchange, routingKey, body, { headers = {}, ...properties }) {
      await (confirming ??= channel.confirmSelect());
      try {
        await publishNow({ ...properties, exchange, routingKey, durable: true, mandatory: true }, headers, body);
        // The library reports a return one turn after it came, which is after the confirm that follows it.
        await new Promise((resolve) => setImmediate(resolve));
        return true;
      } catch (error) {
        if ((error as { code?: string }).code === "NACK") return false;
        throw error;
      }
    },
    writable: () => undefined,
    onReturn: (listener) => {
      channel.on("basic.return", (message: ReturnedMessage) =>
        listener({
          exchange: message.exchange,
          routingKey: message.routingKey,
          replyText: message.replyText,
          messageId: message.messageId,
          headers: message.headers,
        }),
      );
    },
    onClose: onCloseOf(channel),
  };
}
