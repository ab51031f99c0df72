import type { ConsumerEvents } from "../broker/consumer";

/** The operation that a breaker watches. */
export type BreakerName =
  | ("consume" | "store" | "fetch" | "dispatch" | "removal" | "recovery" | "refuse" | "control")
  | ("network" | "return" | "round");

/** Called when a breaker triggers, and when the operation works again. */
export interface BreakerEvents {
  onTriggered?: (name: BreakerName, error: unknown) => void;
  onRecovered?: (name: BreakerName) => void;
}

/** Decides when there are too many failures. */
export interface BreakerRule {
  /** Records a success. */
  recordSuccess(): void;
  /** Records a failure; @returns whether there are too many now */
  recordFailure(): boolean;
}

/** `closed` while things work, `open` after too many failures, `half-open` while an operation is tried nevertheless. */
export type BreakerState = "closed" | "open" | "half-open";

/** Watches an operation that may fail for a while. It holds nobody back: callers choose the pace of further tries. */
export class Breaker {
  private current: BreakerState = "closed";
  private lastFailure: unknown;

  constructor(
    readonly name: BreakerName,
    private readonly rule: BreakerRule,
    private readonly events: BreakerEvents = {},
    /** Whether messages wait, because the operation has failed for them; default: never. */
    private readonly hasWaiting: () => boolean = () => false,
  ) {}

  get state(): BreakerState {
    return this.current;
  }

  /** Whether it has triggered, and nothing has worked since. */
  get isTriggered(): boolean {
    return this.current !== "closed";
  }

  /** Whether it has triggered, or messages wait. */
  get isUnhealthy(): boolean {
    return this.isTriggered || this.hasWaiting();
  }

  /** Reason why it is unhealthy, by the last failure; undefined if it is not. */
  get reason(): string | undefined {
    return this.isUnhealthy ? (this.lastFailure as Error | undefined)?.message : undefined;
  }

  /** Runs an operation that may fail, and passes its error on. */
  async execute<T>(work: () => Promise<T>): Promise<T> {
    const isTrial = this.isTriggered;
    if (isTrial) this.current = "half-open";
    try {
      const result = await work();
      this.rule.recordSuccess();
      // An operation that began before the breaker triggered says nothing about what works now.
      if (isTrial) this.recover();
      return result;
    } catch (error) {
      this.lastFailure = error;
      if (this.rule.recordFailure() || isTrial) this.trigger(error);
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

/** Milliseconds that a consumer lasts before it counts as working without having handled a batch. */
const LASTING_MS = 1000;
/** The same after a failure with a batch in hand, while no batch comes. */
const LASTING_IN_HAND_MS = 10_000;

/**
 * Watches a consumer. After a failure, it counts as failed until it has consumed for a moment, because the failure may come again with its
 * first message; after a failure with a batch in hand, which comes again at once, until it has handled a batch. If none comes for a while,
 * another process has that batch, or it has expired.
 */
export function watchConsumer(breaker: Breaker, events: ConsumerEvents = {}): ConsumerEvents {
  let hasFailedInHand = false;
  let lasting: NodeJS.Timeout | undefined;
  const succeed = (): void => {
    hasFailedInHand = false;
    void breaker.execute(() => Promise.resolve());
  };
  return {
    onConsuming: () => {
      clearTimeout(lasting);
      lasting = setTimeout(succeed, hasFailedInHand ? LASTING_IN_HAND_MS : LASTING_MS).unref();
      events.onConsuming?.();
    },
    onBatch: () => {
      if (hasFailedInHand) clearTimeout(lasting);
      events.onBatch?.();
    },
    onHandled: () => {
      succeed();
      events.onHandled?.();
    },
    onFault: (error, isInHand = false) => {
      hasFailedInHand = isInHand;
      clearTimeout(lasting);
      breaker.execute(() => Promise.reject(error as Error)).catch(() => undefined);
      events.onFault?.(error, isInHand);
    },
    onBodyFault: events.onBodyFault,
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

  recordSuccess(): void {
    this.sinceMs = undefined;
  }

  recordFailure(): boolean {
    this.sinceMs ??= this.elapsedMs();
    return this.elapsedMs() - this.sinceMs >= this.forMs;
  }
}

/** How long a rate is measured; as the MSMQ transport does. */
const WINDOW_MS = 30_000;

/** Triggers when failures come at more than a given rate, whether or not there are successes between them. */
export class FrequentFailures implements BreakerRule {
  private failures: number[] = [];

  /** @param perSecond the highest rate that is tolerated, over half a minute */
  constructor(
    private readonly perSecond: number,
    private readonly elapsedMs: () => number = () => performance.now(),
  ) {}

  recordSuccess(): void {
    // A success does not make up for earlier failures.
  }

  recordFailure(): boolean {
    const nowMs = this.elapsedMs();
    this.failures = [...this.failures.filter((atMs) => nowMs - atMs < WINDOW_MS), nowMs];
    return this.failures.length > (this.perSecond * WINDOW_MS) / 1000;
  }
}
