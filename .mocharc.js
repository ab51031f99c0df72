"use strict";

// Mocha's settings for `npx mocha FILE`. `make test` and the other tiers add their files to it; see test/support/runTier.ts.
process.env.TS_NODE_PROJECT ??= "tsconfig.test.json";

module.exports = {
  require: ["ts-node/register/transpile-only", "test/support/lifecycle.ts"],
  reporter: "test/support/reporter.ts",
  // Ends what hangs; a busy machine may make any test ten times slower.
  timeout: 900_000,
  // Fails if no test has the title after -g.
  failZero: true,
  slow: 5000,
};
