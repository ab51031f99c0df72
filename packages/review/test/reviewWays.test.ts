import { strict as assert } from "node:assert";
import { delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import type { PreviewStep } from "../dist/preview/preview";
import { parsePreview } from "../dist/preview/preview";
import { Review, reviewOf } from "../dist/review";
import { change, judged, queueStep, reviewed, step } from "./steps";

const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 3 });
const plan = planEntities(network);
const [lowest, , highest] = network.entryExchanges as [string, string, string];
const delivery = network.deliveryExchange;
const levelQueue = plan.queues.find(({ name }) => name.includes("level"))?.name as string;

const bound = (
  op: string,
  source: string,
  destination: string,
  destinationType: string,
  routingKey: string,
): PreviewStep =>
  step(op, "rabbitmq:index/binding:Binding", `${source}-${destination}-${routingKey}`, {
    source,
    destination,
    destinationType,
    routingKey,
    vhost: "/",
  });
const network0 = step("same", "rabbitmq:index/exchange:Exchange", "delivery", { name: delivery, vhost: "/" });

const queue = (ttlMs: number): object => ({
  name: "work.retry",
  vhost: "/",
  settings: { argumentsJson: JSON.stringify({ "x-message-ttl": ttlMs, "x-queue-type": "quorum" }) },
});

describe("a review of ways", () => {
  it("names the live change where level 0 would be declared anew to lead to the other end of its network", async () => {
    const [plain, enforced] = (["exact", "enforced"] as const).map(
      (matching) => planEntities(delayNetwork({ preset: "nservicebus", matching })).queues[1],
    );
    const inputs = (plan: typeof plain): object => ({
      name: plan?.name,
      vhost: "/",
      settings: { argumentsJson: JSON.stringify(plan?.arguments) },
    });
    for (const [before, after] of [
      [plain, enforced],
      [enforced, plain],
    ]) {
      for (const retainOnDelete of [true, false]) {
        const replaced = change("replace", "rabbitmq:index/queue:Queue", "level-00", inputs(before), inputs(after), {
          retainOnDelete,
        });
        const targets = [before, after].map((one) => {
          const name = String(one?.arguments["x-dead-letter-exchange"]);
          return step("same", "rabbitmq:index/exchange:Exchange", name, { name, vhost: "/", settings: {} });
        });
        const { findings, verdict } = await reviewed([replaced, ...targets]);
        assert.deepEqual([verdict, ...findings.map(({ rule }) => rule)], ["loss", "matching-changed"]);
      }
    }
  });

  // It stayed beside the one that took its place, and each message arrived twice: safe.
  it("counts a binding that the broker keeps as there", async () => {
    const own = (op: string, destination: string, more: object = {}): PreviewStep => {
      const values = { source: delivery, destination, destinationType: "queue", routingKey: "*.*.*.Sales", vhost: "/" };
      return step(op, "rabbitmq:index/binding:Binding", destination, values, more);
    };
    const retained = { retainOnDelete: true };
    assert.deepEqual(await judged([network0, own("delete", "q1", retained), own("create", "q2")]), [
      "care",
      "binding-kept",
      "delivered-twice",
    ]);
    assert.deepEqual(await judged([network0, own("delete", "q1", retained)]), ["care", "binding-kept"]);
    const q1 = queueStep("delete", "q1", retained);
    assert.deepEqual(await judged([network0, q1, own("delete", "q1", retained)]), ["safe", "queue-kept"]);
  });

  // A second resource came for it in an update before: the first one's deletion unbound it for good, and that was care.
  it("finds that a binding goes which another resource still stands for", async () => {
    const own = (op: string, name: string, more: object = {}): PreviewStep => {
      const values = { source: "in", destination: "q", destinationType: "queue", routingKey: "#", vhost: "/" };
      return step(op, "rabbitmq:index/binding:Binding", name, values, more);
    };
    const exchange = step("same", "rabbitmq:index/exchange:Exchange", "in", {
      name: "in",
      vhost: "/",
      settings: { arguments: { "alternate-exchange": "theirs" } },
    });
    assert.deepEqual(await judged([exchange, own("same", "new"), own("delete", "old")]), ["loss", "twin-deleted"]);
    assert.deepEqual(await judged([exchange, own("create", "new"), own("delete", "old")]), ["loss", "live-deleted"]);
    const kept = own("delete", "old", { retainOnDelete: true });
    assert.deepEqual(await judged([exchange, own("same", "new"), kept]), ["safe"]);
  });

  // Any alternate exchange counted as the network's parking, also one to which nothing was bound.
  it("believes an alternate exchange only where it leads on", async () => {
    const exchange = (name: string, settings: object = {}): PreviewStep =>
      step("same", "rabbitmq:index/exchange:Exchange", name, { name, vhost: "/", settings });
    const into = exchange("in", { arguments: { "alternate-exchange": "rest" } });
    const gone = bound("delete", "in", "bills", "queue", "#");
    assert.deepEqual(await judged([into, gone, exchange("rest")]), ["loss", "unroutable-lost"]);
    assert.deepEqual(await judged([into, gone, exchange("rest"), bound("same", "rest", "q", "queue", "")]), [
      "care",
      "binding-gone",
    ]);
    const { findings } = await reviewed([into, gone]);
    assert.match(findings[0]?.detail ?? "", /this preview does not say/, "it may be another stack's");
  });

  // Each was a loss, though every message comes to the same queue by another binding.
  it("lets a binding go beside one that takes all that it takes, to the same end", async () => {
    const shop = (type: string): PreviewStep =>
      step("same", "rabbitmq:index/exchange:Exchange", "in", { name: "in", vhost: "/", settings: { type } });
    const feeder = step("same", "rabbitmq:index/queue:Queue", "a", {
      ...{ name: "a", vhost: "/" },
      settings: { argumentsJson: '{"x-dead-letter-exchange":"in"}' },
    });
    const beside = async (type: string, key: string, end = "q"): Promise<string[]> =>
      judged([shop(type), feeder, bound("same", "in", end, "queue", key), bound("delete", "in", "q", "queue", "a.b")]);
    for (const [type, key] of [
      ["topic", "#"],
      ["topic", "a.*"],
      ["fanout", "x"],
    ] as const)
      assert.deepEqual(await beside(type, key), ["safe"], `${type} ${key}`);
    for (const [type, key, end] of [
      ["topic", "b.*"],
      ["direct", "x"],
      ["topic", "#", "other"],
    ] as const)
      assert.deepEqual(await beside(type, key, end), ["loss", "unroutable-lost"], `${type} ${key}`);
  });

  // It was a loss, though each message published during the update and after it came to the new queue.
  it("lets a binding go with its queue beside a new queue that is bound the same", async () => {
    const shop = step("same", "rabbitmq:index/exchange:Exchange", "in", {
      ...{ name: "in", vhost: "/" },
      settings: { type: "topic" },
    });
    const feeder = step("same", "rabbitmq:index/queue:Queue", "a", {
      ...{ name: "a", vhost: "/" },
      settings: { argumentsJson: '{"x-dead-letter-exchange":"in"}' },
    });
    const beside = async (...steps: PreviewStep[]): Promise<string[]> => {
      const [verdict, ...told] = await judged([shop, feeder, ...steps]);
      return [verdict, ...told.sort()];
    };
    const unbound = bound("delete", "in", "q", "queue", "a.*");
    const to = (destination: string, routingKey = "a.*"): object => ({
      ...{ vhost: "/", source: "in", destination, destinationType: "queue" },
      routingKey,
    });
    const replaced = (type: string, before: object, after: object, ops: string[]): PreviewStep[] =>
      ops.map((op) => ({ ...change("replace", type, "one", before, after), op }));
    const early = ["create-replacement", "replace", "delete-replaced"];
    const late = ["delete-replaced", "replace", "create-replacement"];
    const [type, binding] = ["rabbitmq:index/queue:Queue", "rabbitmq:index/binding:Binding"];
    const [named, other] = ["q", "q2"].map((name) => ({ name, vhost: "/", settings: { argumentsJson: "{}" } })) as [
      object,
      object,
    ];
    const gone = queueStep("delete", "q");
    const next = bound("create", "in", "q2", "queue", "a.*");
    const deleted = ["loss", "queue-deleted"];
    const lost = ["loss", "queue-deleted", "unroutable-lost"];
    assert.deepEqual(await beside(unbound, gone, queueStep("create", "q2"), next), deleted);
    assert.deepEqual(await beside(unbound, gone, next), deleted);
    assert.deepEqual(await beside(unbound, queueStep("delete", "q", { retainOnDelete: true }), next), [
      "safe",
      "queue-kept",
    ]);
    assert.deepEqual(await beside(unbound, ...replaced(type, named, other, early), next), ["loss", "queue-replaced"]);
    const moved = (ops: string[]): PreviewStep[] => replaced(binding, to("q"), to("q2"), ops);
    assert.deepEqual(await beside(gone, ...moved(early)), deleted);
    // Each of these leaves a message without a way.
    assert.deepEqual(await beside(gone, ...moved(late)), lost);
    assert.deepEqual(await beside(unbound, ...replaced(type, named, other, late), next), [
      "loss",
      "queue-replaced",
      "unroutable-lost",
    ]);
    assert.deepEqual(await beside(unbound, next), ["loss", "unroutable-lost"], "what is in q stays there");
    assert.deepEqual(await beside(unbound, gone, queueStep("delete", "q2"), next), [
      "loss",
      "queue-deleted",
      "queue-deleted",
      "unroutable-lost",
    ]);
    for (const [name, values] of [
      ["narrower", to("q2", "a.b")],
      ["conditional", { ...to("q2"), arguments: { "x-match": "all" } }],
      ["elsewhere", { ...to("q2"), source: "out" }],
      ["unreadable", to("q2", "[secret]")],
    ] as const)
      assert.deepEqual(await beside(unbound, gone, step("create", binding, "next", values)), lost, name);
  });

  // "The network parks it": nothing was parked in 2,700 messages.
  it("knows that an endpoint's queue gets the same by the exchange of its name as without it", async () => {
    const to = (destinationType: string): object => ({
      ...{ vhost: "/", source: "in", destination: "Sales", routingKey: "#.Sales" },
      destinationType,
    });
    const moved = (from: string, into: string): PreviewStep[] =>
      ["create-replacement", "replace", "delete-replaced"].map((op) => ({
        ...change("replace", "rabbitmq:index/binding:Binding", "b", to(from), to(into)),
        op,
      }));
    const topic = step("same", "rabbitmq:index/exchange:Exchange", "in", {
      ...{ name: "in", vhost: "/" },
      settings: { type: "topic" },
    });
    const own = bound("create", "Sales", "Sales", "queue", "");
    const sales = (type: string): PreviewStep =>
      step("same", "rabbitmq:index/exchange:Exchange", "Sales", { name: "Sales", vhost: "/", settings: { type } });
    const fanout = sales("fanout");
    // The component names the two otherwise.
    const apart = (from: string, into: string): PreviewStep[] => [
      step("create", "rabbitmq:index/binding:Binding", "new", to(into)),
      step("delete", "rabbitmq:index/binding:Binding", "old", to(from)),
    ];
    for (const replaced of [moved, apart]) {
      assert.deepEqual(await judged([topic, fanout, own, ...replaced("queue", "exchange")]), ["safe"]);
      // Its bindings' keys were ignored: safe, and the broker dropped what the exchange does not take.
      const others = { direct: "z", topic: "z.#", headers: "" };
      for (const [type, key] of [...Object.entries(others), ["topic", ""]] as const) {
        const narrow = bound("same", "Sales", "Sales", "queue", key);
        const steps = [topic, sales(type), narrow, ...replaced("queue", "exchange")];
        assert.deepEqual(await judged(steps), ["loss", "unroutable-lost"], `${type} ${key}`);
      }
      const wide = bound("same", "Sales", "Sales", "queue", "#.Sales");
      assert.deepEqual(await judged([topic, sales("topic"), wide, ...replaced("queue", "exchange")]), ["safe"]);
      assert.deepEqual(await judged([topic, { ...own, op: "same" }, ...replaced("exchange", "queue")]), ["safe"]);
    }
    const others = bound("same", "Sales", "archive", "queue", "");
    assert.deepEqual(await judged([topic, { ...own, op: "same" }, others, ...moved("exchange", "queue")]), [
      "loss",
      "unroutable-lost",
    ]);
  });

  // A retry queue passed its messages on to a queue that was deleted, by the default exchange.
  it("finds a queue that stays, and passes its messages on to one that is deleted", async () => {
    const leading = (values: object): PreviewStep =>
      step("same", "rabbitmq:index/queue:Queue", "retry", {
        name: "retry",
        vhost: "/",
        settings: { argumentsJson: JSON.stringify(values) },
      });
    const toWork = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work" };
    const work = queueStep("delete", "work");
    assert.deepEqual(await judged([leading(toWork), work]), ["loss", "queue-deleted", "unroutable-lost"]);
    const safe = {
      ...{ ...toWork, "x-queue-type": "quorum" },
      ...{ "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" },
    };
    assert.deepEqual(await judged([leading(safe), work]), ["loss", "queue-deleted"]);
    // Ten messages were lost: without all three, the broker drops what finds no way.
    for (const missing of ["x-queue-type", "x-dead-letter-strategy", "x-overflow"])
      assert.deepEqual(await judged([leading({ ...safe, [missing]: undefined }), work]), [
        "loss",
        "queue-deleted",
        "unroutable-lost",
      ]);
    assert.deepEqual(await judged([leading({ ...toWork, "x-dead-letter-routing-key": "x" }), work]), [
      "loss",
      "queue-deleted",
    ]);
  });

  const shortcuts: [string, PreviewStep][] = [
    ["a level to the delivery exchange, past all lower levels", bound("create", highest, delivery, "exchange", "#")],
    ["the lowest level to the delivery exchange by another key", bound("create", lowest, delivery, "exchange", "#")],
    ["a level to another level", bound("create", highest, lowest, "exchange", "#")],
    ["a level to its queue by another key", bound("create", highest, levelQueue, "queue", "#")],
    ["a level to a service's queue", bound("create", highest, "Sales", "queue", "#")],
    ["the delivery exchange back to a level", bound("create", delivery, highest, "exchange", "#")],
    ["another exchange to the delivery exchange", bound("create", "amq.topic", delivery, "exchange", "#")],
    ["another exchange to a level's queue", bound("create", "amq.topic", levelQueue, "queue", "#")],
  ];
  for (const [what, binding] of shortcuts) {
    it(`finds a new binding from ${what}: messages would be early, or come twice`, async () => {
      assert.deepEqual(await judged([network0, binding]), ["care", "way-shortened"]);
    });
  }

  // adopt calls the same a difference; here it was safe.
  it("finds a new binding at a work queue's exchange, which would get each retried message again", async () => {
    const args = {
      "x-queue-type": "quorum",
      "x-overflow": "reject-publish",
      "x-message-ttl": 5000,
      "x-dead-letter-exchange": "orders",
      "x-dead-letter-strategy": "at-least-once",
    };
    const retry = (op: string, name = "orders.retry-5000"): PreviewStep =>
      step(op, "rabbitmq:index/queue:Queue", name, {
        name,
        vhost: "/",
        settings: { argumentsJson: JSON.stringify(args) },
      });
    const own = bound("same", "orders", "orders", "queue", "#");
    const spy = bound("create", "orders", "spy", "queue", "a.#");
    const care = ["care", "delivered-twice"];
    assert.deepEqual(await judged([retry("same"), own, spy]), care);
    const orders = step("create", "rabbitmq:index/exchange:Exchange", "orders", {
      name: "orders",
      vhost: "/",
      settings: {},
    });
    const made = [orders, spy, bound("create", "orders", "orders", "queue", "#"), retry("create")];
    assert.deepEqual(await judged(made), care);
    assert.equal((await reviewed(made)).findings[0]?.entity, "queue spy");
    const narrow = bound("same", "orders", "orders", "queue", "orders.*");
    assert.deepEqual(await judged([retry("same"), narrow, bound("create", "orders", "spy", "queue", "a.b")]), ["safe"]);
    assert.deepEqual(await judged([retry("same", "orders.retry-soon"), own, spy]), ["safe"]);
    assert.deepEqual(await judged([retry("same"), bound("create", "orders", "orders", "queue", "more.#")]), ["safe"]);
  });

  // A key that is known only when the program runs was taken for its placeholder: each message came to two services.
  it("takes a key or a source that nobody can read for one that may match", async () => {
    const sales = bound("same", delivery, "Sales", "queue", "*.*.*.Sales");
    const care = ["care", "delivered-twice"];
    for (const unreadable of ["04da6b54-80e4-46f7-96ec-b56ff0331ba9", "[secret]", "#.[secret]"]) {
      const byKey = bound("create", delivery, "Copy", "queue", unreadable);
      assert.deepEqual(await judged([network0, sales, byKey]), care, unreadable);
      const fromAnywhere = bound("create", unreadable, "Copy", "queue", "#");
      assert.deepEqual(await judged([network0, sales, fromAnywhere]), care, unreadable);
      const old = bound("same", delivery, "Sales", "queue", unreadable);
      assert.deepEqual(await judged([network0, old, bound("create", delivery, "Copy", "queue", "#.Copy")]), care);
      assert.deepEqual(await judged([network0, old, bound("create", delivery, "Sales", "queue", "#.Sales")]), ["safe"]);
      const level = await reviewed([network0, bound("create", lowest, "Copy", "queue", unreadable)]);
      assert.deepEqual([level.verdict, level.findings[0]?.rule], ["care", "way-shortened"]);
      assert.doesNotMatch(JSON.stringify(level.findings[0]?.found), /04da6b54/);
    }
  });

  // "It gets what is for [not known] as well."
  it("names the endpoint whose messages a binding takes, if only its component's exchange is known", async () => {
    const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
    const ours = { parent: "urn:pulumi:prod::shop::rabbitmq-delay:index:EndpointDelayBinding::Sales" };
    const own = step("create", "rabbitmq:index/exchange:Exchange", "Sales", { name: "Sales", vhost: "/" }, ours);
    const found = async (propertyDependencies: object): Promise<string | undefined> => {
      const sales = bound("create", delivery, unknown, "exchange", "#.Sales");
      const { findings } = await reviewed([
        ...[network0, own, { ...sales, newState: { ...sales.newState, ...ours, propertyDependencies } as never }],
        bound("create", delivery, "Copy", "queue", "#.Europe.Sales"),
      ]);
      return findings.find(({ rule }) => rule === "delivered-twice")?.found;
    };
    const taken = "Bound by #.Europe.Sales, it gets what is for";
    assert.equal(await found({ destination: [own.urn] }), `${taken} Sales as well.`);
    assert.equal(await found({}), `${taken} a destination whose name can't be read as well.`);
  });

  // The same binding needed care with the flag, and was safe without a word when a pipeline had left it out.
  it("says of a new binding that a file without --show-sames can't tell whose messages it takes", async () => {
    const steps = [bound("create", delivery, "Copy", "queue", "#.Sales")];
    const of = (same: number): Promise<Review> =>
      reviewOf(parsePreview(JSON.stringify({ steps, changeSummary: { create: 1, same } }), "test"));
    const { verdict, findings } = await of(4);
    assert.deepEqual([verdict, findings.map(({ rule }) => rule)], ["care", ["delivered-twice"]]);
    assert.match(findings[0]?.found ?? "", /--show-sames/);
    assert.equal((await of(1)).verdict, "safe", "the stack alone stays: all is listed");
  });

  // A command that purged a queue was safe.
  for (const type of [
    "command:local:Command",
    "command:remote:Command",
    "kubernetes:batch/v1:Job",
    "kubernetes:batch/v1:CronJob",
    "pulumi-nodejs:dynamic:Resource",
    "pulumi-python:dynamic/purge:Purge",
  ]) {
    it(`says of a new ${type} that nobody knows what it does`, async () => {
      assert.deepEqual(await judged([step("create", type, "purge", {})]), ["care", "other-changed"]);
    });
  }

  it("finds another's messages behind the destination's own older key", async () => {
    const steps = [
      bound("same", delivery, "Sales", "queue", "*.*.*.Sales.*"),
      bound("same", delivery, "Copy", "queue", "*.*.*.Copy"),
    ];
    assert.deepEqual(await judged([network0, ...steps, bound("create", delivery, "Sales", "queue", "#")]), [
      "care",
      "delivered-twice",
    ]);
  });

  for (const type of ["permissions:Permissions", "topicPermissions:TopicPermissions"]) {
    it(`finds that new ${type.split(":")[1]} may take rights from a user who has some: its service would be refused`, async () => {
      const nothing = { configure: "^$", write: "^$", read: "^$" };
      const permissions = type.startsWith("topic") ? [{ exchange: delivery, write: "^$", read: "^$" }] : nothing;
      const rights = (user: string): PreviewStep =>
        step("create", `rabbitmq:index/${type}`, "rights", { user, vhost: "/", permissions });
      const user = (op: string): PreviewStep => step(op, "rabbitmq:index/user:User", "svc", { name: "svc" });
      for (const steps of [[rights("svc")], [rights("svc"), user("same")], [rights("[secret]"), user("create")]]) {
        const { verdict, findings } = await reviewed(steps);
        assert.equal(verdict, "care");
        assert.match(findings[0]?.detail ?? "", /take the place of those that it has/);
      }
      assert.deepEqual(await judged([rights("svc"), user("create")]), ["safe"], "a new one has none to lose");
    });
  }

  it("takes a network's own bindings, and those of endpoints, for what they are", async () => {
    const own = plan.bindings.map((binding) =>
      bound("create", binding.source, binding.destination, binding.destinationType, binding.routingKey),
    );
    const endpoint = bound("create", delivery, "Sales", "queue", "*.*.*.Sales");
    assert.deepEqual(await judged([network0, ...own, endpoint]), ["safe"]);
  });

  it("finds a rename that keeps the old queue and wants another TTL: the update fails half-way", async () => {
    const kept = step("delete", "rabbitmq:index/queue:Queue", "old", queue(1000), { retainOnDelete: true });
    const same = step("create", "rabbitmq:index/queue:Queue", "new", queue(1000));
    assert.deepEqual(await judged([kept, same]), ["safe"], "one that is the same is the same queue");
    const other = step("create", "rabbitmq:index/queue:Queue", "new", queue(2000));
    const { verdict, findings } = await reviewed([kept, other]);
    assert.equal(verdict, "care");
    assert.equal(findings[0]?.rule, "declared-otherwise");
    assert.deepEqual(findings[0]?.causes, [{ property: "x-message-ttl", before: "1000", after: "2000" }]);
  });

  const provider = (before: object, after: object, more: object = {}): PreviewStep => ({
    ...change("update", "pulumi:providers:rabbitmq", "broker", before, after),
    ...more,
  });
  const secret = { endpoint: "[secret]", username: "a" };

  it("finds that all would go to another broker, also where its address is secret", async () => {
    const changed = ["care", "broker-changed"];
    assert.deepEqual(await judged([provider({ endpoint: "http://a:15672" }, { endpoint: "http://b:15672" })]), changed);
    assert.deepEqual(await judged([provider(secret, secret)]), changed, "nothing says what changes");
    assert.deepEqual(await judged([provider(secret, secret, { diffReasons: ["endpoint"] })]), changed);
    assert.deepEqual(await judged([provider(secret, secret, { detailedDiff: { endpoint: {} } })]), changed);
    assert.deepEqual(await judged([provider(secret, { username: "a" })]), changed, "not known yet");
    assert.deepEqual(await judged([provider(secret, secret, { diffReasons: ["password"] })]), ["safe"]);
    const known = { endpoint: "http://a:15672" };
    assert.deepEqual(await judged([provider({ ...known, password: "x" }, { ...known, password: "y" })]), ["safe"]);
  });

  it("finds that an entity would be looked for by another provider", async () => {
    const by = (name: string): object => ({
      provider: `urn:pulumi:prod::shop::pulumi:providers:rabbitmq::${name}::id`,
    });
    const [{ oldState, newState, ...moved }] = [step("update", "rabbitmq:index/queue:Queue", "q", queue(1))];
    const steps = (before: string, after: string): PreviewStep[] => [
      {
        ...moved,
        oldState: { ...(oldState as NonNullable<typeof oldState>), ...by(before) },
        newState: { ...(newState as NonNullable<typeof newState>), ...by(after) },
      },
    ];
    assert.deepEqual(await judged(steps("one", "other")), ["care", "broker-changed"]);
    assert.deepEqual(await judged(steps("one", "one")), ["safe"]);
    assert.deepEqual(await judged(steps("default_3_3_7", "default_3_3_8")), ["safe"]);
  });
});
