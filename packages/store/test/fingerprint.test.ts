import { strict as assert } from "node:assert";
import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";
import { earlierDeliveriesOf } from "../dist/intake/fingerprint";

describe("how often a message was delivered before", () => {
  const of = (headers: Record<string, unknown>, version?: string, isRedelivered = true): number =>
    earlierDeliveriesOf({ isRedelivered, properties: { headers } } as unknown as OpenDelivery, version);

  it("is what the broker counts; a publisher's header of that name, which no table of receipts takes, stops nothing", () => {
    assert.equal(of({ "x-delivery-count": 3, "x-acquired-count": 5 }, "4.3.6"), 5);
    assert.equal(of({ "x-delivery-count": 3, "x-acquired-count": 5 }, "3.10.8"), 3, "3.10 does not count by it");
    assert.equal(of({ "x-delivery-count": 3 }, "4.3.6", false), 0);
    for (const count of [1.5, -1, 2 ** 31, 1e300, Number.NaN, "5", {}]) {
      assert.equal(of({ "x-delivery-count": count, "x-acquired-count": count }, "4.3.6"), 1, String(count));
    }
  });
});
