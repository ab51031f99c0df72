"use strict";

// Prints, as JSON, the stacks whose review a change needs: those whose config file changed, and all when the program did.
// Usage: node .github/changedStacks.js BASE   (a commit; all stacks but dev, which is on the developer's machine)
const { execFileSync } = require("node:child_process");
const { readdirSync } = require("node:fs");

const base = process.argv[2];
if (base === undefined || base === "") {
  console.error("usage: node .github/changedStacks.js BASE");
  process.exit(2);
}
const fileOf = /^Pulumi\.(.+)\.yaml$/;
const stacks = readdirSync(".")
  .map((file) => fileOf.exec(file)?.[1])
  .filter((stack) => stack !== undefined && stack !== "dev");
const changed = execFileSync("git", ["diff", "--name-only", `${base}...HEAD`], { encoding: "utf8" })
  .split("\n")
  .filter((file) => file !== "");
const isOfProgram = (file) =>
  /^(Pulumi\.yaml|index\.ts|program\.js|package-lock\.json)$|^(program|components|packages\/[^/]+\/src)\//.test(file);
const affected = changed.some(isOfProgram)
  ? stacks
  : stacks.filter((stack) => changed.includes(`Pulumi.${stack}.yaml`));
console.log(JSON.stringify(affected));
