/** The store's tables, its address or an argument are not what this package can work with; repeating it doesn't help. */
export class StoreMismatchError extends Error {
  override readonly name = "StoreMismatchError";

  /**
   * @param property what is refused, e.g. `store` or `table`
   * @param reason why, and how to mend it
   */
  constructor(
    readonly property: string,
    reason: string,
  ) {
    super(`${property}: ${reason}`);
  }
}
