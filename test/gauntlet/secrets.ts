import { randomUUID } from "node:crypto";
import type { History } from "./history";

/** Texts that may stand in no output, and where they did. */
export class Secrets {
  private readonly known = new Map<string, string>();
  private tails = new Map<string, string>();

  constructor(private readonly history: History) {}

  /** Makes one, or takes one over. @param name what the history calls it */
  add(name: string, value: string = `${name}-${randomUUID()}`): string {
    this.known.set(name, value);
    return value;
  }

  /** Reads a piece of an output, and notes each secret in it. */
  read(part: string, place: string, text: string): void {
    const key = `${part} ${place}`;
    const all = (this.tails.get(key) ?? "") + text;
    for (const [secret, value] of this.known) {
      if (all.includes(value) || all.includes(encodeURIComponent(value))) {
        this.history.record({ kind: "leaked", part, secret, place });
        this.tails.set(key, "");
        return;
      }
    }
    // One may be cut in two by the pieces.
    this.tails.set(key, all.slice(-200));
  }
}
