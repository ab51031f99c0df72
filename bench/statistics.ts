/** Minimum, median and maximum of several repetitions. */
export interface Spread {
  minimum: number;
  median: number;
  maximum: number;
}

export function spreadOf(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return { minimum: at(0), median: at(Math.floor(sorted.length / 2)), maximum: at(sorted.length - 1) };
}

/** The value below which a share of all values lies. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Prints one line of a bench: what, minimum / median / maximum, unit. */
export function report(what: string, values: number[], unit: string, digits = 2): void {
  const { minimum, median, maximum } = spreadOf(values);
  const show = (value: number): string => value.toFixed(digits);
  console.log(`  ${what.padEnd(58)} ${show(minimum)} / ${show(median)} / ${show(maximum)} ${unit}`);
}
