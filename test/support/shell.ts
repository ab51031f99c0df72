import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { strict as assert } from "node:assert";
import type { Checkout } from "./checkout";

/** The commands of a page's blocks of shell, in their order; a line that ends with a backslash goes on in the next one. */
export function commandsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block]) =>
    (block as string)
      .replace(/\\\n\s*/g, "")
      .split("\n")
      .map((line) => line.replace(/\s+#\s.*$/, "").trim())
      .filter((line) => line !== "" && !line.startsWith("#")),
  );
}

const MARK = "@@ended";
const LONGEST_MS = 600_000;

/** A shell in a checkout, into which commands are typed as a reader of the docs types them. */
export class Shell {
  private readonly child: ChildProcessWithoutNullStreams;
  private printed = "";

  constructor(checkout: Checkout) {
    this.child = checkout.start("bash", ["--norc"]);
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on("data", (data: Buffer) => (this.printed += data.toString()));
    }
    // What a checkout shares is compiled already, and other tests use it at this moment.
    this.child.stdin.write('make() { command make -o build -o node_modules/.package-lock.json "$@"; }\n');
  }

  /**
   * Types a command and waits until it ended.
   * @returns what the shell printed meanwhile
   * @throws AssertionError if it fails, or does not end
   */
  async type(command: string): Promise<string> {
    const from = this.printed.length;
    this.child.stdin.write(`${command}\necho "${MARK} $?"\n`);
    const ended = await this.wait(new RegExp(`${MARK} (\\d+)\\n`), from, command);
    const output = this.printed.slice(from).replace(ended[0], "");
    assert.equal(ended[1], "0", `${command}: ${output.slice(-2000)}`);
    return output;
  }

  /** Waits until a program that runs in the background has printed something. */
  async printsLater(expected: RegExp): Promise<void> {
    await this.wait(expected, 0, "the background");
  }

  /** Ends the shell; what it started ends with its checkout. */
  end(): void {
    this.child.stdin.end();
  }

  private async wait(expected: RegExp, from: number, what: string): Promise<RegExpExecArray> {
    const endMs = Date.now() + LONGEST_MS;
    for (;;) {
      const found = expected.exec(this.printed.slice(from));
      if (found !== null) return found;
      const output = this.printed.slice(from).slice(-2000);
      assert.equal(this.child.exitCode, null, `the shell ended at ${what}: ${output}`);
      assert.ok(
        Date.now() < endMs,
        `${what} did not end, or print ${String(expected)}, in ${LONGEST_MS / 1000} s: ${output}`,
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
