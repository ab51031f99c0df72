import type { Channel, ConsumeMessage } from "amqplib";
import { ifThisTestTimesOut } from "./timeouts";

/** A message as a test saw it. */
export interface Arrival {
  queue: string;
  message: ConsumeMessage;
  atMs: number;
}

/** Collects messages that arrive in queues, and waits for a number of them. */
export class Receiver {
  readonly arrivals: Arrival[] = [];
  private wake: () => void = () => undefined;

  private constructor(private readonly channel: Channel) {}

  static async on(channel: Channel, queues: string[]): Promise<Receiver> {
    const receiver = new Receiver(channel);
    ifThisTestTimesOut(() => `${receiver.arrivals.length} messages have come to ${queues.join(", ")}`);
    for (const queue of queues) await receiver.add(queue);
    return receiver;
  }

  /** Consumes one more queue. */
  async add(queue: string): Promise<void> {
    await this.channel.consume(queue, (message) => {
      if (message === null) return;
      this.arrivals.push({ queue, message, atMs: Date.now() });
      this.channel.ack(message);
      this.wake();
    });
  }

  /** Resolves when `count` messages have arrived; the test's own time limit ends the wait. */
  async until(count: number): Promise<Arrival[]> {
    while (this.arrivals.length < count) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.arrivals;
  }
}
