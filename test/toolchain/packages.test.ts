import { strict as assert } from "node:assert";
import { ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { aptGet } from "../../toolchain/dist/debianPackages";
import { afterThisTest } from "../support/cleanup";

/** Holds a file's lock as apt-get does, until its input ends. */
const HOLD = `
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
`;
import { skipUnless } from "../support/missingPrograms";
import { temporaryFolder } from "../support/temporaryFolder";

// A fresh cloud machine runs apt-get by itself at its first boot; make up failed there at once, and worked a minute later.
describe("installing packages while another apt-get runs", () => {
  let folder: string;
  before(function () {
    skipUnless(existsSync("/usr/bin/apt-get"), this, "this machine has no apt-get");
  });
  beforeEach(() => {
    folder = temporaryFolder();
    for (const path of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(folder, path), { recursive: true });
  });

  /** Package lists of their own, and no source: nothing is fetched. */
  const settings = (): string[] => [
    `Dir::State::lists=${folder}/lists`,
    `Dir::Cache=${folder}/cache`,
    "Dir::Etc::sourcelist=/dev/null",
    "Dir::Etc::sourceparts=/dev/null",
  ];

  it("waits for the lock on package lists, and says so", async () => {
    const other = await holdLock();
    const lines: string[] = [];
    const update = aptGet(
      ["update"],
      (line) => {
        lines.push(line);
        if (line.startsWith("another process holds")) other.stdin?.end();
      },
      { settings: settings() },
    );
    await update;
    assert.ok(
      lines.includes(`another process holds ${folder}/lists/lock; waiting for it, at most 300 s`),
      lines.join("\n"),
    );
  });

  it("ends after the stated time with the lock's name", async () => {
    await holdLock();
    await assert.rejects(
      aptGet(["update"], () => undefined, { settings: settings(), lockTimeoutMs: 1500 }),
      new RegExp(`apt-get update: another process has held ${folder}/lists/lock for 2 s; end it or wait`),
    );
  });

  it("does not wait for what is no lock", async () => {
    await assert.rejects(
      aptGet(["no-such-command"], () => undefined, { settings: settings() }),
      /no-such-command/,
    );
  });

  async function holdLock(): Promise<ChildProcess> {
    const child = spawn("python3", ["-c", HOLD, join(folder, "lists", "lock")], { stdio: ["pipe", "pipe", "inherit"] });
    afterThisTest(async () => {
      if (child.exitCode !== null) return;
      child.stdin.end();
      await once(child, "exit");
    });
    await once(child.stdout, "data");
    return child;
  }
});
