import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { findEngine } from "../../toolchain/dist/engine";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { afterThisTest } from "../support/cleanup";
import { isFullLength } from "../support/length";
import { copyNodeModules } from "../support/nodeModules";
import { withCompiledDriver } from "../support/sqliteDriver";
import { temporaryFolder } from "../support/temporaryFolder";

// What `pulumi package add` of a Git address runs: nothing compiles the components but npm.
describe("a clean clone after npm install", () => {
  it("serves the components and their schema", async () => {
    const folder = temporaryFolder();
    const clone = join(folder, "clone");
    await run("git", ["clone", "--quiet", root, clone]);
    // Getting the packages takes npm longer than all the rest, and every checkout of a CI does it.
    if (!isFullLength) await copyNodeModules(clone);
    const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", ["install", ...flags], { cwd: clone, env: await withCompiledDriver(folder) });
    const host = join(clone, "node_modules", "@pulumi", "pulumi", "cmd", "run-plugin");
    const child = spawn(process.execPath, [host, join(clone, "plugin"), "127.0.0.1:1"], { cwd: clone });
    afterThisTest(async () => void child.kill());
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (data: Buffer) => resolve(data.toString()));
      child.once("exit", (code) => reject(new Error(`run-plugin ended with ${code}`)));
    });
    assert.match(line, /^\d+\n$/);
    const engine = await findEngine(() => undefined);
    const env = {
      ...process.env,
      TMPDIR: folder,
      PULUMI_HOME: engine.home,
      PATH: `${engine.binFolder}:${process.env.PATH}`,
    };
    const executable = join(clone, "plugin", "pulumi-resource-rabbitmq-delay");
    const schema = JSON.parse(await run("pulumi", ["package", "get-schema", executable], { env })) as object;
    assert.ok("pluginDownloadURL" in schema);
  });
});
