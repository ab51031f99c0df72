import { html } from "./escape";
import type { Finding } from "../judge/finding";
import { FindingGroup, Telling, groupChanges, groupFindings, isMessage, toTellings } from "./groups";
import { renderSvgPicture } from "./svgPicture";
import type { Review } from "../review";
import { countsLine, headlines } from "./wording";

const STYLE = `
:root { color-scheme: light dark; --page: #fbfcfe; --text: #14213d; --note: #55647d; --line: #dfe5ef; --card: #fff;
  --loss: #b3261e; --care: #9a6700; --safe: #1a7f4b; --nothing: #55647d; --unknown: #b3261e }
@media (prefers-color-scheme: dark) { :root { --page: #10151f; --text: #e8eefb; --note: #9dabc4; --line: #2a3447; --card: #171e2b;
  --loss: #ff8a80; --care: #f2c14e; --safe: #5fd39a; --nothing: #9dabc4; --unknown: #ff8a80 } }
* { box-sizing: border-box } body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.55 ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif }
main { max-width: 920px; margin: 0 auto; padding: 24px 16px 64px }
header { border-left: 6px solid var(--verdict); padding: 4px 0 4px 16px; margin-bottom: 24px }
h1 { margin: 0; font-size: 26px; color: var(--verdict) } h2 { font-size: 18px; margin: 28px 0 8px } h3 { font-size: 16px; margin: 0 0 6px }
p { margin: 4px 0 } .note { color: var(--note) }
section.card { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--mark); border-radius: 8px;
  padding: 14px 16px; margin: 12px 0 }
ul, ol { padding-left: 20px; margin: 8px 0 } li { margin: 3px 0; overflow-wrap: anywhere }
code { font: 13px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: color-mix(in srgb, var(--note) 14%, transparent);
  padding: 1px 5px; border-radius: 4px; overflow-wrap: anywhere; unicode-bidi: isolate }
summary { cursor: pointer; color: var(--note) } .found { font-weight: 600 } svg { max-width: 100%; height: auto; display: block }
.added { color: var(--safe) } .removed { color: var(--loss) } .changed { color: var(--care) }`;

const signs = { added: "+", removed: "−", changed: "~" } as const;

/** Renders the report as a self-contained page: nothing is loaded, nothing is cut. */
export function renderHtml(review: Review, stack: string): string {
  const { text } = headlines[review.verdict];
  const groups = groupFindings(review.findings);
  const open = groups.filter(({ accepted }) => accepted === undefined);
  const accepted = groups.filter((group) => group.accepted !== undefined);
  const notes = open.filter(({ severity }) => severity === "note");
  const picture = renderSvgPicture(review);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(text)}${stack === "" ? "" : ` · ${html(stack)}`}</title><style>${STYLE}</style></head>
<body style="--verdict: var(--${review.verdict})"><main>
<header><h1>${html(text)}</h1><p>${html(countsLine(review))}</p>${stack === "" ? "" : `<p class="note">Stack <code>${html(stack)}</code></p>`}</header>
${open
  .filter(({ severity }) => severity !== "note")
  .map(card)
  .join("\n")}
${changeList(review)}
${picture === "" ? "" : `<h2>Picture</h2>\n${picture}`}
${accepted.length === 0 ? "" : `<h2>Accepted</h2>\n${accepted.map(card).join("\n")}`}
${notes.length === 0 ? "" : `<h2>Worth knowing</h2>\n${notes.map(card).join("\n")}`}
</main></body></html>
`;
}

function card(group: FindingGroup): string {
  const { severity, subject, owner, predicate, consequence, details, findings, wayOut, accepted } = group;
  const colour = accepted !== undefined ? "safe" : severity === "note" ? "nothing" : severity;
  const heading = [html(subject), owner === undefined ? "" : `of <code>${html(owner)}</code>`, html(predicate)];
  const steps = wayOut.map((step) => `<li>${inline(step)}</li>`).join("");
  return `<section class="card" style="--mark: var(--${colour})"><h3>${heading.filter((part) => part !== "").join(" ")}</h3>
<p>${html([consequence, ...details].join(" "))}</p>
${accepted === undefined ? "" : `<p>Accepted because: <q>${html(accepted)}</q></p>`}
${fold(toTellings(findings).map(item))}
${severity === "note" ? "" : `<details><summary>The way out</summary><ol>${steps}</ol></details>`}</section>`;
}

function item({ findings, found }: Telling): string {
  const [{ rule, entity, causes }] = findings as [Finding];
  const [kind = ""] = entity.split(" ");
  const named = findings.map(
    (finding) => `<code>${html(finding.entity.slice(finding.entity.indexOf(" ") + 1))}</code>`,
  );
  const [first, rest] = [named.slice(0, 20), named.slice(20)];
  const more =
    rest.length === 0 ? "" : ` <details><summary>and ${rest.length} more</summary>${rest.join(" ")}</details>`;
  const subject = isMessage(rule) ? `<code>${html(entity)}</code>` : `${html(kind)} ${first.join(", ")}`;
  const why = causes.map(
    ({ property, before, after }) =>
      `<code>${html(property)}</code> <code>${html(before)}</code> → <code>${html(after)}</code>`,
  );
  const parts = [...why, ...(found === undefined ? [] : [`<span class="found">${html(found)}</span>`])];
  return `<li>${subject}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}${more}</li>`;
}

/** Shows the first items at once, and the rest on demand. */
function fold(items: string[]): string {
  const [first, rest] = [items.slice(0, 20), items.slice(20)];
  const more =
    rest.length === 0 ? "" : `<details><summary>and ${rest.length} more</summary><ul>${rest.join("")}</ul></details>`;
  return `<ul>${first.join("")}</ul>${more}`;
}

function changeList({ changes, counts }: Review): string {
  const lines = groupChanges(changes).map(({ mark, subject, names, predicate }) => {
    const shown = names.slice(0, 20).map((name) => `<code>${html(name)}</code>`);
    const rest = names.slice(20).map((name) => `<code>${html(name)}</code>`);
    const more =
      rest.length === 0 ? "" : ` <details><summary>and ${rest.length} more</summary>${rest.join(" ")}</details>`;
    const count = names.length === 1 ? "" : `${names.length} × `;
    return `<li><span class="${mark}">${signs[mark]}</span> ${count}${html(subject)} ${shown.join(" ")} ${html(predicate)}${more}</li>`;
  });
  const list = lines.length === 0 ? "" : `<h2>What changes</h2><ul>${lines.join("\n")}</ul>`;
  return `${list}<p class="note">${counts.unchanged} resources stay as they are.</p>`;
}

/** The rules' own sentences have code in backticks. */
function inline(text: string): string {
  return html(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}
