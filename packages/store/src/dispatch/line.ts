import type { ConfirmChannel } from "amqplib";
import { ChannelClosedError, PublishTimeoutError } from "@rabbitmq-delay/publish";
import {
  ConfirmPort,
  ConfirmedSender,
  DeliveryProperties,
  toConfirmPort,
  withoutBrokerHeaders,
} from "@rabbitmq-delay/publish/parts";
import { bodyBytesOf } from "../broker/bodies";
import type { NewDelayedMessage } from "../delayedMessage";

/** A channel, its sender, and why it closed. */
export class Line {
  isClosed = false;
  /** The error with which the broker closed the channel, and not the connection. */
  channelError: Error | undefined;
  private readonly sender: ConfirmedSender;
  private readonly port: ConfirmPort;
  /** Messages without an answer yet, also those whose time is over. */
  private unanswered = 0;
  private isRetired = false;

  /** @param room resolves when something may be sent; default: when this channel takes more */
  constructor(
    private readonly channel: ConfirmChannel,
    confirmTimeoutMs: number,
    room?: () => Promise<void> | undefined,
  ) {
    channel.on("error", (error: Error) => (this.channelError = error));
    channel.on("close", () => (this.isClosed = true));
    // Batches have their limits already, and a silent destination shall not take the room of all others.
    const unlimited = { maxUnconfirmed: 10_000, maxUnconfirmedBytes: Number.MAX_SAFE_INTEGER };
    this.port = toConfirmPort(channel);
    this.sender = new ConfirmedSender(this.port, { confirmTimeoutMs, ...unlimited }, room);
  }

  /** Resolves when its channel takes more; undefined if it does. */
  get room(): Promise<void> | undefined {
    return this.isClosed ? undefined : this.port.writable();
  }

  close(): void {
    this.isClosed = true;
    // It doesn't matter if the channel is closed already, or the broker doesn't answer.
    void Promise.resolve()
      .then(() => this.channel.close())
      .catch(() => undefined);
  }

  /** Closes the channel as soon as all that was sent has its answer. */
  retire(): void {
    this.isRetired = true;
    this.closeIfDone();
  }

  /** Sends a message. @throws DelayPublishError, among them PublishTimeoutError with the answer that may come yet */
  async send(message: NewDelayedMessage): Promise<void> {
    const { exchange, routingKey } = message;
    this.unanswered++;
    let answer: Promise<void> | undefined;
    try {
      const body = { length: bodyBytesOf(message) };
      await this.sender.inTurn({ exchange, routingKey, body }, async (handOver) => {
        handOver();
        if (this.isClosed) throw new ChannelClosedError(exchange, routingKey);
        const { messageId, properties } = message;
        const sent = { ...withoutPathHeaders(properties), messageId };
        // Not awaited here, which would keep the body until there is an answer.
        return this.sender.send(exchange, routingKey, message.body, sent);
      });
    } catch (error) {
      if (error instanceof PublishTimeoutError) ({ answer } = error);
      throw error;
    } finally {
      const settled = (): void => {
        this.unanswered--;
        this.closeIfDone();
      };
      if (answer === undefined) settled();
      else answer.then(settled, settled);
    }
  }

  private closeIfDone(): void {
    if (this.isRetired && !this.isClosed && this.unanswered === 0) this.close();
  }
}

/** Removes the headers about the message's way to the store; the broker would take the message for one that goes round in circles. */
function withoutPathHeaders(properties: DeliveryProperties): DeliveryProperties {
  return properties.headers === undefined
    ? properties
    : { ...properties, headers: withoutBrokerHeaders(properties.headers) };
}
