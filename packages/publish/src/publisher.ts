import { randomUUID } from "node:crypto";
import {
  DelayNetwork,
  DelayNetworkJson,
  EncodedDelay,
  encodeDelay,
  parseDelayNetwork,
} from "@rabbitmq-delay/topology/descriptors";
import { toBuffer } from "./body";
import type { PublishChannel } from "./channels";
import { ConfirmPort, toConfirmPort } from "./confirmPort";
import { ConfirmedSender } from "./confirmedSender";
import { MessageRefusedError } from "./errors";
import { delayHeaders } from "./headers";
import { DelayPublisherOptions, DelayedMessageOptions, MessageProperties, PublishReceipt } from "./options";
import { refuseForbidden } from "./outgoing";

/** Publishes delayed messages; see {@link createDelayPublisher}. */
export interface DelayPublisher {
  /**
   * Publishes one message, persistent and mandatory. Body and options are copied during the call: the caller may change a Buffer or an
   * object as soon as it has returned, even while the message waits for its turn.
   * @param destination an endpoint's name
   * @param body bytes, text (as UTF-8), or a value that is sent as JSON; a value whose JSON form loses its content, such as a promise, is
   * refused
   * @returns when the broker has confirmed it
   * @throws MessageRefusedError or DelayTopologyError before anything is sent; MessageReturnedError, MessageNackedError, ChannelClosedError
   * or PublishTimeoutError afterwards
   */
  publish(destination: string, body: unknown, options: DelayedMessageOptions): Promise<PublishReceipt>;
  /**
   * The number of messages that the broker has not confirmed yet: those waiting for their turn, and those on their way, timed out or not.
   */
  readonly unconfirmed: number;
}

/**
 * Creates a publisher over a channel that the caller opens, owns and closes.
 *
 * An error of the channel, such as a refusal of the broker, rejects all messages on their way and all later ones; the channel needs no
 * listener of its own for it. An error of amqplib's connection needs one, `connection.on("error", …)`, or Node ends the process.
 *
 * @param channel amqplib's confirm channel or rabbitmq-client's channel
 * @param network the descriptor that the broker's stack exports, or its JSON text
 * @throws DelayTopologyError for a descriptor of another kind or version, MessageRefusedError for a channel without confirms or an option
 * out of range
 * @example
 * ```ts
 * import { connect } from "amqplib";
 * import { createDelayPublisher } from "@rabbitmq-delay/publish";
 *
 * const connection = await connect("amqp://localhost");
 * connection.on("error", (error) => console.error(error.message));
 * const channel = await connection.createConfirmChannel();
 * const publisher = createDelayPublisher(channel, JSON.parse(process.env.DELAY_NETWORK ?? ""));
 * await publisher.publish("Billing", { invoice: 4711 }, { delayMs: 10_000 });
 * ```
 */
export function createDelayPublisher(
  channel: PublishChannel,
  network: DelayNetworkJson | string,
  options: DelayPublisherOptions = {},
): DelayPublisher {
  return new ChannelPublisher(toConfirmPort(channel), parseDelayNetwork(network), options);
}

class ChannelPublisher implements DelayPublisher {
  private readonly sender: ConfirmedSender;

  constructor(
    port: ConfirmPort,
    private readonly network: DelayNetwork,
    private readonly options: DelayPublisherOptions,
  ) {
    this.sender = new ConfirmedSender(port, options);
  }

  get unconfirmed(): number {
    return this.sender.unconfirmed;
  }

  async publish(destination: string, body: unknown, options: DelayedMessageOptions): Promise<PublishReceipt> {
    refuseForbidden(options);
    const { delayMs: givenMs, at, tolerance = this.options.tolerance, ...given } = options;
    const delayMs = delayFrom(givenMs, at);
    const encode = (): EncodedDelay => encodeDelay(this.network, delayMs(), destination, { tolerance });
    const encoded = encode();
    const bytes = toBuffer(body, given);
    // The caller may reuse these objects as soon as this call returns, which is before the message gets its turn.
    const properties = this.sender.toSendable(given);
    return this.sender.inTurn({ ...encoded, body: bytes }, (handOver) => {
      handOver();
      // A message that had to wait for its turn is not delayed twice: its time counts from the call, or is given by `at`.
      return this.send(at === undefined ? encoded : encode(), bytes, properties);
    });
  }

  private async send(encoded: EncodedDelay, body: Buffer, given: MessageProperties): Promise<PublishReceipt> {
    const { exchange, routingKey, delayMs } = encoded;
    const dueAt = new Date(Date.now() + delayMs);
    const messageId = given.messageId ?? randomUUID();
    const headers = { ...given.headers, ...delayHeaders(this.network, delayMs, dueAt) };
    await this.sender.sendChecked(exchange, routingKey, body, { ...given, messageId, headers });
    return { exchange, routingKey, delayMs, dueAt, messageId };
  }
}

/** Returns the delay at the time of each call: constant for one in milliseconds, ever shorter for a due time. */
function delayFrom(delayMs: number | undefined, at: Date | undefined): () => number {
  if ((delayMs === undefined) === (at === undefined)) {
    throw new MessageRefusedError("delayMs", "give exactly one of delayMs and at");
  }
  if (delayMs !== undefined) return () => delayMs;
  const dueMs = at instanceof Date ? at.getTime() : Number.NaN;
  if (Number.isNaN(dueMs)) throw new MessageRefusedError("at", "it must be a valid Date");
  return () => dueMs - Date.now();
}
