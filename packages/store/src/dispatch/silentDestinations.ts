import type { NewDelayedMessage } from "../delayedMessage";
import { Destinations } from "./destinations";

const LONGEST_PAUSE_MS = 60_000;
/** The first pause of a destination that may have been held up by another one. */
const DOUBT_PAUSE_MS = 500;
/** Beyond this number, the oldest are forgotten, and tried like all others. */
const MOST_DESTINATIONS = 10_000;
/** Each is tried on a channel of its own. */
const MOST_TRIALS = 20;

interface Pause {
  /** When the next message is tried, by a clock that never jumps. */
  untilMs: number;
  lengthMs: number;
  /** Until when a message that is being tried has its time. */
  trialUntilMs: number;
  /** How many messages were sent there whose answers may come yet; another one would be a copy, or wait in vain behind them. */
  openAnswers: number;
  /** Since when the last of these has had no answer. */
  openSinceMs: number;
}

/** For how long an open answer keeps other messages back at first; twice as long each further time. */
const FIRST_OPEN_MS = 60_000;
const LONGEST_OPEN_MS = 3_600_000;

/**
 * Destinations that do not answer, although the broker has not said that it accepts nothing: a queue that hangs, or has lost most of its
 * nodes. One message of each is tried at a time, with ever longer pauses between. The others are held back: they would keep messages for
 * other destinations from being delivered, and would be sent once more at each try.
 */
export class SilentDestinations {
  private readonly pauses = new Map<string, Pause>();

  /**
   * @param tryMs how long a try takes
   * @param elapsedMs a clock that never jumps
   * @param destinations names where messages go
   */
  constructor(
    private readonly tryMs: number,
    private readonly elapsedMs: () => number = () => performance.now(),
    private readonly destinations = new Destinations(),
  ) {}

  /** Where a message goes, as text. */
  destinationOf(message: NewDelayedMessage): string {
    return this.destinations.of(message);
  }

  /** Whether all destinations answer, as far as known. */
  get isEmpty(): boolean {
    return this.pauses.size === 0;
  }

  has(message: NewDelayedMessage): boolean {
    return this.pauses.has(this.destinationOf(message));
  }

  /**
   * Whether a message to this one's destination has to wait for the answer to an earlier one. It may never come, and the destination have
   * become another queue meanwhile; so one more is tried after a minute, two minutes, and so on, up to an hour.
   */
  isAnswerOpen(message: NewDelayedMessage): boolean {
    const pause = this.pauses.get(this.destinationOf(message));
    if (pause === undefined || pause.openAnswers === 0) return false;
    const openMs = Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** Math.min(20, pause.openAnswers - 1));
    return this.elapsedMs() - pause.openSinceMs < openMs;
  }

  /**
   * Records that none of these messages was answered, which were on one channel. If they have several destinations, one may have held up
   * the others, and each is soon tried alone.
   */
  note(messages: readonly NewDelayedMessage[]): void {
    const nowMs = this.elapsedMs();
    const keys = new Set(messages.map((message) => this.destinationOf(message)));
    const firstMs = keys.size > 1 ? DOUBT_PAUSE_MS : this.tryMs;
    for (const key of keys) {
      const before = this.pauses.get(key);
      const nextMs = Math.max(this.tryMs, Math.min(LONGEST_PAUSE_MS, 2 * (before?.lengthMs ?? 0)));
      const lengthMs = before === undefined ? firstMs : nextMs;
      const { openAnswers = 0, openSinceMs = nowMs } = before ?? {};
      this.pauses.set(key, { untilMs: nowMs + lengthMs, lengthMs, trialUntilMs: nowMs, openAnswers, openSinceMs });
    }
    for (const key of this.pauses.keys()) {
      if (this.pauses.size <= MOST_DESTINATIONS) break;
      this.pauses.delete(key);
    }
  }

  /** Sends no other message to this one's destination before its answer, or the end of its channel; see {@link isAnswerOpen}. */
  awaitAnswer(message: NewDelayedMessage, answer: Promise<void>): void {
    const pause = this.pauses.get(this.destinationOf(message));
    if (pause === undefined) return;
    pause.openAnswers++;
    pause.openSinceMs = this.elapsedMs();
    answer.then(
      () => this.delete(message),
      // The channel is gone, or the queue refuses messages again: both can be tried.
      () => {
        const now = this.pauses.get(this.destinationOf(message));
        if (now !== undefined) now.openAnswers = Math.max(0, now.openAnswers - 1);
      },
    );
  }

  /** Records that this message was answered. */
  delete(message: NewDelayedMessage): void {
    this.pauses.delete(this.destinationOf(message));
  }

  /** How long a message waits whose destination has just not answered, in milliseconds; 0 if it has answered meanwhile. */
  pauseOf(message: NewDelayedMessage): number {
    const pause = this.pauses.get(this.destinationOf(message));
    return pause === undefined ? 0 : Math.max(0, pause.untilMs - this.elapsedMs());
  }

  /** The messages that should not be tried now, each with the time, in milliseconds from now, until it may be. */
  findHeldBack<T extends NewDelayedMessage>(messages: readonly T[]): Map<T, number> {
    const held = new Map<T, number>();
    if (this.pauses.size === 0) return held;
    const nowMs = this.elapsedMs();
    // Those of earlier calls go on, too.
    let trials = [...this.pauses.values()].filter(({ trialUntilMs }) => trialUntilMs > nowMs).length;
    for (const message of messages) {
      const pause = this.pauses.get(this.destinationOf(message));
      if (pause === undefined) continue;
      if (pause.untilMs > nowMs) held.set(message, pause.untilMs - nowMs);
      else if (this.isAnswerOpen(message) || pause.trialUntilMs > nowMs || trials >= MOST_TRIALS)
        held.set(message, pause.lengthMs);
      else {
        trials++;
        pause.trialUntilMs = nowMs + this.tryMs;
        pause.untilMs = nowMs + pause.lengthMs;
      }
    }
    return held;
  }
}
