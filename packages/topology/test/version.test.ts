import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { isAtLeast } from "@rabbitmq-delay/topology/stack";

describe("versions of RabbitMQ", () => {
  const cases: [string, string, boolean][] = [
    ["4.3.6", "4.3.6", true],
    ["4.3.6", "4.3.7", false],
    ["3.10.8", "3.9", true],
    ["3.10.8", "3.10", true],
    ["3.9.29", "3.10", false],
    ["4.10.0", "4.9.9", true],
    ["4.3", "4.3.0", true],
    ["4.3", "4.3.1", false],
    // A candidate does what its release does: without a lifted delivery limit it would lose messages.
    ["4.3.0-rc.1", "4.3.0", true],
    ["4.0.0-beta.5", "4.0", true],
    ["4.3.0-rc.1", "4.3.1", false],
    ["4.3.0-rc.9", "4.2.7", true],
    // What a distribution or a vendor adds is no part of the number.
    ["3.10.8+something", "3.10.8", true],
    ["3.10.8+something", "3.10.9", false],
    ["4.3+2", "4.3.1", false],
    ["4.3-2.5", "4.3.1", false],
    ["4.2.0+9.g1a2b3c4", "4.2.1", false],
    ["3.13.7-1.el9", "3.13.7", true],
    ["3.8.0~1", "3.8.0", true],
    ["unknown", "3.10", false],
    ["", "3.10", false],
  ];
  for (const [version, oldest, expected] of cases) {
    it(`${JSON.stringify(version)} is ${expected ? "" : "not "}at least ${oldest}`, () =>
      assert.equal(isAtLeast(version, oldest), expected));
  }

  it("are in the order of their numbers, whatever stands behind them", () => {
    const numbers = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20));
    const suffix = fc.constantFrom("", "-rc.1", "-beta.99", "+something", "+9.9", "-1.el9", "~2");
    fc.assert(
      fc.property(numbers, numbers, suffix, suffix, (a, b, more, other) => {
        const weight = ([major, minor, patch]: number[]): number =>
          (major as number) * 10_000 + (minor as number) * 100 + (patch as number);
        assert.equal(isAtLeast(a.join(".") + more, b.join(".") + other), weight(a) >= weight(b));
      }),
    );
  });
});
