/** With more changes than this, or in more than half of its letters, a word is not the other one misspelled. */
const MOST_CHANGES = 3;

/** The word that takes the fewest changes of letters, or undefined where each takes too many. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const byDistance = words.map((other) => [distance(word.toLowerCase(), other.toLowerCase()), other] as const);
  const [changes, found] = byDistance.reduce((best, next) => (next[0] < best[0] ? next : best));
  return changes <= Math.min(MOST_CHANGES, word.length / 2) ? found : undefined;
}

/** Letters to add, leave out or change. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const changed = (row[column] as number) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] as number) + 1, (next[column] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
