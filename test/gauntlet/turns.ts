/** Things that come one after another. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /** Does it when all before it are over, whichever way they ended. */
  take<T>(body: () => Promise<T>): Promise<T> {
    const mine = this.last.then(body);
    this.last = mine.catch(() => undefined);
    return mine;
  }
}
