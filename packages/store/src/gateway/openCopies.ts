import type { NewDelayedMessage } from "../delayedMessage";
import type { Waiting } from "./envelope";

/** How long it is remembered that the network has a message, in case the broker delivers once more what it was made from. */
const MEMORY_MS = 10 * 60_000;
/** How many are remembered then. */
const MOST_REMEMBERED = 100_000;

/**
 * What was sent into the network for messages that are not acknowledged yet. None of them is sent again while the answer may still come, or
 * when the network has it: also not when the broker has delivered it anew, because its consumer's channel closed meanwhile.
 */
export class OpenCopies {
  /** By the object, for what came from the intake: its channel stays open while the network does not answer. */
  private readonly enteredMessages = new WeakSet<NewDelayedMessage>();
  private readonly openMessages = new WeakMap<NewDelayedMessage, Promise<void>>();
  /** By the round, for what came back from the network; with the time at which it was entered. */
  private readonly enteredRounds = new Map<string, number>();
  private readonly openRounds = new Map<string, Promise<void>>();

  /** @param elapsedMs a clock that never jumps */
  constructor(private readonly elapsedMs: () => number = () => performance.now()) {}

  /** Whether the network has confirmed a message. */
  has({ message, roundId }: Pick<Waiting, "message" | "roundId">): boolean {
    return this.enteredMessages.has(message) || (roundId !== undefined && this.enteredRounds.has(roundId));
  }

  /** The end of the waiting for an answer that may still come; by then the network has the message, or it may be sent again. */
  answerTo({ message, roundId }: Pick<Waiting, "message" | "roundId">): Promise<void> | undefined {
    return this.openMessages.get(message) ?? (roundId === undefined ? undefined : this.openRounds.get(roundId));
  }

  /** Records that the network has a message. */
  enter({ message, roundId }: Pick<Waiting, "message" | "roundId">): void {
    this.enteredMessages.add(message);
    if (roundId === undefined) return;
    this.enteredRounds.set(roundId, this.elapsedMs());
    this.forgetOld();
  }

  /** Waits for a message's answer. */
  await(one: Pick<Waiting, "message" | "roundId">, answer: Promise<void>): void {
    const { message, roundId } = one;
    const ended = answer
      .then(
        () => this.enter(one),
        () => undefined,
      )
      .finally(() => {
        this.openMessages.delete(message);
        if (roundId !== undefined) this.openRounds.delete(roundId);
      });
    this.openMessages.set(message, ended);
    if (roundId !== undefined) this.openRounds.set(roundId, ended);
  }

  private forgetOld(): void {
    const oldestMs = this.elapsedMs() - MEMORY_MS;
    for (const [roundId, enteredMs] of this.enteredRounds) {
      if (enteredMs > oldestMs && this.enteredRounds.size <= MOST_REMEMBERED) break;
      this.enteredRounds.delete(roundId);
    }
  }
}
