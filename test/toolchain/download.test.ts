import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { IncomingMessage, Server, ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pinnedSums, sumInList } from "../../toolchain/dist/checksums";
import { fetchArchive } from "../../toolchain/dist/download";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { versions } from "../../toolchain/dist/versions";
import { afterThisTest } from "../support/cleanup";
import { createCertificates } from "../support/certificates";
import { temporaryFolder } from "../support/temporaryFolder";

// What is fetched runs with the rights of whoever types make up: a changed engine would have his keys and his broker.
describe("what the toolchain downloads", () => {
  let [home, folder] = ["", ""];
  let archive: Buffer;
  beforeEach(() => {
    home = temporaryFolder();
    folder = join(home, "unpacked");
    mkdirSync(folder);
    writeFileSync(join(home, "program"), "#!/bin/sh\necho run\n", { mode: 0o755 });
    execFileSync("tar", ["-czf", "whole.tar.gz", "program"], { cwd: home });
    archive = readFileSync(join(home, "whole.tar.gz"));
  });

  const sum = (data: Buffer): string => createHash("sha256").update(data).digest("hex");
  const noList = "https://127.0.0.1:1/checksums.txt";

  it("is unpacked when its checksum is the pinned one", async () => {
    const url = await serve(sendWhole);
    await fetchArchive({ url, listUrl: noList, pinned: { "whole.tar.gz": sum(archive) } }, folder, () => undefined);
    assert.deepEqual(readdirSync(folder), ["program"]);
  });

  it("is refused and removed when it was changed: nothing that could be run is left", async () => {
    writeFileSync(join(home, "program"), "#!/bin/sh\necho someone else's\n");
    const pinned = { "whole.tar.gz": sum(archive) };
    execFileSync("tar", ["-czf", "whole.tar.gz", "program"], { cwd: home });
    const other = readFileSync(join(home, "whole.tar.gz"));
    const url = await serve((_, response) => response.end(other));
    await assert.rejects(
      fetchArchive({ url, listUrl: noList, pinned }, folder, () => undefined),
      new RegExp(`whole\\.tar\\.gz: its SHA-256 is ${sum(other)}, and it must be ${sum(archive)}; it was removed`),
    );
    assert.deepEqual(readdirSync(folder), []);
  });

  for (const isAnnounced of [true, false]) {
    const how = isAnnounced ? "breaks off" : "ends early without having announced its length";
    it(`is refused and removed when the download ${how}`, async () => {
      const url = await serve((_, response) => {
        if (isAnnounced) response.setHeader("content-length", archive.length);
        response.write(archive.subarray(0, archive.length / 2), () => {
          if (isAnnounced) response.destroy();
          else response.end();
        });
      });
      const pinned = { "whole.tar.gz": sum(archive) };
      await assert.rejects(fetchArchive({ url, listUrl: noList, pinned }, folder, () => undefined));
      assert.deepEqual(readdirSync(folder), []);
    });
  }

  it("is not even fetched where no checksum is pinned and its maker's list can't be had", async () => {
    let fetched = 0;
    const url = await serve((_, response) => {
      fetched++;
      response.end(archive);
    });
    await assert.rejects(
      fetchArchive({ url, listUrl: noList, pinned: {} }, folder, () => undefined),
      /checksums\.txt/,
    );
    const plain = url.replace("whole.tar.gz", "checksums.txt");
    await assert.rejects(
      fetchArchive({ url, listUrl: plain, pinned: {} }, folder, () => undefined),
      /no checksum is pinned for whole\.tar\.gz, and a list of checksums is taken over TLS alone/,
    );
    assert.equal(fetched, 0);
    assert.deepEqual(readdirSync(folder), []);
  });

  it("is compared with its maker's list where none is pinned, which is said", async () => {
    const certificates = createCertificates(home, ["IP:127.0.0.1"]);
    const lines = [`${"0".repeat(64)}  other.tar.gz`, `${sum(archive)}  whole.tar.gz`];
    const list = createTlsServer(certificates, (_, response) => response.end(lines.join("\n")));
    const listUrl = `https://127.0.0.1:${await listen(list)}/checksums.txt`;
    const url = await serve(sendWhole);
    // A process trusts further authorities from its start alone.
    const fetchIt = (): Promise<string> =>
      run(process.execPath, ["-e", FETCH, "--", url, listUrl, folder], {
        env: { ...process.env, NODE_EXTRA_CA_CERTS: certificates.caCertFile },
      });
    assert.match(
      await fetchIt(),
      /no checksum is pinned for whole\.tar\.gz; comparing it with its maker's list https:/,
    );
    assert.deepEqual(readdirSync(folder), ["program"]);
    rmSync(join(folder, "program"));
    lines[1] = `${"1".repeat(64)}  whole.tar.gz`;
    await assert.rejects(fetchIt(), /it must be 1{64}/);
    lines.pop();
    await assert.rejects(fetchIt(), /the list of checksums has none for whole\.tar\.gz/);
    assert.deepEqual(readdirSync(folder), []);
  });

  it("has a pinned checksum for each archive of the engine", () => {
    const wanted = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
    const names = wanted.map((platform) => `pulumi-v${versions.pulumi}-${platform}.tar.gz`);
    assert.deepEqual(Object.keys(pinnedSums).sort(), names.sort());
    for (const pinned of Object.values(pinnedSums)) assert.match(pinned, /^[0-9a-f]{64}$/);
    assert.throws(() => sumInList(`${"a".repeat(64)}  whole.tar.gz.sig`, "whole.tar.gz"), /has none/);
  });

  function sendWhole(_: IncomingMessage, response: ServerResponse): void {
    response.end(archive);
  }

  async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
    return `http://127.0.0.1:${await listen(createServer(answer))}/whole.tar.gz`;
  }
});

const FETCH = `
  const { fetchArchive } = require(${JSON.stringify(join(root, "toolchain/dist/download"))});
  const [url, listUrl, folder] = process.argv.slice(1);
  fetchArchive({ url, listUrl, pinned: {} }, folder, console.log).catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });`;

async function listen(server: Server | ReturnType<typeof createTlsServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => void server.closeAllConnections());
  afterThisTest(() => void server.close());
  return (server.address() as AddressInfo).port;
}
