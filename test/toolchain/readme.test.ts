import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";

const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Names of endpoints in a stack's config, or in a part of one. */
const endpointsOf = (yaml: string): string[] =>
  [...yaml.matchAll(/^ +- name: (\S+)/gm)].map(([, name]) => name as string);

// Readers follow these pages word for word: the first sample once parked a message, and its endpoint was taken from another stack.
describe("README and the guide for starting", () => {
  const readme = `${read("README.md")}\n${read("docs/start.md")}`;
  const own = endpointsOf(read("Pulumi.dev.yaml"));

  it("publish, in their first samples, to an endpoint that their program or make up declares", () => {
    const destinationIn = (page: string): string => /publisher\.publish\("([^"]+)"/.exec(read(page))?.[1] ?? "";
    assert.ok(read("README.md").includes(`endpoint: "${destinationIn("README.md")}"`));
    assert.ok(own.includes(destinationIn("docs/start.md")), destinationIn("docs/start.md"));
  });

  it("adds an endpoint that no stack of the guides has", () => {
    const section = readme.slice(readme.indexOf("## Add an endpoint"));
    const added = endpointsOf(/```yaml\n([^]*?)```/.exec(section)?.[1] as string).filter((name) => !own.includes(name));
    assert.equal(added.length, 1);
    for (const guide of ["docs/services.md", "docs/environments.md", "docs/languages.md"])
      assert.ok(!read(guide).includes(added[0] as string), guide);
  });

  it("names the stack that each command is about, since a new stack is selected at once", () => {
    const commands = [...readme.matchAll(/^(?:[^`\n]*&& )?(pulumi (?:preview|up|config|stack init)[^#\n]*)/gm)];
    assert.ok(commands.length >= 4);
    for (const [, command] of commands) assert.match(command as string, / -s \w|--no-select/);
  });
});
