import { CircuitBreakerPolicy, CircuitState, IBreaker, circuitBreaker, handleAll } from "cockatiel";
import type { ConsumerEvents } from "../broker/consumer";

/** What a breaker watches. */
export type BreakerName = "consume" | "store" | "fetch" | "dispatch" | "removal" | "recovery" | "refuse" | "control";

/** Who hears when a breaker triggers, and when what it watches works again. */
export interface BreakerEvents {
  onTriggered?: (name: BreakerName, error: unknown) => void;
  onRecovered?: (name: BreakerName) => void;
}

/** Watches what may fail for a while. It holds nobody back: the pace of further tries is their own. */
export class Breaker {
  private readonly circuit: CircuitBreakerPolicy;
  private triggered = false;

  /** @param rule when failures are too many */
  constructor(
    readonly name: BreakerName,
    rule: IBreaker,
    events: BreakerEvents = {},
  ) {
    // The library compares with the wall clock, whose jump back would keep the circuit open for as long.
    this.circuit = circuitBreaker(handleAll, { breaker: rule, halfOpenAfter: Number.NEGATIVE_INFINITY });
    this.circuit.onBreak((reason) => {
      if (this.triggered) return;
      this.triggered = true;
      events.onTriggered?.(name, "error" in reason ? reason.error : undefined);
    });
    this.circuit.onReset(() => {
      this.triggered = false;
      events.onRecovered?.(name);
    });
  }

  /** Whether it has triggered, and nothing has worked since. */
  get isTriggered(): boolean {
    return this.triggered;
  }

  /** Does something that may fail; what it throws is thrown. */
  execute<T>(work: () => Promise<T>): Promise<T> {
    return this.circuit.execute(work);
  }
}

/**
 * Watches a consumer: from a failure until it consumes again, it has failed; from one with a batch in hand, which comes again at once, until
 * it has handled a batch.
 */
export function watchConsumer(breaker: Breaker, events: ConsumerEvents = {}): ConsumerEvents {
  let hasFailedInHand = false;
  const succeed = (): void => void breaker.execute(() => Promise.resolve());
  return {
    onConsuming: () => {
      if (!hasFailedInHand) succeed();
      events.onConsuming?.();
    },
    onHandled: () => {
      hasFailedInHand = false;
      succeed();
      events.onHandled?.();
    },
    onFault: (error, isInHand = false) => {
      hasFailedInHand = isInHand;
      breaker.execute(() => Promise.reject(error as Error)).catch(() => undefined);
      events.onFault?.(error, isInHand);
    },
  };
}

/** Triggers when there were only failures for some time. */
export class LastingFailures implements IBreaker {
  state: unknown;
  private sinceMs: number | undefined;

  /**
   * @param forMs how long, in milliseconds
   * @param elapsedMs a clock that never jumps
   */
  constructor(
    private readonly forMs: number,
    private readonly elapsedMs: () => number = () => performance.now(),
  ) {}

  success(): void {
    this.sinceMs = undefined;
  }

  failure(state: CircuitState): boolean {
    this.sinceMs ??= this.elapsedMs();
    return state === CircuitState.HalfOpen || this.elapsedMs() - this.sinceMs >= this.forMs;
  }
}

/** How long a rate is measured; as the MSMQ transport does. */
const WINDOW_MS = 30_000;

/** Triggers when failures come at more than a rate, successes between them or not. */
export class FrequentFailures implements IBreaker {
  state: unknown;
  private failures: number[] = [];

  /** @param perSecond highest rate that is borne, over half a minute */
  constructor(
    private readonly perSecond: number,
    private readonly elapsedMs: () => number = () => performance.now(),
  ) {}

  success(): void {
    // Does not make up for the failures before it.
  }

  failure(): boolean {
    const nowMs = this.elapsedMs();
    this.failures = [...this.failures.filter((atMs) => nowMs - atMs < WINDOW_MS), nowMs];
    return this.failures.length > (this.perSecond * WINDOW_MS) / 1000;
  }
}
