/** The word in `1 queue` and `3 queues`. */
export function plural(word: string, count: number): string {
  if (count === 1) return word;
  return word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;
}
