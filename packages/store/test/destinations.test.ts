import { strict as assert } from "node:assert";
import type { NewDelayedMessage } from "@rabbitmq-delay/store";
import { delayedStore } from "@rabbitmq-delay/topology";
import { Destinations, exchangeTypesOf } from "../dist/dispatch/destinations";

const to = (exchange: string, routingKey: string, headers?: Record<string, unknown>): NewDelayedMessage => ({
  ...{ messageId: "m", dueAt: new Date(0), exchange, routingKey, body: Buffer.from("x") },
  properties: headers === undefined ? {} : { headers },
});

describe("a message's destination", () => {
  const forwards = [
    { exchange: "shop", delivery: "shop.delivery", type: "headers" as const },
    { exchange: "all", delivery: "all.delivery", type: "fanout" as const },
    { exchange: "bills", delivery: "bills.delivery" },
  ];
  const destinations = new Destinations(exchangeTypesOf(delayedStore({ name: "delayed", forwards })));
  const isSame = (one: NewDelayedMessage, other: NewDelayedMessage): boolean =>
    destinations.of(one) === destinations.of(other);

  it("is the exchange and the routing key, and the further keys of CC and BCC", () => {
    for (const exchange of ["", "bills.delivery", "of nobody's forward"]) {
      assert.ok(isSame(to(exchange, "a", { tenant: 1 }), to(exchange, "a", { tenant: 2 })));
      assert.ok(!isSame(to(exchange, "a"), to(exchange, "b")));
      for (const name of ["CC", "BCC"])
        assert.ok(!isSame(to(exchange, "a", { [name]: ["b"] }), to(exchange, "a", { [name]: ["c"] })));
    }
  });

  it("is what a headers exchange looks at, without what differs by delay alone", () => {
    const at = (headers: Record<string, unknown>): NewDelayedMessage => to("shop.delivery", "any", headers);
    assert.ok(isSame(at({ "x-delay": -5, to: "a", size: 2 }), at({ size: 2, to: "a", "x-delay": -900 })));
    assert.ok(!isSame(at({ to: "a" }), at({ to: "b" })));
    assert.ok(isSame(at({ size: 12n }), to("shop.delivery", "other", { size: 12n })));
  });

  it("is a fanout exchange alone, as that of the error queue is", () => {
    for (const exchange of ["all.delivery", "delayed.error"])
      assert.ok(isSame(to(exchange, "a", { CC: ["x"] }), to(exchange, "b")));
  });
});
