import { spawn } from "node:child_process";
import { cpus } from "node:os";
import { runMocha } from "./mochaRun";
import { hasFailed, nameOf } from "./runResult";

/** Keeps a core busy until the process that started it is gone. */
const BURN = "const parent = process.ppid; while (process.ppid === parent);";

/** Runs a test file repeatedly while every core is busy. @returns whether it passed each time */
async function stress(file: string, times: number): Promise<boolean> {
  const burning = cpus().map(() => spawn(process.execPath, ["-e", BURN], { stdio: "ignore" }));
  let failedRuns = 0;
  console.log(`${file}, ${times} times while ${burning.length} cores are busy:`);
  try {
    for (let count = 1; count <= times; count++) {
      const startMs = Date.now();
      const { result, leftovers, output } = await runMocha([file], { isQuiet: true });
      const { passed, skipped } = result?.files[nameOf(file)] ?? { passed: [], skipped: [] };
      const hasPassed = passed.length > 0 && result !== undefined && !hasFailed(result) && leftovers.length === 0;
      if (!hasPassed) {
        failedRuns += 1;
        console.log(output);
        for (const leftover of leftovers) console.log(`  failed: left in the temporary folder: ${leftover}`);
      }
      const seconds = ((Date.now() - startMs) / 1000).toFixed(1);
      const counts = `${passed.length} passed, ${skipped.length} skipped`;
      console.log(`${count} of ${times}: ${hasPassed ? "passed" : "failed"} in ${seconds} s (${counts})`);
    }
  } finally {
    for (const child of burning) child.kill("SIGKILL");
  }
  console.log(`${times - failedRuns} passed, ${failedRuns} failed`);
  return failedRuns === 0;
}

const [file, times] = process.argv.slice(2) as [string, string];
void stress(file, Number(times))
  .catch((error: Error) => console.error(error.message))
  .then((isGreen) => (process.exitCode = isGreen === true ? 0 : 1));
