import { MessageRefusedError } from "../errors";

/** The hold queues that were declared over one connection and that the broker still has. */
export class AliveQueues {
  private readonly goneAtMs = new Map<string, number>();
  private nextGoneAtMs = Number.POSITIVE_INFINITY;

  /** @param now a clock that never goes back, in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** How many queues are alive now. */
  get count(): number {
    this.forgetGone();
    return this.goneAtMs.size;
  }

  /**
   * Records a declare.
   * @param expiresMs how long the queue stays from now on
   * @returns whether the queue is new to this connection, or its lease was over
   * @throws MessageRefusedError if that would be one queue too many
   */
  note(name: string, expiresMs: number, maximum: number): boolean {
    this.forgetGone();
    const isNew = !this.goneAtMs.has(name);
    if (isNew && this.goneAtMs.size >= maximum) {
      throw new MessageRefusedError(
        "maxQueues",
        `this connection has ${this.goneAtMs.size} hold queues, and ${maximum} are allowed; fewer distinct delays and ` +
          `destinations, a delay network, or a higher maxQueues help`,
      );
    }
    const goneAtMs = this.now() + expiresMs;
    this.goneAtMs.set(name, goneAtMs);
    this.nextGoneAtMs = Math.min(this.nextGoneAtMs, goneAtMs);
    return isNew;
  }

  /** Undoes a record: the broker did not declare the queue. */
  forget(name: string): void {
    this.goneAtMs.delete(name);
  }

  /** Removes expired queues; looks at all of them only when one can have expired. */
  private forgetGone(): void {
    const now = this.now();
    if (now < this.nextGoneAtMs) return;
    this.nextGoneAtMs = Number.POSITIVE_INFINITY;
    for (const [name, goneAtMs] of this.goneAtMs) {
      if (goneAtMs <= now) this.goneAtMs.delete(name);
      else this.nextGoneAtMs = Math.min(this.nextGoneAtMs, goneAtMs);
    }
  }
}

const ledgers = new WeakMap<object, AliveQueues>();

/**
 * The record of queues for the connection that a channel belongs to: another broker or vhost is another connection, with queues of its own.
 * A channel that doesn't show its connection has a record for itself.
 * @param channel a channel of amqplib or rabbitmq-client
 */
export function aliveQueuesOf(channel: object): AliveQueues {
  const { connection } = channel as { connection?: unknown };
  const owner = typeof connection === "object" && connection !== null ? connection : channel;
  const known = ledgers.get(owner);
  if (known !== undefined) return known;
  const ledger = new AliveQueues();
  ledgers.set(owner, ledger);
  return ledger;
}
