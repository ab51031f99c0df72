import { markdownCode as code, markdownText as text } from "./escape";
import type { Finding } from "./findings";
import { FindingGroup, Telling, groupChanges, groupFindings, tellings } from "./groups";
import { renderMermaidPicture } from "./picture";
import type { Review } from "./review";
import { countsLine, headlines } from "./wording";

/** GitHub cuts comments at 65,536 characters, GitLab's are longer; what the tools around add has room. */
export const MOST_CHARACTERS = 60_000;
/** By which the one comment is found again. */
export const marker = (stack: string): string =>
  `<!-- rabbitmq-delay review of ${stack.replace(/[^A-Za-z0-9._/-]/g, "")} -->`;

const NAMES_SHOWN = 20;
const LINES_SHOWN = 100;
const signs = { added: "➕", removed: "➖", changed: "✏️" } as const;

/**
 * The report as a comment for a pull request. What has no room is cut from the end and counted; the verdict and each kind of
 * danger always have room, because only the names in them add up.
 */
export function renderMarkdown(review: Review, stack: string): string {
  const { sign, text: headline } = headlines[review.verdict];
  const head = [
    marker(stack),
    `## ${sign} ${headline}${stack === "" ? "" : `: stack ${code(stack)}`}`,
    "",
    `**${countsLine(review)}**`,
    "",
  ];
  const groups = groupFindings(review.findings);
  const [accepted, open] = [groups.filter(isAccepted), groups.filter((group) => !isAccepted(group))];
  const dangers = open.filter(({ severity }) => severity !== "note");
  const sections = [
    ...dangers.map((group) => groupLines(group, namesFor(dangers.length))),
    changeLines(review),
    [renderMermaidPicture(review)]
      .filter((picture) => picture !== "")
      .flatMap((picture) => ["```mermaid", picture, "```", ""]),
    accepted.length === 0 ? [] : ["### Accepted", "", ...accepted.flatMap((group) => groupLines(group, 5))],
    ...open.filter(({ severity }) => severity === "note").map((group) => groupLines(group, 5)),
  ];
  return fit(head, sections);
}

function isAccepted({ accepted }: FindingGroup): boolean {
  return accepted !== undefined;
}

/** With many kinds of danger, each shows fewer names. */
function namesFor(groups: number): number {
  return Math.max(3, Math.min(NAMES_SHOWN, Math.floor((NAMES_SHOWN * 5) / Math.max(1, groups))));
}

function groupLines(group: FindingGroup, names: number): string[] {
  const { severity, subject, owner, predicate, consequence, details, findings, wayOut, accepted } = group;
  const sign = accepted !== undefined ? "✅" : { loss: "🔴", care: "🟡", note: "ℹ️" }[severity];
  const heading = [subject, owner === undefined ? "" : `of ${code(owner)}`, predicate].filter((part) => part !== "");
  const shown = tellings(findings)
    .slice(0, names)
    .map((telling) => tellingLine(telling, names));
  const left = tellings(findings).length - shown.length;
  return [
    `### ${sign} ${heading.join(" ")}`,
    "",
    [consequence, ...details].join(" "),
    ...(accepted === undefined ? [] : ["", `Accepted because: ${code(accepted)}`]),
    "",
    ...shown,
    ...(left > 0 ? [`- and ${left} more`] : []),
    "",
    ...(severity === "note"
      ? []
      : ["<details><summary>The way out</summary>", "", ...wayOut.map((step) => `1. ${step}`), "", "</details>", ""]),
  ];
}

function tellingLine({ findings, found }: Telling, names: number): string {
  const [{ rule, entity, causes }] = findings as [Finding];
  const why = causes
    .slice(0, 5)
    .map(({ property, before, after }) => `${code(property)} ${code(before)} → ${code(after)}`);
  const parts = [
    ...why,
    ...(causes.length > 5 ? [`${causes.length - 5} more differences`] : []),
    ...(found === undefined ? [] : [`**${found}**`]),
  ];
  const subject = rule === "preview-failed" ? code(entity.slice(0, 2000)) : namesOf(findings, names);
  return `- ${subject}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}

/** `queue a, b, c and 4 more`. */
function namesOf(findings: Finding[], most: number): string {
  const [kind = ""] = findings[0]?.entity.split(" ") ?? [];
  const shown = findings.slice(0, most).map(({ entity }) => code(entity.slice(entity.indexOf(" ") + 1)));
  const left = findings.length - shown.length;
  return `${kind} ${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

function changeLines({ changes, counts }: Review): string[] {
  const groups = groupChanges(changes);
  const lines = groups.slice(0, LINES_SHOWN).map(({ mark, subject, names, predicate }) => {
    const shown = names.slice(0, NAMES_SHOWN).map(code).join(", ");
    const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : "";
    const what = names.length === 1 ? `${subject} ${shown}` : `${names.length} × ${subject} ${shown}${more}:`;
    return `- ${signs[mark]} ${subject.includes(":") ? what.replace(subject, code(subject)) : what} ${text(predicate)}`;
  });
  if (lines.length === 0) return [];
  const left = groups.length - lines.length;
  return [
    "### What changes",
    "",
    ...lines,
    ...(left > 0 ? [`- and ${left} more`] : []),
    "",
    `${counts.unchanged} resources stay as they are.`,
    "",
  ];
}

/** Whole sections first; one that has no room is left out line by line from its end. */
function fit(head: string[], sections: string[][]): string {
  const lines = [...head];
  let room = MOST_CHARACTERS - 200 - lengthOf(lines);
  let cut = 0;
  for (const section of sections) {
    if (lengthOf(section) <= room) {
      lines.push(...section);
      room -= lengthOf(section);
    } else cut += section.length;
  }
  if (cut > 0) lines.push(`*${cut} lines had no room here; \`rabbitmq-delay review --format html\` has all.*`);
  return `${lines.join("\n").trimEnd()}\n`;
}

function lengthOf(lines: string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}
