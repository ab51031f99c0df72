import { Client, ClientConfig } from "pg";
import { Pace } from "../resilience/pace";

const LONGEST_PAUSE_MS = 10_000;

/**
 * Listens, on a connection of its own, for messages that other instances store. It reconnects whenever the connection breaks, and then
 * assumes that something was stored meanwhile.
 */
export class WakeCalls {
  private readonly listeners = new Set<(attemptAt: Date) => void>();
  private readonly ending = new AbortController();
  private client: Client | undefined;
  private isStarted = false;

  constructor(
    private readonly config: ClientConfig,
    private readonly channel: string,
  ) {}

  add(listener: (attemptAt: Date) => void): () => void {
    this.listeners.add(listener);
    if (!this.isStarted) void this.keepListening();
    this.isStarted = true;
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.ending.abort();
    await this.client?.end().catch(() => undefined);
  }

  private async keepListening(): Promise<void> {
    const pace = new Pace(LONGEST_PAUSE_MS);
    const { signal } = this.ending;
    while (!signal.aborted) {
      try {
        const ended = await this.listen();
        pace.reset();
        await ended?.promise;
      } catch {
        await pace.pauseAfterFailure(signal);
      }
    }
  }

  /** @returns a promise that resolves when the connection has ended */
  private async listen(): Promise<{ promise: Promise<void> } | undefined> {
    if (this.ending.signal.aborted) return undefined;
    const client = new Client(this.config);
    this.client = client;
    const ended = new Promise<void>((resolve) => client.once("end", resolve));
    // A sleeping dispatcher should also learn that the database is away.
    void ended.then(() => this.tell("0"));
    client.on("error", () => undefined);
    client.on("notification", ({ payload }) => this.tell(payload));
    try {
      await client.connect();
      await client.query(`LISTEN "${this.channel}"`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.tell("0");
    return { promise: ended };
  }

  private tell(payload: string | undefined): void {
    const attemptAt = new Date(Number(payload || "0"));
    for (const listener of this.listeners) listener(attemptAt);
  }
}
