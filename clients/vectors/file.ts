import { makeVectors } from "./vectors";

/** The text of `clients/vectors.json`: each vector on a line of its own, so that a change of one shows as a change of one. */
export function vectorsText(): string {
  const parts = Object.entries(makeVectors()).map(([name, value]) => `${JSON.stringify(name)}:${lines(value)}`);
  return `{${parts.join(",\n")}}\n`;
}

function lines(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  return `[\n${value.map((item) => JSON.stringify(item)).join(",\n")}\n]`;
}
