import type { Logger } from "pino";

/** Lines of one text that are written in a minute. */
const LINES = 10;
const MINUTE_MS = 60_000;

/** Writes the first lines of each text in a minute, and at its end how many more there were. */
export class LineLimit {
  private readonly counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly log: Logger) {}

  /** @param text one of a few, without anything of a message */
  write(level: "warn" | "error", fields: object, text: string): void {
    const count = (this.counts.get(text) ?? 0) + 1;
    this.counts.set(text, count);
    if (count <= LINES) this.log[level](fields, text);
    this.timer ??= setTimeout(() => this.flush(), MINUTE_MS).unref();
  }

  /** Ends the minute. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const [text, count] of this.counts)
      if (count > LINES) this.log.warn({ count: count - LINES, text }, "further lines of this text");
    this.counts.clear();
  }
}
