import { strict as assert } from "node:assert";
import { delayNetwork, parkingPolicy } from "@rabbitmq-delay/topology";
import { Policies } from "../dist/judge/policyFindings";
import { unlimitedQueues } from "../dist/judge/unlimitedQueues";
import { EntityChange, entityChanges } from "../dist/preview/entityChange";
import { PreviewStep, parsePreview } from "../dist/preview/preview";
import { change, judged, queueStep, step } from "./steps";

interface Definition {
  pattern?: string;
  applyTo?: string;
  priority?: number;
  definition: Record<string, unknown>;
}

const types = { policy: "rabbitmq:index/policy:Policy", operators: "rabbitmq:index/operatorPolicy:OperatorPolicy" };
const inputs = (policy: Definition): object => ({ name: "p", vhost: "/", policy: { pattern: "^a$", ...policy } });
const lone = (op: string, policy: Definition, more: object = {}): PreviewStep =>
  step(op, types.policy, "p", inputs(policy), more);
const edit = (before: Definition, after: Definition, type = types.policy): PreviewStep =>
  change("update", type, "p", inputs(before), inputs(after));
const ours = { parent: "urn:pulumi:prod::shop::rabbitmq-delay:index:DelayLevelTopology::delay" };

/** The rule by which the first of some steps is judged where a broker has listed all. */
function listed(...steps: PreviewStep[]): string | undefined {
  return listedAs(undefined, ...steps);
}

/** The same where the broker's queues are of a type. */
function listedAs(type: string | undefined, ...steps: PreviewStep[]): string | undefined {
  const changes = entityChanges(parsePreview(JSON.stringify({ steps }), "test"));
  const found = { isKnown: () => true, version: "4.3.6", typeOf: () => type };
  return new Policies(changes, true, { leadsOn: () => "unknown" }, found).judge(changes[0] as EntityChange)?.rule;
}

/** A queue of a type that stays, or becomes a queue of another type. */
const typed = (type: string, values: object = {}, later = type): PreviewStep => {
  const given = (one: string): object => ({
    name: "a",
    vhost: "/",
    settings: { argumentsJson: JSON.stringify({ "x-queue-type": one, ...values }) },
  });
  return change(type === later ? "same" : "replace", "rabbitmq:index/queue:Queue", "a", given(type), given(later));
};

/** Settings because of which the broker passes over a policy for a queue of the type. */
const passedOver: [string, object][] = [
  ["quorum", { "queue-mode": "lazy" }],
  ["quorum", { "max-age": "1D" }],
  ["quorum", { "ha-mode": "all" }],
  ["classic", { "delivery-limit": "5" }],
  ["classic", { "max-age": "1D" }],
  ["classic", { "dead-letter-strategy": "at-least-once" }],
];

/** Settings that drop messages of whatever queue a policy comes to. */
const dropping: Record<string, unknown>[] = [
  { "message-ttl": "500" },
  { expires: "60000" },
  { "max-length": "10" },
  { "max-length-bytes": "1000" },
  { overflow: "drop-head" },
  { "delivery-limit": "20" },
  { "dead-letter-exchange": "x" },
  { "dead-letter-routing-key": "x" },
];

describe("a review of a policy", () => {
  for (const type of Object.values(types)) {
    for (const definition of dropping) {
      const [key] = Object.keys(definition);
      it(`finds that more queues would lose messages by ${key} of ${type.split(":").at(-1)}`, async () => {
        const loss = ["loss", "policy-drops"];
        assert.deepEqual(await judged([edit({ definition }, { pattern: ".*", definition }, type)]), loss, "pattern");
        const [queues, all] = ["classic_queues", "all"];
        assert.deepEqual(
          await judged([edit({ applyTo: queues, definition }, { applyTo: all, definition }, type)]),
          loss,
          "applyTo",
        );
        assert.deepEqual(
          await judged([edit({ priority: 0, definition }, { priority: 5, definition }, type)]),
          loss,
          "priority",
        );
        assert.deepEqual(await judged([edit({ definition: {} }, { definition }, type)]), loss, "new setting");
        assert.deepEqual(await judged([step("create", type, "p", inputs({ definition }))]), loss, "new policy");
      });
    }
  }

  it("lets a policy pass that drops no more than before, with care", async () => {
    const definition = { "max-length": "10" };
    for (const [before, after] of [
      [
        { pattern: ".*", definition },
        { pattern: "^a$", definition },
      ],
      [
        { priority: 5, definition },
        { priority: 0, definition },
      ],
      [
        { applyTo: "all", definition },
        { applyTo: "queues", definition },
      ],
      [{ definition }, { definition: { "max-length": "20" } }],
    ] as [Definition, Definition][]) {
      assert.deepEqual(
        await judged([edit(before, after)]),
        ["care", "policy-changed"],
        JSON.stringify([before, after]),
      );
    }
  });

  for (const limit of ["-1", "100000"]) {
    it(`knows that a delivery limit of ${limit} keeps messages: its end drops what consumers failed 20 times`, async () => {
      const lifting = { definition: { "delivery-limit": limit } };
      assert.deepEqual(await judged([lone("create", lifting, ours)]), ["safe"]);
      const gone = ["loss", "policy-protection-gone"];
      assert.deepEqual(await judged([lone("delete", lifting)]), gone, "it goes");
      assert.deepEqual(await judged([lone("delete", lifting, { retainOnDelete: true })]), ["safe"], "it stays");
      assert.deepEqual(await judged([edit(lifting, { definition: {} })]), gone, "it says nothing of it any more");
      assert.deepEqual(await judged([edit(lifting, { ...lifting, pattern: "^b$" })]), gone, "it moves away");
      const lowered = await judged([edit(lifting, { definition: { "delivery-limit": "20" } })]);
      assert.deepEqual(lowered, ["loss", "policy-drops"]);
      const all = [lone("delete", lifting, ours), queueStep("delete", "a", ours)];
      assert.deepEqual(
        await judged(all),
        ["loss", "queue-deleted", "policy-changed"],
        "with its queue, nobody misses it",
      );
      const others = [lone("delete", lifting, ours), queueStep("same", "a", ours)];
      assert.deepEqual(await judged(others), gone);
    });
  }

  // It asked for care, and messages that were given back 25 times were dropped.
  it("finds that a higher delivery limit than the broker's own ends, or gets lower", async () => {
    const limited = (limit: string): Definition => ({ definition: { "delivery-limit": limit } });
    const gone = ["loss", "policy-protection-gone"];
    assert.deepEqual(await judged([lone("delete", limited("1000"))]), gone);
    assert.deepEqual(await judged([edit(limited("1000"), { definition: { "max-priority": "3" } })]), gone);
    assert.deepEqual(await judged([edit(limited("1000"), limited("21"))]), ["loss", "policy-drops"]);
    assert.deepEqual(await judged([edit(limited("-1"), limited("1000"))]), ["loss", "policy-drops"]);
    for (const harmless of [lone("delete", limited("20")), edit(limited("21"), limited("1000"))])
      assert.deepEqual(await judged([harmless]), ["care", "policy-changed"]);
  });

  it("lets an overflow go with the length that it is for, unless something else limits the queue", async () => {
    const refusing = { definition: { "max-length": "5", overflow: "reject-publish" } };
    const gone = ["loss", "policy-protection-gone"];
    const limited = { name: "a", vhost: "/", settings: { argumentsJson: '{"x-max-length":9}' } };
    const same = step("same", "rabbitmq:index/queue:Queue", "a", limited);
    const operators = { definition: { "max-length": "9" } };
    for (const going of [lone("delete", refusing), edit(refusing, { definition: {} })]) {
      assert.deepEqual(await judged([going, queueStep("same", "a")]), ["care", "policy-changed"]);
      assert.deepEqual(await judged([going, same]), gone, "an argument");
      const beside = [going, queueStep("same", "a"), step("same", types.operators, "o", inputs(operators))];
      assert.deepEqual(await judged(beside), gone, "an operator policy");
    }
    assert.deepEqual(await judged([edit(refusing, { definition: { "max-length": "5" } })]), gone);
  });

  it("finds an operator policy by which another operator policy comes to apply, beside other policies", async () => {
    const named = (name: string, limit: number, more: Partial<Definition> = {}): object => {
      const definition = { "max-length": limit };
      return { ...inputs({ priority: 5, definition, ...more }), name };
    };
    const strong = named("p", 100, { pattern: "^[ab]$" });
    const weak = (type: string): PreviewStep =>
      step("same", type, "weak", named("weak", 1, { pattern: ".*", priority: 3 }));
    const edits: Record<string, PreviewStep> = {
      removed: step("delete", types.operators, "p", strong),
      weaker: change("update", types.operators, "p", strong, named("p", 100, { pattern: "^[ab]$", priority: 2 })),
      narrowed: change("update", types.operators, "p", strong, named("p", 100, { pattern: "^b$" })),
    };
    for (const [name, one] of Object.entries(edits)) {
      const besides = (type: string): Promise<unknown> => judged([queueStep("same", "a"), one, weak(type)]);
      assert.deepEqual(await besides(types.operators), ["loss", "policy-drops"], name);
      assert.deepEqual(await besides(types.policy), ["care", "policy-changed"], `${name}, beside a policy`);
    }
  });

  it("counts the lower limit of a policy and an operator policy where a broker has listed both", () => {
    const queues = (values: object): PreviewStep =>
      step("same", "rabbitmq:index/queue:Queue", "a", {
        name: "a",
        vhost: "/",
        settings: { argumentsJson: JSON.stringify({ "x-queue-type": "quorum", ...values }) },
      });
    const told = (
      created: object,
      given: object,
      other: { op?: string; values?: object } = {},
    ): (string | undefined)[] =>
      [types.policy, types.operators].map((type) =>
        listed(
          step("create", type, "new", inputs({ definition: { ...created } })),
          queues(other.values ?? {}),
          step(other.op ?? "same", type === types.policy ? types.operators : types.policy, "old", {
            ...inputs({ definition: { ...given } }),
          }),
        ),
      );
    const [loss, harmless] = ["policy-drops", "policy-changed"].map((rule) => [rule, rule]);
    assert.deepEqual(told({ "max-length": "50" }, { "max-length": 10 }), harmless);
    assert.deepEqual(told({ "max-length": "50" }, { "max-length": 10 }, { op: "delete" }), loss);
    assert.deepEqual(told({ "max-length": "50" }, { "max-length": 100 }), loss);
    assert.deepEqual(told({ "max-length": "50" }, { "max-length": 100 }, { values: { "x-max-length": 5 } }), harmless);
    assert.deepEqual(told({ "max-length": "50" }, { "max-length": "[secret]" }), loss);
    // A queue counts to 20 only where nothing else is said.
    assert.deepEqual(told({ "delivery-limit": "30" }, {}), harmless);
    assert.deepEqual(told({ "delivery-limit": "30" }, { "delivery-limit": 30 }), harmless);
    assert.deepEqual(told({ "delivery-limit": "30" }, { "delivery-limit": 1000 }), loss);
    assert.deepEqual(told({ "delivery-limit": "30" }, { "delivery-limit": 30 }, { op: "delete" }), loss);
    assert.deepEqual(told({ overflow: "drop-head" }, {}), harmless);
    assert.deepEqual(told({ overflow: "drop-head" }, { overflow: "reject-publish" }), loss);
  });

  it("knows that a stream heeds a policy's limits instead of its own, and compares their units", () => {
    const stream = (values: object): PreviewStep =>
      step("same", "rabbitmq:index/queue:Queue", "a", {
        name: "a",
        vhost: "/",
        settings: { argumentsJson: JSON.stringify({ "x-queue-type": "stream", ...values }) },
      });
    const aged = (age: string): Definition => ({ definition: { "max-age": age } });
    const [drops, harmless] = ["policy-drops", "policy-changed"];
    for (const [before, after, rule] of [
      ["1D", "7D", harmless],
      ["12M", "1Y", harmless],
      ["60m", "1h", harmless],
      ["1h", "60s", drops],
      ["1M", "29D", drops],
      ["1D", "7d", drops],
      ["[secret]", "7D", drops],
    ] as const)
      assert.equal(listed(edit(aged(before), aged(after)), stream({})), rule, `${before} to ${after}`);
    const own = stream({ "x-max-age": "1D", "x-max-length-bytes": 1000 });
    assert.equal(listed(lone("create", aged("1h")), own), drops);
    assert.equal(listed(lone("create", aged("7D")), own), harmless);
    assert.equal(listed(lone("delete", aged("7D")), own), drops);
    assert.equal(listed(lone("delete", aged("1h")), own), harmless);
    const bytes = lone("delete", { definition: { "max-length-bytes": "5000" } });
    assert.equal(listed(bytes, own), drops);
    assert.equal(listed(bytes, stream({ "x-queue-type": "quorum", "x-max-length-bytes": 1000 })), harmless);
  });

  it("finds that a policy comes into force which the broker passed over for its queue", async () => {
    const limit = { "max-length": "3" };
    for (const [type, beside] of passedOver) {
      const name = `${type} ${JSON.stringify(beside)}`;
      const coming = edit({ definition: { ...limit, ...beside } }, { definition: limit });
      assert.equal(listed(coming, typed(type)), "policy-drops", name);
      assert.equal((await judged([coming, typed(type)]))[1], "policy-drops", `${name}, and no broker was asked`);
      assert.equal((await judged([coming]))[1], "policy-drops", `${name}, and no queue is listed`);
    }
    const known = edit({ definition: { ...limit, "delivery-limit": "5" } }, { definition: limit });
    assert.equal(listed(known, typed("quorum")), "policy-changed", "in force before");
    const unknown = edit({ definition: { ...limit, "new-key": "1" } }, { definition: limit });
    assert.equal(listed(unknown, typed("quorum")), "policy-drops", "perhaps not in force before");
    const raised = edit(
      { definition: { ...limit, "new-key": "1" } },
      { definition: { "max-length": "4", "new-key": "2" } },
    );
    assert.equal(listed(raised, typed("quorum")), "policy-changed", "in force as before");
  });

  it("finds that the broker passes over a policy for its queue from then on", async () => {
    const leading = { "dead-letter-exchange": "in" };
    for (const [type, beside] of passedOver) {
      const name = `${type} ${JSON.stringify(beside)}`;
      const going = edit({ definition: leading }, { definition: { ...leading, ...beside } });
      assert.equal(listed(going, typed(type)), "policy-protection-gone", name);
      assert.equal((await judged([going, typed(type)]))[0], "loss", `${name}, and no broker was asked`);
    }
    const unknown = edit({ definition: leading }, { definition: { ...leading, "new-key": "1" } });
    assert.equal(listed(unknown, typed("quorum")), "policy-protection-gone", "perhaps not in force");
    const weaker = { ...inputs({ priority: -1, definition: { "max-length": "1" } }), name: "weak" };
    const limited = edit(
      { definition: { "max-length": "100" } },
      { definition: { "max-length": "100", "queue-mode": "lazy" } },
    );
    assert.equal(listed(limited, typed("quorum"), step("same", types.policy, "weak", weaker)), "policy-drops");
  });

  it("lets a policy pass that the broker passes over for its queue before and after the update", () => {
    for (const [type, definition] of [
      ["classic", { "delivery-limit": "2", "max-length": "2" }],
      ["classic", { "max-age": "1s", expires: "60000" }],
      ["stream", { "message-ttl": "500" }],
      ["stream", { "max-length": "2" }],
    ] as const) {
      const name = `${type} ${JSON.stringify(definition)}`;
      assert.equal(listed(lone("create", { definition }), typed(type)), "policy-changed", name);
      assert.equal(listed(lone("delete", { definition }), typed(type)), "policy-changed", `${name} goes`);
    }
    const leading = { "dead-letter-exchange": "in" };
    const strategy = { ...leading, "dead-letter-strategy": "at-least-once" };
    const exchange = step("same", "rabbitmq:index/exchange:Exchange", "in", { name: "in", vhost: "/" });
    assert.equal(
      listed(edit({ definition: strategy }, { definition: leading }), typed("classic"), exchange),
      "policy-changed",
    );
  });

  it("goes by the type that the broker has for a queue without one, and by any type where no broker was asked", () => {
    const queue = queueStep("same", "a");
    const counting = lone("create", { definition: { "delivery-limit": "5" } });
    assert.equal(listedAs("classic", counting, queue), "policy-changed");
    assert.equal(listedAs("quorum", counting, queue), "policy-drops");
    assert.equal(listed(counting, queue), "policy-drops");
    const coming = edit(
      { definition: { "max-length": "3", "delivery-limit": "5" } },
      { definition: { "max-length": "3" } },
    );
    assert.equal(listedAs("classic", coming, queue), "policy-drops");
    assert.equal(listedAs("quorum", coming, queue), "policy-changed");
    assert.equal(listed(coming, queue), "policy-drops");
  });

  it("misses no delivery limit of a queue that becomes one without", () => {
    const lifting = lone("delete", { definition: { "delivery-limit": "100000" } });
    assert.equal(listed(lifting, typed("quorum", {}, "classic")), "policy-changed");
    assert.equal(listed(lifting, typed("quorum")), "policy-protection-gone");
  });

  it("finds that an overflow goes by which a queue holds dead letters, whatever its length", async () => {
    const refusing = { overflow: "reject-publish" };
    const strategy = { "dead-letter-strategy": "at-least-once" };
    const limited = { ...refusing, "max-length": "5" };
    const held = typed("quorum", { "x-dead-letter-strategy": "at-least-once", "x-dead-letter-exchange": "in" });
    for (const definition of [refusing, limited]) {
      const going = lone("delete", { definition });
      assert.equal(listed(going, held), "policy-protection-gone");
      assert.equal(listed(edit({ definition }, { definition: {} }), held), "policy-protection-gone");
      assert.equal((await judged([going, held]))[1], "policy-protection-gone", "no broker was asked");
      const leaving = edit({ definition: { ...definition, ...strategy } }, { definition: strategy });
      assert.equal(listed(leaving, typed("quorum")), "policy-protection-gone", "the strategy is a policy's");
      assert.equal((await judged([leaving]))[1], "policy-protection-gone", "no broker was asked for the strategy");
      assert.equal(listed(going, typed("quorum")), "policy-changed", "nothing is held");
    }
  });

  it("finds that a queue asks for no delivery limit in vain, new or declared anew under its name", () => {
    const told = (steps: PreviewStep[], version?: string): number => {
      const changes = entityChanges(parsePreview(JSON.stringify({ steps }), "test"));
      return unlimitedQueues(changes, version).length;
    };
    const given = (values: object): object => ({
      name: "a",
      vhost: "/",
      settings: { argumentsJson: JSON.stringify({ "x-queue-type": "quorum", ...values }) },
    });
    const [plain, asking] = [given({}), given({ "x-delivery-limit": -1 })];
    const limited = lone("same", { definition: { "delivery-limit": "3" } });
    for (const op of ["create", "replace"]) {
      const one = change(op, "rabbitmq:index/queue:Queue", "a", plain, asking);
      assert.equal(told([one], "3.10.8"), 1, op);
      assert.equal(told([one], "4.3.6"), 0, op);
      assert.equal(told([one, limited], "4.3.6"), 1, `${op}, beside a policy`);
    }
    assert.equal(told([change("same", "rabbitmq:index/queue:Queue", "a", asking, asking), limited], "4.3.6"), 0);
  });

  it("asks for care with a limit on a queue that the update creates, as the broker may have that queue already", async () => {
    const limited = { definition: { "max-length": "5" } };
    const own = [lone("create", limited, ours), queueStep("create", "a", ours)];
    assert.deepEqual(await judged(own), ["care", "policy-changed"]);
    const loss = ["loss", "policy-drops"];
    assert.deepEqual(await judged([lone("create", limited, ours), queueStep("same", "a", ours)]), loss);
    assert.deepEqual(await judged([lone("create", { ...limited, pattern: "^a" }), queueStep("create", "a")]), loss);
  });

  it("finds that the policy goes of a queue that stays on the broker", async () => {
    const lifting = lone("delete", { definition: { "delivery-limit": "-1" } });
    const kept = queueStep("delete", "a", { retainOnDelete: true });
    assert.deepEqual((await judged([lifting, kept])).slice(0, 2), ["loss", "policy-protection-gone"]);
  });

  it("finds that a network would no longer be parked, whoever takes its policy away", async () => {
    const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 2 });
    const { name, pattern, applyTo, priority, definition } = parkingPolicy(network) as Required<Definition> & {
      name: string;
    };
    const parking = { name, vhost: "/", policy: { pattern, applyTo, priority, definition } };
    const exchange = step("same", "rabbitmq:index/exchange:Exchange", "delivery", {
      name: network.deliveryExchange,
      vhost: "/",
    });
    const gone = await judged([step("delete", types.policy, "parking", parking), exchange]);
    assert.deepEqual(gone, ["loss", "policy-protection-gone"]);
    const kept = [step("delete", types.policy, "parking", parking, { retainOnDelete: true }), exchange];
    assert.deepEqual(await judged(kept), ["safe"]);
    const foreign = lone("create", { pattern: ".*", priority: 200, definition: { "ha-mode": "all" } });
    const taken = await judged([step("same", types.policy, "parking", parking), exchange, foreign]);
    assert.deepEqual(taken, ["loss", "policy-protection-gone"], "only one policy applies to each exchange");
  });

  it("is no safe one where the plan does not say what it sets", async () => {
    const unreadable = { name: "p", vhost: "/", policy: "[secret]" };
    assert.deepEqual(await judged([step("create", types.policy, "p", unreadable, ours)]), ["care", "policy-unknown"]);
    const stateless = { ...step("update", types.policy, "p", {}), oldState: undefined, newState: undefined };
    assert.equal((await judged([stateless]))[0], "care");
  });

  // A pull request with 400 policies kept its build waiting until that was stopped, and nobody knew what it would do.
  it("takes seconds for a thousand policies over a thousand queues", async () => {
    const steps = Array.from({ length: 1000 }, (_, index) => {
      const policy = { pattern: `^ep-${index}$`, priority: 1, definition: { "delivery-limit": "-1" } };
      const values = { name: `ep-${index}`, vhost: "/", settings: { durable: true } };
      return [
        step("same", "rabbitmq:index/queue:Queue", `q${index}`, values),
        step("create", types.policy, `p${index}`, { ...inputs(policy), name: `p${index}` }),
      ];
    }).flat();
    const start = process.cpuUsage();
    assert.equal((await judged(steps))[0], "care");
    const busyMs = process.cpuUsage(start).user / 1000;
    assert.ok(busyMs < 20_000, `${busyMs} ms of processor time`);
  });
});
