import type { ConfirmChannel } from "amqplib";

/** How long an exchange that existed is assumed to exist. */
const MEMORY_MS = 30_000;

/** Exchanges that are known to exist. Publishing to a missing one would close the channel under all messages. */
export class KnownExchanges {
  /** Until when each is assumed to exist, by a clock that never jumps. */
  private readonly untilMs = new Map<string, number>();

  /** @param channel opens one, which the question closes where the exchange is missing */
  constructor(private readonly channel: () => Promise<ConfirmChannel>) {}

  /** Those of some exchanges that are missing, each with the broker's error. */
  async findMissing(exchanges: readonly string[]): Promise<Map<string, Error>> {
    const missing = new Map<string, Error>();
    for (const exchange of new Set(exchanges)) {
      if (exchange === "" || performance.now() < (this.untilMs.get(exchange) ?? 0)) continue;
      const probe = await this.channel();
      let refusal: Error | undefined;
      probe.on("error", (error: Error) => (refusal = error));
      try {
        await probe.checkExchange(exchange);
        this.untilMs.set(exchange, performance.now() + MEMORY_MS);
        await probe.close();
      } catch (error) {
        if (refusal === undefined) throw error;
        missing.set(exchange, refusal);
      }
    }
    return missing;
  }
}
