import { markdownCode as code, markdownText as text } from "./escape";
import type { Finding } from "../judge/finding";
import { FindingGroup, Telling, groupChanges, groupFindings, isMessage, toTellings } from "./groups";
import { renderMermaidPicture } from "./picture";
import type { Review } from "../review";
import { countsLine, headlines } from "./wording";

/** GitHub cuts comments at 65,536 characters, and GitLab's limit is higher; the text that tools add around it has room. */
export const MOST_CHARACTERS = 60_000;
/** The mark by which the one comment is found again. */
export const marker = (stack: string, project = ""): string =>
  `<!-- rabbitmq-delay review of ${[project, stack]
    .map((name) => name.replace(/[^A-Za-z0-9._/-]/g, ""))
    .filter((name) => name !== "")
    .join("/")} -->`;

/** The marks of the same comment in reports of releases that did not name the project. */
export function olderMarker(mark: string): string | undefined {
  const [, stack] = /^(?:<!-- rabbitmq-delay review of )[^/]+\/(.*) -->$/.exec(mark) ?? [];
  return stack === undefined ? undefined : marker(stack);
}

const NAMES_SHOWN = 20;
const LINES_SHOWN = 100;
const LONGEST_REASON = 1000;
/** The least changes that a picture is drawn of. */
const LEAST_DRAWN = 3;
const signs = { added: "➕", removed: "➖", changed: "✏️" } as const;

/** Extent of what is told about each danger: the number of names of each kind, and whether the way out is included. */
interface Fullness {
  names: number;
  hasWayOut: boolean;
}
/** From everything to the headings alone, which always have room, because there are no more of them than rules. */
const FULLNESS: Fullness[] = [
  { names: NAMES_SHOWN, hasWayOut: true },
  { names: 8, hasWayOut: true },
  { names: 3, hasWayOut: true },
  { names: 1, hasWayOut: false },
  { names: 0, hasWayOut: false },
];
/** The room for dangers, so that some is left for the rest. */
const DANGERS_ROOM = 40_000;

/**
 * Renders the report as a comment for a pull request, with a mark by its project and its stack. The verdict and each kind of danger always have room: the names of dangers are cut
 * and counted, and later sections are cut at their end.
 */
export function renderMarkdown(review: Review, stack: string, project = ""): string {
  const { sign, text: headline } = headlines[review.verdict];
  const head = [
    marker(stack, project),
    `## ${sign} ${headline}${stack === "" ? "" : `: stack ${code(stack)}`}`,
    `**${countsLine(review)}**`,
    "",
  ];
  const groups = groupFindings(review.findings);
  const [accepted, open] = [groups.filter(isAccepted), groups.filter((group) => !isAccepted(group))];
  const dangers = open.filter(({ severity }) => severity !== "note");
  const notes = open.filter(({ severity }) => severity === "note");
  const few: Fullness = { names: 5, hasWayOut: false };
  return fit(
    [...head, ...tellFully(dangers)],
    [
      ...[...accepted, ...notes].map((group) => groupLines(group, few)),
      changeLines(review, groups.length > 0),
      pictureLines(review),
    ],
  );
}

/** The dangers, told as fully as there is room for. */
function tellFully(dangers: FindingGroup[]): string[] {
  const told = FULLNESS.map((fullness) => dangers.flatMap((group) => groupLines(group, fullness)));
  return told.find((lines) => lengthOf(lines) <= DANGERS_ROOM) ?? (told.at(-1) as string[]);
}

function isAccepted({ accepted }: FindingGroup): boolean {
  return accepted !== undefined;
}

function groupLines(group: FindingGroup, { names, hasWayOut }: Fullness): string[] {
  const { severity, subject, owner, predicate, consequence, details, findings, wayOut, accepted } = group;
  const sign = accepted !== undefined ? "✅" : { loss: "🔴", care: "🟡", note: "ℹ️" }[severity];
  const heading = [text(subject), owner === undefined ? "" : `of ${code(owner)}`, predicate].filter(
    (part) => part !== "",
  );
  const told = toTellings(findings);
  const shown = told.slice(0, names).map((telling) => tellingLine(telling, names));
  const left = findings.length - sum(told.slice(0, names).map((telling) => telling.findings.length));
  return [
    `- ${sign} **${heading.join(" ")}.** ${[consequence, ...details].join(" ")}`,
    ...shown,
    ...(left > 0 ? [`  - and ${left} more`] : []),
    ...(accepted === undefined ? [] : [`  - Accepted because: ${code(accepted.slice(0, LONGEST_REASON))}`]),
    ...(hasWayOut ? [`  - Way out: ${wayOut.join(" ")}`] : []),
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
    ...(found === undefined ? [] : [`**${text(found)}**`]),
  ];
  const subject = isMessage(rule) ? code(entity.slice(0, 2000)) : namesOf(findings, names);
  return `  - ${subject}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}

/** `queue a, b, c and 4 more`. */
function namesOf(findings: Finding[], most: number): string {
  const [kind = ""] = findings[0]?.entity.split(" ") ?? [];
  const shown = findings.slice(0, most).map(({ entity }) => code(entity.slice(entity.indexOf(" ") + 1)));
  const left = findings.length - shown.length;
  return `${text(kind)} ${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

/** @param isFollowing whether a list stands before the heading */
function changeLines({ changes }: Review, isFollowing: boolean): string[] {
  const groups = groupChanges(changes);
  const lines = groups.slice(0, LINES_SHOWN).map(({ mark, subject, names, predicate }) => {
    const shown = names.slice(0, NAMES_SHOWN).map(code).join(", ");
    const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : "";
    const kind = subject.includes(":") ? code(subject) : text(subject);
    const what = names.length === 1 ? `${kind} ${shown}` : `${names.length} × ${kind} ${shown}${more}:`;
    return `- ${signs[mark]} ${what} ${text(predicate)}`;
  });
  if (lines.length === 0) return [];
  const left = groups.length - lines.length;
  return [...(isFollowing ? [""] : []), "### What changes", ...lines, ...(left > 0 ? [`- and ${left} more`] : [])];
}

/** The picture, unless so little changes that the list says as much. */
function pictureLines(review: Review): string[] {
  return review.changes.length < LEAST_DRAWN ? [] : ["", "```mermaid", renderMermaidPicture(review), "```"];
}

/** Takes whole sections first; one that has no room is shortened line by line from its end. */
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
  if (cut > 0) lines.push("", `*${cut} lines had no room here; \`rabbitmq-delay review --format html\` has all.*`);
  return `${lines.join("\n").trimEnd()}\n`;
}

function lengthOf(lines: string[]): number {
  return sum(lines.map((line) => line.length + 1));
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
