import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { componentKinds } from "@rabbitmq-delay/topology/stack";
import { PublishedPackage, publishedNames } from "../../site/src/reference/packagesPage";
import { root } from "../../toolchain/dist/paths";
import { checkTypes, folderWithModules } from "../support/typeCheck";

/** Packages whose functions and classes have an example each. */
const WITH_EXAMPLES = /^(pulumi-rabbitmq-delay|@rabbitmq-delay\/publish|@rabbitmq-delay\/store(\/service|\/gateway)?)$/;
/** The most lines of an example, with its imports. */
const MOST_LINES = 9;

describe("the examples of doc comments", () => {
  let packages: PublishedPackage[];

  before(() => {
    packages = publishedNames(root).filter(({ name }) => WITH_EXAMPLES.test(name));
  });

  it("are there, one for each component and each public function and class", () => {
    assert.equal(packages.length, 5);
    const wanted = packages.flatMap(({ name, exported }) =>
      exported.filter(({ kind }) => kind === "function" || kind === "class").map((one) => ({ ...one, package: name })),
    );
    const found = wanted.map(({ name }) => name);
    for (const name of Object.keys(componentKinds)) assert.ok(found.includes(name), name);
    const without = wanted.filter(({ examples }) => examples.length !== 1).map(({ name }) => name);
    assert.deepEqual(without, []);
    const foreign = wanted.filter((one) => !one.examples[0]?.includes(one.name)).map(({ name }) => name);
    assert.deepEqual(foreign, []);
  });

  it("compile in one program, as a user writes them", async () => {
    const folder = folderWithModules();
    for (const { name: from, exported } of packages)
      for (const { name, examples } of exported)
        for (const example of examples) {
          const [, code = ""] = /^```ts\n([^]*\n)```$/.exec(example) ?? [];
          const lines = code.split("\n").length - 1;
          assert.ok(lines > 0 && lines <= MOST_LINES, `${name}: ${lines} lines of TypeScript`);
          writeFileSync(join(folder, `${name}${from.replaceAll(/\W+/g, "-")}.mts`), code);
        }
    await checkTypes(folder);
  });
});
