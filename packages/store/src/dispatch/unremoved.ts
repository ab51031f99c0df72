import type { DelayedMessage } from "../delayedMessage";

/** Beyond this number, the oldest are forgotten: those that another instance or a user has removed are never asked for. */
const MOST_UNREMOVED = 100_000;

/**
 * Messages that were delivered, but that the database did not remove: they are removed when the database works again, and not published
 * again at each try.
 */
export class Unremoved {
  private readonly keys = new Set<string>();

  has(message: DelayedMessage): boolean {
    return this.keys.has(keyOf(message));
  }

  add(messages: DelayedMessage[]): void {
    for (const message of messages) this.keys.add(keyOf(message));
    for (const key of this.keys) {
      if (this.keys.size <= MOST_UNREMOVED) break;
      this.keys.delete(key);
    }
  }

  delete(messages: DelayedMessage[]): void {
    for (const message of messages) this.keys.delete(keyOf(message));
  }
}

/** Identifies a message with its time: one that was rescheduled meanwhile must be delivered once more. */
function keyOf({ id, attemptAt }: DelayedMessage): string {
  return `${id} ${attemptAt.getTime()}`;
}
