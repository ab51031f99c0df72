import { setTimeout as wait } from "node:timers/promises";
import type { QueuePlan } from "@rabbitmq-delay/topology/descriptors";
import { refusalCode } from "../brokerRefusal";
import { ChannelLimitError, secondChannelOf } from "../secondChannel";
import { AliveQueues } from "./aliveQueues";
import { DeclarePort, toEntityPort } from "./entityPort";
import { stopwatch } from "./lease";

/** While a queue goes, RabbitMQ 3.10 may refuse to declare it, for a few milliseconds. */
const ATTEMPTS = 20;
const PAUSE_MS = 50;

/**
 * Declares queues over one channel so that a lease is renewed for sure. When the timer of the broker fires just as it renews a lease, it
 * answers the declare, deletes the queue nevertheless, and confirms what is published meanwhile (RabbitMQ 3.10 to 4.3: 3 of 15,000
 * declares at that moment). So a declare counts only if it was answered well before an earlier one's lease could end.
 */
export class LeaseRenewal implements DeclarePort {
  private readonly port: DeclarePort;
  private readonly renewed: AliveQueues;

  /** @param elapsedMs a clock that goes on while the machine sleeps */
  constructor(
    private readonly channel: unknown,
    private readonly elapsedMs: () => number = stopwatch(),
  ) {
    this.port = toEntityPort(channel);
    this.renewed = new AliveQueues(elapsedMs);
  }

  async declareQueue(queue: QueuePlan): Promise<void> {
    const expiresMs = Number(queue.arguments["x-expires"]);
    if (Number.isNaN(expiresMs)) return this.port.declareQueue(queue);
    // Recorded before the answer: the broker takes the declares of one channel in turn, so the next one comes after this one.
    const isFirst = this.renewed.note(queue.name, 0.8 * expiresMs, Number.POSITIVE_INFINITY);
    const isLate = await this.declare(queue, expiresMs);
    if (isFirst || isLate) await this.declareAgain(queue);
  }

  /** @returns whether the answer came so late that the lease before it may have been over */
  private async declare(queue: QueuePlan, expiresMs: number): Promise<boolean> {
    const sentMs = this.elapsedMs();
    await this.port.declareQueue(queue);
    return this.elapsedMs() - sentMs > 0.1 * expiresMs;
  }

  /**
   * Declares over a second channel, whose refusal does not close the caller's. If the client library has no channel left, or the broker refuses
   * for another reason than a queue that goes, the caller's channel declares and reports the error. A broker that limits the channels of the
   * user closes the whole connection instead.
   * @throws ChannelLimitError if the broker closed the connection for that
   */
  private async declareAgain(queue: QueuePlan): Promise<void> {
    const beside = secondChannelOf(this.channel as object);
    for (let attempt = 1; ; attempt++) {
      try {
        return await beside.ask((on) => toEntityPort(on).declareQueue(queue));
      } catch (error) {
        if (error instanceof ChannelLimitError && error.isConnectionLost) throw error;
        if (attempt === ATTEMPTS || refusalCode(error) !== 404) return this.port.declareQueue(queue);
        await wait(PAUSE_MS);
      }
    }
  }
}
