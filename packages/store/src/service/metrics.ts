import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { DelayedMessageStore } from "../delayedMessageStore";
import type { Breaker } from "../resilience/breaker";
import type { SteadyClock } from "../resilience/steadyClock";

/** Upper bounds of lateness, in seconds: from an idle store to an outage. */
const LATENESS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
/** Rows are counted again for a scrape only after this time. */
const COUNT_AGE_MS = 10_000;

/** The metrics of a running store. */
export class StoreMetrics {
  readonly registry = new Registry();
  readonly stored = this.counter("stored", "Messages taken in and committed");
  readonly recognized = this.counter(
    "recognized",
    "Messages that the broker delivered again, and that were stored before",
  );
  readonly refused = this.counter("refused", "Messages that could not be stored, in the error queue");
  readonly delivered = this.counter("delivered", "Messages delivered, confirmed by the broker");
  readonly retried = this.counter("retries", "Failed deliveries that are tried again");
  readonly parked = this.counter("parked", "Messages that could not be delivered, in the error queue");
  readonly stuck = this.counter("stuck", "Failed attempts to put a message into the error queue");
  readonly faults = this.counter("faults", "Failures of the database or the broker");
  readonly lateness = new Histogram({
    name: "rabbitmq_delay_store_lateness_seconds",
    help: "How long after its due time a message was confirmed",
    buckets: LATENESS_SECONDS,
    registers: [this.registry],
  });

  constructor(parts: {
    store: DelayedMessageStore;
    clock: SteadyClock;
    breakers: Breaker[];
    isConnected: () => boolean;
  }) {
    collectDefaultMetrics({ register: this.registry });
    this.gauge("breaker_triggered", "1 when there were too many failures, and nothing has worked since", {
      labels: ["breaker"],
      collect: (gauge) =>
        parts.breakers.forEach(({ name, isTriggered }) => gauge.set({ breaker: name }, Number(isTriggered))),
    });
    this.gauge("broker_connected", "1 when the broker is connected", {
      collect: (gauge) => gauge.set(Number(parts.isConnected())),
    });
    this.gauge("clock_doubted", "1 while the clock has jumped ahead and is not believed", {
      collect: (gauge) => gauge.set(Number(parts.clock.isDoubted)),
    });
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

  private counter(name: string, help: string): Counter {
    return new Counter({ name: `rabbitmq_delay_store_${name}_total`, help, registers: [this.registry] });
  }

  private gauge(
    name: string,
    help: string,
    { labels = [], collect }: { labels?: string[]; collect: (gauge: Gauge) => void | Promise<void> },
  ): void {
    new Gauge({
      name: `rabbitmq_delay_store_${name}`,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        return collect(this);
      },
    });
  }
}
