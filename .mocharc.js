"use strict";

const { join } = require("node:path");

// Mocha's settings for `npx mocha FILE`. `make test` and the other tiers add their files to it; see test/support/runTier.ts.
process.env.TS_NODE_PROJECT ??= "tsconfig.test.json";
// ts-node would keep its compiler's own code in the temporary folder.
process.env.V8_COMPILE_CACHE_CACHE_DIR ??= join(__dirname, "node_modules", ".cache", "v8-compile-cache");

module.exports = {
  require: ["ts-node/register/transpile-only", "test/support/lifecycle.ts"],
  reporter: "test/support/reporter.ts",
  // Ends what hangs; a busy machine may make any test ten times slower.
  timeout: 900_000,
  // Fails if no test has the title after -g.
  failZero: true,
  slow: 5000,
};
