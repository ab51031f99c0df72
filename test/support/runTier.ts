import { runMocha } from "./mochaRun";
import { RunResult, emptyResult, filesToRerun, nameOf, verdictOf } from "./runResult";
import { Tier, isRerun, mayBeSkipped, tierOf } from "./tiers";

// Mocha's own retries repeat a test at once, in the process and beside the load in which it failed, and its result does not say so.

/**
 * Runs all files of a tier, several at a time, then those that failed once more, one after the other. Prints the counts.
 * @param isQuiet whether Mocha's own output is dropped
 * @returns whether the tier passed
 */
export async function runTier({ files, jobs, env }: Tier, isQuiet = false): Promise<boolean> {
  const runs = [await runMocha(files, { jobs, env, isQuiet })];
  const again = filesToRerun(runs[0]?.result ?? emptyResult(), isRerun);
  if (again.length > 0) console.log(`\nOnce more, alone: ${again.join(", ")}\n`);
  for (const file of again) runs.push(await runMocha([file], { env, isQuiet }));
  const results = runs.map(({ result }) => result);
  if (!results.every((result) => result !== undefined)) return breakOff();
  const [first, ...others] = results as [RunResult, ...RunResult[]];
  const verdict = verdictOf(first, ...others);
  for (const { file, title, error } of verdict.flaky) console.log(`  flaky: ${file}: ${title}: ${error}`);
  for (const [file, { passed, skipped }] of Object.entries(first.files))
    if (passed.length === 0 && skipped.length > 0) console.log(`  skipped: ${file}`);
  const unwanted = Object.entries(first.files).filter(([file]) => process.env.CI === "true" && !mayBeSkipped(file));
  const faults = [
    ...runs.flatMap(({ leftovers }) => leftovers).map((name) => `left in the temporary folder: ${name}`),
    ...unwanted.flatMap(([file, { skipped }]) => skipped.map((title) => `skipped in CI: ${file}: ${title}`)),
    ...files.filter((file) => first.files[nameOf(file)] === undefined).map((file) => `no test ran of ${file}`),
  ];
  for (const fault of faults) console.log(`  failed: ${fault}`);
  const failed = verdict.failed + faults.length;
  console.log(`${verdict.passed} passed, ${failed} failed, ${verdict.skipped} skipped`);
  return failed === 0;
}

function breakOff(): false {
  console.error("the tests ended before their end: Mocha, or one of the processes that ran the files, died");
  return false;
}

async function main([first = "", ...others]: string[]): Promise<number> {
  try {
    return (await runTier(tierOf(first, ...others))) ? 0 : 1;
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
}

if (require.main === module) void main(process.argv.slice(2)).then((exitCode) => (process.exitCode = exitCode));
