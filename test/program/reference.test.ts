import { strict as assert } from "node:assert";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { configProperties } from "../../program/reference/editorSchema";
import { referenceFiles } from "../../program/reference/files";
import { root } from "../../toolchain/dist/paths";
import { YamlEditor } from "../support/yamlEditor";

const read = (name: string): string => readFileSync(join(root, name), "utf8");

describe("the reference of a stack's config", () => {
  it("is current; make reference writes it anew", async () => {
    for (const [path, text] of await referenceFiles(root)) assert.equal(readFileSync(path, "utf8"), text, path);
  });

  it("and Pulumi.yaml have the same keys with the same meaning, but for those that have no default", () => {
    const { config } = parse(read("Pulumi.yaml")) as { config: Record<string, { description: string }> };
    const properties = Object.entries(configProperties()).filter(([key]) => !/Password$|^current$/.test(key));
    const meanings = (entries: [string, { description?: string }][]): Record<string, string | undefined> =>
      Object.fromEntries(entries.map(([key, { description }]) => [key.replace("rabbitmq-delay:", ""), description]));
    assert.deepEqual(meanings(Object.entries(config)), meanings(properties));
  });
});

describe("an editor with a YAML language server", function () {
  let editor: YamlEditor;

  before(async () => {
    editor = await YamlEditor.start(root);
  });
  after(() => editor.stop());

  it("has nothing to say against the stacks of this project", async () => {
    const stacks = readdirSync(root).filter((name) => /^Pulumi\..+\.yaml$/.test(name));
    assert.ok(stacks.length >= 3);
    for (const name of stacks) assert.deepEqual(await editor.problems(read(name)), [], name);
  });

  it("underlines what the program would refuse, and nothing that it takes", async () => {
    const of = (lines: string): Promise<string[]> => editor.problems(`config:\n${lines}`);
    const network = "  rabbitmq-delay:network:\n    preset: celery\n";
    assert.deepEqual(await of(`${network}  rabbitmq-delay:production: "true"\n  aws:region: eu-central-1\n`), []);
    assert.deepEqual(await of(`${network}  rabbitmq-delay:brokerPassword:\n    secure: v1:abc\n`), []);
    const cluster = "  rabbitmq-delay:cluster:\n    namespace: a\n    storage: { className: fast }\n";
    assert.deepEqual(await of(`${network}${cluster}    erlangCookie: { secure: v1:abc }\n`), []);
    for (const [lines, message] of [
      ["  rabbitmq-delay:endpoint: []\n", /endpoint is not allowed/],
      ["  rabbitmq-delay:network:\n    preset: rabbit\n", /Value is not accepted.*nservicebus/s],
      ["  rabbitmq-delay:network:\n    preset: custom\n    radix: 3\n", /Value is not accepted.*16/s],
      ["  rabbitmq-delay:workQueues:\n    - delays: [5s]\n", /Missing property "queue"/],
      ["  rabbitmq-delay:holdQueues:\n    delay: [5s]\n", /Property delay is not allowed/],
      [
        "  rabbitmq-delay:cluster:\n    namespace: a\n    storage: { className: fast }\n    tsl: {}\n",
        /tsl is not allowed/,
      ],
      ["  rabbitmq-delay:cluster:\n    namespace: a\n", /Missing property "storage"/],
      ["  rabbitmq-delay:delayedStore:\n    deployment: { replica: 2 }\n", /replica is not allowed/],
      ["  rabbitmq-delay:allow: [everything]\n", /everything|single-node|with/],
    ] as const) {
      assert.match((await of(lines)).join("\n"), message, lines);
    }
  });

  it("completes keys, properties and values, each with its meaning", async () => {
    const offered = async (text: string): Promise<string[]> => editor.completions(text);
    const keys = await offered("config:\n  rabb");
    assert.ok(keys.includes("rabbitmq-delay:network"), keys.join());
    const properties = await offered("config:\n  rabbitmq-delay:workQueues:\n    - queue: work\n      ma");
    assert.ok(properties.includes("maxRetries"), properties.join());
    const parts = await offered("config:\n  rabbitmq-delay:cluster:\n    namespace: a\n    mem");
    assert.ok(parts.includes("memoryMiB"), parts.join());
    const presets = await offered("config:\n  rabbitmq-delay:network:\n    preset: ");
    assert.deepEqual(presets.sort(), ["celery", "custom", "nservicebus", "nservicebus-v1"]);
  });
});
