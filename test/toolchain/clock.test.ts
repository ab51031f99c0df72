import { strict as assert } from "node:assert";
import { ClockWatch, assertNotEarly } from "../support/clock";

describe("a test's clock", () => {
  it("is set by what no reading's length and no dropped part of a millisecond explains", () => {
    const watch = new ClockWatch();
    const read = (monotonicMs: number, aheadMs: number, tookMs = 0.01): void =>
      watch.add(monotonicMs, Math.floor(monotonicMs + tookMs / 2 + aheadMs), monotonicMs + tookMs);
    assert.equal(watch.setMs, 0);
    for (let ms = 0; ms < 100; ms += 0.37) read(ms, 1000.25);
    for (let ms = 100; ms < 200; ms += 7) read(ms, 1000.25, 40);
    assert.equal(watch.setMs, 0);
    for (let ms = 200; ms < 300; ms += 0.37) read(ms, 1004.25);
    assert.ok(watch.setMs > 3.9 && watch.setMs <= 4, `${watch.setMs} ms`);
    for (let ms = 300; ms < 400; ms += 0.37) read(ms, 998.25);
    assert.ok(watch.setMs > 5.9 && watch.setMs <= 6, `${watch.setMs} ms`);
  });

  it("lets a message be early by the rounded part of a millisecond", () => {
    assertNotEarly("a", 1000, 1000);
    assertNotEarly("a", 999, 1000);
    assert.throws(
      () => assertNotEarly("a", 400, 1000),
      /^AssertionError.*: a came 600 ms early; the clock was set by [\d.]+ ms/,
    );
    assert.throws(() => assertNotEarly("a", 1000, Number.NaN), /a came NaN ms early/);
  });
});
