import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { hasStaleLock } from "../../toolchain/dist/staleLock";
import { root } from "../../toolchain/dist/paths";
import { temporaryFolder } from "../support/temporaryFolder";

/** Fills a cache entry in a process of its own, and notes that it did. */
const fillScript = (counter: string): string => `
  const { getCached } = require(${JSON.stringify(join(root, "toolchain/dist/cache"))});
  const fs = require("node:fs");
  const fill = async (folder) => {
    fs.appendFileSync(${JSON.stringify(counter)}, "x");
    await new Promise((resolve) => setTimeout(resolve, 300));
    fs.writeFileSync(folder + "/result", "whole");
  };
  const never = async () => { throw new Error("no network"); };
  const ways = process.argv[1] === "none" ? [{ name: "download", fill: never }, { name: "build", fill: never }]
    : [{ name: "download", fill: never }, { name: "build", fill }];
  getCached("thing-1.0", ways, () => undefined).then(
    (folder) => console.log(folder),
    (error) => { console.error(error.message); process.exitCode = 1; },
  );`;

function runScript(
  cacheHome: string,
  script: string,
  ...args: string[]
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["-e", script, "--", ...args], {
      env: { ...process.env, XDG_CACHE_HOME: cacheHome },
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (data: Buffer) => (out += data.toString()));
    child.stderr.on("data", (data: Buffer) => (err += data.toString()));
    child.on("close", (code) => resolve({ code, out: out.trim(), err: err.trim() }));
  });
}

describe("the toolchain's cache", () => {
  let home: string;
  beforeEach(() => (home = temporaryFolder()));

  it("is filled once by runs at the same time, and by the next way when one fails", async () => {
    const counter = join(home, "counter");
    const ends = await Promise.all(Array.from({ length: 3 }, () => runScript(home, fillScript(counter))));
    for (const { code, out, err } of ends) {
      assert.equal(code, 0, err);
      assert.equal(readFileSync(join(out, "result"), "utf8"), "whole");
    }
    assert.equal(readFileSync(counter, "utf8"), "x");
  });

  it("says which ways were tried, and leaves nothing half made", async () => {
    const { code, err } = await runScript(home, fillScript(join(home, "counter")), "none");
    assert.equal(code, 1);
    assert.match(err, /thing-1\.0 could not be had\. Tried:\n {2}download: no network\n {2}build: no network/);
    assert.ok(!existsSync(join(home, "rabbitmq-delay", "thing-1.0")));
  });

  /** Looks for the engine without a network, and with nothing on PATH but the given folder. */
  const findEngineOffline = (path: string): ReturnType<typeof runScript> => {
    const script = `
      const { MockAgent, setGlobalDispatcher } = require(${JSON.stringify(require.resolve("undici"))});
      const agent = new MockAgent();
      agent.disableNetConnect();
      setGlobalDispatcher(agent);
      process.env.PATH = ${JSON.stringify(path)};
      process.env.PULUMI_HOME = ${JSON.stringify(join(home, "pulumi"))};
      require(${JSON.stringify(join(root, "toolchain/dist/engine"))}).findEngine(() => undefined).then(
        ({ binFolder, origin }) => console.log(binFolder, origin),
        (error) => { console.error(error.message); process.exitCode = 1; },
      );`;
    return runScript(home, script);
  };

  it("names the way to get the engine that needs no download and no Go", async () => {
    const installed = join(home, "bin");
    mkdirSync(installed);
    symlinkSync("/bin/sh", join(installed, "sh"));
    const refused = await findEngineOffline(installed);
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /Go is not installed.*\nOr install Pulumi 3\.\d+\.\d+ or newer \(https:\/\/www\.pulumi\.com\/docs\/install\/\)/,
    );
    for (const name of ["pulumi", "pulumi-language-nodejs"])
      writeFileSync(join(installed, name), "#!/bin/sh\n", { mode: 0o755 });
    const withoutPlugin = await findEngineOffline(installed);
    const [, command = ""] = /Or install the plugin: (.*) \(/.exec(withoutPlugin.err) ?? [];
    const [, version = ""] = /^pulumi plugin install resource rabbitmq (.+)$/.exec(command) ?? [];
    assert.ok(readFileSync(join(root, "docs", "environments.md"), "utf8").includes(`\`${command}\``));
    mkdirSync(join(home, "pulumi", "plugins", `resource-rabbitmq-v${version}`), { recursive: true });
    const found = await findEngineOffline(installed);
    assert.equal(found.out, `${installed} PATH`, found.err);
  });
});

describe("a killed update's lock", () => {
  let state: string;
  beforeEach(() => {
    state = temporaryFolder();
    mkdirSync(join(state, ".pulumi", "locks", "organization"), { recursive: true });
  });

  const isStale = (lock: object | undefined): boolean => {
    if (lock !== undefined)
      writeFileSync(join(state, ".pulumi", "locks", "organization", "lock.json"), JSON.stringify(lock));
    return hasStaleLock(`file://${state}`);
  };

  // Above the largest process id that Linux gives.
  const nobody = 2 ** 22 + 1;

  it("is one of this machine whose process is gone", () => {
    assert.equal(isStale(undefined), false);
    assert.equal(isStale({ pid: nobody, hostname: hostname() }), true);
    assert.equal(isStale({ pid: process.pid, hostname: hostname() }), false);
    assert.equal(isStale({ pid: nobody, hostname: "elsewhere" }), false);
    assert.equal(hasStaleLock("https://api.example.com"), false);
  });
});
