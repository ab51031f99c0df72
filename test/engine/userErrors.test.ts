import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findEngine } from "../../toolchain/dist/engine";
import { findYamlHost } from "../../toolchain/dist/languageHosts";
import { root } from "../../toolchain/dist/paths";
import { temporaryFolder } from "../support/temporaryFolder";

const quiet = (): void => undefined;

/** What a preview of a program prints that ends in an error. */
async function refusedPreview(files: Record<string, string>): Promise<string> {
  const [engine, host] = [await findEngine(quiet), await findYamlHost(quiet)];
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  symlinkSync(join(root, "node_modules"), join(cwd, "node_modules"));
  const env = {
    ...process.env,
    ...host.variables,
    PATH: `${engine.binFolder}:${host.folder}:${process.env.PATH}`,
    PULUMI_HOME: engine.home,
    PULUMI_BACKEND_URL: `file://${cwd}`,
    PULUMI_CONFIG_PASSPHRASE: "dev",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
  };
  const pulumi = (...args: string[]): Promise<{ code: unknown; output: string }> =>
    new Promise((resolve) =>
      execFile("pulumi", [...args, "--stack", "test", "--color", "never"], { cwd, env }, (error, out, errors) =>
        resolve({ code: error?.code ?? 0, output: `${out}${errors}` }),
      ),
    );
  const made = await pulumi("stack", "init");
  assert.equal(made.code, 0, made.output);
  const { code, output } = await pulumi("preview");
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
