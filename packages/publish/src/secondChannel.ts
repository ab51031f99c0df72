import { errorMonitor } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { MessageRefusedError } from "./errors";

/** The parts of amqplib's and of rabbitmq-client's channel that are used; the latter's connection is not public, read in version 5.0.8, lib/Channel.js. */
interface AnyChannel {
  connection?: unknown;
  open?: () => Promise<unknown>;
  _conn?: { acquire?: () => Promise<AnyChannel> };
  on?(event: string, listener: () => void): unknown;
  close(): Promise<void>;
}

/** The part of a connection of either library that tells why it closes. */
interface AnyConnection {
  on?(event: symbol, listener: (error: Error) => void): unknown;
  off?(event: symbol, listener: (error: Error) => void): unknown;
}

/** The broker's words for its limits of channels, which end the connection. */
const LIMIT_OF_BROKER = /number of channels opened/;
/** The words of amqplib and rabbitmq-client for the limit that they agreed on with the broker. */
const LIMIT_OF_CLIENT = /No channels left to allocate|maximum number of AMQP Channels/;

/** Time before a channel that nobody waits for is closed: each next one costs a pause. */
const LINGER_MS = 100;
/** A busy broker counts a channel a little longer than it is open, and ends the connection of a user who opens one too many. */
const PAUSE_BEFORE_NEXT_MS = 100;

/** The connection may not have a second channel. Nothing was published over it. */
export class ChannelLimitError extends MessageRefusedError {
  constructor(
    reason: string,
    /** Whether the broker has ended the connection for that. */
    readonly isConnectionLost: boolean,
  ) {
    super(
      "channel",
      `its connection may not have a second channel, over which this asks the broker (${reason}); allow at least 2 channels: ` +
        "max-channels of the user, channel_max and channel_max_per_node of the broker, channelMax or maxChannels of the client",
    );
  }
}

/**
 * Opens a channel on the connection of another one, for questions that may be refused: a refusal closes the channel.
 * @returns the channel itself if somebody wrapped it so that this can't be done
 * @throws ChannelLimitError if the connection may not have another channel; otherwise the client library's error
 */
async function openBeside<T extends object>(channel: T): Promise<T> {
  const { _conn, connection } = channel as AnyChannel;
  const shared = (_conn ?? connection) as AnyConnection | undefined;
  let reason: Error | undefined;
  // Only the connection has the broker's words; a monitoring listener does not hide the error from the connection's owner.
  const onError = (error: Error): void => void (reason = error);
  shared?.on?.(errorMonitor, onError);
  try {
    return await openChannel(channel);
  } catch (error) {
    const { message } = reason ?? (error as Error);
    const isConnectionLost = LIMIT_OF_BROKER.test(message);
    if (isConnectionLost || LIMIT_OF_CLIENT.test(message)) throw new ChannelLimitError(message, isConnectionLost);
    throw error;
  } finally {
    shared?.off?.(errorMonitor, onError);
  }
}

async function openChannel<T extends object>(channel: T): Promise<T> {
  const own = channel as AnyChannel;
  const acquired = await own._conn?.acquire?.();
  if (acquired !== undefined) return acquired as T;
  if (connectionOf(channel) === channel) return channel;
  const Channel = own.constructor as new (connection: unknown) => AnyChannel;
  const beside = new Channel(own.connection);
  // The rejected question already has the error.
  beside.on?.("error", () => undefined);
  await beside.open?.();
  return beside as T;
}

/** The connection of a channel; the channel itself if somebody wrapped it so that no other can be opened beside it. */
function connectionOf(channel: object): object {
  const { _conn, connection, open } = channel as AnyChannel;
  if (typeof _conn?.acquire === "function") return _conn;
  return typeof connection === "object" && connection !== null && typeof open === "function" ? connection : channel;
}

const secondChannels = new WeakMap<object, SecondChannel>();

/** The second channel of a connection, one for all uses and all channels of the caller, because a user may have few. */
export function secondChannelOf(channel: object): SecondChannel {
  const connection = connectionOf(channel);
  const known = secondChannels.get(connection);
  if (known !== undefined) return known;
  const second = new SecondChannel(channel);
  secondChannels.set(connection, second);
  return second;
}

/** A channel beside the caller's, which is open only while somebody waits for it, and shortly after. */
class SecondChannel {
  private opened: Promise<object> | undefined;
  private endedMs = Number.NEGATIVE_INFINITY;
  private users = 0;
  private last: Promise<unknown> = Promise.resolve();
  private closing: NodeJS.Timeout | undefined;

  constructor(private readonly channel: object) {}

  /**
   * Asks the broker something that it may refuse. One question at a time: a refusal closes the channel, and the next question opens another.
   * @param question gets the caller's channel if somebody wrapped that so that no other can be opened
   * @throws the client library's error
   */
  ask(question: (on: object) => Promise<unknown>): Promise<void> {
    this.users++;
    clearTimeout(this.closing);
    const turn = this.last.then(() => this.askNow(question));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private async askNow(question: (on: object) => Promise<unknown>): Promise<void> {
    try {
      await question(await (this.opened ??= this.open()));
    } catch (error) {
      this.end();
      throw error;
    } finally {
      if (--this.users === 0) this.closing = setTimeout(() => void this.close().catch(() => undefined), LINGER_MS);
    }
  }

  private async open(): Promise<object> {
    const pauseMs = this.endedMs + PAUSE_BEFORE_NEXT_MS - performance.now();
    if (pauseMs > 0) await wait(pauseMs);
    return openBeside(this.channel);
  }

  private end(): void {
    this.opened = undefined;
    this.endedMs = performance.now();
  }

  private async close(): Promise<void> {
    const { opened } = this;
    if (opened === undefined) return;
    this.end();
    const on = await opened;
    if (on !== this.channel) await (on as AnyChannel).close();
  }
}
