/** Numeric comparison of dotted versions; parts that are no numbers count as 0. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [found, needed] = [version, oldest].map((text) => text.split(/[.+-]/).map((part) => Number(part) || 0));
  for (let index = 0; index < (needed as number[]).length; index++) {
    const difference = ((found as number[])[index] ?? 0) - ((needed as number[])[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
