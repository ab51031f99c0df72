import { types } from "node:util";
import {
  DelayTopologyError,
  RetryDescriptor,
  checkDelayMs,
  declaredDelaysMs,
  parseRetryDescriptor,
  toDelayMs,
} from "@rabbitmq-delay/topology/descriptors";

/** A class of errors, or a function that says at once whether it matches an error; async functions are not allowed. */
export type ErrorMatcher = (abstract new (...args: never[]) => unknown) | ((error: unknown) => boolean);

interface PolicyParts {
  immediateTries: number;
  delaysMs: readonly number[];
  handled: readonly ErrorMatcher[];
  ignored: readonly ErrorMatcher[];
}

const NONE: PolicyParts = { immediateTries: 0, delaysMs: [], handled: [], ignored: [] };

/**
 * Which failures are tried again, and when: first at once, then after delays. The same policy works with every mechanism.
 * Policies don't change; each method makes a new one, so `RetryPolicy.immediate(3).intervals(["5s", "1m"])` reads as it works.
 * Every method throws a DelayTopologyError that names the argument, its value and what is allowed.
 * @example
 * ```ts
 * import { RetryPolicy } from "@rabbitmq-delay/publish";
 *
 * export const policy = RetryPolicy.immediate(3).exponential(5, 1000, 60_000).ignore(SyntaxError);
 * ```
 */
export class RetryPolicy {
  /** Tries without a delay after the first, again after each redelivery. */
  readonly immediateTries: number;
  /** The delay before each redelivery, in milliseconds. */
  readonly delaysMs: readonly number[];

  private constructor(private readonly parts: PolicyParts) {
    this.immediateTries = parts.immediateTries;
    this.delaysMs = parts.delaysMs;
  }

  /** No further tries. */
  static none(): RetryPolicy {
    return new RetryPolicy(NONE);
  }

  /** See {@link RetryPolicy.prototype.immediate}. */
  static immediate(tries: number): RetryPolicy {
    return RetryPolicy.none().immediate(tries);
  }

  /** See {@link RetryPolicy.prototype.intervals}. */
  static intervals(delays: readonly (number | string)[]): RetryPolicy {
    return RetryPolicy.none().intervals(delays);
  }

  /** See {@link RetryPolicy.prototype.interval}. */
  static interval(tries: number, delayMs: number): RetryPolicy {
    return RetryPolicy.none().interval(tries, delayMs);
  }

  /** See {@link RetryPolicy.prototype.incremental}. */
  static incremental(tries: number, firstMs: number, stepMs: number): RetryPolicy {
    return RetryPolicy.none().incremental(tries, firstMs, stepMs);
  }

  /** See {@link RetryPolicy.prototype.exponential}. */
  static exponential(tries: number, minimumMs: number, maximumMs: number, factor?: number): RetryPolicy {
    return RetryPolicy.none().exponential(tries, minimumMs, maximumMs, factor);
  }

  /**
   * The redeliveries that a stack declared: each interval or hold once, a work queue's `maxRetries`, a delayed retry queue's
   * `deliveryLimit`.
   */
  static declared(descriptor: RetryDescriptor): RetryPolicy {
    const delaysMs = declaredDelaysMs(parseRetryDescriptor(descriptor));
    checkTries("descriptor", delaysMs.length, 0);
    return RetryPolicy.none().with({ delaysMs });
  }

  /** This many immediate tries, on the delivered message itself. */
  immediate(tries: number): RetryPolicy {
    return this.with({ immediateTries: checkTries("tries", tries, 0) });
  }

  /** A redelivery after each of the delays, in this order: milliseconds, or texts like `"5m"`; a delay may occur twice. */
  intervals(delays: readonly (number | string)[]): RetryPolicy {
    if (!Array.isArray(delays) || delays.length === 0) {
      throw new DelayTopologyError("intervals", delays, `it must be a list of at least one delay, e.g. [5000, "5m"]`);
    }
    // Read one by one: a policy may wait for the same time twice, which a topology can't declare twice.
    return this.with({ delaysMs: delays.map((delay, index) => toDelayMs(`intervals[${index}]`, delay)) });
  }

  /** This many redeliveries, each after the same delay. */
  interval(tries: number, delayMs: number): RetryPolicy {
    return this.withDelays(tries, () => delayMs);
  }

  /** Redeliveries after `firstMs`, `firstMs + stepMs`, `firstMs + 2 · stepMs` … */
  incremental(tries: number, firstMs: number, stepMs: number): RetryPolicy {
    if (!Number.isFinite(stepMs) || stepMs < 0) {
      throw new DelayTopologyError("stepMs", stepMs, "it must be a number of milliseconds from 0");
    }
    return this.withDelays(tries, (index) => firstMs + index * stepMs);
  }

  /**
   * Redeliveries after `minimumMs`, then `factor` times as long each time, at most `maximumMs`.
   * @param factor default 2
   */
  exponential(tries: number, minimumMs: number, maximumMs: number, factor = 2): RetryPolicy {
    if (!Number.isFinite(factor) || factor < 1) {
      throw new DelayTopologyError("factor", factor, "it must be a number from 1");
    }
    checkDelayMs("minimumMs", minimumMs);
    if (checkDelayMs("maximumMs", maximumMs) < minimumMs) {
      throw new DelayTopologyError("maximumMs", maximumMs, `it must be at least minimumMs, ${minimumMs}`);
    }
    return this.withDelays(tries, (index) => Math.min(maximumMs, Math.ceil(minimumMs * factor ** index)));
  }

  /** Only errors of these classes, or for which one of these functions returns true, are tried again. */
  handle(...matchers: ErrorMatcher[]): RetryPolicy {
    return this.with({ handled: [...this.parts.handled, ...matchers.map(checkMatcher)] });
  }

  /** Errors of these classes, or for which one of these functions returns true, are never tried again; this wins over `handle`. */
  ignore(...matchers: ErrorMatcher[]): RetryPolicy {
    return this.with({ ignored: [...this.parts.ignored, ...matchers.map(checkMatcher)] });
  }

  /**
   * Whether a failure is tried again at all.
   * @throws an error of one of the policy's functions, and DelayTopologyError when one answers with a promise
   */
  retries(error: unknown): boolean {
    const { handled, ignored } = this.parts;
    if (ignored.some((matcher) => matches(matcher, error))) return false;
    return handled.length === 0 || handled.some((matcher) => matches(matcher, error));
  }

  private with(parts: Partial<PolicyParts>): RetryPolicy {
    return new RetryPolicy({ ...this.parts, ...parts });
  }

  private withDelays(tries: number, delayOf: (index: number) => number): RetryPolicy {
    const count = checkTries("tries", tries, 1);
    return this.with({
      delaysMs: Array.from({ length: count }, (_, index) => checkDelayMs("delayMs", delayOf(index))),
    });
  }
}

/** A policy's list of delays is kept in memory, and nobody waits for a thousand tries. */
const MOST_TRIES = 1000;

function checkTries(property: string, value: number, minimum: number): number {
  if (Number.isSafeInteger(value) && value >= minimum && value <= MOST_TRIES) return value;
  throw new DelayTopologyError(property, value, `it must be a whole number from ${minimum} to ${MOST_TRIES}`);
}

function checkMatcher(matcher: ErrorMatcher): ErrorMatcher {
  if (types.isAsyncFunction(matcher)) throw new DelayTopologyError("matcher", "an async function", AT_ONCE);
  if (typeof matcher === "function") return matcher;
  throw new DelayTopologyError("matcher", matcher, "it must be a class of errors or a function");
}

const AT_ONCE = "a function must answer true or false at once: a promise of an answer would be taken for true";

function matches(matcher: ErrorMatcher, error: unknown): boolean {
  if (isClass(matcher)) return error instanceof matcher;
  // An old-style constructor can look like a function that answers; only its own objects show the difference.
  if (typeof matcher.prototype === "object" && error instanceof matcher) return true;
  const answer = (matcher as (error: unknown) => unknown)(error);
  if (typeof (answer as PromiseLike<unknown> | null | undefined)?.then !== "function") return Boolean(answer);
  // Avoids an unhandled rejection, which would end the process.
  Promise.resolve(answer).catch(() => undefined);
  throw new DelayTopologyError("matcher", "a promise", AT_ONCE);
}

/**
 * Whether a function is a class, of errors or of anything else that is thrown: a class's prototype can't be replaced, and functions turned
 * into classes by hand or by a compiler have put something on theirs.
 */
function isClass(matcher: ErrorMatcher): matcher is abstract new (...args: never[]) => unknown {
  const property = Object.getOwnPropertyDescriptor(matcher, "prototype");
  const prototype: unknown = property?.value;
  if (typeof prototype !== "object" || prototype === null) return false;
  if (prototype instanceof Error || property?.writable === false) return true;
  // A generator's prototype has another origin, too, but no constructor of its own.
  if (!Object.hasOwn(prototype, "constructor")) return false;
  return Reflect.ownKeys(prototype).length > 1 || Object.getPrototypeOf(prototype) !== Object.prototype;
}
