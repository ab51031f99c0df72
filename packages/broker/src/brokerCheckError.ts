import { inspect } from "node:util";

/** A topology can't be declared on a broker; the message is one line that says what is wrong and how to mend it. */
export class BrokerCheckError extends Error {
  override readonly name = "BrokerCheckError";
  /** @param isOutOfReach whether nothing answered, so that nothing is known of the broker */
  constructor(
    message: string,
    readonly isOutOfReach = false,
  ) {
    super(message);
    shownAlone(this);
  }

  /** The SDK inspects a rejected error with all promises attached to it, which takes half a minute and a gigabyte. */
  [inspect.custom](): string {
    return `${this.name}: ${this.message}`;
  }
}

/**
 * Makes an error one that Pulumi's SDK shows as its message alone, though resources wait for what failed.
 * @returns the same error
 */
export function shownAlone<T extends Error>(error: T): T {
  const { message } = error;
  // Each property that waits puts its own name before the message, up to fifteen of them. This keeps the reason alone.
  Object.defineProperty(error, "message", { get: () => message, set: () => undefined, configurable: true });
  // The mark by which the SDK recognizes an error that it shows without a stack trace (`RunError.isInstance`); nothing else of that class is
  // needed here.
  return Object.assign(error, { __pulumiRunError: true });
}
