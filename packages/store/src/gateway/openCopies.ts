import type { NewDelayedMessage } from "../delayedMessage";
import type { Waiting } from "./envelope";

/** How long it is remembered that the network has a message, in case the broker delivers once more what it was made from. */
const MEMORY_MS = 10 * 60_000;
/** How many are remembered then. */
const MOST_REMEMBERED = 100_000;

type Original = Pick<Waiting, "message" | "roundId">;

/** A copy that was sent into the network, to which there is no answer yet. */
export interface OpenCopy {
  /** Where it was sent. */
  exchange: string;
  routingKey: string;
  /** When. */
  sinceMs: number;
  /** Ends the waiting for its answer: its original may be sent again. */
  giveUp: () => void;
}

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
  private readonly open = new Set<OpenCopy>();

  /** @param elapsedMs a clock that never jumps */
  constructor(private readonly elapsedMs: () => number = () => performance.now()) {}

  /** Whether the network has confirmed a message. */
  has({ message, roundId }: Original): boolean {
    return this.enteredMessages.has(message) || (roundId !== undefined && this.enteredRounds.has(roundId));
  }

  /** The end of the waiting for an answer that may still come; by then the network has the message, or it may be sent again. */
  answerTo({ message, roundId }: Original): Promise<void> | undefined {
    return this.openMessages.get(message) ?? (roundId === undefined ? undefined : this.openRounds.get(roundId));
  }

  /** Copies that have waited for their answer for so long, in milliseconds. */
  openFor(longMs: number): OpenCopy[] {
    const latestMs = this.elapsedMs() - longMs;
    return [...this.open].filter(({ sinceMs }) => sinceMs <= latestMs);
  }

  /** Records that the network has a message. */
  enter({ message, roundId }: Original): void {
    this.enteredMessages.add(message);
    if (roundId === undefined) return;
    this.enteredRounds.set(roundId, this.elapsedMs());
    this.forgetOld();
  }

  /** Waits for the answer to a message's copy. */
  await(one: Original, copy: Pick<NewDelayedMessage, "exchange" | "routingKey">, answer: Promise<void>): void {
    const { message, roundId } = one;
    let giveUp: () => void = () => undefined;
    const givenUp = new Promise<void>((resolve) => (giveUp = resolve));
    const { exchange, routingKey } = copy;
    const open = { exchange, routingKey, sinceMs: this.elapsedMs(), giveUp };
    this.open.add(open);
    // Also where it was given up: by then the network may have another one, too.
    const answered = answer.then(
      () => this.enter(one),
      () => undefined,
    );
    const ended = Promise.race([answered, givenUp]).finally(() => {
      this.open.delete(open);
      if (this.openMessages.get(message) === ended) this.openMessages.delete(message);
      if (roundId !== undefined && this.openRounds.get(roundId) === ended) this.openRounds.delete(roundId);
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
