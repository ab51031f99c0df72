import { strict as assert } from "node:assert";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { KEPT, generateSdks, sdkFolder } from "../../toolchain/dist/pulumiSdks";
import { temporaryFolder } from "../support/temporaryFolder";

describe("the SDKs for other languages", () => {
  it("are what the schema says; make sdks writes them anew", async () => {
    const made = temporaryFolder();
    await generateSdks(made, () => undefined);
    const names = filesIn(made);
    const committed = filesIn(sdkFolder).filter((name) => !KEPT.includes(name));
    assert.deepEqual(committed, names);
    for (const name of names) {
      assert.ok(readFileSync(join(sdkFolder, name)).equals(readFileSync(join(made, name))), name);
    }
  });
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}
