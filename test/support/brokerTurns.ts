import type { Suite, Test } from "mocha";
import { takesTurns } from "./tiers";

/**
 * Leaves each test of most files on one of its two brokers, in `make test` and `make test-clients`: most of such a test is the work of the
 * engine, a client, the command, a store or a gateway, which is the same on both. A test that asks which broker it has stays on both, and
 * so does every test in `make nightly` and of `npx mocha FILE`.
 */
export function takeTurns(suites: readonly Suite[], isOn = process.env.RABBITMQ_DELAY_TEST_TURNS === "true"): void {
  const [first, second] = suites;
  if (!isOn || first === undefined || second === undefined || !takesTurns(first.file ?? "")) return;
  const inSecond = titlesIn(second);
  const shared = titlesIn(first).filter((title) => inSecond.includes(title));
  // Every other test, so that both brokers get about the same work. A test that only one broker has stays there.
  for (const [broker, suite] of [first, second].entries())
    filterTests(suite, (title) => !shared.includes(title) || shared.indexOf(title) % 2 === broker);
}

/** The titles of all tests of a suite that are the same on every broker, below the broker's own. */
function titlesIn(suite: Suite, above = ""): string[] {
  return [
    ...suite.tests.filter(isSameOnAll).map(({ title }) => `${above}${title}`),
    ...suite.suites.flatMap((inner) => titlesIn(inner, `${above}${inner.title}${BELOW}`)),
  ];
}

/** Separator of titles; no title contains it. */
const BELOW = "\0";

/** Whether a test runs on this broker, and does not ask which one it is, by the name that `onEachBroker` gives the answer. */
function isSameOnAll(test: Test): boolean {
  return !test.isPending() && !/\bisNewest\b/.test(String(test.fn));
}

function filterTests(suite: Suite, isKept: (title: string) => boolean, above = ""): void {
  suite.tests = suite.tests.filter(({ title }: Test) => isKept(`${above}${title}`));
  for (const inner of suite.suites) filterTests(inner, isKept, `${above}${inner.title}${BELOW}`);
}
