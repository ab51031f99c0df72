import { strict as assert } from "node:assert";
import { mock } from "node:test";
import pino from "pino";
import type { DelayedMessageStore } from "@rabbitmq-delay/store";
import { SteadyClock } from "@rabbitmq-delay/store/testing";
import { LineLimit } from "../dist/service/lineLimit";
import { StoreMetrics } from "../dist/service/metrics";

describe("what a running store reports", () => {
  afterEach(() => mock.restoreAll());

  it("writes ten lines of a text in a minute, counts further ones at its end, and begins anew then", () => {
    const ends: { minute: () => void; afterMs: number }[] = [];
    mock.method(globalThis, "setTimeout", (minute: () => void, afterMs: number) => {
      ends.push({ minute, afterMs });
      return { unref: () => ends };
    });
    const told: unknown[] = [];
    const log = pino({ base: undefined }, { write: (line) => void told.push(JSON.parse(line)) });
    const lines = new LineLimit(log);
    const write = (count: number): void => {
      for (let index = 0; index < count; index++) lines.write("error", { index }, "refused");
    };
    write(25);
    lines.write("warn", {}, "another");
    assert.equal(told.length, 11);
    assert.deepEqual(
      ends.map(({ afterMs }) => afterMs),
      [60_000],
    );
    ends[0]?.minute();
    const summary = told.slice(11) as { count: number; text: string }[];
    assert.deepEqual(
      summary.map(({ count, text }) => ({ count, text })),
      [{ count: 15, text: "refused" }],
    );
    write(11);
    lines.flush();
    assert.equal(told.length, 23, "ten more, and the count of one");
  });

  it("counts pending messages that are no older than ten seconds", async () => {
    let nowMs = 0;
    mock.method(performance, "now", () => nowMs);
    let stored = 0;
    const store = { count: async () => ({ pending: stored, due: 0, failed: 0 }) } as unknown as DelayedMessageStore;
    const metrics = new StoreMetrics({ store, clock: new SteadyClock(), breakers: [], isConnected: () => true });
    const pending = async (): Promise<unknown> =>
      (await metrics.registry.getSingleMetric("rabbitmq_delay_store_pending")?.get())?.values[0]?.value;
    assert.equal(await pending(), 0);
    stored = 1;
    nowMs = 9999;
    assert.equal(await pending(), 0, "as of before");
    nowMs = 10_001;
    assert.equal(await pending(), 1);
  });
});
