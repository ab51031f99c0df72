import type { Channel, ConsumeMessage } from "amqplib";

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

  private constructor() {}

  static async on(channel: Channel, queues: string[]): Promise<Receiver> {
    const receiver = new Receiver();
    for (const queue of queues) {
      await channel.consume(queue, (message) => {
        if (message === null) return;
        receiver.arrivals.push({ queue, message, atMs: Date.now() });
        channel.ack(message);
        receiver.wake();
      });
    }
    return receiver;
  }

  /** Resolves when `count` messages have arrived; the test's own time limit ends the wait. */
  async until(count: number): Promise<Arrival[]> {
    while (this.arrivals.length < count) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.arrivals;
  }
}
