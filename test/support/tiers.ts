import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isFullLength } from "./length";

// Several processes take files from one list, so the longest come first; otherwise one process would run them alone at the end.
const LONGEST = [
  "test/toolchain/up.test.ts",
  "test/program/compilers.test.ts",
  "test/engine/review.test.ts",
  "test/engine/refusalAdvice.test.ts",
  "test/store/outages.test.ts",
  "test/brokers/check.test.ts",
  "test/brokers/silence.test.ts",
  "test/toolchain/runTier.test.ts",
  "test/store/deliveryLimit.test.ts",
  "test/engine/gateway.test.ts",
  "test/brokers/holds.test.ts",
  "test/brokers/gateway.test.ts",
  "test/store/kills.test.ts",
  "test/engine/ownership.test.ts",
  "test/engine/delayedExchange.test.ts",
  "test/engine/clients.test.ts",
  "test/brokers/moving.test.ts",
  "test/engine/passingOn.test.ts",
  "test/engine/errorQueues.test.ts",
  "test/store/dispatcher.test.ts",
  "test/store/intake.test.ts",
  "test/engine/interrupted.test.ts",
  "test/brokers/faults.test.ts",
  "test/engine/upgrade.test.ts",
  "test/engine/reviewSamples.test.ts",
  "test/engine/stack.test.ts",
  "packages/operate/test/planSteps.test.ts",
  "test/engine/examples.test.ts",
  "test/store/service.test.ts",
  "test/brokers/command.test.ts",
  "test/engine/refusals.test.ts",
  "test/brokers/enforceCut.test.ts",
  "test/engine/networks.test.ts",
  "test/engine/massTransit.test.ts",
  "test/brokers/delivery.test.ts",
  "test/store/alarm.test.ts",
  "test/brokers/retryCrashes.test.ts",
  "test/brokers/retries.test.ts",
  "test/brokers/retryFaults.test.ts",
  "test/engine/retryQueues.test.ts",
  "test/engine/badInput.test.ts",
];

/** Tests of other programs and vendors: Kubernetes, other languages' clients and SDKs, networks that vendors' clients have in use. */
const CLIENTS = [
  "test/brokers/enforceLive.test.ts",
  "test/engine/adoptionOfCelery.test.ts",
  "test/engine/adoption.test.ts",
  "test/engine/enforced.test.ts",
  "test/brokers/enforceHalfDeclared.test.ts",
  "test/kubernetes/services.test.ts",
  "test/kubernetes/faults.test.ts",
  ...testsOf("test/kubernetes").filter((file) => !/(services|faults)\.test/.test(file)),
  "test/engine/languages.test.ts",
  "test/engine/languagePage.test.ts",
  "test/toolchain/cleanClone.test.ts",
  "test/toolchain/start.test.ts",
  "test/toolchain/release.test.ts",
  "test/engine/readme.test.ts",
  "test/toolchain/image.test.ts",
  "test/toolchain/sdks.test.ts",
  "test/brokers/kombu.test.ts",
  "test/brokers/adopt.test.ts",
  "test/engine/celery.test.ts",
  "test/brokers/python.test.ts",
  "test/brokers/go.test.ts",
  "test/brokers/java.test.ts",
  "test/brokers/dotnet.test.ts",
  "test/brokers/fromThePlugin.test.ts",
  "test/site/site.test.ts",
  "test/site/registryPages.test.ts",
];

/** Files whose tests all run on both brokers, because what they test is the broker's work: waiting, dead-lettering, routing, confirms. */
const ON_BOTH_BROKERS =
  /(^|\/)test\/brokers\/(delivery|faults|holds|moving|properties|publish|retries|retry\w+|returns|topicRouting|wire)\.test/;

/** Whether a file's tests take turns on the two brokers; see brokerTurns.ts. */
export function takesTurns(file: string): boolean {
  return !ON_BOTH_BROKERS.test(file);
}

/** Tests that need more than a single broker that runs all the time, or take long there. */
const BEYOND_QUICK = [
  /^test\/(engine|store|toolchain)\//,
  /^test\/site\/(docExamples|reference)\.test/,
  /^test\/program\/compilers\.test/,
  /^test\/brokers\/(adoptAdvice|check|command|enforce(d|Live|Cut)|examples|faults|holds|moving|properties|retries|retryCrashes|retryFaults|retryMessages|retryStart|silence)\.test/,
];

/** Files of the quick tier that take longest. */
const LONGEST_QUICK = [
  "test/brokers/gateway.test.ts",
  "packages/cli/test/command.test.ts",
  "packages/review/test/reviewBroker.test.ts",
];

/** Files whose single failure is a finding: they look for lost, repeated, early or misplaced messages under faults, or for shown secrets. */
const NEVER_RERUN = [
  /^test\/gauntlet\//,
  /^test\/brokers\/(delivery|enforce\w*|faults|holds|properties|retryCrashes|retryFaults|silence)\.test/,
  /^test\/engine\/(deliveryLimits|gateway|interrupted)\.test/,
  /^test\/kubernetes\/faults\.test/,
  /^test\/store\/(alarm|cancelled|deliveryLimit|dispatcher|intake|kills|outages|receipts)\.test/,
  /secrets?\.test/i,
];

/** Whether a file that failed may run again. */
export function isRerun(file: string): boolean {
  return !NEVER_RERUN.some((pattern) => pattern.test(file));
}

/** Files that may skip tests in CI: they need .NET's SDK, or shells that not each machine has. */
const MAY_BE_SKIPPED = ["test/brokers/dotnet.test.ts", "packages/cli/test/completion.test.ts"];

/** Whether a file may skip tests in CI. */
export function mayBeSkipped(file: string): boolean {
  return MAY_BE_SKIPPED.includes(file);
}

const rooms = ["test", "components/test", ...readdirSync("packages").map((name) => `packages/${name}/test`)];
const all = rooms.flatMap((room) => testsOf(room));

/** A set of test files, and how it is run. */
export interface Tier {
  files: string[];
  /** Files that run at the same time. */
  jobs: number;
  env: NodeJS.ProcessEnv;
}

/** More jobs than cores, because tests wait for a part of their time. */
const JOBS = 5;

/** At full length, each test runs on both brokers; see brokerTurns.ts. */
const TURNS = { RABBITMQ_DELAY_TEST_TURNS: String(!isFullLength) };

const tiers: Record<string, () => Tier> = {
  /** Pure code, stand-ins, and quick tests on one broker. */
  quick: () => ({
    files: [...LONGEST_QUICK, ...all.filter((file) => !LONGEST_QUICK.includes(file))].filter(
      (file) => !CLIENTS.includes(file) && !BEYOND_QUICK.some((pattern) => pattern.test(file)),
    ),
    jobs: JOBS,
    // Names the only broker of this tier; see brokers.ts.
    env: { RABBITMQ_DELAY_TEST_BROKER: process.env.RABBITMQ_DELAY_TEST_BROKER ?? "3.10" },
  }),
  /** All tests of the project itself. */
  test: () => ({ files: projectFiles(), jobs: JOBS, env: TURNS }),
  clients: () => ({ files: CLIENTS, jobs: JOBS, env: TURNS }),
};

/**
 * Returns the tier, or several as one: processes that have no file left of one take the next one's.
 * @throws Error if there is no such tier
 */
export function tierOf(first: string, ...others: string[]): Tier {
  const chosen = [first, ...others].map((name) => {
    const tier = tiers[name];
    if (tier === undefined) throw new Error(`${name}: no such tier; there are ${Object.keys(tiers).join(", ")}`);
    return tier();
  });
  const [{ jobs, env }] = chosen as [Tier];
  return { files: chosen.flatMap(({ files }) => files), jobs, env };
}

function projectFiles(): string[] {
  return [...LONGEST, ...all.filter((file) => !LONGEST.includes(file) && !CLIENTS.includes(file))];
}

function testsOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name))
    .sort();
}
