import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { stripVTControlCharacters } from "node:util";
import { MochaOptions, Runner, reporters } from "mocha";
import { listRejections } from "./rejections";
import { RunResult, addFailure, addPass, addSkip, emptyResult, nameOf } from "./runResult";

/** File for the result, which runMocha reads. Removed from the environment, because a test may start another Mocha. */
const resultFile = process.env.RABBITMQ_DELAY_TEST_RESULT;
delete process.env.RABBITMQ_DELAY_TEST_RESULT;

const SLOWEST = 10;
/** Unit of /proc/stat, on every Linux on which Node runs. */
const TICKS_PER_SECOND = 100;

// Mocha has one reporter at a time, and none of its own writes a result beside what it prints.

/** Mocha's own report, then the slowest tests, then each failure once more in one line. */
class RunReporter extends reporters.Spec {
  private readonly ended: { title: string; file: string; durationMs: number }[] = [];
  private readonly result: RunResult = emptyResult();
  private readonly busyAtStart = processorSeconds();
  private isOver = false;

  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    runner.on("pass", (test) => addPass(this.result, nameOf(test.file), inOneLine(test.fullTitle())));
    runner.on("pending", (test) => addSkip(this.result, nameOf(test.file), inOneLine(test.fullTitle())));
    // A hook of all files names none. One around a test belongs to that test's file, and one before or after all tests to no file for certain.
    let latest: string | undefined;
    runner.on("test", ({ file }) => (latest = file));
    runner.on("fail", (test, error) => {
      const file = test.file ?? (/^"(before|after) each" hook/.test(test.title) ? latest : undefined);
      const failure = { title: inOneLine(test.fullTitle()), error: firstLine(inOneLine(messageOf(error))) };
      addFailure(this.result, nameOf(file), failure);
      // Mocha tells reasons at its end, which a run that is interrupted does not reach.
      console.log(`        ${failure.error}`);
      // Mocha ends a run at the first file that can't be loaded, and tells of the others after that.
      if (this.isOver) {
        console.log(`  failed: ${failure.title}: ${failure.error}`);
        this.writeResult();
      }
    });
    runner.on("test end", (test) =>
      this.ended.push({ title: test.fullTitle(), file: nameOf(test.file), durationMs: test.duration ?? 0 }),
    );
  }

  override epilogue(): void {
    // Failures come last, because the end of a long log is the part that is always kept.
    if (this.ended.length > SLOWEST) this.printSlowest();
    super.epilogue();
    const rejections = listRejections();
    const reasons = new Set(rejections.map(({ reason }) => reason));
    for (const reason of reasons) console.log(`nobody caught this, which would end a service: ${reason}\n`);
    this.result.rejections = rejections.map(
      ({ reason, running }) => `nobody caught, while this ran: ${running}: ${firstLine(reason)}`,
    );
    const { passes, failures, pending } = this.stats;
    for (const line of failureLines(this.result)) console.log(`  failed: ${line}`);
    // Whoever started Mocha prints the count of all its runs.
    if (resultFile === undefined)
      console.log(`${passes} passed, ${failures + rejections.length} failed, ${pending} skipped`);
    this.isOver = true;
    this.writeResult();
  }

  private writeResult(): void {
    if (resultFile !== undefined) writeFileSync(resultFile, JSON.stringify(this.result));
  }

  /** Adds the unhandled rejections to the failures: each would have ended a service. */
  override done(failures: number, end?: (failures: number) => void): void {
    end?.(failures + this.result.rejections.length);
  }

  private printSlowest(): void {
    const byFile = new Map<string, number>();
    for (const { file, durationMs } of this.ended) byFile.set(file, (byFile.get(file) ?? 0) + durationMs);
    print(
      "The slowest tests",
      this.ended.map(({ durationMs, title }) => [durationMs, title]),
    );
    if (byFile.size > 1)
      print(
        "The slowest files, by their tests",
        [...byFile].map(([file, ms]) => [ms, file]),
      );
    const busy = processorSeconds() - this.busyAtStart;
    if (!Number.isNaN(busy))
      console.log(`  This machine's ${cpus().length} processors worked for ${Math.round(busy)} s meanwhile.\n`);
  }
}

module.exports = RunReporter;

function failureLines({ files, rejections }: RunResult): string[] {
  const failures = Object.values(files).flatMap(({ failed }) => failed.map(({ title, error }) => `${title}: ${error}`));
  return [...failures, ...rejections];
}

/** Returns the seconds that all processors have worked since the machine started; NaN except on Linux. */
function processorSeconds(): number {
  if (process.platform !== "linux") return NaN;
  const [, user, nice, system] = readFileSync("/proc/stat", "utf8").split(/\s+/).map(Number) as number[];
  return ((user as number) + (nice as number) + (system as number)) / TICKS_PER_SECOND;
}

const LINE_LENGTH = 200;

function firstLine(text: string): string {
  const line = String(text).split("\n")[0] as string;
  return line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line;
}

/** An assertion says in its first line what it expects, and then what differs. */
function inOneLine(text: string): string {
  return stripVTControlCharacters(String(text))
    .split(/\s*\n\s*/)
    .join(" ");
}

/** An error of several, as `Promise.any` throws, has its texts in them. */
function messageOf({ message, errors }: Error & { errors?: Error[] }): string {
  return message || (errors ?? []).map(messageOf).join("; ");
}

function print(title: string, timed: [ms: number, name: string][]): void {
  console.log(`  ${title}:`);
  const slowest = timed.sort(([a], [b]) => b - a).slice(0, SLOWEST);
  for (const [ms, name] of slowest) console.log(`    ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
  console.log();
}
