import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, relative } from "node:path";
import { root } from "./paths";

/** What a failure shows of a log. */
const SHOWN_LINES = 25;

/** Where a run without a terminal writes its progress, so that what it prints is what somebody reads. */
export class RunLog {
  /** For a child's output. */
  readonly descriptor: number;
  /** The file's path from the checkout. */
  readonly name: string;

  constructor(private readonly file: string) {
    mkdirSync(dirname(file), { recursive: true });
    this.descriptor = openSync(file, "w");
    this.name = relative(root, file);
  }

  write(line: string): void {
    writeSync(this.descriptor, `${line}\n`);
  }

  /** The end of what was written. */
  tail(): string {
    return readFileSync(this.file, "utf8").trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
