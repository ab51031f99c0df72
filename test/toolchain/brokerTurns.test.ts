import { strict as assert } from "node:assert";
import { Suite, Test } from "mocha";
import { takeTurns } from "../support/brokerTurns";

describe("tests that take turns on two brokers", () => {
  /**
   * Suites of two brokers; the newer one has a test more, the older one skips one, both have one that asks which broker it has, and one below
   * a further suite.
   */
  function suites(file: string): Suite[] {
    const root = new Suite("");
    return [
      ["a", "b", "c"],
      ["a", "new", "b", "c"],
    ].map((titles, index) => {
      const suite = Suite.create(root, `broker ${index}`);
      suite.file = `/somewhere/${file}`;
      for (const title of titles) suite.addTest(new Test(title, () => undefined));
      suite.addTest(index === 0 ? new Test("skipped") : new Test("skipped", () => undefined));
      const isNewest = index === 1;
      suite.addTest(new Test("asks", () => void isNewest));
      Suite.create(suite, "inner").addTest(new Test("a", () => undefined));
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

  it("are each on one of them, or on the only one that has it; on both if they ask which one it is", () => {
    assert.deepEqual(kept("test/engine/networks.test.ts", true), [
      ["a", "c", "skipped", "asks"],
      ["new", "b", "skipped", "asks", "inner a"],
    ]);
  });

  it("are on both where no tier says so, and in files whose tests depend on the broker", () => {
    const all = [
      ["a", "b", "c", "skipped", "asks", "inner a"],
      ["a", "new", "b", "c", "skipped", "asks", "inner a"],
    ];
    assert.deepEqual(kept("test/engine/networks.test.ts", false), all);
    assert.deepEqual(kept("test/brokers/delivery.test.ts", true), all);
  });
});
