import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { Instruction, copiesOf, copyInto, readDockerfile } from "../support/dockerfile";
import { copyNodeModules } from "../support/nodeModules";
import { temporaryFolder } from "../support/temporaryFolder";

const version = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
/** Somebody whom no file belongs to. */
const NOBODY = 65_534;

/** There is no Docker here, so its steps are done by hand, without the base images and with what is here already: all packages, SQLite's driver. */
describe("the container image", () => {
  const instructions = readDockerfile(join(root, "Dockerfile"));
  const ofWord = (word: string, list = instructions): Instruction[] => list.filter((one) => one.word === word);
  const last = (word: string): string | undefined => ofWord(word).at(-1)?.text;

  it("copies what is there and what .dockerignore lets through", () => {
    const allowed = readFileSync(join(root, ".dockerignore"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    const sources = ofWord("COPY")
      .map(copiesOf)
      .filter(({ from }) => from === undefined)
      .flatMap((copy) => copy.sources);
    for (const source of sources) {
      assert.ok(existsSync(join(root, source)), source);
      assert.ok(
        allowed.some((path) => source === path || source.startsWith(`${path}/`)),
        `.dockerignore hides ${source}`,
      );
    }
    for (const path of allowed) {
      assert.ok(
        sources.some((source) => source === path || source.startsWith(`${path}/`)),
        `nothing copies ${path}`,
      );
    }
  });

  it("ends with a distroless Node.js, as nobody in particular, with the command on PATH", () => {
    const [base] = ofWord("FROM").slice(-1);
    assert.match(base?.text ?? "", /^gcr\.io\/distroless\/nodejs\d+-debian12:nonroot$/);
    assert.match(last("USER") ?? "", /^[1-9]\d*:[1-9]\d*$/);
    assert.equal(last("ENTRYPOINT"), '["rabbitmq-delay"]');
    assert.match(last("ENV") ?? "", / PATH=\/app\/bin:/);
    const script = join(root, "container", "rabbitmq-delay");
    assert.match(readFileSync(script, "utf8"), /^#!\/nodejs\/bin\/node\n/);
    assert.ok(statSync(script).mode & 0o001, "not executable");
    // Both stages have one Node.js, or SQLite's driver would not load.
    const majors = ofWord("FROM").map(({ text }) => /node(?:js)?:?(\d+)/.exec(text)?.[1]);
    assert.equal(new Set(majors).size, 1, majors.join());
  });

  it("has a command that runs from files that nobody may write", async () => {
    const [scratch, isRoot] = [temporaryFolder(), process.getuid?.() === 0];
    const [build, image, data] = [join(scratch, "build"), join(scratch, "image"), join(scratch, "data")];
    const isSent = (path: string): boolean =>
      !/(^|\/)(dist|node_modules)(\/|$)|^packages\/[^/]+\/test(\/|$)/.test(relative(root, path));
    for (const { word, text, stage } of instructions) {
      if (word === "COPY") {
        const { from, sources, target } = copiesOf({ word, text, stage });
        const base = stage === "build" ? build : image;
        for (const source of sources) {
          const place = join(base, target) + (target.endsWith("/") ? "/" : "");
          if (from === undefined) copyInto(join(root, source), place.replace(/\/\.\/?$/, "/"), isSent);
          else copyInto(join(scratch, source), place);
        }
      } else if (word === "RUN" && text === "npm ci --ignore-scripts") {
        await copyNodeModules(build);
      } else if (word === "RUN" && text !== "npm rebuild better-sqlite3") {
        const env = { ...process.env, npm_config_prefer_offline: "true", npm_config_loglevel: "error" };
        await run("sh", ["-ec", text], { cwd: build, env });
      } else if (word === "RUN") {
        const driver = join("node_modules", "better-sqlite3", "build");
        cpSync(join(root, driver), join(build, driver), { recursive: true });
      }
    }
    assert.ok(!existsSync(join(image, "app", "node_modules", "typescript")), "the compiler");
    await run("chmod", ["-R", "a-w,a+rX", image]);
    mkdirSync(data);
    chmodSync(data, 0o777);
    chmodSync(scratch, 0o755);
    const command = (...args: string[]): string =>
      execFileSync(process.execPath, [join(image, "app", "bin", "rabbitmq-delay"), ...args], {
        cwd: data,
        encoding: "utf8",
        env: { NODE_ENV: "production", HOME: "/nonexistent" },
        ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
      });
    assert.equal(command("--version").trim(), version);
    assert.match(command("gateway", "run", "--help"), /--descriptor/);
    command("store", "set-up", "--store", `sqlite:${join(data, "delayed.db")}`);
    assert.ok(existsSync(join(data, "delayed.db")));
  });
});
