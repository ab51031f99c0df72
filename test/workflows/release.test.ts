import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { packPackages, publishedPackages } from "../../toolchain/dist/release/npmPackages";
import { root } from "../../toolchain/dist/paths";
import { temporaryFolder } from "../support/temporaryFolder";

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Job {
  needs?: string | string[];
  permissions?: Record<string, string>;
  steps: Step[];
}

interface Workflow {
  on: { push: { tags: string[] } };
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");

/** What happens at a tag; everything but the upload is run by make release-dry-run. */
describe("the release workflow", () => {
  const workflow = parse(read(".github", "workflows", "release.yml")) as Workflow;
  const job = (name: string): Job => workflow.jobs[name] as Job;
  const steps = Object.values(workflow.jobs).flatMap((one) => one.steps);
  const needsOf = (name: string): string[] => [job(name).needs ?? []].flat();

  it("runs at tags of versions, and publishes what was tested and tried out", () => {
    // A prerelease's tag starts nothing.
    const [pattern = "", ...others] = workflow.on.push.tags;
    assert.deepEqual(others, []);
    const tag = new RegExp(`^${pattern.replaceAll(".", "\\.")}$`);
    for (const [name, isRelease] of [
      ["v1.2.3", true],
      ["v10.20.30", true],
      ["v1.2.3-rc.1", false],
      ["v1.2", false],
      ["clients/go/v1.2.3", false],
    ] as const)
      assert.equal(tag.test(name), isRelease, name);
    assert.ok(job("test").steps.some(({ run }) => run === ".ci/run"));
    assert.ok(job("pack").steps.some(({ run }) => run === "make release-dry-run"));
    for (const name of ["npm", "pypi"]) assert.deepEqual(needsOf(name), ["test", "pack"]);
    // Its release is what people see, so it comes once the registries have what its notes name.
    assert.deepEqual(needsOf("github"), ["test", "pack", "npm", "pypi"]);
    assert.deepEqual(needsOf("verify"), ["npm", "pypi", "github"]);
    assert.ok(job("verify").steps.some(({ run }) => run === "make release-verify"));
  });

  it("lets only the jobs that publish say who they are, and gives none of them a key", () => {
    assert.deepEqual(workflow.permissions, { contents: "read" });
    const withIdentity = Object.keys(workflow.jobs).filter((name) => job(name).permissions?.["id-token"] === "write");
    assert.deepEqual(withIdentity, ["npm", "pypi", "github"]);
    assert.doesNotMatch(read(".github", "workflows", "release.yml"), /secrets\.|NODE_AUTH_TOKEN|_PASSWORD/);
  });

  it("has versions of Node.js and npm that can publish with provenance", () => {
    const node = job("npm").steps.find(({ uses }) => uses?.startsWith("actions/setup-node@"))?.with?.["node-version"];
    // A major version alone is its newest.
    assert.ok(Number(node) >= 22, String(node));
    const [, npm = ""] =
      /npm@(\S+)/.exec(
        job("npm")
          .steps.map(({ run = "" }) => run)
          .join("\n"),
      ) ?? [];
    assert.ok(npm.localeCompare("11.5.1", "en", { numeric: true }) >= 0, npm);
  });

  it("has each action by a version, which Renovate replaces by its hash", () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    assert.ok(actions.length > 10);
    for (const action of actions) assert.match(action, /^[\w-]+\/[\w-]+@(v\d+(\.\d+)*|[0-9a-f]{40})$/);
    const { extends: presets } = JSON.parse(read(".github", "renovate.json")) as { extends: string[] };
    assert.ok(presets.includes("helpers:pinGitHubActionDigests"));
  });

  it("calls what there is", () => {
    const makefile = read("Makefile");
    const scripts = steps.map(({ run = "" }) => run).join("\n");
    const targets = [...scripts.matchAll(/\bmake ([\w-]+)/g)].map(([, target]) => target as string);
    assert.ok(targets.includes("release-verify"));
    for (const target of targets) assert.match(makefile, new RegExp(`^${target}:`, "m"), target);
    const files = [...scripts.matchAll(/\bnode (\S+\.js)/g)].map(([, file]) => file as string);
    assert.ok(files.length > 1);
    for (const file of files) read(file);
  });

  it("makes the release on GitHub public once all files are there, and can be repeated", () => {
    const step = job("github").steps.find(({ run = "" }) => run.includes("gh release"));
    const runStep = (isThere: boolean): string[] => {
      const [folder, tools] = [temporaryFolder(), temporaryFolder()];
      mkdirSync(join(folder, "release"));
      for (const file of ["a.tgz", "SHA256SUMS"]) writeFileSync(join(folder, "release", file), "");
      // Stands for GitHub's command: knows of the release or not, makes none twice, and writes down what it is told.
      const refusal = isThere ? 'case "$2" in create) exit 1 ;; esac' : 'case "$2" in view) exit 1 ;; esac';
      const stub = `#!/bin/sh\necho "$@" >> called\n${refusal}\n`;
      writeFileSync(join(tools, "gh"), stub, { mode: 0o755 });
      const env = { ...process.env, PATH: `${tools}:${process.env.PATH}`, GITHUB_REF_NAME: "v1.2.3" };
      execFileSync("bash", ["-e", "-c", step?.run ?? "false"], { cwd: folder, env });
      return readFileSync(join(folder, "called"), "utf8").trim().split("\n");
    };
    const finish = [
      "release upload v1.2.3 --clobber release/SHA256SUMS release/a.tgz",
      "release edit v1.2.3 --verify-tag --draft=false --notes-file release-notes.md",
    ];
    const sorted = (lines: string[]): string[] => lines.map((line) => line.split(" ").sort().join(" "));
    const create = "release create v1.2.3 --verify-tag --draft --notes-file release-notes.md";
    assert.deepEqual(sorted(runStep(false)), sorted(["release view v1.2.3", create, ...finish]));
    assert.deepEqual(sorted(runStep(true)), sorted(["release view v1.2.3", ...finish]));
  });

  it("publishes each npm package that is not there yet, with its provenance", async () => {
    const [folder, tools] = [temporaryFolder(), temporaryFolder()];
    const [first, second] = publishedPackages().slice(0, 2);
    assert.ok(first && second);
    await packPackages([first, second], folder);
    const sums = execFileSync("sh", ["-c", "sha256sum *.tgz"], { cwd: folder, encoding: "utf8" });
    writeFileSync(join(folder, "SHA256SUMS"), sums);
    // Stands for npm: knows one of the packages, and writes down what it is told to publish.
    const stub = `#!/bin/sh\ncase "$1" in\n  view) test "$2" = "${first.name}@${first.version}" ;;\n  *) echo "$@" >> published ;;\nesac\n`;
    mkdirSync(join(tools, "bin"));
    writeFileSync(join(tools, "bin", "npm"), stub, { mode: 0o755 });
    const step = job("npm").steps.find(({ name }) => name?.startsWith("Publish"));
    const env = { ...process.env, PATH: `${join(tools, "bin")}:${process.env.PATH}` };
    execFileSync("bash", ["-e", "-c", step?.run ?? "false"], { cwd: folder, env });
    const published = readFileSync(join(folder, "published"), "utf8").trim();
    assert.equal(published, `publish --provenance --access public ./${second.tarball}`);
  });
});
