/**
 * This package can't work with the store's tables, its address or an argument; repeating the call doesn't help.
 * @example
 * ```ts
 * import { StoreMismatchError, openStore } from "@rabbitmq-delay/store";
 *
 * try {
 *   openStore(process.env.STORE ?? "");
 * } catch (error) {
 *   if (!(error instanceof StoreMismatchError)) throw error;
 *   console.error(`correct ${error.property}: ${error.message}`);
 * }
 * ```
 */
export class StoreMismatchError extends Error {
  override readonly name = "StoreMismatchError";

  /**
   * @param property the refused property, e.g. `store` or `table`
   * @param reason why, and how to mend it
   */
  constructor(
    readonly property: string,
    reason: string,
  ) {
    super(`${property}: ${reason}`);
  }
}

/** The broker refuses the user, the password or the vhost; it is in one line, without the password. */
export class BrokerRefusedError extends Error {
  override readonly name = "BrokerRefusedError";
}
