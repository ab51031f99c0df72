import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Broker } from "./broker";
import { limits } from "./declare/limits";
import { execute } from "./execute";
import { FakeClock } from "./fakeClock";
import { filesPrefix } from "./filesPrefix";
import { HistoryEvent } from "./history";
import { check } from "./invariants/check";
import { Violation, invariants } from "./invariants/violation";
import { endMarkedProcesses, markedProcesses } from "./leftovers";
import { RunOptions, readOptions, usage } from "./options";
import { brokerOf, describePlan, drawPlan } from "./plan/draw";
import type { BrokerLine, Plan } from "./plan/types";
import { writeReport } from "./report/markdown";
import { Tally } from "./report/tally";
import { describeViolation } from "./runPlan";
import { shrink } from "./shrink";
import { stopSharedDatabase } from "./workload/database";

/** In smaller plans, nobody waits that long to see what is lost. */
const SHRINKING_BOUND_MS = 15_000;
const SHOWN_VIOLATIONS = 6;

class Gauntlet {
  readonly tally = new Tally();
  private broker: Broker | undefined;
  private isEnding = false;

  constructor(private readonly options: RunOptions) {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => (this.isEnding = true));
  }

  async run(): Promise<void> {
    const { seed, rounds, minutes, keepGoing, plan } = this.options;
    const deadline = Date.now() + minutes * 60_000;
    try {
      if (plan !== undefined) {
        await this.round(JSON.parse(readFileSync(plan, "utf8")) as Plan);
        return;
      }
      for (let index = 0; index < rounds && Date.now() < deadline && !this.isEnding; index++) {
        const isPassed = await this.round(drawPlan(seed + index, this.options));
        if (!isPassed && !keepGoing) return;
      }
    } finally {
      await this.broker?.remove();
      await stopSharedDatabase();
    }
  }

  private async round(plan: Plan): Promise<boolean> {
    const start = Date.now();
    const broker = await this.brokerFor(plan.broker);
    let tried;
    try {
      tried = await this.tried(plan, broker, this.options.boundSeconds * 1000);
    } catch (error) {
      console.log(`seed ${plan.seed} on ${broker.line}, could not be run: ${describePlan(plan)}`);
      console.log((error as Error).stack);
      this.tally.failed++;
      // Nobody knows what it left on the node.
      this.broker = undefined;
      await broker.remove();
      endMarkedProcesses("round");
      return false;
    }
    const { events, violations } = tried;
    const isPassed = violations.length === 0;
    this.tally.add(plan, events, isPassed);
    const seconds = ((Date.now() - start) / 1000).toFixed(0);
    console.log(
      `seed ${plan.seed} on ${broker.line}, ${seconds} s, ${isPassed ? "passed" : "FAILED"}: ${describePlan(plan)}`,
    );
    const [first] = violations;
    if (first !== undefined) await this.explain(plan, violations, first);
    return isPassed;
  }

  private async tried(
    plan: Plan,
    broker: Broker,
    boundMs: number,
  ): Promise<{ events: HistoryEvent[]; violations: Violation[] }> {
    const events = await execute(plan, broker, { boundMs });
    return { events, violations: check(plan, events) };
  }

  private async explain(plan: Plan, violations: Violation[], first: Violation): Promise<void> {
    for (const kind of new Set(violations.map(({ invariant }) => invariant))) {
      const same = violations.filter(({ invariant }) => invariant === kind);
      console.log(`  broken: ${invariants[kind]} (${same.length} times)`);
      for (const violation of same.slice(0, SHOWN_VIOLATIONS)) console.log(`    ${describeViolation(violation)}`);
    }
    const over = Date.now() + this.options.shrinkSeconds * 1000;
    const smallest = await shrink(
      plan,
      first,
      async (candidate) => {
        const broker = await this.brokerFor(candidate.broker);
        const found = await this.tried(candidate, broker, SHRINKING_BOUND_MS).catch(() => undefined);
        return found?.violations.find(({ invariant }) => invariant === first.invariant);
      },
      () => Date.now() > over || this.isEnding,
    );
    console.log(`  the smallest plan found: ${describePlan(smallest)}`);
    console.log(`  await runPlan(${JSON.stringify(smallest)});`);
  }

  /** One node at a time; another line's takes its place. */
  private async brokerFor(line: BrokerLine): Promise<Broker> {
    if (this.broker?.line === line) return this.broker;
    await this.broker?.remove();
    this.broker = await Broker.start(line);
    const version = await this.broker.version();
    this.tally.versions.set(line, version);
    const { noPowerCut } = this.broker;
    console.log(`RabbitMQ ${version}${noPowerCut === undefined ? "" : `; power cuts are left out: ${noPowerCut}`}`);
    return this.broker;
  }
}

/** Files of this run that are still there. */
function filesLeft(): string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(filesPrefix))
    .map((name) => join(tmpdir(), name));
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), Date.now());
  limits.areLifted = options.liftedLimits;
  const gauntlet = new Gauntlet(options);
  console.log(`make gauntlet SEED=${options.seed} repeats this run, from ${brokerOf(options.seed, options)}`);
  const { only, faults } = options;
  const mayJump = (only?.includes("store") ?? true) && (faults?.includes("clock-jump") ?? true);
  const noClock = mayJump ? await FakeClock.whyNone() : undefined;
  if (noClock !== undefined) console.log(`clocks that jump are left out: ${noClock}`);
  await gauntlet.run();
  const { tally } = gauntlet;
  const left = [...filesLeft(), ...markedProcesses("round")];
  if (left.length > 0) {
    console.log(`FAILED: ${invariants["left-behind"]}: ${left.join(", ")}`);
    tally.failed++;
  }
  for (const line of tally.summary()) console.log(line);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  if (options.report !== undefined) writeReport(options.report, tally);
  return tally.failed > 0 ? 1 : 0;
}

/** In a mount namespace of its own, nobody else's processes keep a disk of ours busy, and no mount outlives the run. */
function inOwnMounts(): number | undefined {
  if (process.getuid?.() !== 0 || process.env.GAUNTLET_OWN_MOUNTS !== undefined) return undefined;
  const args = ["--mount", process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const env = { ...process.env, GAUNTLET_OWN_MOUNTS: "1" };
  const { status, error } = spawnSync("unshare", args, { stdio: "inherit", env });
  return error === undefined ? (status ?? 1) : undefined;
}

if (process.argv.includes("--help")) {
  console.log(usage);
} else {
  const code = inOwnMounts();
  if (code !== undefined) process.exitCode = code;
  else {
    main().then(
      (result) => (process.exitCode = result),
      (error: Error) => {
        console.error(error.stack ?? error.message);
        process.exitCode = 1;
      },
    );
  }
}
