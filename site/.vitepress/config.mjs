import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

// Required, because Vite would put what is imported into one file with this one.
const require = createRequire(import.meta.url);
const links = require("../../dist/site/src/links.js");
const { REPOSITORY, sitePages } = require("../../dist/site/src/pages.js");
const { sidebar } = require("../../dist/site/src/structure.js");

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const pages = sitePages(root);

/** The address of a page on the site, without its base. */
const linkTo = (page) => {
  const [path, anchor] = page.split("#");
  if (!pages.has(path)) throw new Error(`the sidebar names ${path}, which is no page`);
  return `/${pages.get(path).replace(/\.md$/, "")}${anchor === undefined ? "" : `#${anchor}`}`;
};

export default defineConfig({
  title: "rabbitmq-delay",
  description: "Delayed and retried messages on plain RabbitMQ, declared as code",
  lang: "en",
  base: process.env.DOCS_BASE ?? "/",
  // Made from docs/ and clients/ by site/src/write.ts.
  srcDir: "pages",
  outDir: join(root, ".local/docs"),
  cacheDir: join(root, ".local/docs-cache"),
  metaChunk: true,
  // On GitHub, headings have these anchors; links in pages have to work in both places.
  markdown: {
    anchor: { slugify: links.slugOf },
    config: (markdown) => {
      const fence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, index, ...others) => {
        const { info, content } = tokens[index];
        if (info.trim() !== "mermaid") return fence(tokens, index, ...others);
        return `<Diagram text="${encodeURIComponent(content)}" />`;
      };
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [
      { text: "Quick start", link: linkTo("docs/start.md") },
      { text: "Concept", link: linkTo("docs/concept.md") },
      { text: "Reference", link: linkTo("docs/config.md"), activeMatch: "/(config|command|reference)" },
    ],
    sidebar: sidebar.map(({ text, items }) => ({
      text,
      items: items.map((item) => ({ text: item.text, link: linkTo(item.page) })),
    })),
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    docFooter: { prev: "Before", next: "Next" },
  },
});
