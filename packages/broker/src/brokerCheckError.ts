import { inspect } from "node:util";

/** A topology can't be declared on a broker; the message is one line that says what is wrong and how to mend it. */
export class BrokerCheckError extends Error {
  override readonly name = "BrokerCheckError";
  /**
   * The mark by which Pulumi's SDK recognizes an error that it shows without a stack trace (`RunError.isInstance`); nothing else of that
   * class is needed here.
   */
  readonly __pulumiRunError = true;

  /** @param isOutOfReach whether nothing answered, so that nothing is known of the broker */
  constructor(
    message: string,
    readonly isOutOfReach = false,
  ) {
    super(message);
    // Each property that waits for preflight puts its own name before the message, up to fifteen of them. This keeps the reason alone.
    Object.defineProperty(this, "message", { get: () => message, set: () => undefined, configurable: true });
  }

  /** The SDK inspects a rejected error with all promises attached to it, which takes half a minute and a gigabyte. */
  [inspect.custom](): string {
    return `${this.name}: ${this.message}`;
  }
}
