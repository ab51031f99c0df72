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
  try {
    for (let count = 1; count <= times; count++) {
      const startMs = Date.now();
      const { result, leftovers, output } = await runMocha([file], { isQuiet: true });
      const hasRun = result !== undefined && result.files[nameOf(file)] !== undefined;
      const hasPassed = hasRun && !hasFailed(result) && leftovers.length === 0;
      if (!hasPassed) {
        failedRuns += 1;
        console.log(output);
        for (const leftover of leftovers) console.log(`  failed: left in the temporary folder: ${leftover}`);
      }
      const seconds = ((Date.now() - startMs) / 1000).toFixed(1);
      console.log(`${count} of ${times}: ${hasPassed ? "passed" : "failed"} in ${seconds} s`);
    }
  } finally {
    for (const child of burning) child.kill("SIGKILL");
  }
  console.log(`${times - failedRuns} passed, ${failedRuns} failed`);
  return failedRuns === 0;
}

const [file = "", times = "20"] = process.argv.slice(2);
if (file === "" || !/^[1-9]\d*$/.test(times)) {
  console.error("usage: make stress FILE=test/brokers/delivery.test.ts TIMES=20");
  process.exitCode = 2;
} else
  void stress(file, Number(times))
    .catch((error: Error) => console.error(error.message))
    .then((isGreen) => (process.exitCode = isGreen === true ? 0 : 1));
