import { strict as assert } from "node:assert";
import { Suite, Test } from "mocha";
import { keepHalf } from "../support/halves";
import { halvedFiles } from "../support/tiers";

describe("the engine's tests, divided between two tiers", () => {
  const [file] = halvedFiles();

  /** Suites of two brokers; the newer one has a test more, and both have one below a further suite. */
  function suites(name = file): Suite[] {
    const root = new Suite("");
    return [
      ["a", "b", "c"],
      ["a", "new", "b", "c"],
    ].map((titles, index) => {
      const suite = Suite.create(root, `broker ${index}`);
      suite.file = `/somewhere/${name}`;
      for (const title of titles) suite.addTest(new Test(title));
      Suite.create(suite, "inner").addTest(new Test("a"));
      return suite;
    });
  }

  const titles = ({ tests, suites }: Suite): string[] => [
    ...tests.map(({ title }) => title),
    ...suites.flatMap((inner) => inner.tests.map(({ title }) => `inner ${title}`)),
  ];

  function kept(half: string | undefined, name?: string): string[][] {
    const made = suites(name);
    keepHalf(made, half);
    return made.map(titles);
  }

  it("are each in the first half once, and in both halves on both brokers", () => {
    const first = kept("first");
    const second = kept("second");
    assert.deepEqual(first, [
      ["a", "c"],
      ["new", "b", "inner a"],
    ]);
    assert.deepEqual(second, [
      ["b", "inner a"],
      ["a", "c"],
    ]);
  });

  it("are all kept where no tier runs them, and in a file that is not the engine's", () => {
    const all = [
      ["a", "b", "c", "inner a"],
      ["a", "new", "b", "c", "inner a"],
    ];
    assert.deepEqual(kept(undefined), all);
    assert.deepEqual(kept("first", "test/brokers/delivery.test.ts"), all);
  });
});
