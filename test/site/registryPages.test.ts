import { strict as assert } from "node:assert";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { linksOf } from "../../site/src/links";
import { REPOSITORY, sitePages } from "../../site/src/pages";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";
import { releaseVersion } from "../../toolchain/dist/release/releaseVersion";
import { temporaryFolder } from "../support/temporaryFolder";

const PAGES = ["docs/_index.md", "docs/installation-configuration.md"];
const LANGUAGES = ["typescript", "python", "go", "csharp", "yaml"];

const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The two pages that Pulumi's registry takes from the project, in its form. */
describe("the pages for Pulumi's registry", () => {
  const index = read("docs/_index.md");
  const example = (language: string): string => {
    const pattern = `{{% choosable language ${language} %}}\n\n\`\`\`${language}\n([^]*?)\`\`\`\n\n{{% /choosable %}}`;
    const [, code = ""] = new RegExp(pattern).exec(index) ?? [];
    assert.ok(code !== "", language);
    return code;
  };

  it("say in their front matter what they are", () => {
    const { displayName } = JSON.parse(read("plugin/schema.json")) as { displayName: string };
    for (const page of PAGES) {
      const [, matter = ""] = /^---\n([^]*?)\n---\n/.exec(read(page)) ?? [];
      const { title, meta_desc: description, layout } = parse(matter) as Record<string, string>;
      assert.ok(title?.startsWith(displayName), page);
      assert.ok(description !== undefined && description.length > 50 && description.length < 160, page);
      assert.equal(layout, "package");
    }
  });

  it("have no link that only works in the project, and none into it that leads nowhere", () => {
    for (const page of PAGES) {
      const links = linksOf(read(page));
      assert.ok(links.length > 3);
      for (const link of links) {
        assert.match(link, /^https:\/\//, `${page}: ${link}`);
        const [, path] = new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/(.+)$`).exec(link) ?? [];
        if (path !== undefined) cpSync(join(root, path), join(temporaryFolder(), "found"), { recursive: true });
      }
    }
  });

  it("name the version that is released", () => {
    const named = [...read("docs/installation-configuration.md").matchAll(/\bv(\d+\.\d+\.\d+)\b/g)];
    assert.ok(named.length > 0);
    for (const [, version] of named) assert.equal(version, releaseVersion());
  });

  it("say of each SDK what a release publishes, as the page on languages does", () => {
    const page = read("docs/installation-configuration.md");
    const { name } = JSON.parse(read("sdk/nodejs/package.json")) as { name: string };
    const [, wheel = ""] = /^ *name = "(.+)"/m.exec(read("sdk/python/pyproject.toml")) ?? [];
    const [, module = ""] = /^module (.+)$/m.exec(read("sdk/go/rabbitmqdelay/go.mod")) ?? [];
    for (const install of [`npm install ${name}`, `pip install ${wheel.replaceAll("_", "-")}`, `go get ${module}`])
      assert.ok(page.includes(`\`${install}\``), install);
    assert.match(page, /^- C#: no package, /m);
    const text = read("docs/languages.md").replaceAll("\n", " ");
    assert.match(text, /A release publishes those for Python, Go and TypeScript .* and none for \.NET/);
    for (const either of [page.replaceAll("\n", " "), text])
      assert.match(either, /before it is released|Until the first release/);
  });

  it("are no pages of the site", () => {
    const pages = [...sitePages(root).keys()];
    for (const page of PAGES) assert.ok(!pages.includes(page), page);
  });

  it("have an example in each language; those in YAML and Python are what a release is tried out with", () => {
    const [, offered = ""] = /{{< chooser language "(.+)" >}}/.exec(index) ?? [];
    assert.deepEqual(offered.split(","), LANGUAGES);
    for (const language of LANGUAGES) assert.match(example(language), /DelayLevelTopology/);
    assert.equal(example("yaml"), read("toolchain/release/yaml/Pulumi.yaml"));
    assert.equal(example("python"), read("toolchain/release/python-sdk/__main__.py"));
  });

  it("have an example in TypeScript that the SDK's types allow", async () => {
    const folder = temporaryFolder();
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "@rabbitmq-delay"), { recursive: true });
    for (const name of ["@pulumi", "@types"]) symlinkSync(join(root, "node_modules", name), join(modules, name));
    cpSync(join(root, "sdk", "nodejs"), join(modules, "@rabbitmq-delay", "rabbitmq-delay"), { recursive: true });
    writeFileSync(join(folder, "index.ts"), example("typescript"));
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "commonjs", "--types", "node"];
    await run(join(root, "node_modules", ".bin", "tsc"), [...flags, "index.ts"], { cwd: folder });
  });

  it("have an example in Go that compiles with the SDK", async () => {
    const folder = temporaryFolder();
    const module = "github.com/rabbitmq-delay/rabbitmq-delay/sdk/go/rabbitmqdelay";
    cpSync(join(root, "examples", "go", "go.mod"), join(folder, "go.mod"));
    cpSync(join(root, "examples", "go", "go.sum"), join(folder, "go.sum"));
    await run("go", ["mod", "edit", `-replace=${module}=${join(root, "sdk", "go", "rabbitmqdelay")}`], { cwd: folder });
    writeFileSync(join(folder, "main.go"), example("go"));
    await run("go", ["build", "-o", "program", "."], { cwd: folder });
  });
});
