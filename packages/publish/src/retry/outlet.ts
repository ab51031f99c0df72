import { toConfirmPort } from "../confirmPort";
import { ConfirmedSender, SenderOptions } from "../confirmedSender";
import { MessageReturnedError } from "../errors";
import { dueHeader } from "../headers";
import { publishInLease } from "../hold/lease";
import { LeaseRenewal } from "../hold/leaseRenewal";
import type { SendableProperties } from "../sendable";
import { copyProperties, retryQueueHeader, triesHeader } from "./envelope";
import { errorCopy } from "./errorCopy";
import type { Failure } from "./failure";
import type { RepublishStep } from "./mechanism";

type OutletOptions = Required<Omit<SenderOptions, "maxUnconfirmedBytes">>;

/** Publishes copies of failed messages, mandatory, and waits for each confirm. */
export class Outlet {
  private readonly sender: ConfirmedSender;
  private readonly declarer: LeaseRenewal;

  /** @throws MessageRefusedError for a channel without confirms or an option out of range */
  constructor(channel: unknown, options: OutletOptions) {
    this.sender = new ConfirmedSender(toConfirmPort(channel), options);
    this.declarer = new LeaseRenewal(channel);
  }

  /**
   * Publishes the copy that comes back.
   * @param queue the queue that the message was consumed from
   * @param delayMs how long the copy waits; the header with the due time belongs to the copy, not to the message
   * @param isReturned whether the broker returns the copy although it has accepted it
   * @throws MessageRefusedError before anything is sent, if the message has parts that can't be sent
   */
  async republish(
    step: RepublishStep,
    queue: string,
    { message, tries }: Failure,
    delayMs: number,
    isReturned = false,
  ): Promise<void> {
    const { exchange, routingKey, declare } = step;
    const counts = { [triesHeader]: tries, [retryQueueHeader]: queue };
    const copy = (): SendableProperties => {
      const dueAt = new Date(Date.now() + (step.waitsMs ?? delayMs));
      const headers = { [dueHeader]: dueAt.toISOString(), ...step.headersAt?.(dueAt), ...step.headers, ...counts };
      return this.sender.toSendable(copyProperties(message, message.redeliveries + 1, headers));
    };
    // Check the copy before a queue is declared for it.
    if (declare !== undefined) copy();
    await this.sender.inTurn({ exchange, routingKey, body: message.body }, async (handOver) => {
      const send = async (): Promise<void> => {
        handOver();
        try {
          await this.sender.sendChecked(exchange, routingKey, message.body, withoutNow(copy()));
        } catch (error) {
          if (!isReturned || !(error instanceof MessageReturnedError)) throw error;
        }
      };
      if (declare === undefined) await send();
      else await publishInLease(this.declarer, declare, send);
    });
  }

  /** Publishes the copy for the error queue, by its exchange; if it can't be sent as it is, without the parts that can't. */
  async fail(error: { exchange: string; queue: string }, queue: string, failure: Failure): Promise<void> {
    const properties = errorCopy(this.sender, queue, failure);
    const { body } = failure.message;
    await this.sender.inTurn({ exchange: error.exchange, routingKey: error.queue, body }, async (handOver) => {
      handOver();
      await this.sender.sendChecked(error.exchange, error.queue, body, withoutNow(properties));
    });
  }
}

/** Names a timestamp that a message lacks as absent; left out, rabbitmq-client would set the present time. */
function withoutNow(properties: SendableProperties): SendableProperties {
  return { timestamp: undefined, ...properties };
}

const outlets = new WeakMap<object, Map<string, Outlet>>();

/** The outlet of a channel: one for all its consumers with the same limits, however often they start. */
export function outletOf(channel: object, options: OutletOptions): Outlet {
  const known = outlets.get(channel) ?? new Map<string, Outlet>();
  outlets.set(channel, known);
  const key = `${options.maxUnconfirmed} ${options.confirmTimeoutMs}`;
  const outlet = known.get(key) ?? new Outlet(channel, options);
  known.set(key, outlet);
  return outlet;
}
