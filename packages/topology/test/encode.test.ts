import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  DelayTopologyError,
  decodeRoutingKey,
  delayNetwork,
  encodeDelay,
  maximumDestinationBytes,
  planBinding,
  planEntities,
  utf8Length,
} from "@rabbitmq-delay/topology";
import { anyNetwork, endpointName, networkAndDelay } from "./arbitraries";
import { walk } from "./walk";

describe("encodeDelay", () => {
  const nservicebus = delayNetwork({ preset: "nservicebus" });

  it("is what NServiceBus publishes", () => {
    assert.deepEqual(encodeDelay(nservicebus, 10_000, "some-address"), {
      exchange: "nsb.v2.delay-level-03",
      routingKey: `${"0.".repeat(24)}1.0.1.0.some-address`,
      level: 3,
      delayMs: 10_000,
      hops: 2,
    });
  });

  it("waits exactly the encoded delay in the plan, and ends at exactly the right endpoint", () => {
    fc.assert(
      fc.property(
        networkAndDelay,
        fc.uniqueArray(endpointName, { minLength: 1, maxLength: 6 }),
        ([network, delayMs], names) => {
          const exact = { ...network, matching: "exact" as const };
          const destination = names[0] as string;
          const encoded = encodeDelay(exact, delayMs, destination);
          const bindings = names.flatMap((name) => planBinding(exact, { name }).bindings);
          const ends = walk(planEntities(exact), bindings, encoded.exchange, encoded.routingKey);
          assert.deepEqual(ends, [{ queue: destination, waitedMs: encoded.delayMs, hops: encoded.hops }]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("is never early, and never later than the unit", () => {
    fc.assert(
      fc.property(networkAndDelay, ([network, delayMs]) => {
        const encoded = encodeDelay(network, delayMs, "x");
        assert.ok(encoded.delayMs >= delayMs && encoded.delayMs < delayMs + network.unitMs);
      }),
    );
  });

  it("is read back by decodeRoutingKey", () => {
    fc.assert(
      fc.property(networkAndDelay, endpointName, ([network, delayMs], destination) => {
        const encoded = encodeDelay(network, delayMs, destination);
        assert.deepEqual(decodeRoutingKey(network, encoded.routingKey), { delayMs: encoded.delayMs, destination });
      }),
    );
  });

  it("takes the fewest hops that the tolerance allows", () => {
    const small = delayNetwork({ preset: "custom", prefix: "t", radix: 4, levels: 4, unitMs: 1 });
    const hopsOf = (units: number): number => encodeDelay(small, units, "x").hops;
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 255 }),
        fc.double({ min: 0, max: 2, noNaN: true }),
        (delayMs, tolerance) => {
          const found = encodeDelay(small, delayMs, "x", { tolerance });
          const last = Math.min(255, Math.floor(delayMs * (1 + tolerance)));
          let fewest = Infinity;
          for (let units = delayMs; units <= Math.max(last, delayMs); units++) fewest = Math.min(fewest, hopsOf(units));
          assert.equal(found.hops, fewest);
          assert.ok(found.delayMs >= delayMs && found.delayMs <= Math.max(last, delayMs));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("takes negative delays as none", () => {
    assert.deepEqual(encodeDelay(nservicebus, -5, "a"), encodeDelay(nservicebus, 0, "a"));
    assert.equal(encodeDelay(nservicebus, 0, "a").exchange, "nsb.v2.delay-level-00");
  });

  it("refuses what is no delay, and names the maximum", () => {
    assert.throws(() => encodeDelay(nservicebus, Number.NaN, "a"), /delayMs: NaN is not allowed/);
    assert.throws(() => encodeDelay(nservicebus, Infinity, "a"), /maximum is 268435455000 ms/);
    assert.throws(() => encodeDelay(nservicebus, 268_435_455_001, "a"), /maximum is 268435455000 ms/);
    assert.equal(encodeDelay(nservicebus, 268_435_455_000, "a").hops, 28);
    assert.throws(() => encodeDelay(nservicebus, 1, "a", { tolerance: -1 }), DelayTopologyError);
  });

  it("never makes a key of over 255 bytes, and says how many the destination may have", () => {
    fc.assert(
      fc.property(anyNetwork, fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 }), (network, name) => {
        const room = maximumDestinationBytes(network);
        try {
          assert.ok(utf8Length(encodeDelay(network, 1000, name).routingKey) <= 255);
        } catch (error) {
          assert.ok(error instanceof DelayTopologyError);
          if (utf8Length(name) > room && utf8Length(name) <= 255)
            assert.match(error.message, new RegExp(`${room} bytes`));
        }
      }),
    );
    const edge = "ß".repeat(99);
    assert.equal(utf8Length(encodeDelay(nservicebus, 1, `${edge}a`).routingKey), 255);
    assert.throws(() => encodeDelay(nservicebus, 1, `${edge}ab`), /at most 199 bytes/);
  });

  it("refuses wildcards, @, / and reserved names as destination", () => {
    for (const name of ["a.*", "#", "a@b", "a/b", "amq.x", "", "a\nb"]) {
      assert.throws(() => encodeDelay(nservicebus, 1, name), DelayTopologyError, name);
    }
  });
});

describe("decodeRoutingKey", () => {
  const network = delayNetwork({ preset: "custom", prefix: "t", radix: 4, levels: 3, unitMs: 10 });

  it("refuses foreign keys", () => {
    for (const key of ["", "1.2.3.", "1.2.4.x", "1.2.x", "12.3.x", "a.b.c.d"]) {
      assert.throws(() => decodeRoutingKey(network, key), /routingKey/, key);
    }
  });
});
