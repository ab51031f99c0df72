import { runGoTests } from "../test/support/goClient";
import { hasMaven, runMavenTests } from "../test/support/javaClient";
import { runPythonClient } from "../test/support/pythonClient";
import { report } from "./statistics";

const CALLS = 50_000;
const REPETITIONS = 9;

/** Nanoseconds per call in one repetition. */
interface Run {
  encode: number;
  join: number;
}

/** The runs in lines `encode NUMBER join NUMBER`. */
function runsIn(output: string): Run[] {
  return [...output.matchAll(/^encode ([\d.]+) join ([\d.]+)$/gm)].map(([, encode, join]) => ({
    encode: Number(encode),
    join: Number(join),
  }));
}

async function inPython(): Promise<Run[]> {
  return runsIn(await runPythonClient(["tests/encode_bench.py", String(CALLS), String(REPETITIONS)]));
}

async function inGo(): Promise<Run[]> {
  const runs: Run[] = [];
  // Go repeats each of its benchmarks before the next one begins; so that both have the same machine, one run has one of each.
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const output = await runGoTests(["-run", "^$", "-bench", ".", "-benchtime", `${CALLS}x`]);
    const nanosecondsOf = (name: string): number =>
      Number(new RegExp(`^Benchmark${name}\\S*\\s+\\d+\\s+([\\d.]+) ns/op`, "m").exec(output)?.[1]);
    runs.push({ encode: nanosecondsOf("Encode"), join: nanosecondsOf("Join") });
  }
  return runs;
}

async function inJava(): Promise<Run[]> {
  const counts = `-Dcalls=${CALLS} -Drepetitions=${REPETITIONS}`;
  return runsIn(await runMavenTests(["-Dtest=EncodeBench", `-DargLine=${counts}`]));
}

/** `encode` of the publish helpers in Python, Go and Java, each against a join of binary digits in its own language. */
export async function benchEncodeClients(): Promise<void> {
  console.log(
    `encode in other languages, 28 binary levels, ${CALLS} calls, ${REPETITIONS} repetitions (min / median / max)`,
  );
  const languages: [string, () => Promise<Run[]>][] = [
    ["Python", inPython],
    ["Go", inGo],
  ];
  if (await hasMaven()) languages.push(["Java", inJava]);
  else console.log("  no JDK with Maven: Java not run");
  for (const [language, bench] of languages) {
    const runs = await bench();
    if (runs.length !== REPETITIONS) throw new Error(`${language} gave ${runs.length} runs`);
    const print = (what: string, pick: (run: Run) => number, unit: string, digits: number): void =>
      report(`${language}: ${what}`, runs.map(pick), unit, digits);
    print("encode", (run) => run.encode, "ns", 0);
    print("join of binary digits", (run) => run.join, "ns", 0);
    print("ratio (join / encode)", (run) => run.join / run.encode, "times", 2);
  }
}
