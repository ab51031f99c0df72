import type { Suite, Test } from "mocha";
import { halvedFiles } from "./tiers";

/**
 * Leaves each test of an engine's file on one of its two brokers, if the tier says so: most of such a test is the engine's work, which is
 * the same on both. `make test` runs the first half, which has every test once, and `make test-clients` the other one. So both together run
 * every test on both brokers; a file that is run alone does, too.
 */
export function keepHalf(suites: readonly Suite[], half: string | undefined): void {
  const [first, second] = suites;
  if (half === undefined || first === undefined || second === undefined) return;
  if (!halvedFiles().some((file) => first.file?.endsWith(`/${file}`))) return;
  const [inFirst, inSecond] = [titlesIn(first), titlesIn(second)];
  const shared = inFirst.filter((title) => inSecond.includes(title));
  // Every other test, so that both brokers get about the same work. What only one broker can do is in the first half.
  const isKept = (title: string, broker: 0 | 1): boolean =>
    shared.includes(title) ? (shared.indexOf(title) % 2 === broker) === (half === "first") : half === "first";
  for (const broker of [0, 1] as const) filterTests(suites[broker] as Suite, (title) => isKept(title, broker));
}

/** The titles of all tests of a suite, below the broker's own. */
function titlesIn(suite: Suite, above = ""): string[] {
  return [
    ...suite.tests.map(({ title }) => `${above}${title}`),
    ...suite.suites.flatMap((inner) => titlesIn(inner, `${above}${inner.title} `)),
  ];
}

function filterTests(suite: Suite, isKept: (title: string) => boolean, above = ""): void {
  suite.tests = suite.tests.filter(({ title }: Test) => isKept(`${above}${title}`));
  for (const inner of suite.suites) filterTests(inner, isKept, `${above}${inner.title} `);
}
