import { strict as assert } from "node:assert";
import { deadlineHeader, isTooLate } from "../dist/control/deadline";

describe("a request's deadline", () => {
  const of = (deadlineMs: unknown): { headers: Record<string, unknown> } => ({
    headers: { [deadlineHeader]: deadlineMs },
  });

  // A cancel that had waited in a blocked socket was done minutes after its asker was told that nobody answered.
  it("is over when it is long past, and only then", () => {
    assert.equal(isTooLate(of(1_000_000), 1_060_000), true);
    assert.equal(isTooLate(of(1_000_000), 1_005_000), false, "clocks are apart");
    assert.equal(isTooLate(of(1_000_000), 900_000), false);
    assert.equal(isTooLate({}, 1_060_000), false, "those who ask by hand need none");
    assert.equal(isTooLate(of("soon"), 1_060_000), false);
  });
});
