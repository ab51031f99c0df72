/** This package can't work with the store's tables, its address or an argument; repeating the call doesn't help. */
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
