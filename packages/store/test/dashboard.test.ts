import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DelayedMessageStore } from "@rabbitmq-delay/store";
import { SteadyClock } from "@rabbitmq-delay/store/testing";
import { StoreMetrics } from "../dist/service/metrics";

describe("the dashboard", () => {
  it("asks for nothing that a store doesn't measure", async () => {
    const store = { count: async () => ({ pending: 7, due: 1, failed: 0 }) } as unknown as DelayedMessageStore;
    const metrics = new StoreMetrics({ store, clock: new SteadyClock(), breakers: [], isConnected: () => true });
    const text = await metrics.registry.metrics();
    assert.match(text, /^rabbitmq_delay_store_pending 7$/m);
    const dashboard = readFileSync(join(__dirname, "..", "dashboards", "grafana.json"), "utf8");
    const asked = new Set(dashboard.match(/rabbitmq_delay_store_\w+/g));
    assert.ok(asked.size > 8);
    for (const name of asked) {
      const measured = name.replace(/_bucket$/, "");
      assert.match(text, new RegExp(`^# TYPE ${measured} `, "m"));
    }
  });

  it("a database that is away leaves its gauges without a value", async () => {
    const store = { count: () => Promise.reject(new Error("away")) } as unknown as DelayedMessageStore;
    const metrics = new StoreMetrics({ store, clock: new SteadyClock(), breakers: [], isConnected: () => false });
    const text = await metrics.registry.metrics();
    assert.match(text, /^rabbitmq_delay_store_pending Nan$/im);
    assert.match(text, /^rabbitmq_delay_store_broker_connected 0$/m);
  });
});
