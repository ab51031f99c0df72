"use strict";

const { readdirSync } = require("node:fs");
const { join } = require("node:path");

// Several processes take files from one list, so the longest come first; otherwise one process would run them alone at the end.
const LONGEST = [
  "test/brokers/check.test.ts",
  "test/store/kills.test.ts",
  "test/engine/upgrade.test.ts",
  "test/brokers/silence.test.ts",
  "test/store/outages.test.ts",
  "test/engine/review.test.ts",
  "test/engine/gateway.test.ts",
  "test/engine/ownership.test.ts",
  "test/engine/interrupted.test.ts",
  "test/brokers/gateway.test.ts",
  "test/brokers/enforceCut.test.ts",
  "test/brokers/command.test.ts",
  "test/store/service.test.ts",
  "test/store/intake.test.ts",
  "test/engine/retryQueues.test.ts",
  "test/engine/refusals.test.ts",
  "test/engine/badInput.test.ts",
  "test/store/alarm.test.ts",
  "test/toolchain/up.test.ts",
  "test/engine/examples.test.ts",
  "test/engine/clients.test.ts",
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
  "test/toolchain/cleanClone.test.ts",
  "test/toolchain/start.test.ts",
  "test/toolchain/release.test.ts",
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

/** Files whose tests take each broker in another tier; see halves.ts. Those of CLIENTS take both there. */
const HALVED = /^test\/engine\//;

/** Tests that need more than a single broker that runs all the time, or take long there. */
const BEYOND_QUICK = [
  /^test\/(engine|store|toolchain)\//,
  /^test\/site\/reference\.test/,
  /^test\/brokers\/(check|command|enforce(d|Live|Cut)|examples|faults|holds|moving|properties|retries|retryCrashes|retryFaults|retryMessages|retryStart|silence)\.test/,
];

/** Of what is left, what takes longest. */
const LONGEST_QUICK = [
  "test/brokers/gateway.test.ts",
  "packages/cli/test/command.test.ts",
  "packages/review/test/reviewBroker.test.ts",
];

const rooms = ["test", "components/test", ...readdirSync("packages").map((name) => `packages/${name}/test`)];
const all = rooms.flatMap((room) => testsOf(room));

const tiers = {
  /** Pure code, stand-ins, and quick tests on one broker. */
  quick: () =>
    [...LONGEST_QUICK, ...all.filter((file) => !LONGEST_QUICK.includes(file))].filter(
      (file) => !CLIENTS.includes(file) && !BEYOND_QUICK.some((pattern) => pattern.test(file)),
    ),
  /** All tests of the project itself, on both brokers. */
  test: () => [...LONGEST, ...all.filter((file) => !LONGEST.includes(file) && !CLIENTS.includes(file))],
  /** Those, and the engine's tests on the other broker. */
  clients: () => [...CLIENTS, ...halvedFiles()],
};

function halvedFiles() {
  return tiers.test().filter((file) => HALVED.test(file));
}
exports.halvedFiles = halvedFiles;

/** Which half of those a tier runs; the quick one runs none of them. */
const halves = { test: "first", clients: "second" };

function testsOf(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name))
    .sort();
}

/** Mocha's settings for the files of a tier. */
exports.configOf = (tier) => {
  // The processes that run the files read it.
  if (halves[tier] !== undefined) process.env.RABBITMQ_DELAY_TEST_HALF = halves[tier];
  return {
    require: ["ts-node/register/transpile-only", "test/support/lifecycle.ts"],
    spec: tiers[tier](),
    reporter: "test/support/reporter.js",
    parallel: true,
    // More jobs than cores, because a part of the time is waiting.
    jobs: 4,
    timeout: 300_000,
    slow: 5000,
  };
};
