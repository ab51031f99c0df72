import { strict as assert } from "node:assert";
import type { BrokerAnswers } from "../dist/broker/brokerAnswers";
import type { PreviewStep } from "../dist/preview/preview";
import { parsePreview } from "../dist/preview/preview";
import { sampleKeys } from "../dist/judge/sampleKeys";
import { entityChanges } from "../dist/preview/entityChange";
import { reviewOf } from "../dist/review";
import { judged, reviewed, step } from "./steps";

const exchange = (name: string, settings: object = {}, op = "same"): PreviewStep =>
  step(op, "rabbitmq:index/exchange:Exchange", name, {
    ...{ name, vhost: "/" },
    settings: { type: "topic", durable: true, ...settings },
  });
const leading = (name: string, alternate: string, more: object = {}): PreviewStep =>
  exchange(name, { arguments: { "alternate-exchange": alternate }, ...more });
const queue = (name: string, values: object = {}, op = "same"): PreviewStep =>
  step(op, "rabbitmq:index/queue:Queue", name, {
    ...{ name, vhost: "/" },
    settings: { durable: true, argumentsJson: JSON.stringify({ "x-queue-type": "quorum", ...values }) },
  });
const deadLetters = (to: string, key?: string): object => ({
  ...{ "x-dead-letter-exchange": to },
  ...(key === undefined ? {} : { "x-dead-letter-routing-key": key }),
});
const feeding = (name: string, to: string, key?: string): PreviewStep => queue(name, deadLetters(to, key));
/** Binds a queue to an exchange, `in -> q`, or an exchange, `in => out`. */
const bound = (op: string, way: string, routingKey = "#", more: object = {}): PreviewStep => {
  const [source, sign, destination] = way.split(" ");
  const values = { source, destination, destinationType: sign === "=>" ? "exchange" : "queue", routingKey, vhost: "/" };
  return step(op, "rabbitmq:index/binding:Binding", `${way} ${routingKey}`, values, more);
};

const replaced = (from: PreviewStep, to: PreviewStep): PreviewStep => ({
  ...from,
  op: "replace",
  newState: { ...to.newState, urn: from.urn } as PreviewStep["newState"],
});

/**
 * Judges a plan beside a broker that has all of its state but one entity.
 * @param others entities that the broker has beside it
 */
const judgedOnBroker = async (
  steps: PreviewStep[],
  missing?: PreviewStep,
  others: PreviewStep[] = [],
): Promise<string[]> => {
  type Inputs = Record<string, unknown> & { settings?: { type?: string; argumentsJson?: string; arguments?: object } };
  const stateOf = (type: string): Inputs[] => {
    const there = [...steps, ...others].filter(
      (one) => one !== missing && one.oldState?.type === `rabbitmq:index/${type}`,
    );
    return [...new Map(there.map(({ urn, oldState }) => [urn, oldState?.inputs as Inputs])).values()];
  };
  const own = { durable: true, auto_delete: false, messages: 0, consumers: 1, state: "running" };
  const answers: Record<string, unknown> = {
    overview: { rabbitmq_version: "4.3.6" },
    "queues/%2F": stateOf("queue:Queue").map(({ name, settings }) => ({
      ...{ ...own, name },
      arguments: JSON.parse(settings?.argumentsJson ?? "{}") as object,
    })),
    "exchanges/%2F": stateOf("exchange:Exchange").map(({ name, settings }) => ({
      ...{ ...own, name, type: settings?.type, internal: false },
      arguments: settings?.arguments ?? {},
    })),
    "bindings/%2F": stateOf("binding:Binding").map(({ source, destination, destinationType, routingKey }) => ({
      ...{ source, destination, destination_type: destinationType, routing_key: routingKey },
      arguments: {},
    })),
    "policies/%2F": [],
    "operator-policies/%2F": [],
  };
  const broker: BrokerAnswers = {
    managementUrl: "http://127.0.0.1:15672",
    get: <T>(path: string) => Promise.resolve(answers[path.split("?")[0] as string] as T),
  };
  const { verdict, findings } = await reviewOf(parsePreview(JSON.stringify({ steps }), "test"), { broker });
  return [verdict, ...findings.map(({ rule, entity }) => `${rule}: ${entity}`)];
};

describe("a review of dead ends", () => {
  // The binding whose loss was accepted spoke for the other one: safe, and each message was lost.
  it("lets an accepted loss hide no other change that takes a way", async () => {
    const kept = [exchange("spare", { type: "fanout" }), queue("q"), queue("q2"), bound("same", "spare -> q")];
    const gone = bound("delete", "spare -> q2");
    const made = bound("create", "in => out");
    const steps = [...kept, leading("in", "spare"), exchange("out"), feeding("w", "spare", "k"), gone, made];
    const accepted = [{ urn: gone.urn, reason: "drained" }];
    const { verdict, findings } = await reviewOf(parsePreview(JSON.stringify({ steps }), "test"), { accepted });
    assert.equal(verdict, "loss");
    const open = findings.filter((finding) => finding.severity === "loss" && finding.accepted === undefined);
    assert.deepEqual(
      open.map(({ rule, entity }) => `${rule}: ${entity}`),
      ["unroutable-lost: binding in → out"],
    );
    const without = steps.filter((one) => one !== made);
    const alone = await reviewOf(parsePreview(JSON.stringify({ steps: without }), "test"), { accepted });
    assert.notEqual(alone.verdict, "loss", "an accepted loss stays accepted");
  });

  // Only the keys of changed bindings were tried, and "#" is none of a direct exchange: safe, and each message was lost.
  it("follows the keys of unchanged bindings, and those that two bindings take", async () => {
    const lost = ["loss", "unroutable-lost"];
    const direct = [exchange("spare", { type: "direct" }), leading("in", "spare"), exchange("out"), queue("q")];
    const made = bound("create", "in => out");
    assert.deepEqual(await judged([...direct, bound("same", "spare -> q", "k"), made]), lost);
    const topic = [exchange("spare"), leading("in", "spare"), exchange("out"), queue("q")];
    for (const [old, wider] of [
      ["*.b", "a.*"],
      ["#.b", "a.#"],
      ["a.#.b.*", "#.c"],
      ["", "#"],
      ["x", "*"],
      ["*.a.b", "#.b.#"],
      ["#.b", "#.*.b.#"],
    ])
      assert.deepEqual(
        await judged([...topic, bound("same", "spare -> q", old), bound("create", "in => out", wider)]),
        lost,
        `${old} ${wider}`,
      );
    // Safe, because no key was tried that is longer than all patterns.
    for (const [old, wider, taken] of [
      ["#", "orders.#", ["orders", "orders.*"]],
      ["#", "#", ["", "*", "*.*.*"]],
      ["*.b.#", "a.#", ["a.b"]],
    ] as const) {
      const ends = taken.map((key) => bound("same", "out -> q", key));
      const made = bound("create", "in => out", wider);
      assert.deepEqual(await judged([...topic, bound("same", "spare -> q", old), ...ends, made]), lost, wider);
    }
    const apart = [...topic, bound("same", "spare -> q", "#.b"), bound("create", "in => out", "a.#.c")];
    assert.deepEqual(await judged(apart), ["safe"], "no key matches both");
    const gone = [exchange("in", { type: "direct" }), feeding("w", "in"), bound("same", "in -> q", "k")];
    const told = await judged([...gone, queue("q", {}, "delete")]);
    assert.ok(told.includes("unroutable-lost"), told.join());
  });

  // The broker's own copy counted as a binding of somebody else that stays: care, and each message was lost.
  it("counts on no binding of the broker that may be the one whose key is secret", async () => {
    for (const type of ["fanout", "topic"]) {
      const kept = [exchange("in", { type }), queue("q"), feeding("w", "in", "k")];
      const [gone, there] = [bound("delete", "in -> q", "[secret]"), bound("same", "in -> q", "k")];
      const told = await judgedOnBroker([...kept, gone], gone, [there]);
      assert.deepEqual(told.slice(0, 2), ["loss", "unroutable-lost: binding in → q"], type);
      const unnamed = {
        ...gone,
        oldState: { ...gone.oldState, inputs: { ...there.oldState?.inputs, destination: "[secret]" } },
      };
      const hidden = await judgedOnBroker([...kept, unnamed as PreviewStep], unnamed as PreviewStep, [there]);
      assert.deepEqual(hidden.slice(0, 2), ["loss", "unroutable-lost: binding in → [secret]"], type);
      // The copy of one that stays tells its key.
      const same = bound("same", "in -> q", "[secret]");
      const made = queue("other", {}, "create");
      assert.deepEqual((await judgedOnBroker([...kept, same, made], same, [there]))[0], "care", "not compared");
    }
  });

  // "It is kept" of what came to an exchange to which nothing is bound: care, and each message was lost.
  it("follows an alternate exchange of others to its queue", async () => {
    const steps = [queue("q"), feeding("w", "S", "k"), bound("delete", "S -> q", "k")];
    const others = [leading("S", "A"), exchange("A", { type: "fanout" }), exchange("X"), bound("same", "A => X")];
    const told = async (...more: PreviewStep[]): Promise<string> =>
      (await judgedOnBroker(steps, undefined, [...others, ...more]))[0] as string;
    assert.equal(await told(), "loss");
    assert.equal(await told(bound("same", "X -> q", "other")), "loss");
    assert.equal(await told(bound("same", "X => A")), "loss");
    assert.equal(await told(bound("same", "X -> q")), "care");
  });

  // It was care, "it is kept": the queue there was empty, and left with the same update.
  it("counts on no alternate exchange whose queue leaves", async () => {
    const others = [leading("in", "spare"), exchange("spare", { type: "fanout" }), bound("same", "spare -> s")];
    const steps = [queue("q"), feeding("w", "in", "k"), bound("delete", "in -> q")];
    assert.equal((await judgedOnBroker([...steps, queue("s")], undefined, others))[0], "care");
    const [verdict, told] = await judgedOnBroker([...steps, queue("s", {}, "delete")], undefined, others);
    assert.deepEqual([verdict, told], ["loss", "unroutable-lost: binding in → q"]);
  });

  // Two hundred such patterns took 37 seconds, and the time grew with the cube of their number.
  it("tries the keys of two bindings only if one of them leads to a change", async () => {
    const patterns = Array.from({ length: 200 }, (_, index) => bound("same", "in -> q", `#.s${index}.#`));
    const kept = [
      exchange("spare", { type: "fanout" }),
      queue("q"),
      bound("same", "spare -> q"),
      leading("in", "spare"),
    ];
    const gone = [queue("old", {}, "delete"), bound("delete", "in -> old", "#.old.#")];
    assert.deepEqual(await judged([...kept, ...patterns, ...gone]), ["loss", "queue-deleted", "binding-gone"]);
    const changes = new Set(entityChanges(parsePreview(JSON.stringify({ steps: gone }), "test")));
    const places = patterns.map((_, index) => ({
      pattern: `#.s${index}.#`,
      type: "topic",
      leadsToChange: index === 7,
    }));
    const pairs: string[][] = sampleKeys({ bindings: places, changes }).map((key) => key.match(/s\d+/g) ?? []);
    assert.ok(pairs.some((words) => words.length === 2));
    assert.ok(pairs.every((words) => words.length < 2 || words.includes("s7")));
  });

  // The binding led back to the queue that dead-letters: safe, and the broker dropped what expired there.
  it("takes a way back to the queue from which it began for none", async () => {
    const kept = [exchange("spare"), queue("q"), bound("same", "spare -> q"), leading("in", "spare")];
    const made = bound("create", "in -> w");
    for (const key of [undefined, "k"]) {
      const steps = [...kept, feeding("w", "in", key), made];
      const { verdict, findings } = await reviewed(steps);
      assert.deepEqual([verdict, ...findings.map(({ rule }) => rule)], ["loss", "unroutable-lost"]);
      assert.match(findings[0]?.detail ?? "", /none but that queue gets them/);
      // Another queue that passes messages on by the same exchange.
      assert.deepEqual(await judged([...steps, feeding("v", "in", key)]), ["loss", "unroutable-lost"]);
      assert.deepEqual(await judged([...steps, bound("create", "in -> q")]), ["safe"]);
    }
    const cycle = [exchange("in"), feeding("w", "in"), bound("same", "in -> w"), queue("q")];
    assert.deepEqual(await judged([...cycle, bound("create", "in -> q", "a")]), ["safe"], "it was one before");
    const published = [leading("in", "spare"), exchange("spare"), exchange("out"), feeding("w", "in")];
    const taken = [...published, bound("same", "spare -> w"), bound("create", "in => out")];
    assert.deepEqual(await judged(taken), ["loss", "unroutable-lost"], "what is published came to the queue");
  });

  // It was care: the broker drops a message that expired in each queue of a cycle.
  it("takes a way back by other queues for none, if messages expire in each of them", async () => {
    const expiring = (name: string, to: string, key: string): PreviewStep =>
      queue(name, { "x-message-ttl": 1000, ...deadLetters(to, key) });
    const kept = [exchange("dl", { type: "direct" }), queue("q"), bound("delete", "dl -> q", "k")];
    const made = bound("create", "dl -> r2", "k");
    const back = [...kept, expiring("r1", "dl", "k"), made];
    const lost = ["loss", "unroutable-lost: binding dl → r2", "binding-gone: binding dl → q"];
    assert.deepEqual(await judgedOnBroker([...back, expiring("r2", "", "r1")]), lost);
    // A consumer rejects the messages of a queue without a TTL, or takes them.
    const care = ["care", "binding-gone: binding dl → q"];
    assert.deepEqual(await judgedOnBroker([...back, feeding("r2", "", "r1")]), care);
    const work = [...kept, feeding("work", "dl", "k"), made, expiring("r2", "", "work")];
    assert.deepEqual(await judgedOnBroker(work), care);
    const onward = [...back, expiring("r2", "", "r3"), expiring("r3", "", "q")];
    assert.deepEqual(await judgedOnBroker(onward), care);
    assert.deepEqual(await judgedOnBroker([...back, expiring("r2", "", "r3"), expiring("r3", "", "r1")]), lost);
  });

  // Each was safe: nobody can tell by which headers messages come.
  it("says that nobody can tell whether a way remains by headers, or to what is in no plan", async () => {
    const kept = [exchange("spare", { type: "fanout" }), queue("q"), bound("same", "spare -> q"), exchange("out")];
    const headers = leading("in", "spare", { type: "headers" });
    for (const [source, made, why] of [
      [headers, bound("create", "in => out", ""), /which messages exchange in routes/],
      [leading("in", "spare"), bound("create", "in => theirs"), /exchange theirs is not in this plan/],
    ] as const) {
      const { verdict, findings } = await reviewed([...kept, source, made]);
      assert.deepEqual([verdict, ...findings.map(({ rule }) => rule)], ["care", "way-in-doubt"]);
      assert.match(findings[0]?.detail ?? "", why);
    }
    assert.deepEqual(await judged([...kept, headers, bound("create", "in -> q", "")]), ["safe"]);
  });

  // The old side of a kept binding counted as made anew with its new side: care, and the message was lost.
  it("knows that a kept binding is not back with its queue", async () => {
    const steps = [exchange("in"), feeding("w", "in", "a")];
    const [old, now] = ["a", "b"].map((key) => bound("same", "in -> q", key, { retainOnDelete: true }));
    const binding = replaced(old as PreviewStep, now as PreviewStep);
    assert.deepEqual(await judged([...steps, queue("q"), binding]), ["care", "binding-kept"]);
    const told = await judged([...steps, replaced(queue("q"), queue("q", { "x-max-length": 5 })), binding]);
    assert.deepEqual(told, ["loss", "queue-replaced", "unroutable-lost", "binding-kept"]);
  });

  // An operator policy ends at-least-once from RabbitMQ 4.0 on, and the queue counted as one that holds messages back.
  it("counts on no queue to hold messages back whose overflow an operator policy changes", async () => {
    const holding = queue("w", {
      ...deadLetters("in", "k"),
      ...{ "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" },
    });
    const steps = [exchange("in"), holding, queue("q"), bound("delete", "in -> q", "k")];
    const operators = (overflow: string): PreviewStep =>
      step("same", "rabbitmq:index/operatorPolicy:OperatorPolicy", "limits", {
        ...{ name: "limits", vhost: "/" },
        policy: { pattern: "^w$", applyTo: "queues", priority: 1, definition: { overflow } },
      });
    const verdicts = await Promise.all(
      ["reject-publish", "drop-head"].map((one) => judged([...steps, operators(one)])),
    );
    assert.deepEqual(
      verdicts.map(([verdict]) => verdict),
      ["care", "loss"],
    );
  });

  // Only a deletion was compared with what passes messages on by their own keys.
  it("finds the old name of a renamed queue that gets messages by their own keys", async () => {
    const renamed = replaced(queue("q"), queue("q2"));
    for (const key of ["q", "#"]) {
      const steps = [exchange("src"), feeding("w", ""), bound("same", "src -> w", key), renamed];
      assert.deepEqual(await judged(steps), ["loss", "queue-replaced", "unroutable-lost"], key);
    }
  });

  // It was deleted by hand, and counted as what takes the messages of the one that goes: care, and they were lost.
  it("lets no binding that the broker lacks stand for one that goes", async () => {
    const [wide, narrow] = [bound("same", "in -> q", "#"), bound("delete", "in -> q", "k")];
    const steps = [exchange("in"), queue("q"), feeding("w", "in", "k"), wide, narrow];
    const missing = "missing-on-broker: binding in → q";
    assert.deepEqual(await judgedOnBroker(steps, wide), ["loss", "unroutable-lost: binding in → q", missing]);
    assert.deepEqual(await judgedOnBroker(steps), ["safe"]);
    assert.deepEqual(await judgedOnBroker(steps, narrow), ["safe"], "the one that goes is gone already");
  });

  // Both were losses, and the broker routed each message.
  it("lets a binding go that dead letters don't need, by their key", async () => {
    const dropped = ["care", "binding-gone: binding in → q"];
    const lost = ["loss", "unroutable-lost: binding in → q"];
    const direct = [exchange("in", { type: "direct" }), queue("q"), queue("z"), bound("same", "in -> z", "a")];
    const gone = bound("delete", "in -> q", "b");
    assert.deepEqual(await judgedOnBroker([...direct, feeding("w", "in", "a"), gone]), dropped);
    assert.deepEqual(await judgedOnBroker([...direct, feeding("w", "in", "b"), gone]), lost);
    assert.deepEqual(await judgedOnBroker([...direct, feeding("w", "in"), gone]), lost);
    const split = [exchange("in"), queue("q"), bound("create", "in -> q", "a"), bound("delete", "in -> q", "#")];
    assert.deepEqual(await judgedOnBroker([...split, feeding("w", "in", "a")]), dropped);
    assert.deepEqual(await judgedOnBroker([...split, feeding("w", "in", "b")]), lost);
    const back = [exchange("in"), queue("q"), bound("create", "in -> z", "a"), bound("delete", "in -> q", "#")];
    assert.deepEqual(await judgedOnBroker([...back, feeding("z", "in", "a")]), lost, "only to itself");
    const first = bound("same", "in -> z", "a");
    const between = ["delete-replaced", "replace", "create-replacement"].map((op) => ({ ...first, op }));
    const meanwhile = [exchange("in"), queue("q"), queue("z"), ...between, bound("delete", "in -> q", "#")];
    const [verdict, ...told] = await judgedOnBroker([...meanwhile, feeding("w", "in", "a")]);
    assert.deepEqual([verdict, told.includes(lost[1] as string)], ["loss", true]);
  });

  // Each queue of the plan was one to which the other may pass messages on.
  it("alarms at no deleted queue whose name is no key of what passes messages on", async () => {
    const gone = queue("z", {}, "delete");
    const lost = ["loss", "queue-deleted", "unroutable-lost"];
    for (const [type, key, told] of [
      ["topic", "q", ["loss", "queue-deleted"]],
      ["direct", "#", ["loss", "queue-deleted"]],
      ["topic", "z", lost],
      ["topic", "#", lost],
      ["fanout", "q", lost],
      ["headers", "q", lost],
    ] as const) {
      const steps = [exchange("src", { type }), feeding("w", ""), queue("q"), bound("same", "src -> w", key), gone];
      assert.deepEqual(await judged(steps), told, `${type} ${key}`);
    }
    assert.deepEqual(await judged([feeding("w", ""), gone]), lost, "nobody knows what is bound to it");
  });

  // The update failed half-way, the exchange was gone, and the review said care.
  it("finds an exchange that deletes itself before its new binding comes", async () => {
    const spare = [exchange("spare", { type: "fanout" }), queue("s"), bound("same", "spare -> s")];
    const source = [...spare, leading("in", "spare", { autoDelete: true })];
    const binding = bound("same", "in -> q", "a");
    const again = (isFirst: boolean, one = replaced(binding, bound("same", "in -> q", "b"))): PreviewStep[] => {
      const ops = ["create-replacement", "replace"];
      return (isFirst ? ["delete-replaced", ...ops] : [...ops, "delete-replaced"]).map((op) => ({ ...one, op }));
    };
    const anew = again(true, replaced(queue("q"), queue("q", { "x-message-ttl": 5000 })));
    const worst = async (...steps: PreviewStep[]): Promise<string | undefined> => {
      const { findings } = await reviewed([...source, ...steps]);
      const told = findings.find(({ detail }) => detail?.startsWith("Exchange in deletes itself") === true);
      return told === undefined ? undefined : `${told.severity} ${told.entity}`;
    };
    assert.equal(await worst(...anew, ...again(true, replaced(binding, binding))), "loss binding in → q");
    assert.equal(await worst(queue("q"), ...again(true)), "loss binding in → q");
    assert.equal(await worst(queue("q"), ...again(false)), undefined);
    assert.equal(await worst(queue("q"), replaced(binding, bound("same", "in -> q", "b"))), "care binding in → q");
    assert.equal(await worst(queue("q"), ...again(true), queue("z"), bound("same", "in -> z", "z")), undefined);
    assert.equal(await worst(queue("q"), bound("create", "in -> q", "new")), undefined, "nothing was bound to it");
  });

  // It was a loss: the exchange goes with its last binding, and the binding to it with the exchange.
  it("follows messages past an exchange that deletes itself", async () => {
    const spare = [exchange("spare", { type: "fanout" }), queue("q"), bound("same", "spare -> q")];
    const middle = [exchange("mid", { autoDelete: true }), queue("z"), bound("same", "in => mid", "k")];
    const gone = bound("delete", "mid -> z", "k");
    const told = ["care", "binding-gone"];
    assert.deepEqual(await judged([...spare, leading("in", "spare"), ...middle, gone]), told);
    assert.equal((await judged([...spare, exchange("in"), ...middle, gone]))[0], "loss");
    const kept = bound("delete", "mid -> z", "other", { retainOnDelete: true });
    assert.equal((await judged([...spare, leading("in", "spare"), ...middle, gone, kept]))[0], "loss");
    assert.equal((await judged([...spare, leading("in", "spare"), ...middle, feeding("w", "mid"), gone]))[0], "loss");
    const lasting = [exchange("mid"), ...middle.slice(1), gone];
    assert.equal((await judged([...spare, leading("in", "spare"), ...lasting]))[0], "loss");
  });

  // It was care once the queue was counted empty, and each message was dropped from then on.
  it("finds that a queue is declared anew with dead letters that lead nowhere", async () => {
    const kept = [exchange("old"), exchange("new"), queue("q"), bound("same", "old -> q")];
    const anew = (to: string, key?: string, from = feeding("w", "old", "k")): Promise<string[]> =>
      judgedOnBroker([...kept, bound("same", "new -> q", "other"), replaced(from, feeding("w", to, key))]);
    const lost = ["loss", "unroutable-lost: queue w", "queue-replaced: queue w"];
    const care = ["care", "queue-replaced: queue w"];
    assert.deepEqual(await anew("new", "k"), lost);
    assert.deepEqual(await anew("new", "other"), care);
    assert.deepEqual(await anew("old", "k2"), care);
    assert.deepEqual(await anew("", "gone"), lost, "the default exchange knows no such queue");
    assert.deepEqual(await anew("", "q"), care);
    assert.deepEqual(await anew("", "w"), lost, "only to itself");
    assert.deepEqual(await anew("new", undefined, feeding("w", "old")), lost, "by each message's own key");
    assert.deepEqual(await anew("new", "k", feeding("w", "new", "k2")), care, "they led nowhere before");
    const without = replaced(feeding("w", "old", "k"), queue("w", { "x-message-ttl": 500 }));
    assert.deepEqual(await judgedOnBroker([...kept, without]), lost, "no dead letters any more");
    const waiting = replaced(feeding("w", "old", "k"), queue("w"));
    assert.deepEqual(await judgedOnBroker([...kept, waiting]), care, "nothing expires there");
    const { findings } = await reviewed([...kept, replaced(feeding("w", "old", "k"), feeding("w", "new", "k"))]);
    const told = findings.find(({ rule }) => rule === "unroutable-lost")?.detail;
    assert.match(told ?? "", /^queue w, which is declared anew, passes messages on to exchange new by "k"/);
    // With the same dead letters, a queue that is declared anew passes messages on like one that stays.
    const longer = replaced(feeding("w", "old", "k"), queue("w", { ...deadLetters("old", "k"), "x-max-length": 5 }));
    const steps = [exchange("old"), queue("q"), bound("delete", "old -> q"), longer];
    assert.ok((await judgedOnBroker(steps)).includes("unroutable-lost: binding old → q"));
  });

  // It was safe: a message that came to a queue was followed no further.
  it("follows messages through queues in which they expire", async () => {
    const spare = [exchange("spare", { type: "fanout" }), queue("s"), bound("same", "spare -> s")];
    const steps = [...spare, leading("in", "spare"), exchange("out"), queue("q"), bound("create", "in -> wait", "k")];
    const through = (values: object, ...more: PreviewStep[]): Promise<string[]> =>
      judged([...steps, queue("wait", { ...deadLetters("out"), ...values }), ...more]);
    const ttl = { "x-message-ttl": 500 };
    assert.deepEqual(await through(ttl), ["loss", "unroutable-lost"]);
    assert.deepEqual(await through(ttl, bound("same", "out -> q", "other")), ["loss", "unroutable-lost"]);
    assert.deepEqual(await through(ttl, bound("same", "out -> q", "k")), ["safe"]);
    assert.deepEqual(await through({}), ["safe"], "they wait there for a consumer");
    const behind = [bound("same", "out -> next"), queue("next", { ...ttl, ...deadLetters("out", "gone") })];
    assert.deepEqual(await through(ttl, ...behind), ["loss", "unroutable-lost"], "round and round");
    const { findings } = await reviewed([...steps, queue("wait", { ...deadLetters("out"), ...ttl })]);
    assert.equal(
      findings[0]?.detail,
      'What is published to exchange in by "k": what expires in wait comes to no queue.',
    );
  });

  // It was safe: the engine made the binding before the next one, and the broker dropped what came between.
  it("finds a new binding that takes messages before the binding behind it is there", async () => {
    const spare = [exchange("spare", { type: "fanout" }), queue("s"), bound("same", "spare -> s")];
    const behind = bound("create", "out -> q", "k");
    const first = bound("create", "in => out", "k");
    const steps = [...spare, leading("in", "spare"), queue("q"), behind];
    const care = ["care", "way-early"];
    assert.deepEqual(await judged([...steps, exchange("out"), first]), care);
    assert.deepEqual(await judged([...steps, exchange("out", {}, "create"), first]), care);
    const last = bound("create", "in => out", "k", { dependencies: [behind.urn] });
    assert.deepEqual(await judged([...steps, exchange("out"), last]), ["safe"]);
    const imported = [
      { ...behind, op: "import" },
      { ...first, op: "import" },
    ];
    const there = [...spare, leading("in", "spare"), queue("q"), exchange("out")];
    assert.deepEqual(await judged([...there, ...imported]), ["safe"], "the broker has both already");
    const third = bound("create", "far -> q", "k");
    const onward = bound("create", "out => far", "k");
    const far = [...spare, leading("in", "spare"), queue("q"), exchange("out"), exchange("far"), third, onward];
    const afterNext = bound("create", "in => out", "k", { dependencies: [onward.urn] });
    assert.deepEqual(await judged([...far, afterNext]), care, "the last of three may be missing");
    const afterBoth = bound("create", "in => out", "k", { dependencies: [onward.urn, third.urn] });
    assert.deepEqual(await judged([...far, afterBoth]), ["safe"]);
    const queueFirst = bound("create", "in -> q", "k");
    assert.deepEqual(await judged([...steps, exchange("out"), first, queueFirst]), care, "a queue has its own binding");
    assert.deepEqual(await judged([...steps, exchange("out"), queueFirst]), ["safe"]);
    assert.deepEqual(await judged([...steps, leading("out", "spare"), first]), ["safe"]);
    assert.deepEqual(await judged([...spare, exchange("in"), queue("q"), behind, exchange("out"), first]), ["safe"]);
    const policy = { pattern: "^out$", applyTo: "exchanges", definition: { "alternate-exchange": "[secret]" } };
    const hidden = step("same", "rabbitmq:index/policy:Policy", "hidden", { name: "hidden", vhost: "/", policy });
    const told = await judged([...steps, exchange("out"), first, hidden]);
    assert.deepEqual(told, care, "nobody knows its alternate exchange");
    const others = [...spare, leading("in", "spare"), first];
    assert.deepEqual(await judged(others), ["care", "way-in-doubt"], "another stack may have what is behind");
    const covered = bound("same", "in -> s", "k");
    assert.deepEqual(await judged([...steps, exchange("out"), first, covered]), ["safe"]);
  });
});
