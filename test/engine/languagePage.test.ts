import { strict as assert } from "node:assert";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDelayPublisher, throughDeclared } from "@rabbitmq-delay/publish";
import { parseDelayNetwork, parseRetryIntervals } from "@rabbitmq-delay/topology";
import { findEngine } from "../../toolchain/dist/engine";
import { LanguageHost, findGoHost, findYamlHost } from "../../toolchain/dist/languageHosts";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { onEachBroker, ownTestBroker } from "../support/brokers";
import { codeBlocks } from "../support/codeBlocks";
import { openChannel } from "../support/connect";
import { findPythonWithSdk } from "../support/pythonSdk";
import { Receiver } from "../support/receive";
import { temporaryFolder } from "../support/temporaryFolder";

const quiet = (): void => undefined;

/** Returns the two programs of a language on its page: a network's stack, and a service's stack. */
function programsOf(label: string, language: string): [string, string] {
  const page = language === "typescript" ? "languages" : `stack-in-${language}`;
  const [network, service, ...others] = codeBlocks(`docs/${page}.md`, language);
  assert.ok(network !== undefined && service !== undefined && others.length === 0, label);
  return [network, service];
}

/** Language whose programs the test runs. */
interface Language {
  label: string;
  /** Name of the language in the page's code blocks. */
  language: string;
  runtime: string;
  /** File of the program in its folder. */
  file: string;
  findHost: () => Promise<LanguageHost>;
  /** Adds further files that a program needs to its folder. */
  complete?: (folder: string) => Promise<void> | void;
}

const languages: Language[] = [
  {
    label: "TypeScript",
    language: "typescript",
    runtime: "nodejs",
    file: "index.ts",
    findHost: async () => ({ folder: (await findEngine(quiet)).binFolder, variables: {} }),
    async complete(folder) {
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "program", main: "index.ts" }));
      cpSync(join(root, "examples", "typescript-sdk", "tsconfig.json"), join(folder, "tsconfig.json"));
      await run(join(root, "node_modules", ".bin", "tsc"), ["--project", folder, "--noEmit"], { cwd: folder });
    },
  },
  {
    label: "Python",
    language: "python",
    runtime: "python",
    file: "__main__.py",
    findHost: findPythonWithSdk,
  },
  {
    label: "Go",
    language: "go",
    runtime: "go",
    file: "main.go",
    findHost: () => findGoHost(quiet),
    complete(folder) {
      const example = join(root, "examples", "go");
      const module = readFileSync(join(example, "go.mod"), "utf8");
      writeFileSync(join(folder, "go.mod"), module.replace("../../sdk", join(root, "sdk")));
      cpSync(join(example, "go.sum"), join(folder, "go.sum"));
    },
  },
  { label: "YAML", language: "yaml", runtime: "yaml", file: "Pulumi.yaml", findHost: () => findYamlHost(quiet) },
];

describe("the programs of the page on languages", () => {
  onEachBroker((shared) => {
    for (const { label, language, runtime, file, findHost, complete } of languages) {
      it(`${label}: a service's stack joins the network by its text, and services publish with that text`, async () => {
        // The programs declare in the vhost /, which other tests use on the shared brokers.
        const broker = await ownTestBroker(shared().node.installation);
        const [engine, host] = [await findEngine(quiet), await findHost()];
        const [network, service] = programsOf(label, language);
        const folder = temporaryFolder();
        const env = {
          ...process.env,
          ...host.variables,
          PATH: `${engine.binFolder}:${host.folder}:${process.env.PATH}`,
          PULUMI_HOME: engine.home,
          PULUMI_BACKEND_URL: `file://${folder}`,
          PULUMI_CONFIG_PASSPHRASE: "dev",
          PULUMI_SKIP_UPDATE_CHECK: "true",
          // Types were checked when the program was completed.
          PULUMI_NODEJS_TRANSPILE_ONLY: "true",
        };
        const bringUp = async (project: string, code: string): Promise<string> => {
          const cwd = join(folder, project);
          mkdirSync(cwd);
          const plugin = { name: "rabbitmq-delay", path: join(root, "plugin") };
          writeFileSync(
            join(cwd, "Pulumi.yaml"),
            JSON.stringify({ name: project, runtime, plugins: { providers: [plugin] } }),
          );
          writeFileSync(join(cwd, file), code.replace("../../plugin", plugin.path));
          const settings = { endpoint: broker.node.managementUrl, username: "guest", password: "guest" };
          const config = Object.entries(settings).map(([key, value]) => [`rabbitmq:${key}`, value]);
          writeFileSync(join(cwd, "Pulumi.prod.yaml"), JSON.stringify({ config: Object.fromEntries(config) }));
          await complete?.(cwd);
          await run("pulumi", ["stack", "init", "prod"], { cwd, env });
          const printed = await run("pulumi", ["up", "--yes", "--skip-preview"], { cwd, env });
          assert.doesNotMatch(printed, /warning: rabbitmq-delay/);
          return cwd;
        };
        const cwd = await bringUp("delays", network);
        await bringUp("shipping", service);

        const output = async (name: string): Promise<string> =>
          (await run("pulumi", ["stack", "output", name], { cwd, env })).trim();
        const [delayNetwork, retryIntervals] = [await output("delayNetwork"), await output("retryIntervals")];
        assert.equal(parseDelayNetwork(delayNetwork).levels, 4);
        assert.deepEqual(parseRetryIntervals(retryIntervals).intervalsMs, [5000, 60_000]);
        assert.ok(throughDeclared(retryIntervals));
        const channel = await openChannel(broker, "%2F");
        const receiver = await Receiver.on(channel, ["Billing", "Shipping"]);
        const publisher = createDelayPublisher(channel, delayNetwork);
        for (const endpoint of ["Billing", "Shipping"]) await publisher.publish(endpoint, endpoint, { delayMs: 1000 });
        const arrived = await receiver.until(2);
        assert.deepEqual(arrived.map(({ message }) => message.content.toString()).sort(), ["Billing", "Shipping"]);
        const bindings = await broker.management.get<Record<string, string>[]>("bindings/%2F");
        assert.ok(bindings.some(({ source, destination }) => /return/.test(source ?? "") && destination === "Billing"));
      });
    }
  });

  it("C#: the programs use what the SDK has", () => {
    const sources = new Map<string, string>();
    const sourceOf = (name: string): string => {
      sources.set(name, sources.get(name) ?? readFileSync(join(root, "sdk", "dotnet", `${name}.cs`), "utf8"));
      return sources.get(name) as string;
    };
    const code = programsOf("C#", "csharp").join("\n");
    const components = [...code.matchAll(/new (\w+)\("\w+", new \1Args\s*\{([^]*?)\}\);/g)];
    assert.equal(components.length, 4);
    for (const [, name = "", given = ""] of components)
      for (const [, property = ""] of given.matchAll(/(\w+) = /g))
        assert.match(sourceOf(name), new RegExp(`> ?${property}\\b|\\? ${property}\\b| ${property} \\{`), property);
    for (const [, variable = "", output = ""] of code.matchAll(/= (delay|intervals)\.(\w+)/g))
      assert.match(
        sourceOf(variable === "delay" ? "DelayLevelTopology" : "RetryIntervalQueues"),
        new RegExp(`public Output<string> ${output} `),
      );
  });
});
