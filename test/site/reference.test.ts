import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { componentKinds } from "@rabbitmq-delay/topology/stack";
import { referencePages } from "../../site/src/reference/files";
import { root } from "../../toolchain/dist/paths";

describe("the reference of components, packages and the command", () => {
  let pages: Map<string, string>;

  before(async () => {
    pages = await referencePages(root);
  });

  const pageOf = (name: string): string => pages.get(`${root}/docs/reference/${name}.md`) as string;

  it("is current; make reference writes it anew", () => {
    for (const [path, text] of pages) assert.ok(readFileSync(path, "utf8") === text, `${path} is not current`);
  });

  it("has each component, and says of each argument what it means", () => {
    for (const name of Object.keys(componentKinds)) assert.ok(pageOf("components").includes(`\n## ${name}\n`), name);
    assert.match(
      pageOf("components"),
      /\| `preset` † \(needed\) +\| \[Preset\]\(#preset\) +\| Names and arguments of a vendor/,
    );
    assert.doesNotMatch(pageOf("components"), /^\| `\w+`.*\| +\|$/m);
  });

  it("has the names of each published package", () => {
    for (const name of ["createDelayPublisher", "holdFor", "consumeWithRetries", "openStore", "encodeDelay"])
      assert.match(pageOf("packages"), new RegExp(`^\\| \`${name}\\(\\w+.*\\)\` +\\| function +\\| \\w`, "m"), name);
  });

  it("has each verb with its options", () => {
    for (const heading of ["## review", "## store", "### store list", "### gateway run"])
      assert.ok(pageOf("command").includes(`\n${heading}\n`), heading);
    assert.match(pageOf("command"), /\| `--management <url>` +\| .*RABBITMQ_MANAGEMENT_URL/);
  });
});
