import type { Trial } from "./trial";

const HEADINGS = ["artifact", "size", "install", "what was run"];

/** The table of a dry run, with a line for each artifact, and what went wrong below it. */
export function tableOf(trials: Trial[]): string {
  const rows = trials.map(({ file, bytes, seconds, what, failure }) => [
    file,
    bytes === undefined ? "–" : sizeOf(bytes),
    seconds === undefined ? "–" : `${seconds.toFixed(1)} s`,
    failure === undefined ? what : "FAILED, see below",
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] as string).length)),
  );
  const line = (cells: string[]): string =>
    cells
      // Numbers end at one column.
      .map((cell, column) =>
        column === 1 || column === 2 ? cell.padStart(widths[column] as number) : cell.padEnd(widths[column] as number),
      )
      .join("  ")
      .trimEnd();
  const failures = trials.filter(({ failure }) => failure !== undefined);
  return [
    line(HEADINGS),
    line(widths.map((width) => "-".repeat(width))),
    ...rows.map(line),
    ...failures.map(({ file, failure }) => `\n${file}: ${failure}`),
  ].join("\n");
}

function sizeOf(bytes: number): string {
  const kib = bytes / 1024;
  return kib < 1024 ? `${kib.toFixed(0)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}
