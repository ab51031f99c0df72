import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  DelayTopologyError,
  RetryIntervalsOptions,
  intervalExchange,
  parseRetryIntervals,
  planRetryIntervals,
  planReturnBinding,
  retryIntervals,
} from "@rabbitmq-delay/topology";

describe("retryIntervals", () => {
  it("names and declares what MassTransit does", () => {
    const descriptor = retryIntervals({ intervals: ["5m", 5000, "PT15M"] });
    assert.deepEqual(descriptor.intervalsMs, [5000, 300_000, 900_000]);
    const { exchanges, queues, bindings } = planRetryIntervals(descriptor);
    assert.deepEqual(
      exchanges.map(({ name, type }) => `${name} ${type}`),
      [
        "mt-delay-return direct",
        "mt-delay-parking fanout",
        "mt-delay-5000 fanout",
        "mt-delay-300000 fanout",
        "mt-delay-900000 fanout",
      ],
    );
    assert.deepEqual(queues[1], {
      name: "mt-delay-5000",
      durable: true,
      arguments: { "x-message-ttl": 5000, "x-dead-letter-exchange": "mt-delay-return" },
    });
    assert.deepEqual(bindings[3], {
      source: "mt-delay-900000",
      destination: "mt-delay-900000",
      destinationType: "queue",
      routingKey: "",
    });
  });

  it("keeps what comes back to no queue, by a policy, so that the return exchange stays MassTransit's", () => {
    const { exchanges, queues, bindings, policy } = planRetryIntervals(
      retryIntervals({ intervals: [5], prefix: "a.b" }),
    );
    assert.deepEqual(exchanges[0], { name: "a.b-return", type: "direct", durable: true });
    assert.deepEqual(queues[0], { name: "a.b-parking", durable: true, arguments: { "x-queue-type": "quorum" } });
    assert.deepEqual(
      bindings.map(({ source, destination }) => `${source} ${destination}`),
      ["a.b-parking a.b-parking", "a.b-5 a.b-5"],
    );
    assert.deepEqual(policy, {
      name: "a.b-parking",
      pattern: "^a\\.b-return$",
      applyTo: "exchanges",
      priority: 100,
      definition: { "alternate-exchange": "a.b-parking" },
    });
    const bare = planRetryIntervals(retryIntervals({ intervals: [5], parking: false }));
    assert.deepEqual([bare.policy, bare.queues.length, bare.exchanges.length], [undefined, 1, 2]);
  });

  it("reads what stacks exported before there was parking", () => {
    const { parkingExchange, parkingQueue, ...before } = retryIntervals({ intervals: [5] });
    assert.equal(parkingExchange, parkingQueue);
    assert.deepEqual(parseRetryIntervals(before), before);
    assert.equal(planRetryIntervals(parseRetryIntervals(before)).policy, undefined);
    assert.throws(
      () => parseRetryIntervals({ ...before, parkingQueue }),
      /retryIntervals\.parkingExchange: undefined .*must be mt-delay-parking/,
    );
  });

  it("dead-letters at least once from quorum queues, unless told not to", () => {
    const argumentsOf = (options: Partial<RetryIntervalsOptions>): Record<string, unknown> =>
      planRetryIntervals(retryIntervals({ intervals: [1], ...options })).queues.at(-1)?.arguments ?? {};
    const atLeastOnce = argumentsOf({ queueType: "quorum" });
    assert.equal(atLeastOnce["x-dead-letter-strategy"], "at-least-once");
    assert.equal(atLeastOnce["x-overflow"], "reject-publish");
    assert.equal(argumentsOf({ queueType: "quorum", atLeastOnce: false })["x-dead-letter-strategy"], undefined);
  });

  it("brings a message back to the queue that is its routing key, and to no other", () => {
    const descriptor = retryIntervals({ intervals: [1000] });
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z.#*-]{0,20}$/).filter((text) => !text.startsWith("amq."));
    const names = fc.uniqueArray(name, { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(names, (queues) => {
        const bindings = queues.map((queue) => planReturnBinding(descriptor, queue));
        // A direct exchange compares the whole key.
        for (const queue of queues) {
          const reached = bindings.filter(({ routingKey }) => routingKey === queue);
          assert.deepEqual(
            reached.map(({ destination, source }) => [destination, source]),
            [[queue, "mt-delay-return"]],
          );
        }
      }),
    );
  });

  it("reads back what it exports, and says which intervals there are", () => {
    const descriptor = retryIntervals({ intervals: [1000, 5000], prefix: "orders", queueType: "quorum" });
    assert.deepEqual(parseRetryIntervals(JSON.parse(JSON.stringify(descriptor))), descriptor);
    assert.equal(intervalExchange(descriptor, 5000), "orders-5000");
    assert.throws(() => intervalExchange(descriptor, 2000), /delayMs: 2000 is not allowed; .*1000, 5000 ms/);
  });

  const refused: [string, unknown, RegExp][] = [
    ["no options", undefined, /retryIntervals: undefined is not allowed/],
    ["no intervals", { intervals: [] }, /intervals: \[\] is not allowed; .*at least one/],
    ["one twice", { intervals: [60_000, "1m"] }, /intervals\[1\]: "1m" is not allowed; 60000 ms stands/],
    ["zero", { intervals: [0] }, /intervals\[0\]: 0 is not allowed; .*from 1 to/],
    ["a negative one", { intervals: [-5] }, /intervals\[0\]: -5/],
    ["a fraction", { intervals: [1.5] }, /intervals\[0\]: 1\.5 is not allowed; .*whole/],
    ["one over the broker's limit", { intervals: [315_360_000_001] }, /intervals\[0\]: 315360000001.*315360000000/],
    ["no duration", { intervals: ["soon"] }, /intervals\[0\]: "soon"/],
    ["a long name", { intervals: [5], prefix: "x".repeat(249) }, /prefix: .*256 bytes/],
    ["a bad name", { intervals: [5], prefix: "a/b" }, /prefix: "a\/b" is not allowed/],
    ["a queue type", { intervals: [5], queueType: "stream" }, /queueType: "stream".*quorum, classic/],
    ["at-least-once on classic", { intervals: [5], atLeastOnce: true }, /atLeastOnce: true .*classic/],
    [
      "parking that is no yes or no",
      { intervals: [5], parking: "no" },
      /parking: this text is not allowed; .*true or false/,
    ],
    ["what it doesn't know", { intervals: [5], ttl: 3 }, /ttl: unknown property; known/],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => retryIntervals(options as RetryIntervalsOptions),
        (error: Error) => {
          assert.ok(error instanceof DelayTopologyError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it("refuses another kind, version or return exchange", () => {
    const descriptor = retryIntervals({ intervals: [1000] });
    assert.throws(() => parseRetryIntervals({ ...descriptor, kind: "delay-network" }), /retryIntervals\.kind/);
    assert.throws(() => parseRetryIntervals({ ...descriptor, version: 2 }), /version: 2 .*version 1/);
    assert.throws(() => parseRetryIntervals({ ...descriptor, returnExchange: "x" }), /returnExchange: "x"/);
    assert.throws(() => parseRetryIntervals({ ...descriptor, intervalsMs: undefined }), /intervalsMs/);
    // A user would look for what is right about the return exchange.
    assert.throws(
      () => parseRetryIntervals({ ...descriptor, prefix: undefined }),
      /^DelayTopologyError: retryIntervals\.prefix: undefined is not allowed/,
    );
  });
});
