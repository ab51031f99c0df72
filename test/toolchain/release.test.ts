import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { list } from "tar";
import { findEngine } from "../../toolchain/dist/engine";
import { root } from "../../toolchain/dist/paths";
import { writeArchive } from "../../toolchain/dist/release/archive";
import type { Release } from "../../toolchain/dist/release/artifact";
import { publishedChecksumsUse } from "../../toolchain/dist/release/checksumsPart";
import { packPackages, publishedPackages, staleFiles } from "../../toolchain/dist/release/npmPackages";
import { npmPart } from "../../toolchain/dist/release/npmPart";
import { isOfPlugin } from "../../toolchain/dist/release/pluginFolder";
import { releaseParts } from "../../toolchain/dist/release/parts";
import { fetchReleaseAsset } from "../../toolchain/dist/release/releaseAssets";
import { releaseNotes } from "../../toolchain/dist/release/releaseNotes";
import {
  checkReleased,
  findOtherRanges,
  releaseVersion,
  versionPlaces,
} from "../../toolchain/dist/release/releaseVersion";
import { withoutFolder } from "../../toolchain/dist/release/sbomPart";
import { tableOf } from "../../toolchain/dist/release/table";
import { Trial, tryOut, tryUse } from "../../toolchain/dist/release/trial";
import { onceThere, publishedUses } from "../../toolchain/dist/release/verify";
import { run } from "../../toolchain/dist/run";
import { onEachBroker, ownTestBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { temporaryFolder } from "../support/temporaryFolder";

const quiet = (): void => undefined;
const version = releaseVersion();

/** A release without an engine and a broker. */
const releaseIn = (folder: string): Release => ({
  folder,
  version,
  progress: quiet,
  engine: { binFolder: "", home: "", origin: "" },
  broker: { amqpUrl: "", managementUrl: "" },
});

describe("a release", () => {
  it("has an artifact for each package, and a line of its table for each artifact", () => {
    const artifacts = releaseParts(version).flatMap((part) => part.artifacts);
    const files = artifacts.map(({ file }) => file);
    assert.equal(new Set(files).size, files.length);
    const others = [
      ...["linux", "darwin", "windows"].flatMap((system) =>
        ["amd64", "arm64"].map((machine) => `pulumi-resource-rabbitmq-delay-v${version}-${system}-${machine}.tar.gz`),
      ),
      `rabbitmq-delay-rabbitmq-delay-${version}.tgz`,
      ...["rabbitmq_delay", "pulumi_rabbitmq_delay"].flatMap((name) => [
        `${name}-${version}-py3-none-any.whl`,
        `${name}-${version}.tar.gz`,
      ]),
      ...[`client-${version}.zip`, `sdk-${version}.zip`].map((name) => `rabbitmq-delay-go-${name}`),
      ...["", "-sources", "-javadoc"].map((what) => `rabbitmq-delay-${version}${what}.jar`),
      `rabbitmq-delay-docs-${version}.tar.gz`,
      `rabbitmq-delay-${version}.cdx.json`,
      "SHA256SUMS",
    ];
    assert.deepEqual(files, [...publishedPackages().map(({ tarball }) => tarball), ...others]);
    const trials = files.map((file, index) => ({ file, bytes: index * 300_000, seconds: index, what: `run ${index}` }));
    const lines = tableOf(trials).split("\n");
    assert.match(lines[0] as string, /^artifact +size +install +what was run$/);
    assert.deepEqual(
      lines.slice(2).map((line) => line.split(" ")[0]),
      files,
    );
    assert.ok(lines.slice(2).every((line, index) => line.endsWith(` ${index}.0 s  run ${index}`)));
  });

  it("is refused while a package needs another version of one of the project's own", () => {
    assert.deepEqual(findOtherRanges(publishedPackages(), version), []);
    const left = findOtherRanges(publishedPackages(), "9.9.9");
    assert.ok(left.includes(`rabbitmq-delay needs @rabbitmq-delay/topology ^${version}`), left.join("\n"));
    for (const { name, needs } of publishedPackages())
      assert.equal(
        needs.length > 0,
        left.some((line) => line.startsWith(`${name} needs `)),
        name,
      );
  });

  it("says at the end of its table what failed", () => {
    const table = tableOf([{ file: "a.tgz", bytes: 1, what: "", failure: "it has 300 KiB, and 200 are allowed" }]);
    assert.match(table, /^a\.tgz +0 KiB +– {2}FAILED, see below$/m);
    assert.match(table, /\n\na\.tgz: it has 300 KiB, and 200 are allowed$/);
  });

  it("is noted with what the changelog says of its version, and with nothing else", () => {
    const changelog =
      "# Changelog\n\n## Unreleased\n\n- later\n\n## [1.2.0] - 2026-01-02\n\n- this\n\n## 1.1.0\n\n- before\n";
    assert.equal(releaseNotes("1.2.0", changelog), "- this");
    assert.equal(releaseNotes("1.1.0", changelog), "- before");
    assert.throws(() => releaseNotes("1.0.0", changelog), /CHANGELOG\.md says nothing of 1\.0\.0; give it a section/);
  });

  it("is verified, once it is published, by each package's name and version", () => {
    const names = publishedUses(version).map(([name]) => name);
    for (const { name } of publishedPackages()) assert.ok(names.includes(`${name}@${version}`), name);
    for (const name of [
      `plugin rabbitmq-delay v${version}`,
      `@rabbitmq-delay/rabbitmq-delay@${version}`,
      `rabbitmq-delay ${version} for Python`,
      `pulumi-rabbitmq-delay ${version} for Python`,
      `github.com/rabbitmq-delay/rabbitmq-delay/clients/go@v${version}`,
      `github.com/rabbitmq-delay/rabbitmq-delay/sdk/go/rabbitmqdelay@v${version}`,
      `rabbitmq-delay-${version}.jar`,
      `SHA256SUMS of v${version}`,
    ])
      assert.ok(names.includes(name), name);
  });

  it("is verified by the checksums of all its files, as they are published", async () => {
    const files: Record<string, string> = { "a.tgz": "a", "b.jar": "b" };
    const sumOf = (text: string): string => createHash("sha256").update(text).digest("hex");
    const sums = Object.entries(files).map(([name, text]) => `${sumOf(text)}  ${name}\n`);
    const served: Record<string, string> = { ...files, SHA256SUMS: sums.join("") };
    const server = createServer((request, response) => {
      const text = served[(request.url as string).replace("/v/", "")];
      response.writeHead(text === undefined ? 404 : 200, { connection: "close" }).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(() => void server.close());
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v`;
    const use = publishedChecksumsUse((file, folder) => fetchReleaseAsset(address, file, folder));
    const tried = (): Promise<Trial> => tryUse("SHA256SUMS", use, releaseIn(""));
    assert.match((await tried()).what, /--check: 2 files$/);
    served["b.jar"] = "another";
    assert.match((await tried()).failure ?? "", /b\.jar: FAILED/);
    delete served["b.jar"];
    assert.equal((await tried()).failure, "b.jar of the release could not be had: status 404");
    served.SHA256SUMS = `${sumOf("a")}  ../a.tgz\n`;
    assert.match((await tried()).failure ?? "", /"\.\.\/a\.tgz" is not allowed; it must be a file's name/);
  });

  it("is verified again until a registry has what was published, and then ends with why", async () => {
    let tries = 0;
    const install = async (folder: string): Promise<void> => {
      assert.deepEqual(readdirSync(folder), [], "nothing is left of the try before");
      writeFileSync(join(folder, "left"), "");
      if (++tries < 3) throw new Error("404: not there");
    };
    const use = { mostSeconds: 5, install, run: async () => "used" };
    const { what, failure } = await tryUse("a", onceThere("a@1", use, { interval: 1, timeout: 60_000 }), releaseIn(""));
    assert.deepEqual([what, failure, tries], ["used", undefined, 3]);
    tries = -1e9;
    const { failure: late } = await tryUse("a", onceThere("a@1", use, { interval: 1, timeout: 200 }), releaseIn(""));
    // A try that takes longer than all of them may has no reason.
    assert.match(late ?? "", /^a@1 could not be installed within 0\.2 s/);
  });

  it("is refused while an SDK or another file has another version, or it is a prerelease", () => {
    const files = versionPlaces.map(([file]) => file);
    for (const path of readdirSync(join(root, "sdk"), { recursive: true, encoding: "utf8" })) {
      if (/node_modules|(^|\/)(bin|obj)\//.test(path)) continue;
      if (/(pulumi-plugin\.json|version\.txt|package\.json|pyproject\.toml|\.csproj|pulumiUtilities\.go)$/.test(path))
        assert.ok(files.includes(`sdk/${path}`), path);
    }
    const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
    for (const [file, pattern] of versionPlaces) {
      const changed = (): string => textOf(file).replace(pattern, (all) => all.replace(version, "9.9.9"));
      if (file === "package.json") continue;
      assert.throws(
        () => releaseVersion((asked) => (asked === file ? changed() : textOf(asked))),
        (error: Error) => error.message.includes(`${file} has 9.9.9`),
        file,
      );
    }
    assert.throws(() => checkReleased("1.2.3-rc.1"), /version: 1\.2\.3-rc\.1 is not allowed; it must be like 1\.2\.3/);
  });

  it("has a licence in each archive, also those of what the plugin is made with", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "content"));
    writeFileSync(join(folder, "content", "README.md"), "LICENSE");
    const trialOf = (file: string, more = {}): Promise<Trial> =>
      tryOut({ file, mostKiB: 1000, use: "only made", ...more }, releaseIn(folder));
    for (const file of ["a.tgz", "a.tar.gz", "a.zip", "a.whl", "a.jar"]) {
      const pack = async (): Promise<unknown> =>
        /gz$/.test(file)
          ? writeArchive(join(folder, file), join(folder, "content"))
          : run("python3", ["-m", "zipfile", "-c", join(folder, file), join(folder, "content")]);
      rmSync(join(folder, "content", "LICENSE"), { force: true });
      await pack();
      assert.equal((await trialOf(file)).failure, "it has no LICENSE", file);
      assert.equal((await trialOf(file, { isWithoutLicence: true })).failure, undefined, file);
      writeFileSync(join(folder, "content", "LICENSE"), "the licence");
      await pack();
      assert.equal((await trialOf(file)).failure, undefined, file);
    }
    const licence = readFileSync(join(root, "LICENSE"), "utf8");
    for (const { folder: own } of publishedPackages())
      assert.equal(readFileSync(join(root, own, "LICENSE"), "utf8"), licence, own);
    for (const name of ["LICENSE", "LICENSE.md", "license.md", "License.txt", "LICENCE.md", "NOTICE.md", "COPYING.md"])
      assert.ok(isOfPlugin(`lib/node_modules/a/${name}`), name);
    for (const name of ["README.md", "docs/licenses/CHANGES.md", "a.d.ts"])
      assert.ok(!isOfPlugin(`lib/node_modules/a/${name}`));
  });

  it("has a bill of materials that names no folder of who made it", () => {
    const text = '{"url": "file:/home/me/release/a-1.0.0.tgz", "other": "https://example.com"}';
    assert.equal(withoutFolder(text, "/home/me/release"), '{"url": "a-1.0.0.tgz", "other": "https://example.com"}');
  });

  it("has nothing that was compiled of a source that is gone", () => {
    const folder = temporaryFolder();
    for (const path of ["dist/part", "src/part"]) mkdirSync(join(folder, path), { recursive: true });
    for (const file of ["dist/part/a.js", "dist/part/a.d.ts", "dist/b.js", "dist/.tsbuildinfo", "src/part/a.ts"])
      writeFileSync(join(folder, file), "");
    assert.deepEqual(staleFiles(folder), [join(folder, "dist/b.js")]);
  });

  it("has no file of the compiler's in a package, and no sources beside what is compiled of them", async () => {
    const folder = temporaryFolder();
    const components = publishedPackages().find(({ name }) => name === "pulumi-rabbitmq-delay");
    assert.ok(components);
    await packPackages([components], folder);
    const files: string[] = [];
    await list({ file: join(folder, components.tarball), onReadEntry: ({ path }) => files.push(path) });
    assert.ok(files.includes("package/LICENSE"));
    for (const file of files) assert.doesNotMatch(file, /tsconfig|tsbuildinfo|(?<!\.d)\.ts$/);
  });

  it("has notes for the version that comes next", () => {
    assert.match(releaseNotes(version), /### Added/);
  });

  // Each part that was tried after an interruption was a line of failures, and the command went on.
  it("ends when it is interrupted, with the signal's code, and tries nothing more", async () => {
    const program = `
      const { guard } = require(${JSON.stringify(join(root, "toolchain", "dist", "interruption"))});
      const { tryPart } = require(${JSON.stringify(join(root, "toolchain", "dist", "release", "dryRun"))});
      const { run } = require(${JSON.stringify(join(root, "toolchain", "dist", "run"))});
      const use = { mostSeconds: 1, install: async () => console.log("installed"), run: async () => "used" };
      const part = (make) => ({ title: "a", artifacts: [{ file: "a", mostKiB: 1, use }], make });
      guard(async () => {
        const wait = () => { console.log("making"); return run("sleep", ["60"]); };
        for (const one of [part(wait), part(async () => console.log("next"))])
          console.log(await tryPart(one, { folder: ".", progress: () => undefined }));
      });`;
    for (const [signal, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "pipe"] });
      let output = "";
      child.stdout.on("data", (data: Buffer) => {
        output += data.toString();
        if (data.includes("making")) child.kill(signal);
      });
      child.stderr.on("data", (data: Buffer) => (output += data.toString()));
      const [exitCode] = (await once(child, "exit")) as [number];
      assert.equal(exitCode, code, output);
      assert.match(output, new RegExp(`^making\nInterrupted by ${signal}; run it again to go on from here\\.\n$`));
    }
  });

  it("refuses an artifact that is too large, takes too long to install, does not work, or is not there", async () => {
    const [one] = publishedPackages();
    assert.ok(one);
    const folder = temporaryFolder();
    await packPackages([one], folder);
    const release = releaseIn(folder);
    const use = { mostSeconds: 1, install: async () => undefined, run: async () => "nothing" };
    const failureOf = async (change: object): Promise<string | undefined> =>
      (await tryOut({ file: one.tarball, mostKiB: 1000, use, ...change }, release)).failure;
    assert.equal(await failureOf({}), undefined);
    assert.match((await failureOf({ mostKiB: 1 })) ?? "", /^it has \d+ KiB, and 1 are allowed$/);
    const slow = { ...use, mostSeconds: 0 };
    assert.match((await failureOf({ use: slow })) ?? "", /^its installation took \d+\.\d s, and 0 are allowed$/);
    const broken = { ...use, run: () => Promise.reject(new Error("it printed nothing")) };
    assert.equal(await failureOf({ use: broken }), "it printed nothing");
    assert.match((await failureOf({ file: "another.tgz" })) ?? "", /no such file.*another\.tgz/);
  });

  onEachBroker((broker, { isNewest }) => {
    if (isNewest) return;
    it("has npm packages that work where nothing else is: a service, a stack, the command", async () => {
      const [folder, engine] = [temporaryFolder(), await findEngine(quiet)];
      await packPackages(publishedPackages(), folder);
      // Its programs declare in the vhost /, which other tests use on the shared broker.
      const { node } = await ownTestBroker(broker().node.installation);
      const release = { folder, version, engine, broker: node, progress: quiet };
      const trialOf = async (name: string): Promise<string> => {
        const artifact = npmPart().artifacts.find(({ file }) => file === `${name}-${version}.tgz`);
        assert.ok(typeof artifact?.use === "object", name);
        // The release's table judges the time of an installation.
        const use = { ...artifact.use, mostSeconds: Infinity };
        const { failure, what } = await tryOut({ ...artifact, use }, release);
        assert.equal(failure, undefined);
        return what;
      };
      assert.match(await trialOf("rabbitmq-delay-publish"), /^a service: .* no database driver, no HTTP server$/);
      assert.match(await trialOf("pulumi-rabbitmq-delay"), /^a stack: pulumi preview, \d+ to create$/);
      assert.match(await trialOf("rabbitmq-delay"), /^npx rabbitmq-delay encode /);
    });
  });
});
