import { strict as assert } from "node:assert";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findYamlHost } from "../../toolchain/dist/languageHosts";
import { root } from "../../toolchain/dist/paths";
import { pulumiIn } from "../support/pulumiFolder";
import { temporaryFolder } from "../support/temporaryFolder";

/** Previews a program, which ends in an error. @returns the output */
async function refusedPreview(files: Record<string, string>): Promise<string> {
  const [cwd, { folder, variables }] = [temporaryFolder(), await findYamlHost(() => undefined)];
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  symlinkSync(join(root, "node_modules"), join(cwd, "node_modules"));
  const pulumi = await pulumiIn(cwd, { folders: [folder], variables });
  const { code, output } = await pulumi("preview", "--color", "never");
  assert.notEqual(code, 0, output);
  return output;
}

/** The same in YAML, of which only the resources are given. */
function refusedResources(resources: string): Promise<string> {
  const plugin = join(root, "plugin");
  const plugins = `plugins:\n  providers:\n    - name: rabbitmq-delay\n      path: ${plugin}\n`;
  return refusedPreview({ "Pulumi.yaml": `name: orders\nruntime: yaml\n${plugins}resources:\n${resources}` });
}

describe("a mistake in a program of one's own", () => {
  it("is told in one line, without a stack of calls", async () => {
    const output = await refusedPreview({
      "Pulumi.yaml": "name: orders\nruntime: nodejs\n",
      "package.json": "{}",
      "index.ts":
        'import { DelayLevelTopology } from "pulumi-rabbitmq-delay";\n' +
        'new DelayLevelTopology("delay", { preset: "custom", prefix: "a@b" });\n',
    });
    assert.match(output, /^ +error: prefix: this text is not allowed; it must not contain @ or \/$/m);
    assert.doesNotMatch(output, /^ +at |Unhandled|unhandled/m);
  });

  it("is told in one line in another language, which names the resource, and no value that is a secret", async () => {
    const network = await refusedResources(`  delay:
    type: rabbitmq-delay:index:DelayLevelTopology
    properties: { preset: custom, prefix: Hunter2@ }
`);
    assert.match(
      network,
      /^ +error: \S+:DelayLevelTopology resource 'delay' has a problem: prefix: this text is not /m,
    );
    const user = await refusedResources(`  user:
    type: rabbitmq-delay:index:EndpointUser
    properties: { user: sales, consumes: [Sales], credentials: [{ password: { "fn::secret": Hunter2 } }] }
`);
    assert.match(user, /credentials\[0\]\.password: .* is not allowed; it must have at least 12 characters/);
    for (const output of [network, user]) assert.doesNotMatch(output, /^ +at |nhandled|Hunter2/m, output);
  });
});
