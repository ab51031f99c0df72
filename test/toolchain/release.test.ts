import { strict as assert } from "node:assert";
import { findEngine } from "../../toolchain/dist/engine";
import type { Release } from "../../toolchain/dist/release/artifact";
import { packPackages, publishedPackages } from "../../toolchain/dist/release/npmPackages";
import { npmPart } from "../../toolchain/dist/release/npmPart";
import { releaseParts } from "../../toolchain/dist/release/parts";
import { releaseNotes } from "../../toolchain/dist/release/releaseNotes";
import { findOtherRanges, releaseVersion } from "../../toolchain/dist/release/releaseVersion";
import { tableOf } from "../../toolchain/dist/release/table";
import { tryOut } from "../../toolchain/dist/release/trial";
import { publishedUses } from "../../toolchain/dist/release/verify";
import { onEachBroker } from "../support/brokers";
import { temporaryFolder } from "../support/databases";

const quiet = (): void => undefined;
const version = releaseVersion();

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
    assert.ok(names.includes(`plugin rabbitmq-delay v${version}`));
  });

  it("refuses an artifact that is too large, takes too long to install, does not work, or is not there", async () => {
    const [one] = publishedPackages();
    assert.ok(one);
    const folder = temporaryFolder();
    await packPackages([one], folder);
    const nowhere = {
      engine: { binFolder: "", home: "", origin: "" },
      broker: { amqpUrl: "", managementUrl: "" },
    };
    const release: Release = { folder, version, progress: quiet, ...nowhere };
    const use = { mostSeconds: 1, install: async () => undefined, run: async () => "nothing" };
    const failureOf = async (change: object): Promise<string | undefined> =>
      (await tryOut({ file: one.tarball, mostKiB: 1000, use, ...change }, release)).failure;
    assert.equal(await failureOf({}), undefined);
    assert.match((await failureOf({ mostKiB: 1 })) ?? "", /^it has \d+ KiB, and 1 are allowed$/);
    const slow = { ...use, mostSeconds: 0 };
    assert.match((await failureOf({ use: slow })) ?? "", /^its installation took 0\.0 s, and 0 are allowed$/);
    const broken = { ...use, run: () => Promise.reject(new Error("it printed nothing")) };
    assert.equal(await failureOf({ use: broken }), "it printed nothing");
    assert.match((await failureOf({ file: "another.tgz" })) ?? "", /no such file.*another\.tgz/);
  });

  onEachBroker((broker, { isNewest }) => {
    if (isNewest) return;
    it("has npm packages that work where nothing else is: a service, a stack, the command", async () => {
      const [folder, engine] = [temporaryFolder(), await findEngine(quiet)];
      await packPackages(publishedPackages(), folder);
      const release = { folder, version, engine, broker: broker().node, progress: quiet };
      const trialOf = async (name: string): Promise<string> => {
        const artifact = npmPart().artifacts.find(({ file }) => file === `${name}-${version}.tgz`);
        assert.ok(artifact, name);
        const { failure, what } = await tryOut(artifact, release);
        assert.equal(failure, undefined);
        return what;
      };
      assert.match(await trialOf("rabbitmq-delay-publish"), /^a service: .* no database driver, no HTTP server$/);
      assert.match(await trialOf("pulumi-rabbitmq-delay"), /^a stack: pulumi preview, \d+ to create$/);
      assert.match(await trialOf("rabbitmq-delay"), /^npx rabbitmq-delay encode /);
    }).timeout(300_000);
  });
});
