import { MochaRun, runMocha } from "./mochaRun";
import { filesToRerun, verdictOf } from "./runResult";
import { Tier, isRerun, tierOf } from "./tiers";

/**
 * Runs all files of a tier, several at a time, then those that failed once more, one after the other. Prints the counts.
 * @param isQuiet whether Mocha's own output is dropped
 * @returns whether the tier passed
 */
export async function runTier({ files, jobs, env }: Tier, isQuiet = false): Promise<boolean> {
  const first = await runMocha(["--parallel", "--jobs", `${jobs}`, ...files], { env, isQuiet });
  if (first.result === undefined) return breakOff();
  const again = filesToRerun(first.result, isRerun);
  if (again.length > 0) console.log(`\nOnce more, alone: ${again.join(", ")}\n`);
  const second = again.length > 0 ? await runMocha(again, { env, isQuiet }) : undefined;
  if (second !== undefined && second.result === undefined) return breakOff();
  const verdict = verdictOf(first.result, second?.result);
  for (const { file, title, error } of verdict.flaky) console.log(`  flaky: ${file}: ${title}: ${error}`);
  const leftovers = leftoversOf(first, second);
  for (const leftover of leftovers) console.log(`  failed: left in the temporary folder: ${leftover}`);
  const failed = verdict.failed + leftovers.length;
  console.log(`${verdict.passed} passed, ${failed} failed, ${verdict.skipped} skipped`);
  return failed === 0;
}

function breakOff(): false {
  console.error("the tests ended before their end: Mocha, or one of the processes that ran the files, died");
  return false;
}

function leftoversOf(...runs: (MochaRun | undefined)[]): string[] {
  return runs.flatMap((run) => run?.leftovers ?? []);
}

async function main(name = ""): Promise<number> {
  try {
    return (await runTier(tierOf(name))) ? 0 : 1;
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
}

if (require.main === module) void main(process.argv[2]).then((exitCode) => (process.exitCode = exitCode));
