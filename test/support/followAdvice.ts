import { strict as assert } from "node:assert";

/** A refusal or a warning, and the deed that it advises. */
export interface Advice {
  /** The way out that is printed. */
  says: RegExp;
  /** A text of the same line, which tells it from others of its kind. */
  of: string;
  deed: (line: string) => unknown;
}

/**
 * Runs a command until it prints nothing of what was advised, and does what each line advises.
 * @returns the output of the last run
 * @throws AssertionError where the last run failed, an advice was never printed, or one was printed again after it was followed
 */
export async function followAdvice(
  run: () => Promise<{ code: number | null; output: string }>,
  advice: readonly Advice[],
): Promise<string> {
  const open = new Set(advice);
  for (;;) {
    const { code, output } = await run();
    const lines = output.split("\n").map((line) => line.trim());
    const told = advice.flatMap((one) => {
      const line = lines.find((text) => text.includes(one.of) && one.says.test(text));
      return line === undefined ? [] : [{ one, line }];
    });
    const again = told.filter(({ one }) => !open.delete(one)).map(({ line }) => line);
    assert.deepEqual(again, [], "printed again after what it advises was done");
    if (told.length === 0) {
      const never = [...open].map(({ of }) => of);
      assert.deepEqual(never, [], `never printed; the last run: ${output}`);
      assert.equal(code, 0, output);
      return output;
    }
    for (const { one, line } of told) await one.deed(line);
  }
}
