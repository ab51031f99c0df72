import type { Socket } from "node:net";
import { unescape } from "node:querystring";
import * as amqp from "amqplib";
import { explainOpening } from "@rabbitmq-delay/publish/parts";
import { hasStrayAt, showProtocol } from "../address";
import { StoreMismatchError } from "../errors";
import { hideHeaders } from "./hiddenHeaders";

const CONNECT_TIMEOUT_MS = 10_000;
/** A broker that vanished silently is noticed after about this time; the broker's default is a minute. */
const HEARTBEAT_SECONDS = 15;

/** How long a broker may take to open a channel. */
const CHANNEL_TIMEOUT_MS = 15_000;

/** How long a broker may take to answer the end of a connection. */
const CLOSE_TIMEOUT_MS = 5_000;

/** What happens to a connection. */
export interface ConnectionEvents {
  /** Called before a new connection is used; if it rejects, the connection is not used. */
  admit?: (connection: BrokerConnection) => Promise<void>;
  onConnected?: () => void;
  onDisconnected?: (error: Error | undefined) => void;
  /** The broker accepts no messages, e.g. because its disk is full; undefined when it accepts them again. */
  onBlocked?: (reason: string | undefined) => void;
}

/** A connection to the broker, opened on demand. */
export class BrokerConnection {
  private readonly url: string;
  private current: Promise<amqp.ChannelModel> | undefined;
  private isOpen = false;
  private failure: Error | undefined;
  private blocked: string | undefined;
  private version: string | undefined;
  private cluster: string | undefined;
  private isClosed = false;

  /**
   * @param ca certificate authority of an `amqps` address, in PEM; default: those that Node.js knows
   * @throws StoreMismatchError for an invalid address
   */
  constructor(
    url: string,
    private readonly name: string,
    private readonly events: ConnectionEvents = {},
    private readonly ca?: Buffer,
  ) {
    this.url = withHeartbeat(url);
  }

  get isConnected(): boolean {
    return this.isOpen;
  }

  /** Why the broker accepts no messages at the moment; undefined if it does. The broker reports it only after the first message. */
  get blockedReason(): string | undefined {
    return this.blocked;
  }

  /** The error that ended the last connection; undefined while there is one, or if it ended without an error. */
  get lastFailure(): Error | undefined {
    return this.failure;
  }

  /** The vhost that the address names. */
  get vhost(): string {
    // Like amqplib, which leaves a % alone that begins no escape.
    return unescape(new URL(this.url).pathname.slice(1)) || "/";
  }

  /** The name of the broker's cluster, once connected. */
  get clusterName(): string | undefined {
    return this.cluster;
  }

  /** The broker's version, once connected. */
  get brokerVersion(): string | undefined {
    return this.version;
  }

  /**
   * Opens a channel with confirms, on the present connection or on a new one. While a queue holds up a channel to which a few hundred messages
   * were sent, the broker reads nothing of the whole connection.
   * @param isCut whether a connection on which no channel opens in time, or can be opened any more, is ended, so that the next call makes a new
   *   one; default true
   */
  async channel({ isCut = true }: { isCut?: boolean } = {}): Promise<amqp.ConfirmChannel> {
    const connection = await this.connection();
    const opening = connection.createConfirmChannel();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        // If it accepts nothing, a new connection would only be given the same messages once more.
        if (isCut && this.blocked === undefined) cut(connection, "no channel opened in time");
        else opening.then((channel) => channel.close()).catch(() => undefined);
        reject(new Error(`the broker opened no channel within ${CHANNEL_TIMEOUT_MS} ms`));
      }, CHANNEL_TIMEOUT_MS);
    });
    opening.catch(() => undefined);
    try {
      const channel = await Promise.race([opening, late]);
      // Users of the channel notice the error by failing operations.
      channel.on("error", () => undefined);
      return channel;
    } catch (error) {
      // Channels that hang stay open, and a connection may only have so many.
      if (isCut && /no channels left/i.test((error as Error).message)) cut(connection, "no channels are left");
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Ends the connection, whether the broker answers or not: short of memory or disk, it reads nothing from a connection that has published.
   */
  async close(): Promise<void> {
    this.isClosed = true;
    const connection = await this.current?.catch(() => undefined);
    if (connection === undefined) return;
    const timer = setTimeout(() => cut(connection, "the broker did not answer its end"), CLOSE_TIMEOUT_MS);
    const gone = new Promise<void>((resolve) => socketOf(connection).once("close", () => resolve()));
    await Promise.race([connection.close().catch(() => undefined), gone]);
    clearTimeout(timer);
    socketOf(connection).destroy();
  }

  /** Ends the connection at once, with all that waits for an answer on it; no new one is made. */
  async abandon(reason: string): Promise<void> {
    this.isClosed = true;
    const connection = await this.current?.catch(() => undefined);
    if (connection !== undefined) cut(connection, reason);
  }

  private connection(): Promise<amqp.ChannelModel> {
    if (this.isClosed) return Promise.reject(new Error("the connection was closed"));
    this.current ??= this.open().catch((error: Error) => {
      this.current = undefined;
      throw error;
    });
    return this.current;
  }

  private async open(): Promise<amqp.ChannelModel> {
    const connection = await amqp
      .connect(this.url, {
        timeout: CONNECT_TIMEOUT_MS,
        clientProperties: { connection_name: this.name },
        ...(this.ca === undefined ? {} : { ca: [this.ca] }),
      })
      .catch(async (error: unknown) => {
        throw await explainOpening(this.url, error, this.ca);
      });
    hideHeaders(connection);
    this.version = readServerProperty(connection, "version");
    this.cluster = readServerProperty(connection, "cluster_name");
    let isGone = false;
    this.failure = undefined;
    connection.on("error", (error: Error) => (this.failure = error));
    connection.on("close", () => {
      isGone = true;
      // Unsent data that nobody reads would keep the socket, and with it the process, open.
      setTimeout(() => socketOf(connection).destroy(), CLOSE_TIMEOUT_MS).unref();
      this.current = undefined;
      this.isOpen = false;
      this.blocked = undefined;
      if (!this.isClosed) this.events.onDisconnected?.(this.failure);
    });
    connection.on("blocked", (reason: string) => this.block(reason));
    connection.on("unblocked", () => this.block(undefined));
    try {
      await this.events.admit?.(this);
    } catch (error) {
      await connection.close().catch(() => undefined);
      throw error;
    }
    if (isGone) throw this.failure ?? new Error("the connection was closed");
    this.isOpen = true;
    this.events.onConnected?.();
    return connection;
  }

  private block(reason: string | undefined): void {
    this.blocked = reason;
    this.events.onBlocked?.(reason);
  }
}

/** The socket is public in amqplib, but missing in its types. */
function socketOf(connection: amqp.ChannelModel): Socket {
  return (connection.connection as unknown as { stream: Socket }).stream;
}

/**
 * Ends a connection without the broker. The library takes note of an error alone: without one, its heartbeat would go on, and with it the
 * process, and the connection would count as open.
 */
function cut(connection: amqp.ChannelModel, reason: string): void {
  socketOf(connection).destroy(new Error(reason));
}

/** A property that the broker reports about itself. */
function readServerProperty(connection: amqp.ChannelModel, property: string): string | undefined {
  const { serverProperties } = connection.connection as { serverProperties?: Record<string, unknown> };
  const value = serverProperties?.[property];
  return typeof value === "string" ? value : undefined;
}

/** Adds the heartbeat to an address. No message shows the address, because it contains a password. */
function withHeartbeat(address: string): string {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new StoreMismatchError("amqp", "the address can't be read; write amqp://USER:PASSWORD@HOST:PORT/VHOST");
  }
  if (!/^amqps?:$/.test(url.protocol)) {
    throw new StoreMismatchError("amqp", `its protocol is ${showProtocol(url)}; write amqp://… or amqps://…`);
  }
  if (hasStrayAt(url)) {
    throw new StoreMismatchError(
      "amqp",
      "an @ stands behind its host; write / ? # and @ of a password or vhost as %2F %3F %23 %40",
    );
  }
  if (url.hostname === "")
    throw new StoreMismatchError("amqp", "it names no host; write amqp://USER:PASSWORD@HOST:PORT/VHOST");
  if (!url.searchParams.has("heartbeat")) url.searchParams.set("heartbeat", String(HEARTBEAT_SECONDS));
  return url.toString();
}
