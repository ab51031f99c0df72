import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Breaker } from "../resilience/breaker";
import type { SteadyClock } from "../resilience/steadyClock";

/** Upper bounds of lateness, in seconds: from an idle process to an outage. */
const LATENESS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/** The parts of a process that its metrics tell of. */
export interface MeasuredParts {
  clock: SteadyClock;
  breakers: Breaker[];
  isConnected: () => boolean;
}

/** The metrics that a running store and a running gateway share. */
export class ProcessMetrics {
  readonly registry = new Registry();
  readonly refused: Counter;
  readonly delivered: Counter;
  readonly retried: Counter;
  readonly parked: Counter;
  readonly stuck: Counter;
  readonly faults: Counter;
  readonly lateness: Histogram;

  /** @param process what runs; all names have it */
  constructor(
    private readonly process: "store" | "gateway",
    parts: MeasuredParts,
  ) {
    collectDefaultMetrics({ register: this.registry });
    this.refused = this.counter("refused", "Messages that could not be taken in, in the error queue");
    this.delivered = this.counter("delivered", "Messages delivered, confirmed by the broker");
    this.retried = this.counter("retries", "Failed deliveries that are tried again");
    this.parked = this.counter("parked", "Messages that could not be delivered, in the error queue");
    this.stuck = this.counter("stuck", "Failed attempts to put a message into the error queue");
    this.faults = this.counter("faults", "Failures of what the process needs, such as the broker");
    this.lateness = new Histogram({
      name: `rabbitmq_delay_${process}_lateness_seconds`,
      help: "How long after its due time a message was confirmed",
      buckets: LATENESS_SECONDS,
      registers: [this.registry],
    });
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
  }

  protected counter(name: string, help: string): Counter {
    return new Counter({ name: `rabbitmq_delay_${this.process}_${name}_total`, help, registers: [this.registry] });
  }

  protected gauge(
    name: string,
    help: string,
    { labels = [], collect }: { labels?: string[]; collect: (gauge: Gauge) => void | Promise<void> },
  ): void {
    new Gauge({
      name: `rabbitmq_delay_${this.process}_${name}`,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        return collect(this);
      },
    });
  }
}
