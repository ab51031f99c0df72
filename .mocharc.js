"use strict";

const { readdirSync } = require("node:fs");
const { join } = require("node:path");

// Several processes take files from one list, so the longest come first, or one would be alone with them in the end.
const longest = [
  "test/engine/review.test.ts",
  "test/store/outages.test.ts",
  "test/engine/refusals.test.ts",
  "test/kubernetes/services.test.ts",
  "test/engine/ownership.test.ts",
  "test/engine/badInput.test.ts",
  "test/brokers/check.test.ts",
  "test/store/kills.test.ts",
  "test/engine/languages.test.ts",
  "test/toolchain/up.test.ts",
  "test/engine/examples.test.ts",
  "test/kubernetes/faults.test.ts",
];

const rooms = ["test", "components/test", ...readdirSync("packages").map((name) => `packages/${name}/test`)];
const files = rooms.flatMap((room) => testsOf(room)).filter((file) => !longest.includes(file));

function testsOf(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name))
    .sort();
}

module.exports = {
  require: ["ts-node/register/transpile-only", "test/support/lifecycle.ts"],
  spec: [...longest, ...files],
  reporter: "test/support/reporter.js",
  parallel: true,
  // More than cores: half of the time is waiting.
  jobs: 3,
  timeout: 180_000,
  slow: 5000,
};
