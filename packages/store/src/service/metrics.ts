import type { DelayedMessageStore } from "../delayedMessageStore";
import type { SteadyClock } from "../resilience/steadyClock";
import { MeasuredParts, ProcessMetrics } from "./processMetrics";

/** Rows are counted again for a scrape only after this time. */
const COUNT_AGE_MS = 10_000;

/** The metrics of a running store. */
export class StoreMetrics extends ProcessMetrics {
  readonly stored = this.counter("stored", "Messages taken in and committed");
  readonly recognized = this.counter(
    "recognized",
    "Messages that the broker delivered again, and that were stored before",
  );

  constructor(parts: MeasuredParts & { store: DelayedMessageStore }) {
    super("store", parts);
    this.addCounts(parts.store, parts.clock);
  }

  private addCounts(store: DelayedMessageStore, clock: SteadyClock): void {
    let countedAtMs = Number.NEGATIVE_INFINITY;
    let counting = Promise.resolve<Partial<Record<"pending" | "due" | "failed", number>>>({});
    const count = (): typeof counting => {
      if (performance.now() - countedAtMs > COUNT_AGE_MS) {
        countedAtMs = performance.now();
        // A breaker reports a database that is away; a gauge without a value is left out.
        counting = store.count(new Date(clock.now())).catch(() => ({}));
      }
      return counting;
    };
    const help = {
      pending: "Messages in the store",
      due: "Messages whose time has come",
      failed: "Messages that failed before",
    };
    for (const [name, text] of Object.entries(help)) {
      this.gauge(name, text, {
        collect: async (gauge) => gauge.set((await count())[name as keyof typeof help] ?? Number.NaN),
      });
    }
  }
}
