import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  DelayTopologyError,
  WorkRetryOptions,
  declaredDelaysMs,
  parseWorkRetry,
  planWorkRetry,
  workRetry,
  workRetryRoute,
} from "@rabbitmq-delay/topology";
import { topicMatches } from "@rabbitmq-delay/topology/stack";

describe("workRetry", () => {
  it("plans a work queue, a queue for each delay that leads back to it, and a dead queue", () => {
    const descriptor = workRetry({ queue: "invoices", delays: ["1m", 5000], maxRetries: 4 });
    const { exchanges, queues, bindings } = planWorkRetry(descriptor);
    assert.deepEqual(
      exchanges.map(({ name, type }) => `${name} ${type}`),
      ["invoices topic", "invoices.dead fanout", "invoices.retry-5000 fanout", "invoices.retry-60000 fanout"],
    );
    const safe = {
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
    };
    assert.deepEqual(
      queues.map(({ name, arguments: values }) => [name, values]),
      [
        ["invoices.dead", { "x-queue-type": "quorum" }],
        ["invoices.retry-5000", { ...safe, "x-message-ttl": 5000, "x-dead-letter-exchange": "invoices" }],
        ["invoices.retry-60000", { ...safe, "x-message-ttl": 60_000, "x-dead-letter-exchange": "invoices" }],
        ["invoices", { ...safe, "x-dead-letter-exchange": "invoices.dead" }],
      ],
    );
    assert.deepEqual(
      bindings.map(({ source, destination, routingKey }) => `${source} ${routingKey} ${destination}`),
      [
        "invoices.dead  invoices.dead",
        "invoices.retry-5000  invoices.retry-5000",
        "invoices.retry-60000  invoices.retry-60000",
        "invoices # invoices",
      ],
    );
    assert.deepEqual(declaredDelaysMs(descriptor), [5000, 60_000, 60_000, 60_000]);
  });

  it("sends what is rejected to the shortest retry delay where asked for", () => {
    const { queues } = planWorkRetry(workRetry({ queue: "invoices", delays: [900, 50], rejected: "retry" }));
    assert.equal(queues.at(-1)?.arguments["x-dead-letter-exchange"], "invoices.retry-50");
  });

  it("leads any message back to the work queue, with its routing key wherever that leads there", () => {
    const word = fc.constantFrom("a", "b", "*", "#", "paid");
    const pattern = fc
      .array(word, { minLength: 1, maxLength: 4 })
      .filter((words) => words.filter((part) => part === "#").length < 3)
      .map((words) => words.join("."));
    const patterns = fc.uniqueArray(pattern, { minLength: 1, maxLength: 3 });
    const key = fc.array(fc.constantFrom("a", "b", "paid", "x", ""), { maxLength: 4 }).map((words) => words.join("."));
    fc.assert(
      fc.property(patterns, key, (keys, routingKey) => {
        const descriptor = workRetry({ queue: "work", delays: [1], patterns: keys });
        const { queues, bindings } = planWorkRetry(descriptor);
        const route = workRetryRoute(descriptor, 1, routingKey);
        const held = bindings.find(({ source }) => source === route.exchange)?.destination;
        const back = queues.find(({ name }) => name === held)?.arguments["x-dead-letter-exchange"];
        const reached = bindings.filter(
          ({ source, routingKey: bound }) => source === back && topicMatches(bound, route.routingKey),
        );
        assert.ok(reached.length > 0 && reached.every(({ destination }) => destination === "work"));
        if (keys.some((bound) => topicMatches(bound, routingKey))) assert.equal(route.routingKey, routingKey);
      }),
    );
  });

  it("reads back what it exports", () => {
    const descriptor = workRetry({ queue: "a", delays: [5], queueType: "classic", maxRetries: 0, patterns: ["x.*"] });
    assert.deepEqual(parseWorkRetry(JSON.parse(JSON.stringify(descriptor))), descriptor);
    assert.throws(
      () => parseWorkRetry({ ...descriptor, deadQueue: "other" }),
      /workRetry\.deadQueue: "other".*a\.dead/,
    );
    assert.throws(() => parseWorkRetry({ ...descriptor, kind: "x" }), /workRetry\.kind/);
    assert.throws(() => workRetryRoute(descriptor, 6, ""), /delayMs: 6 is not allowed; .*5 ms/);
  });

  const refused: [string, object, RegExp][] = [
    ["no name", { delays: [5] }, /queue: undefined/],
    ["no delays", { queue: "work", delays: [] }, /delays: \[\] is not allowed/],
    ["retries below 0", { maxRetries: -1 }, /maxRetries: -1 is not allowed; .*from 0/],
    ["a fraction of retries", { maxRetries: 1.5 }, /maxRetries: 1\.5/],
    ["no patterns", { patterns: [] }, /patterns: \[\]/],
    ["one pattern twice", { patterns: ["a", "a"] }, /patterns\[1\]: "a" .*already/],
    ["three #", { patterns: ["#.a.#.b.#"] }, /patterns\[0\].*at most two/],
    ["a long pattern", { patterns: ["x".repeat(256)] }, /patterns\[0\].*256 bytes/],
    ["a long name", { queue: "x".repeat(251) }, /queue: .*256 bytes/],
    ["another target of rejections", { rejected: "drop" }, /rejected: "drop".*dead, retry/],
    ["at-least-once on classic", { queueType: "classic", atLeastOnce: true }, /atLeastOnce: true .*classic/],
    ["what it doesn't know", { name: "a" }, /name: unknown property; known/],
    ["a misspelled property", { maxRetry: 3 }, /maxRetry: unknown property; known .*did you mean maxRetries\?/],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, () => {
      const base = "delays" in options ? {} : { queue: "work", delays: [5] };
      assert.throws(
        () => workRetry({ ...base, ...options } as WorkRetryOptions),
        (error: Error) => {
          assert.ok(error instanceof DelayTopologyError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
