import { toConfirmPort } from "../confirmPort";
import { ConfirmedSender, SenderOptions } from "../confirmedSender";
import { DeclarePort, toDeclarePort } from "../hold/declarePort";
import type { OriginalMessage } from "./delivery";
import { copyProperties } from "./envelope";
import { Failure, failureHeaders } from "./failure";
import type { RepublishStep } from "./mechanism";

/** By what copies of failed messages leave a consumer, each to the broker's confirm. */
export class Outlet {
  private readonly sender: ConfirmedSender;
  private readonly declarer: DeclarePort;

  /** @throws MessageRefusedError for a channel without confirms or an option out of range */
  constructor(channel: unknown, options: SenderOptions) {
    this.sender = new ConfirmedSender(toConfirmPort(channel), options);
    this.declarer = toDeclarePort(channel);
  }

  /** Publishes the copy that comes back. */
  republish(step: RepublishStep, message: OriginalMessage, redeliveries: number): Promise<void> {
    const { exchange, routingKey, headers, declare } = step;
    const properties = copyProperties(message, redeliveries, headers);
    return this.sender.inTurn(async () => {
      if (declare !== undefined) await this.declarer.declareQueue(declare);
      await this.sender.send(exchange, routingKey, message.body, properties);
    });
  }

  /** Publishes the copy for the error queue, by its exchange. */
  fail(error: { exchange: string; queue: string }, queue: string, failure: Failure): Promise<void> {
    const { message } = failure;
    const properties = copyProperties(message, message.redeliveries + 1, failureHeaders(queue, failure));
    return this.sender.inTurn(() => this.sender.send(error.exchange, error.queue, message.body, properties));
  }
}
