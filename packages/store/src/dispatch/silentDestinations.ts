import type { NewDelayedMessage } from "../delayedMessage";

const LONGEST_PAUSE_MS = 60_000;
/** Beyond this number, the oldest are forgotten, and tried like all others. */
const MOST_DESTINATIONS = 10_000;

interface Pause {
  /** When the next message is tried, by a clock that never jumps. */
  untilMs: number;
  lengthMs: number;
}

/**
 * Destinations that do not answer, although the broker has not said that it accepts nothing: a queue that hangs, or has lost most of its
 * nodes. One message of each is tried at a time, with ever longer pauses between. The others are held back: they would keep messages for
 * other destinations from being delivered, and would be sent once more at each try.
 */
export class SilentDestinations {
  private readonly pauses = new Map<string, Pause>();

  /**
   * @param firstPauseMs at least as long as a try takes
   * @param elapsedMs a clock that never jumps
   */
  constructor(
    private readonly firstPauseMs: number,
    private readonly elapsedMs: () => number = () => performance.now(),
  ) {}

  has(message: NewDelayedMessage): boolean {
    return this.pauses.has(keyOf(message));
  }

  /** Records that none of these messages was answered. */
  note(messages: readonly NewDelayedMessage[]): void {
    const nowMs = this.elapsedMs();
    for (const key of new Set(messages.map(keyOf))) {
      const before = this.pauses.get(key)?.lengthMs ?? 0;
      const lengthMs = Math.max(this.firstPauseMs, Math.min(LONGEST_PAUSE_MS, 2 * before));
      this.pauses.set(key, { untilMs: nowMs + lengthMs, lengthMs });
    }
    for (const key of this.pauses.keys()) {
      if (this.pauses.size <= MOST_DESTINATIONS) break;
      this.pauses.delete(key);
    }
  }

  /** Records that this message was answered. */
  delete(message: NewDelayedMessage): void {
    this.pauses.delete(keyOf(message));
  }

  /** The messages that should not be tried now, each with the time, in milliseconds from now, until it may be. */
  findHeldBack<T extends NewDelayedMessage>(messages: readonly T[]): Map<T, number> {
    const held = new Map<T, number>();
    const nowMs = this.elapsedMs();
    for (const message of messages) {
      const pause = this.pauses.get(keyOf(message));
      if (pause === undefined) continue;
      if (pause.untilMs > nowMs) held.set(message, pause.untilMs - nowMs);
      else pause.untilMs = nowMs + pause.lengthMs;
    }
    return held;
  }
}

function keyOf({ exchange, routingKey }: NewDelayedMessage): string {
  return `${exchange}\0${routingKey}`;
}
