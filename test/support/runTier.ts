import { filesToRerun, verdictOf } from "./runResult";
import { MochaRun, runMocha } from "./mochaRun";
import { isRerun, tierOf } from "./tiers";

/** Runs a tier: all files, several at a time, then those that failed once more, one after the other. @returns whether it passed */
async function runTier(name: string): Promise<boolean> {
  const { files, jobs, env } = tierOf(name);
  const first = await runMocha(["--parallel", "--jobs", `${jobs}`, ...files], { env });
  if (first.result === undefined) return breakOff();
  const again = filesToRerun(first.result, isRerun);
  if (again.length > 0) console.log(`\nOnce more, alone: ${again.join(", ")}\n`);
  const second = again.length > 0 ? await runMocha(again, { env }) : undefined;
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

void runTier(process.argv[2] ?? "").then(
  (isGreen) => (process.exitCode = isGreen ? 0 : 1),
  (error: Error) => {
    console.error(error.message);
    process.exitCode = 2;
  },
);
