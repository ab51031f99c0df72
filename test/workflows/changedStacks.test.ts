import { strict as assert } from "node:assert";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { temporaryFolder } from "../support/temporaryFolder";

const script = join(root, ".github", "changedStacks.js");

/** Which environments a pull request reviews; a repository is made for it. */
describe("the stacks whose review a change needs", () => {
  let folder: string;

  const git = (...args: string[]): string => {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    return execFileSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8" }).trim();
  };
  const commit = (...files: string[]): void => {
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), `${file} ${Math.random()}`);
    }
    git("add", "-A");
    git("commit", "-qm", "change");
  };
  const changed = (): unknown =>
    JSON.parse(execFileSync(process.execPath, [script, "base"], { cwd: folder, encoding: "utf8" }));

  beforeEach(() => {
    folder = temporaryFolder();
    git("init", "-q", "-b", "main");
    commit("Pulumi.yaml", "Pulumi.dev.yaml", "Pulumi.staging.yaml", "Pulumi.prod.yaml", "index.ts", "README.md");
    git("tag", "base");
  });

  it("are those whose config changed", () => {
    commit("Pulumi.prod.yaml", "README.md");
    assert.deepEqual(changed(), ["prod"]);
  });

  it("are all but the developer's when the program did", () => {
    commit("packages/topology/src/encode.ts");
    assert.deepEqual(changed(), ["prod", "staging"]);
  });

  it("are none for anything else", () => {
    commit("docs/concept.md", "Pulumi.dev.yaml", "packages/topology/test/encode.test.ts");
    assert.deepEqual(changed(), []);
  });

  it("need a base to compare with", () => {
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 2);
    assert.match(stderr, /usage/);
  });
});
