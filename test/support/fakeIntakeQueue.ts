import { EventEmitter } from "node:events";

/** A message in the queue. */
interface Queued {
  key: string;
  body: string;
  messageId?: string;
  headers?: Record<string, unknown>;
  deliveries: number;
}

/** Decides when a crash comes: after how many further steps of the intake. */
export interface Fuse {
  stepsLeft: number;
}

/**
 * A quorum queue, as an intake sees it: a limited number of messages in hand; returned messages first and in their order; and
 * acknowledgements that the broker processes some time after they were sent, or never, when a process crashes.
 */
export class FakeIntakeQueue {
  readonly ready: Queued[] = [];
  private readonly returned: Queued[] = [];
  private readonly clients: FakeClient[] = [];

  publish(body: string, messageId?: string, headers: Record<string, unknown> = {}): void {
    this.ready.push({ key: "work", body, deliveries: 0, headers, ...(messageId === undefined ? {} : { messageId }) });
    this.deliver();
  }

  /** Whether it is empty, and nobody has a message in hand. */
  get isEmpty(): boolean {
    return this.ready.length + this.returned.length === 0 && this.clients.every(({ inHand }) => inHand.size === 0);
  }

  client(random: () => number): FakeClient {
    const client = new FakeClient(this, random);
    this.clients.push(client);
    return client;
  }

  drop(client: FakeClient): void {
    this.clients.splice(this.clients.indexOf(client), 1);
    this.returned.push(...client.inHand.values());
    this.deliver();
  }

  deliver(): void {
    for (;;) {
      const open = this.clients.filter((client) => client.hasRoom);
      const client = open[Math.floor(Math.random() * open.length)];
      const message = client === undefined ? undefined : (this.returned.shift() ?? this.ready.shift());
      if (client === undefined || message === undefined) return;
      client.take(message);
    }
  }
}

/** One process's connection to it. */
export class FakeClient {
  readonly inHand = new Map<number, Queued>();
  fuse: Fuse = { stepsLeft: Number.POSITIVE_INFINITY };
  isCrashed = false;
  /** Statements on their way to the database; what a crashed process sent may be committed after it. */
  readonly statements = new Set<Promise<unknown>>();
  /** Sessions that crashed after they began and before they had a message. */
  hasTaken = false;
  onCrash: () => void = () => undefined;
  private consumer: ((message: object) => void) | undefined;
  private prefetched = 0;
  private tag = 0;
  /** Acknowledgements on their way, each of one message or more. */
  private sent: number[][] = [];

  constructor(
    private readonly queue: FakeIntakeQueue,
    private readonly random: () => number,
  ) {}

  get hasRoom(): boolean {
    return !this.isCrashed && this.consumer !== undefined && this.inHand.size < this.prefetched;
  }

  take(message: Queued): void {
    const deliveryTag = ++this.tag;
    const counted = message.deliveries === 0 ? {} : { "x-delivery-count": message.deliveries };
    const headers = { ...message.headers, ...counted };
    const fields = { exchange: "delayed", routingKey: message.key, redelivered: message.deliveries > 0, deliveryTag };
    this.inHand.set(deliveryTag, { ...message, deliveries: message.deliveries + 1 });
    this.hasTaken = true;
    const { consumer } = this;
    // Even messages sent before the consumer was cancelled come before the answer to the cancel.
    const properties = { headers, messageId: message.messageId };
    queueMicrotask(() => consumer?.({ content: Buffer.from(message.body), fields, properties }));
  }

  /** One step; the process may end before it. */
  async step(): Promise<void> {
    if (this.isCrashed) await new Promise(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isCrashed || --this.fuse.stepsLeft > 0) return this.isCrashed ? new Promise(() => undefined) : undefined;
    this.crash();
    await new Promise(() => undefined);
  }

  /** Some of the acknowledgements on their way arrive, in their order; all other messages in hand go back. */
  crash(): void {
    if (this.isCrashed) return;
    this.isCrashed = true;
    this.settle(Math.floor(this.random() * (this.sent.length + 1)));
    // The database is done with them before the broker knows of the crash; on a busy machine it would often be later here.
    void Promise.allSettled(this.statements).then(() => this.queue.drop(this));
    this.onCrash();
  }

  /** The part of amqplib's connection and channel that a consumer uses. */
  connection(): { channel: () => Promise<object> } {
    return {
      channel: async () => {
        await this.step();
        return Object.assign(new EventEmitter(), {
          waitForConfirms: () => undefined,
          prefetch: async (count: number) => {
            await this.step();
            this.prefetched = count;
            this.settle(this.sent.length);
          },
          consume: async (_queue: string, consumer: (message: object) => void) => {
            await this.step();
            this.consumer = consumer;
            this.queue.deliver();
            return { consumerTag: "it" };
          },
          cancel: async () => {
            await this.step();
            this.consumer = undefined;
          },
          ack: ({ fields: { deliveryTag } }: { fields: { deliveryTag: number } }, isForEarlier?: boolean) => {
            const tags =
              isForEarlier === true ? [...this.inHand.keys()].filter((tag) => tag <= deliveryTag) : [deliveryTag];
            if (!this.isCrashed) this.sent.push(tags);
          },
          nack: () => undefined,
          close: async () => {
            await this.step();
            this.settle(this.sent.length);
            this.queue.drop(this);
          },
        });
      },
    };
  }

  private settle(count: number): void {
    for (const tag of this.sent.splice(0, count).flat()) this.inHand.delete(tag);
    this.queue.deliver();
  }
}
