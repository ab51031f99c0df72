import { strict as assert } from "node:assert";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { root } from "../../toolchain/dist/paths";

/** Largest part of this project's packages in the bundle of a service that only publishes, in bytes. */
const MOST_BYTES = 120_000;

describe("a bundle of a service that only publishes", () => {
  it("has at most 120 KB of this project's packages, and nothing of zod", () => {
    const { metafile, warnings } = buildSync({
      entryPoints: [join(root, "test/program/compilers/service.ts")],
      absWorkingDir: root,
      bundle: true,
      minify: true,
      platform: "node",
      write: false,
      metafile: true,
    });
    assert.deepEqual(warnings, []);
    const [bundle] = Object.values(metafile.outputs);
    const bytesOf = (file: RegExp): number =>
      Object.entries(bundle?.inputs ?? {}).reduce(
        (sum, [name, { bytesInOutput }]) => sum + (file.test(name) ? bytesInOutput : 0),
        0,
      );
    const own = bytesOf(/^packages\//);
    assert.ok(own > 50_000 && own <= MOST_BYTES, `${own} bytes`);
    assert.equal(bytesOf(/node_modules\/zod\//), 0);
  });
});
