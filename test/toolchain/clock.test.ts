import { strict as assert } from "node:assert";
import { ClockWatch, assertNotEarly } from "../support/clock";

describe("a test's clock", () => {
  it("is set back by what neither a reading's length nor a dropped part of a millisecond explains", () => {
    const watch = new ClockWatch();
    const read = (fromMs: number, toMs: number, aheadMs: number, tookMs = 0.01): void => {
      for (let ms = fromMs; ms < toMs; ms += 0.37) watch.add(ms, Math.floor(ms + tookMs / 2 + aheadMs), ms + tookMs);
    };
    read(0, 100, 1000.25);
    read(100, 200, 1000.25, 40);
    assert.equal(watch.backBefore(Infinity), 0);
    read(200, 300, 1004.25);
    assert.equal(watch.backBefore(Infinity), 0, "set forward");
    read(300, 400, 998.25);
    read(400, 500, 993.25);
    const backMs = watch.backBefore(Infinity);
    assert.ok(backMs >= 11 && backMs <= 13, `${backMs} ms`);
    assert.equal(watch.backBefore(1290), 0, "what came before that is not excused by it");
    assert.ok(watch.backBefore(1350) >= 6 && watch.backBefore(1350) <= 7);
  });

  it("lets a message be early by the rounded part of a millisecond", () => {
    assertNotEarly("a", 1000, 1000);
    assertNotEarly("a", 999, 1000);
    assert.throws(() => assertNotEarly("a", 400, 1000), /^AssertionError.*: a came 600 ms early/);
    assert.throws(() => assertNotEarly("a", 1000, Number.NaN), /a came NaN ms early/);
  });
});
