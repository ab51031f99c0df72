import { isChanged, isReadable } from "../preview/entityChange";
import type { Places } from "./ways";

/** With more patterns than this, `#` stands for none, one and very many words alone. */
const MOST_EXACT = 20;

/**
 * Returns routing keys by which messages take the ways that an update may change: keys that one binding takes, keys that two bindings take,
 * and a key that only `#` takes. `#` stands for any number of words up to one more than the longest pattern has, unless there are more patterns
 * than {@link MOST_EXACT}. Returns none if the update changes nothing along the ways.
 * @param places what messages may meet before the update, and after it
 */
export function sampleKeys({ bindings, changes }: Places): string[] {
  if (![...changes].some(isChanged)) return [];
  const direct = new Set<string>();
  const patterns = new Map<string, boolean>();
  for (const { pattern, type, leadsToChange } of bindings) {
    if (pattern !== "" && !isReadable(pattern)) continue;
    // A direct exchange takes wildcards for characters.
    if (type === "direct") direct.add(pattern);
    else patterns.set(pattern, patterns.get(pattern) === true || leadsToChange);
  }
  const all = [...patterns].map(([pattern, leadsToChange]) => ({
    // An empty key has no word.
    words: pattern === "" ? [] : pattern.split("."),
    leadsToChange,
  }));
  const most = Math.max(...all.map(({ words }) => words.length), 0) + 1;
  const known = new Set(all.flatMap(({ words }) => words));
  let other = "x";
  while (known.has(other) || direct.has(other)) other += "x";
  const keys = new Set(["", other, ...direct]);
  // The levels of a network have 56 patterns of up to 29 words, which would make 50,000 keys.
  const isExact = all.length <= MOST_EXACT;
  const each = Array.from({ length: most + 1 }, (_, count) => count);
  const add = (words: string[], counts: readonly number[]): void => {
    for (const count of words.includes("#") ? counts : [0]) {
      const filled = words.flatMap((word) => (word === "#" ? Array<string>(count).fill(other) : [word]));
      keys.add(filled.map((word) => (word === "*" ? other : word)).join("."));
    }
  };
  for (const { words } of all) add(words, isExact ? each : [0, 1, most]);
  const wild = all.filter(({ words }) => words.some(isWild));
  for (const [index, one] of wild.entries())
    for (const two of wild.slice(index + 1)) {
      const common = one.leadsToChange || two.leadsToChange ? commonWords(one.words, two.words) : undefined;
      if (common !== undefined) add(common, isExact ? each : [0, 1]);
    }
  return [...keys];
}

function isWild(word: string | undefined): boolean {
  return word === "*" || word === "#";
}

/** Returns words that two patterns take, with wildcards; undefined if no key matches both. */
function commonWords(one: string[], other: string[]): string[] | undefined {
  // Most patterns differ in their first or last word.
  for (const [a, b] of [[one[0], other[0]] as const, [one.at(-1), other.at(-1)] as const])
    if (a !== b && !isWild(a) && !isWild(b)) return undefined;
  const failed = new Set<number>();
  const from = (i: number, j: number): string[] | undefined => {
    if (i === one.length && j === other.length) return [];
    const id = i * (other.length + 1) + j;
    if (i > one.length || j > other.length || failed.has(id)) return undefined;
    const [a, b] = [one[i], other[j]];
    const after = (word: string | undefined, rest: string[] | undefined): string[] | undefined =>
      word === undefined || rest === undefined ? undefined : [word, ...rest];
    const found =
      (a === "#" && b === "#" ? after("#", from(i + 1, j + 1)) : undefined) ??
      (a === "#" ? (from(i + 1, j) ?? (b === "#" ? undefined : after(b, from(i, j + 1)))) : undefined) ??
      (b === "#" ? (from(i, j + 1) ?? (a === "#" ? undefined : after(a, from(i + 1, j)))) : undefined) ??
      (a === b || a === "*" ? after(b, from(i + 1, j + 1)) : undefined) ??
      (b === "*" ? after(a, from(i + 1, j + 1)) : undefined);
    if (found === undefined) failed.add(id);
    return found;
  };
  return from(0, 0);
}
