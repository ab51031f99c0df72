import { strict as assert } from "node:assert";
import { delayGateway, delayNetwork } from "@rabbitmq-delay/topology";
import type { NewDelayedMessage } from "@rabbitmq-delay/store";
import { afterThisTest } from "../../../test/support/cleanup";
import { BatchPublisher, NetworkEntry, SteadyClock, unwrap } from "@rabbitmq-delay/store/testing";

const network = delayNetwork({ preset: "custom", prefix: "fine", radix: 4, levels: 6, unitMs: 10 });
const gateway = delayGateway({ network, forwards: [{ exchange: "shop", delivery: "shop.delivery" }] });
const DELAY_MS = 300;

describe("a gateway's entry into its network", () => {
  // A batch that takes more than a quarter of a second, as on a busy machine, had its messages wait for what was left of their delays: they
  // took several ways through the network, and came back mixed.
  it("lets a message wait for the delay that it asks for at its first try, however long its batch took, and for what is left then", async () => {
    let nowMs = Date.parse("2030-01-01T00:00:00Z");
    const clock = new SteadyClock(
      () => nowMs,
      () => nowMs,
    );
    const waits: number[] = [];
    const publisher = {
      publishAll: (copies: NewDelayedMessage[]) => {
        waits.push(...copies.map((copy) => unwrap({ ...copy, exchange: "", routingKey: "" }).waitMs));
        return Promise.reject(new Error("it takes nothing"));
      },
      answerTo: () => undefined,
    } as unknown as BatchPublisher;
    const { signal } = new AbortController();
    const entry = new NetworkEntry({ publisher, clock, gateway, confirmTimeoutMs: 1000, signal });
    const sample = (id: string): NewDelayedMessage => ({
      messageId: id,
      exchange: "shop.delivery",
      routingKey: "work",
      body: Buffer.from(id),
      dueAt: new Date(nowMs + DELAY_MS),
      properties: { headers: { "x-delay": -DELAY_MS } },
    });
    const [read, other] = [sample("read by an intake"), sample("another one")];
    entry.noteRead(read, nowMs);
    nowMs += 260;
    for (let tries = 0; tries < 2; tries++) await assert.rejects(entry.storeAll([read, other]), /takes nothing/);
    assert.deepEqual(waits, [DELAY_MS, 40, 40, 40]);
    // The part of a batch before it was tried for so long that nothing is left of the delay.
    const late = sample("late");
    entry.noteRead(late, nowMs);
    const passed = performance.now() + 6000;
    const { now } = performance;
    performance.now = () => passed;
    afterThisTest(() => void (performance.now = now));
    nowMs += 6000;
    await assert.rejects(entry.storeAll([late]), /takes nothing/);
    assert.equal(waits.at(-1), 0);
  });
});
