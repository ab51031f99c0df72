/** A link or a picture in Markdown, outside code. */
const LINK = /(\]\()([^()\s]+(?:\([^()\s]*\)[^()\s]*)?)(\)| ")/g;
const FENCE = /^\s*(`{3,}|~{3,})/;

/** Changes the targets of all links and pictures of a text in Markdown; what stands in code stays as it is. */
export function mapLinks(text: string, change: (target: string) => string): string {
  return mapProse(text, (line) =>
    outsideCode(line, (part) =>
      part.replace(LINK, (_, start: string, target: string, end: string) => `${start}${change(target)}${end}`),
    ),
  );
}

/** The targets of all links and pictures of a text in Markdown. */
export function linksOf(text: string): string[] {
  const targets: string[] = [];
  mapLinks(text, (target) => {
    targets.push(target);
    return target;
  });
  return targets;
}

/** The anchors of a page: one for each heading, as GitHub makes them; the site makes the same. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  mapProse(text, (line) => {
    const [, heading] = /^#{1,6} +(.+?)\s*$/.exec(line) ?? [];
    if (heading !== undefined) anchors.add(nextFree(slugOf(plainText(heading)), anchors));
    return line;
  });
  return anchors;
}

/** The anchor of a heading, as GitHub makes it. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

function plainText(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]+>/g, "")
    .replace(/[`*]/g, "");
}

function nextFree(slug: string, taken: Set<string>): string {
  if (!taken.has(slug)) return slug;
  let number = 1;
  while (taken.has(`${slug}-${number}`)) number++;
  return `${slug}-${number}`;
}

/** Changes the lines that are in no block of code. */
function mapProse(text: string, change: (line: string) => string): string {
  let fence: string | undefined;
  return text
    .split("\n")
    .map((line) => {
      const [, mark] = FENCE.exec(line) ?? [];
      if (fence !== undefined) {
        if (mark?.startsWith(fence)) fence = undefined;
        return line;
      }
      fence = mark;
      return mark === undefined ? change(line) : line;
    })
    .join("\n");
}

function outsideCode(line: string, change: (part: string) => string): string {
  // A link's text may be code, so the spans are taken out first and put back afterwards.
  const spans: string[] = [];
  const bare = line.replace(/(`+)(?!`).*?[^`]\1(?!`)/g, (span) => `\0${spans.push(span) - 1}\0`);
  return change(bare).replace(/\0(\d+)\0/g, (_, index: string) => spans[Number(index)] as string);
}
