import { strict as assert } from "node:assert";
import { Random } from "./random";

describe("the gauntlet's random numbers", () => {
  it("follow from the seed alone, so that a seed repeats a round", () => {
    const draw = (seed: number): number[] => {
      const random = new Random(seed);
      return Array.from({ length: 50 }, () => random.whole(0, 1000));
    };
    assert.deepEqual(draw(7), draw(7));
    assert.notDeepEqual(draw(7), draw(8));
  });

  it("reach both ends, and never a weight of 0", () => {
    const random = new Random(1);
    const numbers = new Set(Array.from({ length: 500 }, () => random.whole(3, 5)));
    assert.deepEqual([...numbers].sort(), [3, 4, 5]);
    const drawn = new Set(Array.from({ length: 500 }, () => random.weighted({ a: 1, b: 0, c: 3 })));
    assert.deepEqual([...drawn].sort(), ["a", "c"]);
  });

  it("choose different ones, in their order", () => {
    const random = new Random(3);
    for (let index = 0; index < 100; index++) {
      const some = random.some([1, 2, 3, 4, 5], 3);
      assert.equal(new Set(some).size, 3);
      assert.deepEqual(some, [...some].sort());
    }
    assert.deepEqual(random.some([1, 2], 9), [1, 2]);
  });
});
