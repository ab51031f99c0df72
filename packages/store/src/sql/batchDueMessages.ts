import type { DelayedMessage } from "../delayedMessage";
import type { DueMessages } from "../delayedMessageStore";

/** Due messages of a store in which a single message is a batch of one. */
export abstract class BatchDueMessages implements DueMessages {
  abstract fetchDue(at: Date, limit: number, maximumBytes?: number): Promise<DelayedMessage[]>;
  abstract removeAll(messages: DelayedMessage[]): Promise<void>;
  abstract incrementFailureCounts(failures: { message: DelayedMessage; retryAt?: Date }[]): Promise<void>;

  async fetchNextDue(at: Date): Promise<DelayedMessage | undefined> {
    return (await this.fetchDue(at, 1))[0];
  }

  remove(message: DelayedMessage): Promise<void> {
    return this.removeAll([message]);
  }

  incrementFailureCount(message: DelayedMessage, retryAt?: Date): Promise<void> {
    return this.incrementFailureCounts([{ message, retryAt }]);
  }
}
