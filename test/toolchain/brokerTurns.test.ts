import { strict as assert } from "node:assert";
import { Suite, Test } from "mocha";
import { takeTurns } from "../support/brokerTurns";

describe("tests that take turns on two brokers", () => {
  /** Suites of two brokers; the newer one has a test more, and both have one below a further suite. */
  function suites(file: string): Suite[] {
    const root = new Suite("");
    return [
      ["a", "b", "c"],
      ["a", "new", "b", "c"],
    ].map((titles, index) => {
      const suite = Suite.create(root, `broker ${index}`);
      suite.file = `/somewhere/${file}`;
      for (const title of titles) suite.addTest(new Test(title));
      Suite.create(suite, "inner").addTest(new Test("a"));
      return suite;
    });
  }

  const titles = ({ tests, suites }: Suite): string[] => [
    ...tests.map(({ title }) => title),
    ...suites.flatMap((inner) => inner.tests.map(({ title }) => `inner ${title}`)),
  ];

  function kept(file: string, isOn: boolean): string[][] {
    const made = suites(file);
    takeTurns(made, isOn);
    return made.map(titles);
  }

  it("are each on one of them, or on the only one that has it", () => {
    assert.deepEqual(kept("test/engine/networks.test.ts", true), [
      ["a", "c"],
      ["new", "b", "inner a"],
    ]);
  });

  it("are on both where no tier says so, and in files whose tests depend on the broker", () => {
    const all = [
      ["a", "b", "c", "inner a"],
      ["a", "new", "b", "c", "inner a"],
    ];
    assert.deepEqual(kept("test/engine/networks.test.ts", false), all);
    assert.deepEqual(kept("test/brokers/delivery.test.ts", true), all);
  });
});
