import { strict as assert } from "node:assert";
import {
  Redelivery,
  RedeliveryStep,
  RepublishStep,
  RetryMechanism,
  throughDeclared,
  throughDelayedExchange,
  throughHoldsOnDemand,
} from "@rabbitmq-delay/publish";
import { delayNetwork, delayedRetry, holdQueues, retryIntervals, workRetry } from "@rabbitmq-delay/topology";

describe("mechanisms", () => {
  function plan(mechanism: RetryMechanism, delayMs: number, more: Partial<Redelivery> = {}): RedeliveryStep {
    return mechanism.plan({ queue: "work", routingKey: "paid.now", redelivery: 1, delayMs, ...more });
  }
  const republish = (exchange: string, routingKey: string, headers = {}): RedeliveryStep => {
    return { kind: "republish", exchange, routingKey, headers };
  };

  it("interval queues have the declared delays only", () => {
    const mechanism = throughDeclared(retryIntervals({ intervals: [1000, 5000] }));
    assert.deepEqual(plan(mechanism, 5000), republish("mt-delay-5000", "work"));
    assert.throws(() => plan(mechanism, 2000), /delayMs: 2000 is not allowed; .*1000, 5000 ms/);
  });

  it("a work queue's retry queues are for it alone, and keep the routing key where it leads back", () => {
    const mechanism = throughDeclared(workRetry({ queue: "work", delays: [50], maxRetries: 3, patterns: ["paid.*"] }));
    assert.deepEqual(plan(mechanism, 50), republish("work.retry-50", "paid.now"));
    assert.deepEqual(plan(mechanism, 50, { routingKey: "elsewhere" }), republish("work.retry-50", "work"));
    assert.deepEqual([mechanism.errorQueue, mechanism.maximumRedeliveries], ["work.dead", 3]);
    assert.throws(() => plan(mechanism, 50, { queue: "other" }), /queue: "other" is not allowed; .*declared for work/);
    assert.throws(() => plan(mechanism, 51), /delayMs: 51 .*50 ms/);
  });

  it("a descriptor is taken as JSON text, too, and a text that holds none is refused", () => {
    const text = JSON.stringify(retryIntervals({ intervals: [1000, 5000] }));
    assert.deepEqual(plan(throughDeclared(text), 5000), republish("mt-delay-5000", "work"));
    assert.throws(() => throughDeclared("hunter2"), /descriptor: this text is not allowed; .* or its JSON text/);
  });

  it("a delay network has any delay up to its maximum", () => {
    const mechanism = throughDeclared(
      JSON.stringify(delayNetwork({ preset: "custom", prefix: "a", radix: 2, levels: 2 })),
    );
    const { headersAt, ...step } = plan(mechanism, 1500) as RepublishStep;
    assert.deepEqual(step, { ...republish("a.r2x2u1000.level-01", "1.0.work"), waitsMs: 2000 });
    assert.equal(headersAt?.(new Date(5))["rabbitmq-delay.due-at"], "1970-01-01T00:00:00.005Z");
    assert.throws(() => plan(mechanism, 4000), /delayMs: 4000 .*maximum is 3000 ms/);
  });

  it("over a delay network a copy goes to the destination by which its queue is bound, which no wildcard is", () => {
    const network = delayNetwork({ preset: "custom", prefix: "a", radix: 2, levels: 2 });
    const mechanism = throughDeclared(network, { destination: "orders.paid" });
    const { exchange, routingKey } = plan(mechanism, 1500) as RepublishStep;
    assert.deepEqual([exchange, routingKey], ["a.r2x2u1000.level-01", "1.0.orders.paid"]);
    for (const destination of ["orders.*", "#", ""])
      assert.throws(() => throughDeclared(network, { destination }), /destination: /, destination);
    assert.throws(
      () => throughDeclared(retryIntervals({ intervals: [5] }), { destination: "a" }),
      /destination: "a" is not allowed; it is for delay networks/,
    );
  });

  it("say what has to be there beside what copies are published to, so that a consumer can look for it", () => {
    const network = delayNetwork({ preset: "custom", prefix: "a", radix: 2, levels: 3 });
    assert.deepEqual(throughDeclared(network).wayBack?.(2000), {
      exchanges: ["a.r2x3u1000.level-00", "a.r2x3u1000.delivery", "a.r2x3u1000.parking"],
      queues: ["a.r2x3u1000.parking"],
    });
    const intervals = retryIntervals({ intervals: [5] });
    assert.deepEqual(throughDeclared(intervals).wayBack?.(5), {
      exchanges: ["mt-delay-return", "mt-delay-parking"],
      queues: ["mt-delay-parking"],
    });
    const bare = throughDeclared(retryIntervals({ intervals: [5], parking: false }));
    assert.deepEqual(bare.wayBack?.(5), { exchanges: ["mt-delay-return"], queues: [] });
    assert.deepEqual(throughDeclared(workRetry({ queue: "work", delays: [5] })).wayBack?.(5).exchanges, ["work"]);
  });

  it("declared hold queues are those of the queue, declared again only for their lease", () => {
    const destinations = [{ exchange: "", routingKey: "work" }];
    const mechanism = throughDeclared(holdQueues({ delays: [50], destinations }));
    assert.deepEqual(plan(mechanism, 50), republish("", "hold.50.0::work"));
    assert.throws(() => plan(mechanism, 50, { queue: "other" }), /destination: .*\(default\) → work/);
    const leased = plan(throughDeclared(holdQueues({ delays: [50], destinations, leaseMs: 60_000 })), 50);
    assert.equal(leased.kind === "republish" && leased.declare?.arguments["x-expires"], 60_050);
  });

  it("hold queues on demand have any delay, and a lease unless they are quorum", () => {
    const leased = plan(throughHoldsOnDemand(), 7);
    assert.equal(leased.kind === "republish" && leased.declare?.arguments["x-expires"], 600_007);
    const lasting = plan(throughHoldsOnDemand({ queueType: "quorum" }), 7);
    assert.equal(lasting.kind === "republish" && lasting.declare?.arguments["x-expires"], undefined);
  });

  it("the broker's own retry takes the delays that it has, and counts them itself", () => {
    const mechanism = throughDeclared(delayedRetry({ queue: "work", minMs: 100, maxMs: 250, deliveryLimit: 4 }));
    assert.deepEqual(plan(mechanism, 200, { redelivery: 2 }), { kind: "reject" });
    assert.throws(() => plan(mechanism, 100, { redelivery: 2 }), /delayMs: 100 .*redelivery 2 the broker waits 200 ms/);
    assert.equal(mechanism.countedByBroker?.({ "x-delivery-count": 2, "x-acquired-count": 3 }), 2);
    assert.equal(mechanism.countedByBroker?.({}), 0);
    // Else a message that somebody moved out of the dead queue would lose all its tries once it was given back.
    const moved = { "x-delivery-count": 5, "x-death": [{ queue: "work" }] };
    for (const times of [1, 5, 9])
      assert.equal(mechanism.countedByBroker?.({ ...moved, "x-acquired-count": times }), 0);
    const again = { ...moved, "x-delivery-count": 2, "x-acquired-count": 3 };
    assert.equal(mechanism.countedByBroker?.(again), 2, "the broker's own count again");
    assert.throws(
      () => throughDeclared(delayedRetry({ queue: "work", minMs: 1, type: "returned" })),
      /type: "returned" is not allowed; .*failed or all/,
    );
  });

  it("the archived plugin takes the delay in a header", () => {
    assert.deepEqual(plan(throughDelayedExchange("delayed"), 1500), republish("delayed", "work", { "x-delay": 1500 }));
    assert.throws(() => throughDelayedExchange(""), /exchange: "" is not allowed/);
  });

  it("are found by what the stack declared", () => {
    const destinations = [{ exchange: "", routingKey: "work" }];
    const found = [
      retryIntervals({ intervals: [5] }),
      workRetry({ queue: "work", delays: [5] }),
      holdQueues({ delays: [5], destinations }),
      delayedRetry({ queue: "work", minMs: 5 }),
      delayNetwork({ preset: "celery" }),
    ].map((descriptor) => throughDeclared(JSON.parse(JSON.stringify(descriptor)) as typeof descriptor).name);
    assert.equal(new Set(found).size, 5);
    assert.throws(() => throughDeclared({ kind: "other" } as never), /descriptor\.kind: "other"/);
  });
});
