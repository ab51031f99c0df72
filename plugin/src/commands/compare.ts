import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { breakingChanges } from "../compareSchemas";
import { PackageSchema } from "../packageSchema";
import { schemaFile } from "../schemaFile";

// `compare.js [OLD NEW]`: without files, the last release's schema and this checkout's. Ends with 1 when something breaks programs.
function git(...args: string[]): string {
  return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1e8 });
}

/** The newest release before this commit, by its tag; a release's own tag is left out, or it would be compared with itself. */
function lastRelease(): string | undefined {
  try {
    return git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^").trim();
  } catch {
    return undefined;
  }
}

function compare(old: string, now: string, label: string): void {
  const found = breakingChanges(JSON.parse(old) as PackageSchema, JSON.parse(now) as PackageSchema);
  for (const line of found) console.log(line);
  if (found.length === 0) console.log(`nothing that breaks programs since ${label}`);
  else process.exitCode = 1;
}

const [old, now = schemaFile] = process.argv.slice(2);
const release = old === undefined ? lastRelease() : undefined;
if (old !== undefined) compare(readFileSync(old, "utf8"), readFileSync(now, "utf8"), old);
else if (release === undefined) console.log("no release yet: there is nothing to compare the schema with");
else compare(git("show", `${release}:plugin/schema.json`), readFileSync(now, "utf8"), release);
