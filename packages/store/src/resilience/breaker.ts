import type { ConsumerEvents } from "../broker/consumer";

/** What a breaker watches. */
export type BreakerName = "consume" | "store" | "fetch" | "dispatch" | "removal" | "recovery" | "refuse" | "control";

/** Who hears when a breaker triggers, and when what it watches works again. */
export interface BreakerEvents {
  onTriggered?: (name: BreakerName, error: unknown) => void;
  onRecovered?: (name: BreakerName) => void;
}

/** When failures are too many. */
export interface BreakerRule {
  /** Something has worked. */
  success(): void;
  /** Something has failed; @returns whether failures are too many now */
  failure(): boolean;
}

/** `closed` while things work, `open` after too many failures, `half-open` while something is tried all the same. */
export type BreakerState = "closed" | "open" | "half-open";

/** Watches what may fail for a while. It holds nobody back: the pace of further tries is their own. */
export class Breaker {
  private current: BreakerState = "closed";

  constructor(
    readonly name: BreakerName,
    private readonly rule: BreakerRule,
    private readonly events: BreakerEvents = {},
  ) {}

  get state(): BreakerState {
    return this.current;
  }

  /** Whether it has triggered, and nothing has worked since. */
  get isTriggered(): boolean {
    return this.current !== "closed";
  }

  /** Does something that may fail; what it throws is thrown. */
  async execute<T>(work: () => Promise<T>): Promise<T> {
    const isTrial = this.isTriggered;
    if (isTrial) this.current = "half-open";
    try {
      const result = await work();
      this.rule.success();
      // What began before it triggered says nothing of what works now.
      if (isTrial) this.recover();
      return result;
    } catch (error) {
      if (this.rule.failure() || isTrial) this.trigger(error);
      throw error;
    }
  }

  private trigger(error: unknown): void {
    const isFirst = !this.isTriggered;
    this.current = "open";
    if (isFirst) this.events.onTriggered?.(this.name, error);
  }

  private recover(): void {
    if (!this.isTriggered) return;
    this.current = "closed";
    this.events.onRecovered?.(this.name);
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
export class LastingFailures implements BreakerRule {
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

  failure(): boolean {
    this.sinceMs ??= this.elapsedMs();
    return this.elapsedMs() - this.sinceMs >= this.forMs;
  }
}

/** How long a rate is measured; as the MSMQ transport does. */
const WINDOW_MS = 30_000;

/** Triggers when failures come at more than a rate, successes between them or not. */
export class FrequentFailures implements BreakerRule {
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
