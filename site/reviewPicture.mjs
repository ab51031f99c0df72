// Draws docs/review.png: the beginning of a sample review as GitHub shows it, in Chromium.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { URL, fileURLToPath } from "node:url";
import { createMarkdownRenderer } from "vitepress";

const root = fileURLToPath(new URL("..", import.meta.url));
const [WIDTH, HEIGHT] = [860, 260];
const STYLE = `
  body { font: 14px/1.5 "Liberation Sans", sans-serif; color: #1f2328; margin: 16px 24px; width: ${WIDTH - 48}px; }
  h2 { font-size: 21px; border-bottom: 1px solid #d1d9e0; padding-bottom: 6px; margin: 4px 0 14px; }
  h3 { font-size: 17px; margin: 20px 0 10px; }
  p, ul, ol { margin: 0 0 12px; } ul, ol { padding-left: 26px; }
  code { font: 12px "Liberation Mono", monospace; background: #eff1f3; border-radius: 6px; padding: 2px 5px; }
  .header-anchor { display: none; }`;

const sample = readFileSync(join(root, "docs", "reviews", "loss.md"), "utf8");
// The first finding with its names and its way out.
const [head, first] = sample.split(/^- /m);
const text = `${head}- ${first}`;
const renderer = await createMarkdownRenderer(root);
const folder = mkdtempSync(join(tmpdir(), "review-"));
const page = join(folder, "review.html");
writeFileSync(page, `<!doctype html><meta charset="utf-8"><style>${STYLE}</style>${renderer.render(text)}`);
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"];
const picture = [`--window-size=${WIDTH},${HEIGHT}`, "--force-device-scale-factor=2"];
execFileSync("chromium", [...flags, ...picture, `--screenshot=${join(root, "docs", "review.png")}`, `file://${page}`], {
  stdio: "ignore",
  timeout: 60_000,
});
rmSync(folder, { recursive: true });
