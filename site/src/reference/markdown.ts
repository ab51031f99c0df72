/** A table of Markdown; Prettier aligns it. */
export function tableOf(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Text of a doc comment or of a help as it may stand in a cell: in one line, and without what Markdown takes for columns, tags or links. */
export function inCell(text: string): string {
  const oneLine = text
    .replace(/\{@link (\S+?)\}/g, "`$1`")
    .replace(/\s+/g, " ")
    .trim();
  return outsideCode(oneLine.replaceAll("|", "\\|"), (part) =>
    part.replaceAll("<", "&lt;").replace(/\*(?=[\w.]*\.)/g, "\\*"),
  );
}

/** The first paragraph of a doc comment. */
export function firstParagraph(text: string): string {
  return text.split(/\n\s*\n/)[0] ?? "";
}

function outsideCode(text: string, change: (part: string) => string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("");
}
