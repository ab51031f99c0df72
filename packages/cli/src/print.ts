/** Prints names and values in two columns. */
export function printRows(rows: Record<string, unknown> | object): void {
  const entries = Object.entries(rows);
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) console.log(`${name.padEnd(width)}  ${String(value)}`);
}
