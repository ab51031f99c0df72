import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, relative } from "node:path";
import { root } from "./paths";

/** How much of a log a failure shows. */
const SHOWN_LINES = 25;

/** The file into which a run without a terminal writes its progress, so that it prints only what somebody reads. */
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

  /** The end of the log. */
  tail(): string {
    return readFileSync(this.file, "utf8").trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
