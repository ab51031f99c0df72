import { strict as assert } from "node:assert";
import { ClockWatch, assertNotEarly } from "../support/clock";

describe("a test's clock", () => {
  it("is set by what neither a reading's length nor a dropped part of a millisecond explains", () => {
    const watch = new ClockWatch();
    const read = (fromMs: number, toMs: number, aheadMs: number, tookMs = 0.01): void => {
      for (let ms = fromMs; ms < toMs; ms += 0.37) watch.add(ms, Math.floor(ms + tookMs / 2 + aheadMs), ms + tookMs);
    };
    const isAbout = (foundMs: number, setMs: number): boolean => foundMs >= setMs && foundMs <= setMs + 1;
    read(0, 100, 1000.25);
    read(100, 200, 1000.25, 40);
    assert.deepEqual([watch.forwardMs, watch.backMs], [0, 0]);
    read(200, 300, 1004.25);
    assert.ok(isAbout(watch.forwardMs, 4) && watch.backMs === 0, `${watch.forwardMs} ms, ${watch.backMs} ms`);
    read(300, 400, 998.25);
    assert.ok(isAbout(watch.forwardMs, 4) && isAbout(watch.backMs, 6), `${watch.forwardMs} ms, ${watch.backMs} ms`);
  });

  it("that is set back excuses as much, and one that is set forward a hundredth of the test", () => {
    const watch = new ClockWatch();
    watch.backMs = 15;
    assert.equal(watch.excusedMs(1000), 15);
    watch.forwardMs = 3000;
    assert.equal(watch.excusedMs(1000), 25);
    watch.forwardMs = 5;
    assert.equal(watch.excusedMs(10_000), 20);
  });

  it("lets a message be early by the rounded part of a millisecond", () => {
    assertNotEarly("a", 1000, 1000);
    assertNotEarly("a", 999, 1000);
    assert.throws(() => assertNotEarly("a", 400, 1000), /^AssertionError.*: a came 600 ms early/);
    assert.throws(() => assertNotEarly("a", 1000, Number.NaN), /a came NaN ms early/);
  });
});
