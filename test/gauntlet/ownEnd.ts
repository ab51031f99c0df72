/** Why a process ended by itself, of what it said last: Node says the error after the line of code that threw it. */
export function ownEnd(code: number, said: string): string {
  const lines = said.split("\n").filter((line) => line.trim() !== "");
  const at = Math.max(
    0,
    lines.findIndex((line) => /^\[?\w*Error\b/.test(line)),
  );
  return `its process ended with ${code}: ${lines.slice(at, at + 4).join(" ")}`;
}
