import { strict as assert } from "node:assert";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { StackPlan, planEndpoints, planStack, readStackConfig } from "@rabbitmq-delay/topology/stack";

const network = { preset: "custom", prefix: "slow", radix: 2, levels: 3, unitMs: 100 };
const quick = { preset: "custom", prefix: "quick", radix: 4, levels: 3, unitMs: 10 };
const plan = (given: object): StackPlan => {
  const config = readStackConfig({ network, ...given });
  const planned = planStack(config, "/");
  planEndpoints(planned, config);
  return planned;
};

describe("the plan of a stack", () => {
  it("has each part with its place in the config", () => {
    const { parts, created, retries } = plan({
      networks: { finer: quick },
      current: "finer",
      retryIntervals: { intervals: ["5s"] },
      workQueues: [{ queue: "work", delays: ["1m"] }],
      delayedStore: { storeName: "later" },
      endpoints: [
        { name: "Sales", createQueue: true, errorQueue: "errors" },
        { name: "Billing", errorQueue: "errors" },
        { name: "work" },
      ],
    });
    assert.deepEqual(
      parts.map(({ place }) => place),
      ["network", "networks.finer", "retryIntervals", "workQueues[0]", "delayedStore", "endpoints[0].errorQueue"],
    );
    assert.deepEqual(
      created.map(({ entities }) => entities.queues.map(({ name }) => name)),
      [["Sales"]],
    );
    assert.deepEqual(
      retries.map(({ kind }) => kind),
      ["retry-intervals", "work-retry"],
    );
  });

  // It was at most 222 bytes at first, and 199 for a name of 222.
  it("names the room that the narrowest network of an endpoint leaves for its names", () => {
    const networks = { nsb: { preset: "nservicebus" } };
    const refusedAt = (endpoint: object, property: string, limit: number): void =>
      assert.throws(
        () => plan({ networks, current: "nsb", endpoints: [endpoint] }),
        (error: DelayTopologyError) =>
          error.property === `endpoints[0].${property}` && error.allowed.endsWith(`at most ${limit} bytes are allowed`),
      );
    const name = "x".repeat(230);
    refusedAt({ name }, "name", 199);
    refusedAt({ name, networks: ["slow.r2x3u100"] }, "name", 222);
    refusedAt({ name, patterns: ["a"] }, "name", 222);
    refusedAt({ name: "a", patterns: ["b", name] }, "patterns[1]", 199);
  });

  it("declares an error queue of the whole stack once, however many endpoints name it", () => {
    const { parts } = plan({
      errorQueues: ["error", "audit"],
      endpoints: [
        { name: "Sales", errorQueue: "error" },
        { name: "Billing", errorQueue: "Billing_error" },
      ],
    });
    assert.deepEqual(
      parts.slice(1).map(({ place, entities }) => [place, ...entities.queues.map(({ name }) => name)]),
      [
        ["errorQueues[0]", "error"],
        ["errorQueues[1]", "audit"],
        ["endpoints[1].errorQueue", "Billing_error"],
      ],
    );
    assert.equal(plan({ errorQueues: [] }).parts.length, 1);
  });

  it("binds an endpoint to the networks that it names, in whatever order, and to all where it names none", () => {
    const networks = { finer: quick };
    const names = (endpoint: object): string[] => {
      const planned = plan({ networks, current: "finer", endpoints: [{ name: "Sales", ...endpoint }] });
      return planned.networks.joinedBy({ ...endpoint }).map(({ place }) => place);
    };
    assert.deepEqual(names({}), ["network", "networks.finer"]);
    assert.deepEqual(names({ networks: ["finer", "slow.r2x3u100", "finer"] }), ["network", "networks.finer"]);
    assert.deepEqual(names({ networks: ["finer"] }), ["networks.finer"]);
  });

  // What left the config took the queue of the part that stayed along, with its messages.
  const sales = { name: "Sales", createQueue: true };
  const work = { queue: "work", delays: ["1m"] };
  const refused: [string, object, RegExp][] = [
    [
      "an error queue that is an endpoint's own queue",
      { endpoints: [sales, { name: "B", errorQueue: "Sales" }] },
      /endpoints\[0\]: "Sales" is not allowed; endpoints\[1\]\.errorQueue declares the queue of that name/,
    ],
    [
      "an error queue that is its own endpoint",
      { endpoints: [{ ...sales, errorQueue: "Sales" }] },
      /endpoints\[0\]\.errorQueue: .* the endpoint's own queue/,
    ],
    [
      "an error queue that is a dead queue",
      { workQueues: [work], endpoints: [{ name: "B", errorQueue: "work.dead" }] },
      /endpoints\[0\]\.errorQueue: "work\.dead" is not allowed; workQueues\[0\] declares/,
    ],
    [
      "an error queue that is a work queue",
      { workQueues: [work], endpoints: [{ name: "B", errorQueue: "work" }] },
      /endpoints\[0\]\.errorQueue: "work" is not allowed/,
    ],
    [
      "an error queue that is a parking queue",
      { endpoints: [{ name: "B", errorQueue: "slow.r2x3u100.parking" }] },
      /errorQueue: .* network declares/,
    ],
    [
      "an error queue of the name of a delivery exchange",
      { endpoints: [{ name: "B", errorQueue: "slow.r2x3u100.delivery" }] },
      /errorQueue: .* network declares the exchange/,
    ],
    [
      "an error queue of the whole stack that is an endpoint's own queue",
      { errorQueues: ["Sales"], endpoints: [sales] },
      /endpoints\[0\]: "Sales" is not allowed; errorQueues\[0\] declares the queue of that name/,
    ],
    [
      "an error queue of the whole stack that is a dead queue",
      { errorQueues: ["audit", "work.dead"], workQueues: [work] },
      /errorQueues\[1\]: "work\.dead" is not allowed; workQueues\[0\] declares/,
    ],
    [
      "an error queue of the whole stack that stands there twice",
      { errorQueues: ["error", "audit", "error"] },
      /errorQueues\[2\]: "error" is not allowed; it is there twice; name it once/,
    ],
    [
      "an error queue of the broker's names",
      { errorQueues: ["error", "amq.error"] },
      /errorQueues\[1\]: "amq\.error" is not allowed; names that start with amq\./,
    ],
    [
      "an error queue that is no text",
      { errorQueues: [5] },
      /errorQueues\[0\]: this number is not allowed; it must be a non-empty text/,
    ],
    [
      "error queues that are no list",
      { errorQueues: "error" },
      /errorQueues: this text is not allowed; it must be a list/,
    ],
    [
      "an endpoint's queue that is a retry queue",
      { workQueues: [work], endpoints: [{ name: "work.retry-60000", createQueue: true }] },
      /endpoints\[0\]: "work\.retry-60000" is not allowed/,
    ],
    [
      "delayed exchanges of which each leads to the other",
      {
        delayedExchanges: [
          { exchange: "a", delays: [5], otherwise: "b" },
          { exchange: "b", delays: [5], otherwise: "a" },
        ],
      },
      /delayedExchanges\[0\]\.otherwise: "b" is not allowed; it leads back to a/,
    ],
    [
      "a delayed exchange that leads to a store, which does not know where its messages go",
      { delayedStore: { toQueues: false }, delayedExchanges: [{ exchange: "a", delays: [5], otherwise: "delayed" }] },
      /otherwise: "delayed" is not allowed; .*forwards \{ exchange: a, delivery: a\.delivery, declare: false \}/,
    ],
    [
      "a delayed exchange that leads to what another part declares in the same update",
      {
        delayedExchanges: [
          { exchange: "a", delays: [5], otherwise: "b.delivery" },
          { exchange: "b", delays: [5] },
        ],
      },
      /delayedExchanges\[0\]\.otherwise: "b\.delivery" is not allowed; delayedExchanges\[1\] declares it in the same update/,
    ],
    [
      "a delayed exchange that delivers to another one",
      {
        delayedExchanges: [
          { exchange: "a", delays: [5], delivery: "b", declareDelivery: false },
          { exchange: "b", delays: [5] },
        ],
      },
      /delayedExchanges\[0\]\.delivery: "b" is not allowed; it is a delayed exchange, too/,
    ],
    [
      "a delayed exchange that a store declares, too",
      {
        delayedStore: { forwards: [{ exchange: "a", delivery: "a.delivery" }] },
        delayedExchanges: [{ exchange: "a", delays: [5] }],
      },
      /delayedStore: "a" is not allowed; delayedExchanges\[0\] declares the exchange/,
    ],
    [
      "a queue of two mechanisms",
      { workQueues: [work], delayedRetryQueues: [{ queue: "work", minMs: 5 }] },
      /delayedRetryQueues\[0\]: "work\.dead" is not allowed; workQueues\[0\] declares the queue/,
    ],
    [
      "an endpoint that stands there twice",
      {
        networks: { finer: quick },
        current: "finer",
        endpoints: [
          { name: "B", networks: ["finer"] },
          { name: "B", networks: ["slow.r2x3u100"] },
        ],
      },
      /endpoints\[1\]\.name: "B" is not allowed; endpoints\[0\] has this name/,
    ],
    [
      "a pattern that the provider can't keep apart",
      { endpoints: [{ name: "B", patterns: ["a@b"] }] },
      /without @ and \//,
    ],
    [
      "a network that there is none of",
      { endpoints: [{ name: "B", networks: ["fast"] }] },
      /endpoints\[0\]\.networks\[0\]/,
    ],
    [
      "no word on which network is current",
      { networks: { finer: quick } },
      /current: undefined .*slow\.r2x3u100, finer/,
    ],
    ["one network twice", { networks: { again: network }, current: "again" }, /networks\.again\.prefix: /],
  ];
  for (const [what, config, message] of refused) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => plan(config),
        (error: Error) => {
          assert.ok(error instanceof DelayTopologyError, error.stack);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
