import { strict as assert } from "node:assert";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import {
  DelayNetwork,
  delayNetwork,
  parseDelayNetwork,
  parseDelayedStore,
  parseWorkRetry,
  planDelayedStore,
  planEntities,
  planWorkRetry,
} from "@rabbitmq-delay/topology";
import { findEngine } from "../../toolchain/dist/engine";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { LanguageHost, findGoHost, findYamlHost } from "../../toolchain/dist/languageHosts";
import { TestBroker, onEachBroker, removeTestBroker, startTestBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { findPythonWithSdk } from "../support/pythonSdk";
import { Receiver } from "../support/receive";
import { componentKinds } from "@rabbitmq-delay/topology/stack";
import { temporaryFolder } from "../support/temporaryFolder";

const quiet = (): void => undefined;
const executable = join(root, "plugin", "pulumi-resource-rabbitmq-delay");

interface Schema {
  resources: Record<string, { isComponent: boolean; inputProperties: Record<string, { plain?: boolean }> }>;
}

/** A program's language, and what its run needs. */
interface Language {
  label: string;
  /** Of the program, in examples/. */
  folder: string;
  runtime: string;
  endpoint: string;
  findHost: () => Promise<LanguageHost>;
  /** Makes another folder of the program's, with its SDK. */
  prepare?: (example: string) => Promise<string>;
}

/** A resource of an exported state; a secret output is an object with its ciphertext. */
interface ExportedResource {
  type: string;
  outputs: { passwords?: { ciphertext?: string } };
}

const PASSWORD = "a password of the service";

/** A copy of the program with its SDK, compiled as it would be published, and checked against its types. */
async function typescriptWithSdk(example: string): Promise<string> {
  const folder = temporaryFolder();
  cpSync(example, folder, { recursive: true });
  const project = readFileSync(join(folder, "Pulumi.yaml"), "utf8");
  writeFileSync(join(folder, "Pulumi.yaml"), project.replace("../../plugin", join(root, "plugin")));
  const modules = join(folder, "node_modules");
  const sdk = join(modules, "@rabbitmq-delay", "rabbitmq-delay");
  mkdirSync(join(modules, "@rabbitmq-delay"), { recursive: true });
  for (const name of ["@pulumi", "@types"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
  const sources = join(folder, "sdk");
  cpSync(join(root, "sdk", "nodejs"), sources, { recursive: true });
  const compile = (...args: string[]): Promise<string> =>
    run(join(root, "node_modules", ".bin", "tsc"), ["--types", "node", "--skipLibCheck", ...args], { cwd: folder });
  await compile("--project", sources, "--outDir", sdk);
  cpSync(join(sources, "package.json"), join(sdk, "package.json"));
  await compile("--project", folder, "--noEmit");
  return folder;
}

describe("the components in other languages", () => {
  it("tell the engine their schema, each argument with what it is for", async () => {
    const engine = await findEngine(quiet);
    const env = { ...process.env, PULUMI_HOME: engine.home, PATH: `${engine.binFolder}:${process.env.PATH}` };
    const schema = JSON.parse(await run("pulumi", ["package", "get-schema", executable], { env })) as Schema & object;
    const components = Object.keys(schema.resources).filter((type) => schema.resources[type]?.isComponent);
    assert.deepEqual(
      components.sort().map((type) => type.split(":").at(-1)),
      Object.keys(componentKinds).sort(),
    );
    for (const type of components) {
      const inputs = schema.resources[type]?.inputProperties as Record<string, { description?: string }>;
      for (const [name, { description }] of Object.entries(inputs)) assert.ok(description, `${type} ${name}`);
    }
  });

  // Each with an endpoint of its own: what the broker still says of another one's consumers confuses the provider on 3.10.
  const languages: Language[] = [
    { label: "YAML", folder: "yaml", runtime: "yaml", endpoint: "Billing", findHost: () => findYamlHost(quiet) },
    { label: "Python", folder: "python", runtime: "python", endpoint: "Shipping", findHost: findPythonWithSdk },
    { label: "Go", folder: "go", runtime: "go", endpoint: "Invoicing", findHost: () => findGoHost(quiet) },
    {
      label: "TypeScript",
      folder: "typescript-sdk",
      runtime: "nodejs",
      endpoint: "Returns",
      findHost: async () => ({ folder: (await findEngine(quiet)).binFolder, variables: {} }),
      prepare: typescriptWithSdk,
    },
  ];
  onEachBroker((shared) => {
    // The programs declare in the vhost /, which other tests use on the shared brokers.
    let own: TestBroker | undefined;
    const broker = (): TestBroker => own as TestBroker;
    before(async () => (own = await startTestBroker(shared().node.installation)));
    after(async () => own && removeTestBroker(own.node));

    for (const { label, folder, runtime, endpoint, findHost, prepare } of languages) {
      it(`a program in ${label} declares what it says, stays the same, and goes without a trace`, async () => {
        const [engine, host] = [await findEngine(quiet), await findHost()];
        const example = join(root, "examples", folder);
        const cwd = (await prepare?.(example)) ?? example;
        const state = temporaryFolder();
        const { managementUrl } = broker().node;
        const env = {
          ...process.env,
          ...host.variables,
          PATH: `${engine.binFolder}:${host.folder}:${process.env.PATH}`,
          PULUMI_HOME: engine.home,
          PULUMI_BACKEND_URL: `file://${state}`,
          PULUMI_CONFIG_PASSPHRASE: "dev",
          PULUMI_SKIP_UPDATE_CHECK: "true",
          // Types were checked when the program was prepared.
          PULUMI_NODEJS_TRANSPILE_ONLY: "true",
        };
        const config = ["--config-file", join(state, "Pulumi.test.yaml")];
        const pulumi = (...args: string[]): Promise<string> =>
          run("pulumi", [...args, "--stack", "test"], { cwd, env });
        // From a folder of its own, or the engine would write a config file beside the program.
        writeFileSync(join(state, "Pulumi.yaml"), `name: delays-in-${label.toLowerCase()}\nruntime: ${runtime}\n`);
        await run("pulumi", ["stack", "init", "test", "--no-select", "--cwd", state], { cwd, env });
        for (const [key, value] of Object.entries({ endpoint: managementUrl, username: "guest", password: "guest" })) {
          await pulumi("config", "set", `rabbitmq:${key}`, value, ...config);
        }
        await pulumi("config", "set", "--secret", "password", PASSWORD, ...config);
        let isDestroyed = false;
        const destroy = async (): Promise<void> => {
          if (isDestroyed) return;
          await pulumi("destroy", "--yes", "--skip-preview", ...config);
          isDestroyed = true;
        };
        afterThisTest(destroy);
        await pulumi("up", "--yes", "--skip-preview", ...config);
        const asked = async <T>(...args: string[]): Promise<T> => {
          const output = await pulumi(...args);
          // Warnings come first.
          return JSON.parse(output.slice(output.search(/^\{/m))) as T;
        };
        const steps = await asked<{ changeSummary: object }>("preview", "--json", ...config);
        assert.deepEqual(Object.keys(steps.changeSummary), ["same"]);

        const exported = await pulumi("stack", "export");
        assert.ok(!exported.includes(PASSWORD));
        const { deployment } = JSON.parse(exported) as { deployment: { resources: ExportedResource[] } };
        const [user] = deployment.resources.filter(({ type }) => type === "rabbitmq-delay:index:EndpointUser");
        assert.equal(typeof user?.outputs.passwords?.ciphertext, "string");

        const outputs = await asked<Record<string, unknown> & { users: string[] }>("stack", "output", "--json");
        const network: DelayNetwork = parseDelayNetwork(outputs.delayNetwork);
        assert.deepEqual(
          network,
          delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 4, vhost: network.vhost }),
        );
        const planned = [
          ...planEntities(network).queues,
          ...planWorkRetry(parseWorkRetry(outputs.workRetry)).queues,
          ...(outputs.delayedStore === undefined
            ? []
            : planDelayedStore(parseDelayedStore(outputs.delayedStore)).queues),
        ].map(({ name }) => name);
        const found = (await broker().management.queues("%2F")).map(({ name }) => name);
        assert.deepEqual(found.sort(), [...planned, endpoint].sort());
        const channel = await openChannel(broker(), "%2F");
        const receiver = await Receiver.on(channel, [endpoint]);
        await createDelayPublisher(channel, network).publish(endpoint, "x", { delayMs: 1000 });
        await receiver.until(1);

        assert.deepEqual(outputs.users, [endpoint.toLowerCase()]);
        const rights = await broker().management.call<{ read: string }>("GET", `permissions/%2F/${outputs.users[0]}`);
        assert.ok(new RegExp(rights.read).test(endpoint) && !new RegExp(rights.read).test("another"), rights.read);

        await destroy();
        assert.deepEqual(await broker().management.queues("%2F"), []);
      });
    }
  });
});
