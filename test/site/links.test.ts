import { strict as assert } from "node:assert";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anchorsOf, linksOf, slugOf } from "../../site/src/links";
import { REPOSITORY, deadLinks, pageText, sitePages } from "../../site/src/pages";
import { sidebar } from "../../site/src/structure";
import { root } from "../../toolchain/dist/paths";
import { temporaryFolder } from "../support/temporaryFolder";

describe("the pages of the documents", () => {
  const pages = sitePages(root);

  it("have no link that leads nowhere, neither to a file nor to a heading", () => {
    assert.deepEqual(deadLinks(root, [...pages.keys(), "README.md"]), []);
  });

  it("are all in the site's sidebar, each once, but for the home page and the sample reviews", () => {
    const listed = sidebar.flatMap(({ items }) => items.map(({ page }) => page)).filter((page) => !page.includes("#"));
    const expected = [...pages.keys()].filter((page) => !/^(site\/|docs\/reviews\/)/.test(page));
    assert.deepEqual([...listed].sort(), expected.sort());
  });

  it("lead, on the site, to pages of the site, and to the repository for anything else", () => {
    const text = pageText(root, "docs/languages.md", pages);
    assert.ok(text.includes("](./clients/python.md)"), "another page");
    assert.ok(text.includes(`](${REPOSITORY}/blob/main/examples/yaml/Pulumi.yaml)`), "a file");
    assert.ok(
      pageText(root, "docs/start.md", pages).includes(`](${REPOSITORY}/tree/main/examples/retries)`),
      "a folder",
    );
  });
});

describe("the check of links", () => {
  it("names a link to a file or to a heading that is not there", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "docs"));
    const write = (name: string, text: string): void => writeFileSync(join(folder, "docs", name), text);
    write(
      "a.md",
      "# A\n\n[b](b.md) [c](c.md) [x](b.md#x-y) [z](b.md#z) [own](#a) [none](#b) [far](https://example.com/#q)",
    );
    write("b.md", "# B\n\n## `X`, y?\n\n```md\n## z\n```");
    assert.deepEqual(deadLinks(folder, ["docs/a.md"]), [
      "docs/a.md: c.md leads to no file",
      "docs/a.md: b.md#z leads to no heading",
      "docs/a.md: #b leads to no heading",
    ]);
  });

  it("makes the anchors of headings as GitHub does", () => {
    assert.equal(slugOf("The broker's `consumer_timeout`"), "the-brokers-consumer_timeout");
    assert.equal(slugOf("Any delay: a gateway or a store behind it"), "any-delay-a-gateway-or-a-store-behind-it");
    const anchors = anchorsOf("# One [two](three.md)\n## Same\n## Same\n## `network.endpoints[]`\n");
    assert.deepEqual([...anchors], ["one-two", "same", "same-1", "networkendpoints"]);
  });

  it("takes code for no link, and a link whose text is code for one", () => {
    assert.deepEqual(linksOf("[`a`](b.md) `[c](d.md)` ![p](p.svg)\n```\n[e](f.md)\n```\n[g](h.md)"), [
      "b.md",
      "p.svg",
      "h.md",
    ]);
  });
});
