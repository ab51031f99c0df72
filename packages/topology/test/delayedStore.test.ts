import { strict as assert } from "node:assert";
import {
  DelayedStoreOptions,
  delayedStore,
  deliveryExchangesOf,
  intakeExchangesOf,
  parseDelayedStore,
  planDelayedStore,
} from "@rabbitmq-delay/topology";
import { delayedStoreOf, planStoreAccess, readStackConfig } from "@rabbitmq-delay/topology/stack";

describe("delayedStore", () => {
  const forwards = [{ exchange: "orders.delayed", delivery: "orders", type: "direct" as const }];

  it("plans queues that lose nothing, and an intake for each exchange that stands for a delayed one", () => {
    const store = delayedStore({ name: "later", forwards });
    const { exchanges, queues, bindings } = planDelayedStore(store);
    assert.deepEqual(
      exchanges.map(({ name, type }) => `${name} ${type}`),
      ["later.error fanout", "later.control fanout", "later fanout", "orders.delayed fanout", "orders direct"],
    );
    const quorum = { "x-queue-type": "quorum" };
    assert.deepEqual(
      queues.map(({ name, arguments: values }) => [name, values]),
      [
        ["later.error", quorum],
        ["later.control", quorum],
        [
          "later.intake",
          {
            ...quorum,
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
            "x-dead-letter-exchange": "later.error",
          },
        ],
      ],
    );
    assert.deepEqual(
      bindings.map(({ source, destination }) => `${source} ${destination}`),
      ["later.error later.error", "later.control later.control", "later later.intake", "orders.delayed later.intake"],
    );
    assert.deepEqual(intakeExchangesOf(store), ["later", "orders.delayed"]);
    assert.deepEqual(deliveryExchangesOf(store), ["", "orders"]);
  });

  it("gives its process the rights for that and no more", () => {
    const store = delayedStore({ forwards, exchanges: ["a.b"] });
    assert.deepEqual(planStoreAccess(store), {
      configure: "^$",
      write: "^(?:delayed\\.error|amq\\.default|orders|a\\.b)$",
      read: "^(?:delayed\\.intake|delayed\\.control)$",
      topics: [],
      tags: [],
    });
  });

  it("reads back what it exports", () => {
    const store = delayedStore({ forwards, exchanges: ["x"], toQueues: false });
    assert.deepEqual(parseDelayedStore(JSON.parse(JSON.stringify(store))), store);
    assert.throws(() => parseDelayedStore({ ...store, intakeQueue: "other" }), /intakeQueue: "other".*delayed\.intake/);
    assert.throws(() => parseDelayedStore({ ...store, version: 2 }), /version: 2/);
    assert.throws(() => parseDelayedStore({ ...store, toQueues: undefined }), /delayedStore\.toQueues/);
  });

  it("is read from a stack's config, where an empty one is none", () => {
    const storeOf = (store?: object): string | undefined => {
      const config = { network: { preset: "celery" }, delayedStore: store };
      return delayedStoreOf(readStackConfig(config).delayedStore)?.name;
    };
    assert.equal(storeOf(undefined), undefined);
    assert.equal(storeOf({}), undefined);
    assert.equal(storeOf({ user: "store" }), "delayed");
    assert.equal(storeOf({ storeName: "later", toQueues: false }), "later");
    assert.throws(() => storeOf({ storeName: "amq.x" }), /delayedStore\.storeName: "amq\.x"/);
  });

  it("refuses names that lead round in a circle, and says which", () => {
    const refused: [DelayedStoreOptions, RegExp][] = [
      [{ name: "amq.delayed" }, /name: "amq\.delayed"/],
      [{ name: "" }, /name: ""/],
      [{ name: "x".repeat(250) }, /name: /],
      [{ forwards: [{ exchange: "a", delivery: "a" }] }, /forwards\[0\]\.delivery: "a"/],
      [{ forwards: [{ exchange: "delayed", delivery: "a" }] }, /forwards\[0\]\.exchange: "delayed"/],
      [{ forwards: [{ exchange: "a", delivery: "delayed.error" }] }, /forwards\[0\]\.delivery/],
      [{ forwards: [...forwards, { exchange: "x", delivery: "orders.delayed" }] }, /forwards\[1\]\.delivery/],
      [{ forwards: [{ exchange: "a", delivery: "b", type: "x" as "topic" }] }, /forwards\[0\]\.type: "x"/],
      [{ forwards: [{ exchange: "a" } as never] }, /forwards\[0\]\.delivery: undefined/],
      [{ forwards: {} as never }, /forwards: \{\}.*list/],
      [{ exchanges: ["delayed"] }, /exchanges\[0\]: "delayed"/],
      [{ exchanges: [""] }, /exchanges\[0\]: ""/],
      [{ toQueues: "yes" as never }, /toQueues: this text is not allowed/],
      [{ queue: "x" } as never, /queue: unknown property; known properties/],
    ];
    for (const [options, message] of refused) assert.throws(() => delayedStore(options), message);
  });
});
