import { DelayTopologyError } from "@rabbitmq-delay/topology/descriptors";
import type { PublishChannel } from "../channels";
import { MessageRefusedError } from "../errors";
import { ClientDelivery, ClientMessage, deliveryOf } from "./clientMessage";
import type { TriedMessage } from "./delivery";
import { restore, triesBefore } from "./envelope";
import { Failure, PolicyError } from "./failure";
import { openLook } from "./look";
import { Outlet, outletOf } from "./outlet";
import { CheckedRecoveryOptions, RecoveryOptions, checkCount, checkRecovery } from "./recoveryOptions";
import { checkWaysOut } from "./startCheck";
import { withinTime } from "./timeLimit";

/** Bodies of failed messages that may wait for the broker's confirm at once. */
const MAX_UNCONFIRMED = 1000;

/** Outcome of a failed message, and the way to settle its delivery. */
export type Recovery =
  | {
      /** It comes back after a delay. */
      kind: "redelivered";
      /** The delay of the policy, in milliseconds. */
      delayMs: number;
      /** Number of its redeliveries by then. */
      redeliveries: number;
      /**
       * `reject` only with the broker's own delayed retry, which keeps the message itself: reject it with `requeue`, which amqplib can and
       * rabbitmq-client can't.
       */
      settle: "acknowledge" | "reject";
    }
  | {
      /** It is in the error queue. */
      kind: "failed";
      errorQueue: string;
      /** Number of its tries. */
      tries: number;
      settle: "acknowledge";
    };

/** Passes failed messages of a queue on, for a consumer of any framework; see {@link createMessageRecoverer}. */
export interface MessageRecoverer {
  /**
   * Restores a received message as it was first published, with the counts of its tries.
   * @throws MalformedCopyError when headers of this package have values that it doesn't write; MessageRefusedError for no message of a library
   */
  restore(message: ClientMessage): TriedMessage;
  /**
   * Publishes the copy for the next delay, or for the error queue, and waits for the broker's confirm. Settle the message then, as the answer
   * says. A message whose own headers can't be read goes to the error queue.
   * @param message the message as the client library delivered it, changed by nobody
   * @param error what the handler threw, by which the policy judges
   * @param tries calls of the handler for this delivery. Default 1
   * @returns when the broker has the copy
   * @throws DelayTopologyError for `tries` that is no whole number from 1 on, and MessageRefusedError for no message of a library.
   * PublishTimeoutError, MessageReturnedError, MessageNackedError or ChannelClosedError if the broker has no copy, or nobody knows; give the
   * message back then, after a pause
   */
  recover(message: ClientMessage, error: unknown, tries?: number): Promise<Recovery>;
}

/**
 * Makes retries for a queue whose messages somebody else consumes, e.g. NestJS: each failed message is passed on as a copy, and its consumer
 * acknowledges it. A channel that closes takes its recoverer along; make another one with the next channel.
 * @param channel amqplib's confirm channel or rabbitmq-client's channel, owned by the caller; it may be the one that consumes
 * @param queue name of the queue that is consumed
 * @param options which failures are tried again, and where copies go; the policy has no immediate tries, which are the consumer's
 * @throws DelayTopologyError for a delay of the policy that the mechanism's queues don't have, a bad option, or an exchange, a queue or a
 * right that failed messages need and that is missing; MessageRefusedError for a channel without confirms
 * @example
 * ```ts
 * import { connect } from "amqplib";
 * import { RetryPolicy, createMessageRecoverer, throughHoldsOnDemand } from "@rabbitmq-delay/publish";
 *
 * const channel = await (await connect("amqp://localhost")).createConfirmChannel();
 * const retries = { policy: RetryPolicy.intervals(["5s", "1m"]), mechanism: throughHoldsOnDemand() };
 * const recoverer = await createMessageRecoverer(channel, "Billing", retries);
 * const message = await channel.get("Billing");
 * if (message) await recoverer.recover(message, new Error("not paid yet"));
 * if (message) channel.ack(message);
 * ```
 */
export async function createMessageRecoverer(
  channel: PublishChannel,
  queue: string,
  options: RecoveryOptions,
): Promise<MessageRecoverer> {
  const checked = checkRecovery(queue, options);
  const { policy, confirmTimeoutMs } = checked;
  if (policy.immediateTries > 0) {
    const allowed =
      "it must be 0, because immediate tries are made by the consumer; give recover the number of its tries";
    throw new DelayTopologyError("policy.immediateTries", policy.immediateTries, allowed);
  }
  const outlet = outletOf(channel, { maxUnconfirmed: MAX_UNCONFIRMED, confirmTimeoutMs });
  const late = (): Error =>
    new Error(
      `the broker did not answer within confirmTimeoutMs, ${confirmTimeoutMs} ms, whether ${queue} has its ways out`,
    );
  await withinTime(checkWaysOut(openLook(channel), queue, checked), confirmTimeoutMs, late);
  const recoverer = new Recoverer(outlet, queue, checked);
  return {
    restore: (message) => recoverer.restore(deliveryOf(message)),
    recover: async (message, error, tries = 1) => {
      checkCount("tries", tries, Number.MAX_SAFE_INTEGER);
      const delivery = deliveryOf(message);
      let tried: TriedMessage;
      try {
        tried = recoverer.restore(delivery);
      } catch (mistake) {
        return recoverer.passOn(unreadable(delivery, mistake));
      }
      return recoverer.passOn(recoverer.judge(tried, error, tries));
    },
  };
}

/** Restores the messages of a queue, judges their failures, and passes failed ones on. */
export class Recoverer {
  constructor(
    private readonly outlet: Outlet,
    private readonly queue: string,
    private readonly options: CheckedRecoveryOptions,
  ) {}

  /**
   * Restores a message as it was first published. For messages that the broker brings back itself, the broker counts; it does not count
   * immediate tries. An older version of this package did not record them in its copies either. In both cases those of the policy are
   * assumed.
   * @throws MalformedCopyError when headers of this package have values that it doesn't write
   */
  restore(delivery: ClientDelivery): TriedMessage {
    const { policy, mechanism } = this.options;
    const message = restore(delivery, this.queue);
    const triesEach = 1 + policy.immediateTries;
    const said = message.redeliveries === 0 ? 0 : triesBefore(delivery);
    // A message that was never delivered before has the count of another queue, from which it was moved.
    const headers = delivery.isRedelivered ? (delivery.properties.headers ?? {}) : {};
    const counted = mechanism?.countedByBroker?.(headers) ?? 0;
    return {
      ...message,
      redeliveries: message.redeliveries + counted,
      previousTries: (said ?? message.redeliveries * triesEach) + counted * triesEach,
    };
  }

  /** Judges the failure of a message. A policy that can't say whether it is final is not asked again: the message would come back for ever. */
  judge(message: TriedMessage, error: unknown, tries: number): Failure {
    const failure = { message, tries: message.previousTries + tries };
    try {
      return { ...failure, error, isFinal: !this.options.policy.retries(error) };
    } catch (mistake) {
      return { ...failure, error: new PolicyError(mistake, error), isFinal: true };
    }
  }

  /**
   * Publishes the copy that comes back, or the one for the error queue, and waits for the broker's confirm; or leaves the message to a
   * rejection.
   */
  async passOn(failure: Failure): Promise<Recovery> {
    const { policy, mechanism, errorQueue, errorExchange } = this.options;
    const { message, tries, isFinal } = failure;
    const delayMs = isFinal ? undefined : policy.delaysMs[message.redeliveries];
    if (delayMs === undefined || mechanism === undefined) {
      await this.outlet.fail({ exchange: errorExchange, queue: errorQueue }, this.queue, failure);
      return { kind: "failed", errorQueue, tries, settle: "acknowledge" };
    }
    const redeliveries = message.redeliveries + 1;
    const redelivery = { queue: this.queue, routingKey: message.routingKey, delayMs, redelivery: redeliveries };
    const step = mechanism.plan(redelivery);
    if (step.kind === "reject") return { kind: "redelivered", delayMs, redeliveries, settle: "reject" };
    try {
      await this.outlet.republish(step, this.queue, failure, delayMs, mechanism.returnsCopies);
    } catch (refusal) {
      // The message can never be sent as it is, and a copy without the parts that can't be sent would be another message to the handler.
      if (!(refusal instanceof MessageRefusedError) || failure.isFinal) throw refusal;
      return this.passOn({ ...failure, isFinal: true });
    }
    return { kind: "redelivered", delayMs, redeliveries, settle: "acknowledge" };
  }
}

/** The failure of a message whose own headers can't be read, by which it was never tried. */
export function unreadable(delivery: ClientDelivery, error: unknown): Failure {
  return { message: { ...delivery, redeliveries: 0 }, error, tries: 0, isFinal: true };
}
