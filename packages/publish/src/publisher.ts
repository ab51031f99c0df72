import { randomUUID } from "node:crypto";
import { DelayNetwork, EncodedDelay, encodeDelay, parseDelayNetwork } from "rabbitmq-delay-topology";
import { ConfirmPort, toConfirmPort } from "./confirmPort";
import { ConfirmedSender } from "./confirmedSender";
import { MessageRefusedError } from "./errors";
import { delayHeaders } from "./headers";
import { DelayPublisherOptions, DelayedMessageOptions, MessageProperties, PublishReceipt } from "./options";
import { refuseForbidden, toBuffer } from "./outgoing";

/** Publishes delayed messages; see {@link createDelayPublisher}. */
export interface DelayPublisher {
  /**
   * Publishes one message, persistent and mandatory.
   * @param destination an endpoint's name
   * @param body bytes, text (as UTF-8), or a value that is sent as JSON
   * @returns when the broker has confirmed it
   * @throws MessageRefusedError or DelayTopologyError before anything is sent; MessageReturnedError, MessageNackedError,
   * ChannelClosedError or PublishTimeoutError afterwards
   */
  publish(destination: string, body: unknown, options: DelayedMessageOptions): Promise<PublishReceipt>;
  /** Messages that the broker has not confirmed yet. */
  readonly unconfirmed: number;
}

/**
 * Makes a publisher over a channel that the caller owns, opens and closes.
 * @param channel amqplib's confirm channel or rabbitmq-client's channel
 * @param network the descriptor that the broker's stack exports
 * @throws DelayTopologyError for a descriptor of another kind or version, MessageRefusedError for a channel without confirms
 * or an option out of range
 */
export function createDelayPublisher(
  channel: unknown,
  network: DelayNetwork,
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
    const { delayMs: givenMs, at, tolerance, ...properties } = options;
    const encoded = encodeDelay(this.network, delayOf(givenMs, at), destination, {
      tolerance: tolerance ?? this.options.tolerance,
    });
    const bytes = toBuffer(body, properties);
    return this.sender.inTurn(() => {
      // A message that had to wait for its turn is not delayed twice: the time it was asked for counts from now or from `at`.
      const current =
        at === undefined ? encoded : encodeDelay(this.network, delayOf(undefined, at), destination, { tolerance });
      return this.send(current, bytes, properties);
    });
  }

  private async send(encoded: EncodedDelay, body: Buffer, given: MessageProperties): Promise<PublishReceipt> {
    const { exchange, routingKey, delayMs } = encoded;
    const dueAt = new Date(Date.now() + delayMs);
    const messageId = given.messageId ?? randomUUID();
    const headers = { ...given.headers, ...delayHeaders(this.network, delayMs, dueAt) };
    await this.sender.send(exchange, routingKey, body, { ...given, messageId, headers });
    return { exchange, routingKey, delayMs, dueAt, messageId };
  }
}

function delayOf(delayMs: number | undefined, at: Date | undefined): number {
  if ((delayMs === undefined) === (at === undefined)) {
    throw new MessageRefusedError("delayMs", "give exactly one of delayMs and at");
  }
  if (delayMs !== undefined) return delayMs;
  const due = at instanceof Date ? at.getTime() : Number.NaN;
  if (Number.isNaN(due)) throw new MessageRefusedError("at", "it must be a valid Date");
  return due - Date.now();
}
