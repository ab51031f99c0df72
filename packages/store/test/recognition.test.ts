import { strict as assert } from "node:assert";
import { TakenMessage, delayedMessage } from "@rabbitmq-delay/store";
import { Receipt, recognize } from "../src/sql/receipts";
import { sortOut } from "../src/sql/lots";

/** Messages that a broker delivers, each the `earlierDeliveries`-th time. */
function taken(fingerprint: string, ...earlierDeliveries: number[]): TakenMessage[] {
  const message = delayedMessage({ routingKey: "work", body: "tick", delayMs: 1000 });
  return earlierDeliveries.map((times) => ({ message, fingerprint, earlierDeliveries: times }));
}

// A stream of equal messages lost up to fifty of them at a cut of the store's connection: messages that were in hand and not stored came
// back, and were taken for others, whose acknowledgements the broker had.
describe("messages that come back", () => {
  const lot = (...fingerprints: string[]): { lot: string; fingerprints: string[] } => ({ lot: "a", fingerprints });

  it("with an id are known where they are equal to no other", () => {
    const { known, unknown, left } = sortOut([...taken("a", 1), ...taken("b", 1), ...taken("c", 0)], [lot("a", "c")]);
    assert.deepEqual([known.length, unknown.length], [1, 2]);
    assert.deepEqual(left, [lot("c")]);
  });

  it("with an id are stored once more where equal ones were stored, or come, too", () => {
    for (const [returned, stored] of [
      [taken("a", 1), [lot("a"), { ...lot("a"), lot: "b" }]],
      [taken("a", 1, 1), [lot("a")]],
    ] as const)
      assert.equal(sortOut(returned, stored).known.length, 0);
    assert.equal(sortOut(taken("a", 1, 0), [lot("a")]).known.length, 1);
  });

  it("without an id are stored where another number comes than was stored", () => {
    const receipts = (many: number): Receipt[] =>
      Array.from({ length: many }, (_, index) => ({
        messageId: `${index}`,
        fingerprint: "a",
        earlierDeliveries: 0,
        begun: 1,
        ageMs: 10,
        isEnded: true,
      }));
    const knownOf = (returned: TakenMessage[], many: number): number =>
      recognize(returned, receipts(many), true).known.length;
    assert.equal(knownOf(taken("a", 1, 1), 2), 2);
    assert.equal(knownOf(taken("a", 1), 1), 1);
    assert.equal(knownOf(taken("a", 1), 2), 0);
    assert.equal(knownOf(taken("a", 1, 1, 1), 2), 0);
    // Those that come for the first time are no part of it.
    assert.equal(knownOf(taken("a", 1, 1, 0, 0), 2), 2);
  });
});
