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

  it("have in C# no output with the name of its class, and no option that components lack there", () => {
    const folder = join(sdkFolder, "dotnet");
    const sources = filesIn(folder).filter((name) => name.endsWith(".cs"));
    const outputs = sources.flatMap((file) => {
      const source = readFileSync(join(folder, file), "utf8");
      assert.ok(!source.includes("AdditionalSecretOutputs"), file);
      const [, className] = /public (?:sealed |partial )*class (\w+)/.exec(source) ?? [];
      return [...source.matchAll(/^ +public (?:readonly )?[^=(]+? (\w+)(?: \{ get;|;)/gm)].map(([, name]) => {
        assert.notEqual(name, className, file);
        return name;
      });
    });
    assert.ok(outputs.includes("Descriptor") && outputs.length > 100, String(outputs.length));
  });
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}
