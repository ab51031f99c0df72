import type { QueuePlan } from "@rabbitmq-delay/topology";
import { toDeclarePort } from "./hold/declarePort";

/** The parts of amqplib's and of rabbitmq-client's channel that are used; the latter's connection is not public, read in version 5.0.8, lib/Channel.js. */
interface AnyChannel {
  connection?: unknown;
  open?: () => Promise<unknown>;
  _conn?: { acquire?: () => Promise<AnyChannel> };
  on?(event: string, listener: () => void): unknown;
  close(): Promise<void>;
}

/**
 * Opens a channel on the connection of another one, for questions that may be refused: a refusal closes the channel.
 * @returns the channel itself if somebody wrapped it so that this can't be done
 */
export async function openBeside<T extends object>(channel: T): Promise<T> {
  const own = channel as AnyChannel;
  const acquired = await own._conn?.acquire?.();
  if (acquired !== undefined) return acquired as T;
  if (typeof own.connection !== "object" || typeof own.open !== "function") return channel;
  const Channel = own.constructor as new (connection: unknown) => AnyChannel;
  const beside = new Channel(own.connection);
  // The rejected question already has the error.
  beside.on?.("error", () => undefined);
  await beside.open?.();
  return beside as T;
}

/** Whether an error of amqplib or rabbitmq-client is the broker's 404. */
export function isNotFound(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 404 || code === "NOT_FOUND";
}

/** Declares queues over a channel beside the caller's, which is open only while somebody waits for it. */
export class SecondChannel {
  private opened: Promise<object> | undefined;
  private users = 0;

  constructor(private readonly channel: object) {}

  /** @throws the client library's error; then the next declare opens another channel */
  async declareQueue(queue: QueuePlan): Promise<void> {
    this.users++;
    const opened = (this.opened ??= openBeside(this.channel));
    try {
      await toDeclarePort(await opened).declareQueue(queue);
    } catch (error) {
      if (this.opened === opened) this.opened = undefined;
      throw error;
    } finally {
      if (--this.users === 0) await this.close();
    }
  }

  private async close(): Promise<void> {
    const opened = this.opened;
    this.opened = undefined;
    const on = await opened?.catch(() => undefined);
    if (on !== undefined && on !== this.channel) await (on as AnyChannel).close().catch(() => undefined);
  }
}
