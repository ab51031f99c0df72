import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  DelayNetwork,
  PolicyPlan,
  delayNetwork,
  parkingPolicy,
  planEntities,
  queueTtlMs,
} from "@rabbitmq-delay/topology";
import {
  FoundPolicy,
  PolicySubject,
  certainlyAppliesTo,
  describeUnlimited,
  endpointLimitPolicies,
  judgePolicies,
  networkLimitPolicies,
} from "@rabbitmq-delay/topology/stack";
import { anyNetwork } from "./arbitraries";

const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 });
const plan = planEntities(network);
const subject: PolicySubject = { ...plan, policies: [parkingPolicy(network)].filter((policy) => policy !== undefined) };

function policy(definition: FoundPolicy["definition"], more: Partial<FoundPolicy> = {}): FoundPolicy {
  return { name: "foreign", pattern: ".*", applyTo: "queues", priority: 0, definition, isOperator: false, ...more };
}

const told = (...found: FoundPolicy[]): string[] =>
  judgePolicies(subject, found).map(({ severity, message }) => `${severity} ${message}`);

describe("a policy of others", () => {
  it("makes nothing early in a queue that drops what is over its TTL", () => {
    const dropping = { name: "dead", durable: true, arguments: { "x-message-ttl": 1000 } };
    const found = judgePolicies({ ...subject, queues: [dropping] }, [policy({ "message-ttl": 5 })]);
    assert.match(found.map(({ message }) => message).join("\n"), /messages in it would be dropped after 5ms/);
    assert.doesNotMatch(found.map(({ message }) => message).join("\n"), /early/);
  });

  // An 8 s delay arrived after 0.5 s, and no check said so.
  it("that makes some level's delay shorter is an error, whatever the number; one that makes none shorter is not", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.boolean(), (ttlMs, isOperator) => {
        const shorter = [0, 1, 2].some((level) => [1, 2, 3].some((digit) => ttlMs < queueTtlMs(network, level, digit)));
        const found = told(policy({ "message-ttl": ttlMs }, { pattern: "level", isOperator }));
        assert.equal(
          found.some((text) => /^error .*early/.test(text)),
          shorter,
          found.join("\n"),
        );
      }),
    );
  });

  it("is told once for what it does to many queues, each kind of harm by itself", () => {
    assert.deepEqual(told(policy({ "message-ttl": 5 })), [
      "error policy foreign (pattern .*, priority 0) sets message-ttl 5 on queue orders.r4x3u10.parking: messages in it would be " +
        "dropped after 5ms; narrow its pattern, or give these queues a policy of a higher priority without it",
      "error policy foreign (pattern .*, priority 0) sets message-ttl 5 on queue orders.r4x3u10.level-00-1 and 8 more: messages " +
        "would leave it after 5ms instead of 10ms, so that they arrive early; narrow its pattern, or give these queues a policy of " +
        "a higher priority without it",
    ]);
  });

  it("with a setting that the arguments override does nothing", () => {
    const harmless = {
      overflow: "reject-publish",
      "dead-letter-exchange": "x",
      "dead-letter-strategy": "at-most-once",
    };
    assert.deepEqual(told(policy({ ...harmless, "max-in-memory-length": 0 })), []);
    assert.deepEqual(told(policy({ "delivery-limit": -1 })), []);
  });

  // Nothing was found, and a level dropped all messages that no queue took.
  it("with an overflow that does not refuse ends at-least-once in a quorum queue, whatever the argument says", () => {
    for (const isOperator of [false, true])
      assert.match(
        told(policy({ overflow: "drop-head" }, { isOperator })).join(),
        /^error .*sets overflow drop-head on queue orders\.\S+ and 8 more: it would pass messages on at most once, so that those/,
      );
    const queueOf = (queueType: string): PolicySubject["queues"] => [
      { name: "full", arguments: { "x-queue-type": queueType, "x-overflow": "drop-head", "x-max-length": 9 } },
    ];
    const judged = (queueType: string): string =>
      judgePolicies({ exchanges: [], queues: queueOf(queueType), policies: [] }, [
        policy({ "max-length": 5, overflow: "reject-publish" }),
      ])
        .map(({ message }) => message)
        .join();
    assert.match(judged("quorum"), /it would refuse messages once it holds 5/);
    assert.match(judged("classic"), /its oldest messages would be dropped once it holds 5/);
  });

  // The message was gone at the sixth return, and nothing was found.
  it("with a delivery limit counts beside an argument that asks for none, and is an error on a service's queue too", () => {
    const queue = {
      name: "Billing",
      durable: true,
      arguments: { "x-queue-type": "quorum", "x-delivery-limit": -1, "x-dead-letter-exchange": "dlx" },
    };
    const judged = (limit: number, argument: number): string[] =>
      judgePolicies(
        {
          exchanges: [],
          queues: [{ ...queue, arguments: { ...queue.arguments, "x-delivery-limit": argument } }],
          policies: [],
          endpointQueues: ["Billing"],
        },
        [policy({ "delivery-limit": limit }, { name: "team's" })],
      ).map(({ severity, message }) => `${severity} ${message}`);
    assert.match(
      judged(5, -1).join(),
      /^error policy team's .* sets delivery-limit 5 on queue Billing: a message in it would leave for exchange dlx after it was given back 5 times/,
    );
    const harmless = [judged(-1, -1), judged(100_000, -1), judged(-1, 5), judged(5, 5), judged(6, 5)];
    assert.deepEqual(harmless.flat(), []);
    assert.match(judged(4, 5).join(), /^warning /, "lower than the argument: the service may want it");
  });

  // "Would keep it from leading what nobody takes away", and "no longer applies": it never did.
  it("is no rival of ours where a third one of a higher priority keeps it away", () => {
    const [own] = subject.policies as [PolicyPlan];
    const toNowhere = { "alternate-exchange": "elsewhere" };
    const at = (name: string, priority: number, more: Partial<FoundPolicy> = {}): FoundPolicy =>
      policy(toNowhere, { name, applyTo: "exchanges", priority: own.priority + priority, ...more });
    const namesOf = (...found: FoundPolicy[]): string[] =>
      judgePolicies(subject, found).map(({ policy: name }) => name);
    assert.deepEqual(namesOf(at("second", 1), at("first", 2)), ["first"]);
    assert.deepEqual(namesOf(at("weak", -1), at("first", 2)), ["first"]);
    assert.deepEqual(namesOf(at("weak", -2), at("stronger", -1)), ["stronger"]);
    // Each of these may leave an exchange to the second one.
    assert.deepEqual(namesOf(at("second", 1), at("equal", 1)).sort(), ["equal", "second"]);
    const unsure = { applyTo: "exchanges", pattern: "\\Qorders" };
    for (const first of [at("first", 2, { pattern: "delivery" }), at("first", 2, unsure)])
      assert.deepEqual(namesOf(at("second", 1), first).sort(), ["first", "second"]);
    assert.ok(namesOf(at("second", 1), at("first", 2, { isOperator: true })).includes("second"));
    assert.ok(namesOf(at("second", 1), at(own.name, 2)).includes("second"), "ours, which an update puts back");
  });

  it("is pushed off by none that has all that it says", () => {
    const queue = { name: "Billing", durable: true as const, arguments: { "x-queue-type": "quorum" } };
    const definition = { "max-length": 5, overflow: "reject-publish" };
    const planned = (queuePolicy: object, preset: "custom" | "nservicebus" = "custom"): PolicyPlan[] =>
      endpointLimitPolicies(queue, preset, { brokerVersion: "4.3.6", queuePolicy: { ...queuePolicy } });
    assert.deepEqual(planned(definition)[0]?.definition, { "delivery-limit": -1, ...definition });
    assert.deepEqual(planned({ "delivery-limit": 5 })[0]?.definition, { "delivery-limit": 5 });
    assert.deepEqual(planned(definition, "nservicebus")[0]?.definition, { "delivery-limit": 100_000, ...definition });
    const old = endpointLimitPolicies(queue, "custom", { brokerVersion: "3.10.8", queuePolicy: definition });
    assert.deepEqual(
      old.map((plan) => [plan.name, plan.applyTo, plan.definition]),
      [["Billing.delivery-limit", "queues", definition]],
    );
    assert.deepEqual(endpointLimitPolicies(queue, "custom", { brokerVersion: "3.10.8" }), []);
    assert.throws(
      () => planned({ "delivery-limit": 5 }, "nservicebus"),
      /^DelayTopologyError: queuePolicy\.delivery-limit: .*100000 alone/,
    );
    // Each ended an update half-way, or switched the whole policy off.
    for (const [key, value, why] of [
      ["max-length", [5], /a whole number of at least 0/],
      ["max-length", -1, /a whole number of at least 0/],
      ["message-ttl", 1.5, /a whole number of at least 0/],
      ["delivery-limit", -1, /a whole number of at least 0/],
      [
        "max-lenght",
        5,
        /does not heed this key, and then the whole policy has no effect; known keys are message-ttl, /,
      ],
      ["queue-mode", "lazy", /a quorum queue does not heed this key/],
      ["overflow", "drop", /one of drop-head, /],
      ["dead-letter-routing-key", "42", /a text of digits can't be set/],
    ] as const)
      assert.throws(() => planned({ [key]: value }), { property: `queuePolicy.${key}`, message: why });
    const classic = { ...queue, arguments: { "x-queue-type": "classic" } };
    const limited = { brokerVersion: "4.3.6", queuePolicy: { "delivery-limit": 5 } };
    assert.throws(() => endpointLimitPolicies(classic, "custom", limited), /a classic queue does not heed this key/);
    const judged = (policies: PolicyPlan[]): string[] =>
      judgePolicies({ exchanges: [], queues: [queue], policies, endpointQueues: ["Billing"] }, [
        policy(definition),
      ]).map(({ message }) => message);
    assert.deepEqual(judged(planned(definition)), []);
    assert.match(
      judged(planned({ "max-length": 5 })).join(),
      /policy foreign no longer applies to queue Billing: .*; an endpoint's queuePolicy can keep them$/,
    );
    // It said that dead letters would be dropped, though ours has a target for them.
    const targets = planned({ "delivery-limit": 10, "dead-letter-exchange": "dlx" });
    const rival = policy({ "delivery-limit": 5, "dead-letter-exchange": "dlx" });
    const subject = { exchanges: [], queues: [queue], policies: targets, endpointQueues: ["Billing"] };
    assert.deepEqual(
      judgePolicies(subject, [rival]).filter(({ severity }) => severity === "error"),
      [],
    );
  });

  it("of a delivery limit: none can be asked for before RabbitMQ 4.0", () => {
    const queue = { name: "Billing", arguments: { "x-queue-type": "quorum", "x-delivery-limit": -1 } };
    assert.match(
      describeUnlimited(queue, "3.10.8") ?? "",
      /^x-delivery-limit: -1 means no limit from RabbitMQ 4\.0 on; RabbitMQ 3\.10\.8 lets each message of queue Billing be dropped when it is returned for the first time\. Leave the argument out/,
    );
    assert.equal(describeUnlimited(queue, "4.0.0"), undefined);
    assert.equal(describeUnlimited(queue, undefined), undefined);
    assert.equal(describeUnlimited({ ...queue, arguments: { "x-queue-type": "quorum" } }, "3.10.8"), undefined);
  });

  it("counts where its pattern is in words that JavaScript does not have", () => {
    const patterns = [
      "\\Aorders",
      "(?i)^ORDERS",
      "^orders\\z",
      "[[:alpha:]]",
      "^(?>orders)",
      "\\Qorders\\E",
      "[]o]rders",
    ];
    for (const pattern of patterns) assert.notDeepEqual(told(policy({ expires: 5 }, { pattern })), [], pattern);
    assert.deepEqual(told(policy({ expires: 5 }, { pattern: "^Sales$" })), []);
  });

  it("is kept away by one of a higher priority that surely applies, and by no other", () => {
    const harm = policy({ expires: 5 });
    const shield = (more: Partial<FoundPolicy>): FoundPolicy =>
      policy({ overflow: "reject-publish" }, { name: "shield", priority: 1, ...more });
    assert.deepEqual(told(harm, shield({})), []);
    for (const more of [
      { priority: 0 },
      { pattern: "parking" },
      { pattern: "\\A" },
      { applyTo: "classic_queues" },
      { isOperator: true },
      { definition: { "ha-mode": "all" } },
    ])
      assert.notDeepEqual(told(harm, shield(more)), [], JSON.stringify(more));
  });

  it("does no harm to a queue whose type refuses one of its settings", () => {
    for (const [type, refused] of [
      ["quorum", { "ha-mode": "all" }],
      ["quorum", { "max-age": "1D" }],
      ["classic", { "delivery-limit": 5 }],
      ["classic", { "dead-letter-strategy": "at-least-once" }],
    ] as const) {
      const harms = (beside: object): number => {
        const queues = [{ name: "orders", arguments: { "x-queue-type": type } }];
        return judgePolicies({ exchanges: [], queues, policies: [] }, [policy({ expires: 5, ...beside })]).length;
      };
      const name = `${type} ${JSON.stringify(refused)}`;
      assert.equal(harms(refused), 0, name);
      assert.equal(harms({}), 1, name);
      assert.equal(harms({ "new-key": 1 }), 1, name);
    }
  });

  // Such a policy counted as one that may not apply, so that a weaker one seemed to.
  it("of federation surely applies to queues of each type", () => {
    const federated = {
      pattern: "^q$",
      applyTo: "all",
      definition: { "federation-upstream-set": "all", "max-length": 5 },
    };
    for (const type of ["classic", "quorum"])
      assert.ok(certainlyAppliesTo(federated, "q", { "x-queue-type": type }), type);
  });

  it("takes a policy of ours away where it is as strong, and loses its settings where it is weaker", () => {
    const limit = {
      name: "ours",
      pattern: "^orders\\.r4x3u10\\.parking$",
      applyTo: "quorum_queues",
      priority: 5,
    } as const;
    const ours = { ...limit, definition: { "delivery-limit": -1 } };
    const withLimit = { ...subject, policies: [ours] };
    const messages = (found: FoundPolicy): string[] => judgePolicies(withLimit, [found]).map(({ message }) => message);
    assert.match(
      messages(policy({ "queue-version": 2 }, { priority: 5 })).join(),
      /policy foreign .* would keep ours \(priority 5\) from setting delivery-limit -1; .* or give it the same: delivery-limit -1/,
    );
    assert.deepEqual(messages(policy({ "delivery-limit": -1 }, { priority: 5 })), []);
    assert.match(
      messages(policy({ "max-length": 7 }, { pattern: "parking$" })).join(),
      /^policy foreign no longer applies to queue orders\.r4x3u10\.parking: ours goes before it .* max-length 7 have no effect there$/,
    );
    // Rejected messages were dropped from the update on, which only warned.
    const deadLetters = policy({ "dead-letter-exchange": "dlx", "max-length": 7 }, { pattern: "parking$" });
    const service = { ...withLimit, endpointQueues: withLimit.queues.map(({ name }) => name) };
    const [lost] = judgePolicies(service, [deadLetters]);
    assert.equal(lost?.severity, "error");
    assert.match(
      lost.message,
      /^policy foreign does not apply to queue orders\.r4x3u10\.parking beside ours, .* would be dropped, .* Give it a priority above 5, and give it the same: delivery-limit -1; or /,
    );
    assert.equal(judgePolicies(withLimit, [deadLetters])[0]?.severity, "warning");
    const shared = { ...withLimit, errorQueues: withLimit.queues.map(({ name }) => name) };
    assert.match(
      judgePolicies(shared, [deadLetters])
        .map(({ severity, message }) => `${severity} ${message}`)
        .join(),
      /^error .* Give it a priority above 5, and give it the same: delivery-limit -1; or narrow its pattern, if they may be dropped$/,
    );
    const withOwn = withLimit.queues.map((queue) => ({
      ...queue,
      arguments: { "x-dead-letter-exchange": "own", ...queue.arguments },
    }));
    assert.equal(judgePolicies({ ...service, queues: withOwn }, [deadLetters])[0]?.severity, "warning");
    assert.deepEqual(
      messages(policy({ "dead-letter-exchange": "dlx", "delivery-limit": -1 }, { pattern: "parking$", priority: 6 })),
      [],
    );
    // Its priority was to be lowered: all messages of the network were parked then.
    const detour = { name: "orders.detour-level-detour-fallback", pattern: "parking$", priority: 1e9 };
    const withLevel = { ...withLimit, exchanges: [...withLimit.exchanges, { name: "orders.detour-level" }] };
    assert.match(
      judgePolicies(withLevel, [policy({ overflow: "reject-publish" }, detour)])[0]?.message ?? "",
      /^policy orders\.detour-level-detour-fallback is of a run of rabbitmq-delay enforce that has not ended: .* leave it alone/,
    );
    assert.match(messages(policy({ overflow: "reject-publish" }, detour)).join(), /lower its priority/);
    // An operator policy applies beside ours, and the lower limit wins.
    assert.match(
      messages(policy({ "delivery-limit": 4 }, { pattern: "parking$", isOperator: true })).join(),
      /delivery-limit 4/,
    );
  });

  it("is worth a warning on a service's own queue", () => {
    const queues = [{ name: "Sales", arguments: { "x-queue-type": "quorum" } }];
    const findings = judgePolicies({ exchanges: [], queues, policies: [], endpointQueues: ["Sales"] }, [
      policy({ "max-length": 7 }),
    ]);
    assert.deepEqual(
      findings.map(({ severity }) => severity),
      ["warning"],
    );
  });

  // A message-ttl was added to our own policy, an update said nothing, and 120 s were over after half a second.
  it("under the name of ours is judged by what it says, and put back by what ours says", () => {
    const [parking] = subject.policies;
    assert.ok(parking);
    const { name, pattern, applyTo, priority, definition } = parking;
    assert.deepEqual(told({ name, pattern, applyTo, priority, definition: { ...definition }, isOperator: false }), []);
    const widened = policy({ ...definition, "message-ttl": 5 }, { name, pattern: "^orders", applyTo: "all", priority });
    const findings = told(widened);
    assert.match(
      findings[0] ?? "",
      /^warning policy \S+ is on the broker with pattern "\^orders" \(declared here: ".*message-ttl 5 \(declared here: nothing\)/,
    );
    assert.ok(
      findings.some((text) =>
        /^error .*arrive early; it has the name .* give it back its pattern \^orders.*definition/.test(text),
      ),
      findings.join("\n"),
    );
  });

  // An update that raises a limit of ours was to be refused for the lower one that the same stack declared before.
  it("under the name of ours is no harm where it says less of what ours says, which the update changes", () => {
    const ours = { name: "ours", pattern: "^work$", applyTo: "queues", priority: 5 } as const;
    const queues = [{ name: "work", arguments: { "x-queue-type": "quorum" } }];
    const before = policy({ "delivery-limit": 4 }, { name: "ours", pattern: "^work$", priority: 5 });
    const after = { exchanges: [], queues, policies: [{ ...ours, definition: { "delivery-limit": 9 } }] };
    const severities = judgePolicies(after, [before]).map(({ severity }) => severity);
    assert.deepEqual(severities, ["warning"]);
  });

  // A message for an hour came after half a second: the policy in whose way ours was said to stand was the one that applied.
  it("is kept away by ours only where ours is for that very queue, whatever its name is spelt with", () => {
    const queues = [{ name: "verzögerung-3600000", arguments: { "x-message-ttl": 3_600_000 } }];
    const foreign = policy({ "message-ttl": 500 }, { pattern: "^verz", priority: 5 });
    const errorsWith = (more: object): number => {
      const ours = {
        name: "ours",
        pattern: "^other$",
        applyTo: "queues",
        priority: 100,
        definition: { overflow: "x" },
      };
      const policies = [{ ...ours, ...more }] as PolicySubject["policies"];
      return judgePolicies({ exchanges: [], queues, policies }, [foreign]).filter(
        ({ severity }) => severity === "error",
      ).length;
    };
    assert.equal(errorsWith({}), 1);
    assert.equal(errorsWith({ pattern: "^verzögerung-3600000$", applyTo: "quorum_queues" }), 1);
    assert.equal(errorsWith({ pattern: "^verzögerung-3600000$" }), 0);
  });
});

describe("a network's own policies", () => {
  it("apply to its queues and exchanges, and to no others", () => {
    fc.assert(
      fc.property(anyNetwork, (one) => {
        const [limit] = networkLimitPolicies(one, { brokerVersion: "4.3.6" });
        const { queues, exchanges } = planEntities(one);
        if (limit === undefined) return assert.equal(one.queueType, "classic");
        const pattern = new RegExp(limit.pattern, "u");
        for (const { name } of queues) {
          assert.ok(pattern.test(name), name);
          for (const other of [`${name}0`, `x${name}`, name.slice(0, -1), `${name}-detour`]) {
            if (!queues.some((queue) => queue.name === other)) assert.ok(!pattern.test(other), other);
          }
        }
        if (one.preset === "custom") {
          for (const { name } of exchanges.filter((exchange) => exchange.name !== one.parkingExchange)) {
            assert.ok(!pattern.test(name), name);
          }
        }
      }),
    );
  });

  // RabbitMQ 4.3 refuses a longer pattern: networks of radix 16 could not be declared.
  it("have patterns of at most 1,024 bytes, whatever the shape and the prefix", () => {
    for (const radix of [2, 4, 8, 16] as const) {
      for (const part of ["a", ".", "ä"]) {
        for (let levels = 1; levels <= 40; levels++) {
          let longest: DelayNetwork | undefined;
          for (let length = 220; length > 0 && longest === undefined; length--) {
            try {
              longest = delayNetwork({ preset: "custom", prefix: part.repeat(length), radix, levels, unitMs: 1 });
            } catch (error) {
              if (!/prefix/.test((error as Error).message)) break;
            }
          }
          if (longest === undefined) continue;
          for (const own of [parkingPolicy(longest), ...networkLimitPolicies(longest, {})]) {
            const bytes = Buffer.byteLength(own?.pattern ?? "");
            assert.ok(bytes <= 1024, `${radix} ${levels} ${part}: ${own?.name.slice(-20)} has ${bytes}`);
          }
        }
      }
    }
  });
});
