import { strict as assert } from "node:assert";
import type { Faulted, HistoryEvent } from "./history";
import { check } from "./invariants/check";
import { throughAt } from "./invariants/clocks";
import type { Plan, RetryPart, StorePart } from "./plan/types";
import { takes } from "./topic";

const plan: Plan = {
  seed: 1,
  broker: "4.3",
  faults: [],
  parts: [
    {
      mechanism: "network",
      name: "a",
      declaredBy: "plans",
      network: { preset: "custom", prefix: "orders", radix: 4, levels: 6, unitMs: 10 },
      endpoints: [
        { name: "Sales", type: "queue", queueType: "quorum" },
        { name: "Europe.Sales", type: "queue", queueType: "quorum" },
      ],
      messages: [
        { n: "a-0", atMs: 0, delayMs: 500, destination: "Sales", publisher: "amqplib" },
        { n: "a-1", atMs: 0, delayMs: 500, destination: "nobody", publisher: "amqplib" },
      ],
    },
  ],
};

const published = (n: string, at = 1000, more: object = {}): HistoryEvent =>
  ({ kind: "published", part: "a", at, n, attempt: `${n}-${at}`, delayMs: 500, ...more }) as HistoryEvent;
const confirmed = (n: string, at = 1010): HistoryEvent =>
  ({ kind: "confirmed", part: "a", at, n, attempt: `${n}-1000` }) as HistoryEvent;
const returned = (n: string, at = 1010): HistoryEvent =>
  ({ kind: "returned", part: "a", at, n, attempt: `${n}-1000` }) as HistoryEvent;
const arrived = (n: string, place: string, at = 1600, more: object = {}): HistoryEvent =>
  ({ kind: "arrived", part: "a", at, n, place, messageId: "id", redelivered: false, ...more }) as HistoryEvent;
const fault = (kind: string, at: number, until: number, more: object = {}): HistoryEvent =>
  ({ kind: "fault", part: "a", fault: kind, at, until, ...more }) as HistoryEvent;

function broken(events: HistoryEvent[], of: Plan = plan): string[] {
  return check(of, events).map(({ invariant }) => invariant);
}

/** The same network with classic queues, which send on at most once. */
const classic: Plan = {
  ...plan,
  parts: plan.parts.map((part) =>
    part.mechanism === "network" ? { ...part, network: { ...part.network, queueType: "classic" } } : part,
  ),
};

describe("the gauntlet's invariants", () => {
  it("a history as it should be breaks none", () => {
    const good = [published("a-0"), confirmed("a-0"), arrived("a-0", "queue:Sales")];
    assert.deepEqual(broken([...good, published("a-1"), confirmed("a-1"), arrived("a-1", "parking")]), []);
  });

  it("a confirmed message that arrives nowhere is lost; one that was never confirmed need not arrive", () => {
    assert.deepEqual(broken([published("a-0"), confirmed("a-0")]), ["lost"]);
    assert.deepEqual(broken([published("a-0")]), []);
  });

  it("a broker that goes down excuses a loss by classic queues alone", () => {
    const killed = [published("a-0"), confirmed("a-0"), fault("broker-killed", 1200, 1300)];
    assert.deepEqual(broken(killed), ["lost"]);
    assert.deepEqual(broken(killed, classic), []);
    assert.deepEqual(broken([published("a-0"), confirmed("a-0"), fault("consumer-killed", 1200, 1300)], classic), [
      "lost",
    ]);
  });

  it("a broker that goes down excuses a loss by a quorum queue that was made on demand a moment before, and by no older one", () => {
    const hold = { mechanism: "hold", name: "a", declaredBy: "plans", isDeclared: false, queueType: "quorum" } as const;
    const message = { delayMs: 9000, destination: "Sales", publisher: "amqplib" } as const;
    const messages = [
      { ...message, n: "a-0", atMs: 0 },
      { ...message, n: "a-1", atMs: 7000 },
    ];
    const shape = { confirmTimeoutMs: 1000, delaysMs: [9000], destinations: ["Sales"], messages };
    const holds: Plan = { ...plan, parts: [{ ...hold, ...shape }] };
    const lost = [published("a-0"), confirmed("a-0")];
    assert.deepEqual(broken([...lost, fault("broker-killed", 1200, 1300)], holds), []);
    const left = {
      kind: "ended",
      part: "",
      at: 9400,
      isThrough: true,
      remaining: { "a: hold.9s.0::Sales": 1 },
    } as const;
    assert.deepEqual(broken([...lost, fault("broker-killed", 1200, 1300), left], holds), []);
    const more = { ...left, remaining: { "a: hold.9s.0::Sales": 2 } };
    assert.deepEqual(broken([...lost, fault("broker-killed", 1200, 1300), more], holds), ["left-in-queue"]);
    assert.deepEqual(broken([published("a-0"), fault("broker-killed", 9200, 9300), left], holds), ["left-in-queue"]);
    assert.deepEqual(broken([...lost, fault("broker-killed", 9200, 9300)], holds), ["lost"]);
    // Its queue was there before it came.
    const later = [published("a-1", 8000), confirmed("a-1", 8010)];
    assert.deepEqual(broken([...later, fault("broker-killed", 8200, 8300)], holds), ["lost"]);
    const declared: Plan = { ...plan, parts: [{ ...hold, ...shape, isDeclared: true }] };
    assert.deepEqual(broken([...lost, fault("broker-killed", 1200, 1300)], declared), ["lost"]);
  });

  it("a purge excuses as many losses as the broker said", () => {
    const lost = [published("a-0"), confirmed("a-0")];
    assert.deepEqual(broken([...lost, fault("purged", 1200, 1210, { taken: 1 })]), []);
    assert.deepEqual(broken([...lost, fault("purged", 1200, 1210, { taken: 0 })]), ["purged-too-many"]);
  });

  it("what arrives at another endpoint, or at one more, is elsewhere", () => {
    const both = [
      published("a-0"),
      confirmed("a-0"),
      arrived("a-0", "queue:Sales"),
      arrived("a-0", "queue:Europe.Sales"),
    ];
    assert.deepEqual(broken(both), ["elsewhere"]);
    assert.deepEqual(broken([published("a-0"), confirmed("a-0"), arrived("a-0", "parking")]), ["lost", "elsewhere"]);
  });

  it("an endpoint that was unbound may have its message parked", () => {
    const parked = [published("a-0"), confirmed("a-0"), arrived("a-0", "parking")];
    assert.deepEqual(broken([...parked, fault("unbound", 1400, 1700, { subject: "Sales" })]), []);
    assert.deepEqual(broken([...parked, fault("unbound", 1400, 1700, { subject: "Billing" })]), ["lost", "elsewhere"]);
  });

  it("without parking, the helper confirms nothing that an unbound endpoint missed; who publishes by hand may lose it", () => {
    const missed = [published("a-0"), confirmed("a-0"), fault("unbound", 1400, 1700, { subject: "Sales" })];
    const unparked = (publisher: "amqplib" | "by-hand"): Plan => ({
      ...plan,
      parts: plan.parts.map((part) =>
        part.mechanism === "network"
          ? {
              ...part,
              network: { ...part.network, parking: false },
              messages: part.messages.map((message) => ({ ...message, publisher })),
            }
          : part,
      ),
    });
    assert.deepEqual(broken(missed, unparked("amqplib")), ["lost"]);
    assert.deepEqual(broken(missed, unparked("by-hand")), []);
  });

  it("what came back to its publisher and arrives all the same was told wrongly", () => {
    assert.deepEqual(broken([published("a-0"), returned("a-0"), arrived("a-0", "queue:Sales")]), [
      "returned-but-arrived",
    ]);
  });

  it("what arrives before its time is early, but for a policy that makes it so", () => {
    const early = [published("a-0"), confirmed("a-0"), arrived("a-0", "queue:Sales", 1400)];
    assert.deepEqual(broken(early), ["early"]);
    for (const kind of ["early-policy", "short-policy"] as const)
      assert.deepEqual(broken([...early, fault(kind, 1100, 1300)]), []);
  });

  describe("when a clock jumps", () => {
    const early = (
      byMs: number,
      arrivedAt: number,
      { by = "x-delay", instances = 1, more = [] as HistoryEvent[] } = {},
    ): string[] =>
      broken(
        [
          published("a-0", 1000, { delayMs: 5000 }),
          confirmed("a-0"),
          arrived("a-0", "queue:Sales", arrivedAt),
          fault("clock-jump", 900, 3000, { byMs }),
          ...more,
        ],
        storePlan(5000, { by, instances }),
      );

    it("a little ahead, it makes messages early by no more than its size", () => {
      assert.deepEqual(early(2000, 4100), []);
      assert.deepEqual(early(2000, 3900), ["early"]);
      assert.deepEqual(early(2000, 4100, { by: "x-deliver-at" }), []);
      assert.deepEqual(broken([...early0(1100), fault("clock-jump", 1200, 3000, { byMs: 9000 })], storePlan(500)), [
        "early",
      ]);
    });

    it("so far ahead that it is doubted, it makes nothing early", () => {
      assert.deepEqual(early(3_600_000, 4100), ["early"]);
      assert.deepEqual(early(3_600_000, 6000), []);
    });

    it("back, it makes nothing early that had its time, and what it took in only when it is believed to be right", () => {
      assert.deepEqual(early(-2000, 4100), []);
      assert.deepEqual(early(-2000, 3900), ["early"]);
      assert.deepEqual(early(-2000, 4100, { by: "x-deliver-at" }), ["early"]);
      assert.deepEqual(early(-3_600_000, 4100), ["early"]);
      assert.deepEqual(early(-3_600_000, 4100, { instances: 2 }), []);
      assert.deepEqual(early(-3_600_000, 4100, { more: [fault("dispatcher-killed", 3100, 3200)] }), []);
      assert.deepEqual(early(-3_600_000, 4100, { more: [fault("dispatcher-killed", 100, 200)] }), ["early"]);
    });

    it("another part's explains nothing, and none explains a second copy or a loss", () => {
      const jump = fault("clock-jump", 900, 3000, { byMs: 9000 });
      const store = storePlan(500);
      assert.deepEqual(broken([...early0(1400), { ...jump, part: "b" }], store), ["early"]);
      assert.deepEqual(broken([...early0(1600), arrived("a-0", "queue:Sales", 1700), jump], store), [
        "copy-without-fault",
      ]);
      assert.deepEqual(broken([published("a-0"), confirmed("a-0"), jump], store), ["lost"]);
    });

    it("and a session breaks, SQLite may store what has no id a second time", () => {
      const twice = [...early0(1600), arrived("a-0", "queue:Sales", 1650, { messageId: "other" })];
      const killed = fault("dispatcher-killed", 1010, 1100);
      const jump = fault("clock-jump", 900, 3000, { byMs: 3_600_000 });
      assert.deepEqual(broken([...twice, killed, jump], storePlan(500)), []);
      const little = fault("clock-jump", 900, 3000, { byMs: 500 });
      for (const more of [[], [little]]) {
        const both = ["copy-without-fault", "copy-under-another-id"];
        assert.deepEqual(broken([...twice, killed, ...more], storePlan(500)), both);
      }
      assert.deepEqual(broken([...twice, killed, jump], storePlan(500, { database: "postgres" })), [
        "copy-without-fault",
        "copy-under-another-id",
      ]);
    });
  });

  it("what clocks have made late is waited for", () => {
    const through = (byMs: number): number => throughAt(fault("clock-jump", 0, 1000, { byMs }) as Faulted);
    assert.deepEqual([through(5000), through(-5000), through(-3_600_000)], [6000, 1000, 91_000]);
    assert.equal(throughAt(fault("broker-killed", 0, 1000) as Faulted), 0);
  });

  it("a second copy needs a fault of its lifetime, and the first one's id", () => {
    const twice = [
      published("a-0"),
      confirmed("a-0"),
      arrived("a-0", "queue:Sales"),
      arrived("a-0", "queue:Sales", 1650),
    ];
    assert.deepEqual(broken(twice), ["copy-without-fault"]);
    assert.deepEqual(broken([...twice, fault("broker-killed", 1400, 1500)]), []);
    assert.deepEqual(broken([...twice, fault("broker-killed", 9400, 9500)]), ["copy-without-fault"]);
    for (const kind of ["unbound", "purged", "early-policy", "short-policy"] as const)
      assert.deepEqual(broken([...twice, fault(kind, 1400, 1500)]), ["copy-without-fault"], kind);
    const other = [...twice.slice(0, 3), arrived("a-0", "queue:Sales", 1650, { messageId: "other" })];
    assert.deepEqual(broken([...other, fault("broker-killed", 1400, 1500)]), ["copy-under-another-id"]);
  });

  it("a store may take what has no id in a second time when it comes back after its receipt's 15 s, and not before", () => {
    const twice = (lastAt: number): HistoryEvent[] => [
      published("a-0"),
      confirmed("a-0"),
      fault("database-killed", 1020, 15_500),
      arrived("a-0", "queue:Sales", 15_900),
      arrived("a-0", "queue:Sales", lastAt, { messageId: "other" }),
    ];
    for (const database of ["sqlite", "postgres"] as const) {
      assert.deepEqual(broken(twice(16_500), storePlan(500, { database })), []);
      assert.deepEqual(broken(twice(16_499), storePlan(500, { database })), ["copy-under-another-id"]);
      assert.deepEqual(broken(twice(16_000), storePlan(500, { database, by: "x-deliver-at" })), []);
    }
  });

  it("a store may take what has no id in a second time for a reason that docs/store-limits.md names, and for no other", () => {
    const twice = (secondAt: number, ...more: HistoryEvent[]): HistoryEvent[] => [
      published("a-0"),
      confirmed("a-0"),
      arrived("a-0", "queue:Sales"),
      arrived("a-0", "queue:Sales", secondAt, { messageId: "other" }),
      ...more,
    ];
    const closed = (at: number): HistoryEvent => fault("connections-closed", at, at + 10);
    const both = ["copy-without-fault", "copy-under-another-id"];
    const store = storePlan(500);
    assert.deepEqual(broken(twice(1650, closed(1020)), store), both);
    assert.deepEqual(broken(twice(1650, closed(1020), closed(1060)), store), []);
    assert.deepEqual(broken(twice(1650, closed(1020)), storePlan(500, { instances: 2 })), []);
    // A second copy of the first id says nothing of the other one's time.
    const again = arrived("a-0", "queue:Sales", 16_600, { redelivered: true });
    assert.deepEqual(broken(twice(1650, again, fault("database-killed", 1020, 16_000)), store), [
      "copy-under-another-id",
    ]);
    // A consumer that stands still ends no session of the store.
    const paused = fault("consumer-paused", 1020, 1100);
    assert.deepEqual(broken(twice(16_500, paused), store), both);
    assert.deepEqual(broken(twice(1650, paused), storePlan(500, { database: "network" })), ["copy-under-another-id"]);
    assert.deepEqual(broken(twice(1650, closed(1020)), storePlan(500, { database: "network" })), []);
    // Under one id, a receipt has nothing to do with it.
    const sameId = [...twice(20_500).slice(0, 3), arrived("a-0", "queue:Sales", 20_500)];
    assert.deepEqual(broken([...sameId, fault("database-killed", 1020, 1200)], store), ["copy-without-fault"]);
  });

  it("a broker that is killed soon after an intake may bring back what a store has forgotten", () => {
    const twice = (messageId?: string): HistoryEvent[] => [
      published("a-0", 1000, { delayMs: 6000, ...(messageId === undefined ? {} : { messageId }) }),
      confirmed("a-0"),
      arrived("a-0", "queue:Sales", 7005, { messageId: messageId ?? "first" }),
      arrived("a-0", "queue:Sales", 7010, { messageId: messageId ?? "second" }),
    ];
    const store = storePlan(6000);
    for (const down of ["broker-killed", "power-cut"] as const) {
      for (const id of [undefined, "given"]) {
        assert.deepEqual(broken([...twice(id), fault(down, 3000, 4000)], store), []);
      }
      assert.deepEqual(broken([...twice("given"), fault(down, 3001, 4000)], store), ["copy-without-fault"]);
      assert.deepEqual(broken([...twice(), fault(down, 3001, 4000)], store), [
        "copy-without-fault",
        "copy-under-another-id",
      ]);
    }
    for (const other of [fault("broker-stopped", 3000, 4000), fault("broker-killed", 0, 999)])
      assert.deepEqual(broken([...twice("given"), other], store), ["copy-without-fault"]);
  });

  it("a given id stays", () => {
    const changed = [published("a-0", 1000, { messageId: "given" }), confirmed("a-0"), arrived("a-0", "queue:Sales")];
    assert.deepEqual(broken(changed), ["id-changed"]);
  });

  it("a store's fault at the intake explains no second copy; one at the delivery does", () => {
    const twice = [
      published("a-0", 1000, { delayMs: 3000 }),
      confirmed("a-0"),
      arrived("a-0", "queue:Sales", 4005),
      arrived("a-0", "queue:Sales", 4010),
    ];
    const store = storePlan(3000);
    assert.deepEqual(broken([...twice, fault("database-killed", 1010, 1500)], store), ["copy-without-fault"]);
    assert.deepEqual(broken([...twice, fault("database-killed", 4000, 4500)], store), []);
  });

  it("what a cancel counted does not arrive, and need not; what it did not count does", () => {
    const cancel = (count: number | undefined): HistoryEvent =>
      ({ kind: "cancelled", part: "a", at: 1200, since: 1190, messageId: "id", count, delayMs: 0 }) as HistoryEvent;
    const stored = [published("a-0", 1000, { messageId: "id" }), confirmed("a-0")];
    const arrival = arrived("a-0", "queue:Sales");
    const store = storePlan(500);
    assert.deepEqual(broken([...stored, cancel(1)], store), []);
    assert.deepEqual(broken([...stored, cancel(1), arrival], store), ["cancelled-but-arrived"]);
    assert.deepEqual(broken([...stored, cancel(0)], store), ["lost"]);
    assert.deepEqual(broken([...stored, cancel(undefined)], store), []);
  });

  it("a try comes no earlier than its delay after the failure before it, and gives up only after all of them", () => {
    const tried = (kind: string, at: number, redeliveries: number): HistoryEvent =>
      ({ kind, part: "a", at, n: "a-0", redeliveries }) as HistoryEvent;
    const begin = [
      published("a-0", 1000, { delayMs: 0 }),
      confirmed("a-0"),
      tried("try-begins", 1020, 0),
      tried("try-fails", 1030, 0),
    ];
    const handled = (at: number): HistoryEvent[] => [tried("try-begins", at, 1), arrived("a-0", "handled", at + 5)];
    assert.deepEqual(broken([...begin, ...handled(1135)], retryPlan), []);
    assert.deepEqual(broken([...begin, ...handled(1100)], retryPlan), ["early"]);
    assert.deepEqual(broken([...begin, arrived("a-0", "error", 1050)], retryPlan), ["lost", "elsewhere", "elsewhere"]);
  });

  it("secrets in outputs, processes that stay, codes that say done, and messages that nobody gets are found", () => {
    assert.deepEqual(
      broken([
        { kind: "leaked", part: "a", at: 1, secret: "the broker's password", place: "the store's output" },
        { kind: "left", part: "a", at: 1, what: "process 17 (node)" },
        { kind: "uncaught", part: "a", at: 1, error: "channel closed" },
        { kind: "not-started", part: "a", at: 1, error: "errorQueue: it must exist" },
        { kind: "ran", part: "a", at: 1, mistake: "broken-config", code: 0 },
        { kind: "ended", part: "", at: 2, isThrough: true, remaining: { "a: Sales": 2 } },
      ]),
      ["left-in-queue", "secret", "uncaught", "not-started", "left-behind", "exit-code"],
    );
  });
});

describe("the gauntlet's own topic matching", () => {
  it("is that of AMQP", () => {
    for (const [key, routingKey, expected] of [
      ["*.*.Sales", "0.1.Sales", true],
      ["*.*.Sales", "0.1.Europe.Sales", false],
      ["#.Sales", "0.1.Europe.Sales", true],
      ["#.Sales", "Sales", true],
      ["#", "", true],
      ["a.#.b", "a.b", true],
      ["a.#.b", "a.x.y.b", true],
      ["a.*", "a", false],
    ] as const) {
      assert.equal(takes(key, routingKey), expected, `${key} ${routingKey}`);
    }
  });
});

/** One that arrives at a time, 500 ms after 1000 where it is in time. */
function early0(at: number): HistoryEvent[] {
  return [published("a-0"), confirmed("a-0"), arrived("a-0", "queue:Sales", at)];
}

function storePlan(delayMs: number, { by = "x-delay", instances = 1, database = "sqlite" } = {}): Plan {
  const part: StorePart = {
    ...{
      mechanism: "store",
      name: "a",
      declaredBy: "plans",
      database: database as "sqlite",
      numberOfRetries: 0,
      batchSize: 1,
    },
    ...{ instances, destinations: ["Sales"], requests: [] },
    messages: [{ n: "a-0", atMs: 0, delayMs, destination: "Sales", by: by as "x-delay", forwarded: false }],
  };
  return { seed: 1, broker: "4.3", faults: [], parts: [part] };
}

const retries: RetryPart = {
  ...{ mechanism: "retry", name: "a", way: "intervals", declaredBy: "plans", queueType: "quorum" },
  ...{ endpoint: "Orders", queue: "Orders", delaysMs: [100], immediate: 0, handlerTimeoutMs: 500, blockMs: 10 },
  ...{ confirmTimeoutMs: 1000, leaseMs: 5000, concurrency: 1 },
  messages: [{ n: "a-0", atMs: 0, workMs: 0, behaviour: ["fail"] }],
};
const retryPlan: Plan = { seed: 1, broker: "4.3", faults: [], parts: [retries] };
