import type { DelayedMessage } from "../delayedMessage";
import type { Unremoved } from "./unremoved";

/**
 * Messages that were postponed while the broker's answer to them was open. One that is taken after all is removed when it is due again, and
 * not published once more.
 */
export class LateAnswers {
  /** By id, with the time at which each is due again, and the number of its answers that may come. */
  private readonly open = new Map<string, { message: DelayedMessage; answers: number }>();

  constructor(private readonly unremoved: Unremoved) {}

  /**
   * Waits for the answer to a message.
   * @param onTaken called when the broker has it
   */
  await(message: DelayedMessage, answer: Promise<void>, onTaken: (message: DelayedMessage) => void): void {
    const { id } = message;
    this.open.set(id, { message, answers: (this.open.get(id)?.answers ?? 0) + 1 });
    const end = (isTaken: boolean): void => {
      const now = this.open.get(id);
      if (now === undefined) return;
      now.answers--;
      if (isTaken || now.answers === 0) this.open.delete(id);
      if (!isTaken) return;
      this.unremoved.add([now.message]);
      onTaken(now.message);
    };
    answer.then(
      () => end(true),
      () => end(false),
    );
  }

  /** Records that a message is due again at another time. */
  postpone(message: DelayedMessage, retryAt: Date): void {
    const later = { ...message, attemptAt: retryAt };
    const open = this.open.get(message.id);
    if (open !== undefined) open.message = later;
    // The answer came while it was being postponed.
    if (this.unremoved.has(message)) {
      this.unremoved.delete([message]);
      this.unremoved.add([later]);
    }
  }
}
