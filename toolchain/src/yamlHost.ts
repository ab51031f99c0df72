import { join } from "node:path";
import { cached } from "./cache";
import { goBuild } from "./goBuild";
import { whichCommand } from "./run";
import { versions } from "./versions";

/** The folder of the engine's host for YAML programs: that of PATH, or one built from Go modules; for the tests alone. */
export async function findYamlHost(progress: (line: string) => void): Promise<string> {
  const name = "pulumi-language-yaml";
  const installed = await whichCommand(name);
  if (installed !== undefined) return join(installed, "..");
  const build = {
    name: "build from Go modules",
    fill: (folder: string, show: (line: string) => void) =>
      goBuild({ module: name, package: `github.com/pulumi/pulumi-yaml/cmd/${name}` }, join(folder, name), show),
  };
  return cached(`${name}-${versions.yamlHost}`, [build], progress);
}
