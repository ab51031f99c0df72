import { strict as assert } from "node:assert";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { run } from "../../toolchain/dist/run";

const BASE = "/rabbitmq-delay/";

/** The site as `make docs` writes it. */
describe("make docs", function () {
  const folder = join(root, ".local", "docs");
  let htmlFiles: string[];

  before(async () => {
    await run("make", ["docs"], { cwd: root, env: { ...process.env, DOCS_BASE: BASE } });
    htmlFiles = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));
  });

  const read = (name: string): string => readFileSync(join(folder, name), "utf8");

  /** The files and headings of the site that a page leads to, and the pictures that it shows. */
  function targetsOf(name: string): { file: string; anchor: string }[] {
    const found = [...read(name).matchAll(/<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g)].map(
      ([, target]) => target as string,
    );
    return found
      .filter((target) => !/^([a-z]+:|\/\/)/.test(target))
      .map((target) => {
        const [path = "", anchor = ""] = decodeURIComponent(target).split("#");
        assert.ok(
          path === "" || !path.startsWith("/") || path.startsWith(BASE),
          `${name}: ${target} is not below the base`,
        );
        const absolute = path.startsWith("/") ? path.slice(BASE.length) : posix.join(posix.dirname(name), path);
        const file =
          path === "" ? name : absolute === "" || absolute.endsWith("/") ? `${absolute}index.html` : absolute;
        return { file: posix.extname(file) === "" ? `${file}.html` : file, anchor };
      });
  }

  const hasAnchor = (file: string, anchor: string): boolean => read(file).includes(`id="${anchor}"`);

  it("writes pages whose links and pictures are all there, headings too", () => {
    assert.ok(htmlFiles.length > 30, htmlFiles.join());
    for (const name of htmlFiles) {
      for (const { file, anchor } of targetsOf(name)) {
        assert.ok(existsSync(join(folder, file)), `${name} leads to ${file}`);
        const isHeading = anchor !== "" && anchor !== "VPContent" && file.endsWith(".html");
        if (isHeading) assert.ok(hasAnchor(file, anchor), `${name} leads to ${file}#${anchor}`);
      }
    }
  });

  it("leads from the home page in two clicks to Python, and to what happens if a node dies", () => {
    const first = targetsOf("index.html");
    const second = first.flatMap(({ file }) => (file.endsWith(".html") ? targetsOf(file) : []));
    const reached = [...first, ...second];
    assert.ok(reached.some(({ file }) => file === "clients/python.html"));
    assert.match(read("clients/python.html"), /<h1 id="rabbitmq-delay-for-python"/);
    const failure = reached.find(({ anchor }) => anchor === "what-happens-on-failure");
    assert.ok(failure && /the broker restarts or is killed/.test(read(failure.file)));
  });

  it("has an index for the search on the site, with the pages of clients and the reference", () => {
    const chunks = join(folder, "assets", "chunks");
    const index = readdirSync(chunks).find((name) => name.startsWith("@localSearchIndex"));
    assert.ok(index, "no index");
    const text = readFileSync(join(chunks, index), "utf8");
    for (const page of ["clients/python", "reference/components", "concept", "performance"])
      assert.ok(text.includes(`${BASE}${page}`), page);
  });
});
