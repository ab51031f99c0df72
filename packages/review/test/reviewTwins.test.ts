import { strict as assert } from "node:assert";
import type { PreviewStep } from "../dist/preview/preview";
import { change, deletedFirst, judged, queueStep, reviewed, step } from "./steps";

const BINDING = "rabbitmq:index/binding:Binding";
const EXCHANGE = "rabbitmq:index/exchange:Exchange";
const POLICY = "rabbitmq:index/policy:Policy";
const QUEUE = "rabbitmq:index/queue:Queue";

const binding = (routingKey: string, more: object = {}): object => ({
  vhost: "/",
  source: "in",
  destination: "q",
  destinationType: "queue",
  routingKey,
  ...more,
});
const exchange = (name: string): object => ({ name, vhost: "/", settings: { type: "topic", durable: true } });
const queue = (name: string, argumentsJson = "{}"): object => ({ name, vhost: "/", settings: { argumentsJson } });

/** A replacement in which the engine creates the new one first, as it lists the steps. */
function createdFirst(one: PreviewStep): PreviewStep[] {
  return ["create-replacement", "replace", "delete-replaced"].map((op) => ({ ...one, op }));
}

describe("a review of what is the same thing on the broker twice", () => {
  // "Safe", and after the update there was no binding.
  it("finds a list of bindings by index that is reordered", async () => {
    const [first, second] = [
      change("replace", BINDING, "b-0", binding("a"), binding("b")),
      change("replace", BINDING, "b-1", binding("b"), binding("a")),
    ];
    for (const order of [
      [first, second],
      [...createdFirst(first), ...createdFirst(second)],
    ]) {
      assert.deepEqual(await judged(order), ["loss", "live-deleted", "live-deleted"]);
    }
  });

  it("finds reordered exchanges, permissions and users", async () => {
    const rights = (user: string): object => ({
      user,
      vhost: "/",
      permissions: { configure: "", write: "", read: "" },
    });
    const user = (name: string): object => ({ name, tags: [] });
    for (const [type, of] of [
      [EXCHANGE, exchange],
      ["rabbitmq:index/permissions:Permissions", rights],
      ["rabbitmq:index/user:User", user],
    ] as const) {
      const steps = [
        change("replace", type, "x-0", of("a"), of("b")),
        change("replace", type, "x-1", of("b"), of("a")),
      ];
      assert.deepEqual(await judged(steps), ["loss", "live-deleted", "live-deleted"], type);
    }
    const renamed = [
      step("create", "rabbitmq:index/user:User", "new", user("a")),
      step("delete", "rabbitmq:index/user:User", "old", user("a")),
    ];
    assert.deepEqual(await judged(renamed), ["loss", "live-deleted"]);
  });

  it("finds what is replaced by itself, unless the old one goes first", async () => {
    const argumentsAs = (more: object): object => binding("", more);
    const rewritten = change(
      "replace",
      BINDING,
      "b",
      argumentsAs({ arguments: { "x-match": "all" } }),
      argumentsAs({ argumentsJson: '{"x-match":"all"}' }),
    );
    assert.deepEqual(await judged([rewritten]), ["loss", "replaced-by-itself"]);
    assert.deepEqual(await judged(createdFirst(rewritten)), ["loss", "replaced-by-itself"]);
    assert.notEqual((await judged(deletedFirst(rewritten)))[1], "replaced-by-itself");
    const policy = (priority: number): object => ({
      name: "p",
      vhost: "/",
      policy: { pattern: "^q$", applyTo: "queues", priority, definition: { "max-priority": 3 } },
    });
    const raised = change("replace", "rabbitmq:index/policy:Policy", "p", policy(1), policy(2));
    assert.deepEqual(await judged([raised]), ["loss", "replaced-by-itself"]);
    assert.deepEqual(await judged([queueStep("replace", "q")]), ["loss", "replaced-by-itself"], "--replace");
    const other = change("replace", QUEUE, "q", queue("q"), queue("q", '{"x-expires":5000}'));
    assert.deepEqual(await judged([other]), ["loss", "queue-replaced"], "the provider deletes it first");
    const kept = step("replace", BINDING, "b", binding("a"), { retainOnDelete: true });
    assert.notEqual((await judged([kept]))[0], "loss");
  });

  // "Safe": the second changed nothing, and the end of either one later deleted what the other one stood for.
  it("finds a new resource of what another resource has already, or gets in the same update", async () => {
    const [first, second] = ["one", "two"].map((name) => step("create", QUEUE, name, queue("q")));
    assert.ok(first && second);
    assert.deepEqual(await judged([first, second]), ["care", "declared-twice", "declared-twice"]);
    assert.deepEqual(await judged([step("same", QUEUE, "one", queue("q")), second]), ["care", "declared-twice"]);
    assert.deepEqual(await judged([first, step("create", QUEUE, "two", queue("other"))]), ["safe"]);
    const rule = { pattern: "^q$", applyTo: "queues", priority: 1, definition: { "max-priority": 3 } };
    const policies = ["one", "two"].map((name) =>
      step("create", POLICY, name, { name: "p", vhost: "/", policy: rule }),
    );
    assert.ok((await judged(policies)).includes("declared-twice"));
    const moved = change("replace", BINDING, "b-0", binding("a"), binding("b"), { retainOnDelete: true });
    assert.ok((await judged([moved, step("same", BINDING, "b-1", binding("b"))])).includes("declared-twice"));
    const ours = { parent: "urn:pulumi:prod::shop::rabbitmq-delay:index:EndpointDelayBinding::sales" };
    const shared = ["one", "two"].map((name) => step("create", QUEUE, name, queue("error"), ours));
    assert.deepEqual(await judged(shared), ["safe"], "components see to what they share");
  });

  it("finds that what an interrupted replacement has left takes another resource's along", async () => {
    const left = step("delete", QUEUE, "x-0", queue("a"));
    const steps = [step("same", QUEUE, "x-0", queue("b")), left, step("same", QUEUE, "x-1", queue("a"))];
    for (const order of [steps, [...steps].reverse()]) assert.deepEqual(await judged(order), ["loss", "twin-deleted"]);
    assert.deepEqual(await judged([step("same", QUEUE, "x-0", queue("b")), left]), ["loss", "queue-deleted"]);
  });

  it("knows things of one broker through two providers from things of two brokers", async () => {
    const provider = (name: string, endpoint: string): PreviewStep =>
      step("same", "pulumi:providers:rabbitmq", name, { endpoint });
    const by = (name: string): object => ({
      provider: `urn:pulumi:prod::shop::pulumi:providers:rabbitmq::${name}::id`,
    });
    const judgedOn = (endpoint: string, ...steps: PreviewStep[]): Promise<string[]> =>
      judged([provider("a", "http://127.0.0.1:15672"), provider("b", endpoint), ...steps]);
    const [same, other] = ["http://localhost:15672", "http://other:15672"];
    const twins = [step("delete", QUEUE, "one", queue("q"), by("a")), step("same", QUEUE, "two", queue("q"), by("b"))];
    assert.deepEqual(await judgedOn(same, ...twins), ["loss", "twin-deleted"]);
    assert.deepEqual(await judgedOn(other, ...twins), ["loss", "queue-deleted"]);
    const news = twins.map(({ newState, oldState, ...one }) => ({
      ...one,
      op: "create",
      newState: newState ?? oldState,
    }));
    assert.deepEqual(await judgedOn(same, ...news), ["care", "declared-twice", "declared-twice"]);
    assert.deepEqual(await judgedOn(other, ...news), ["safe"]);
    // An exchange of another broker took what the queue leads on.
    const target = step("create", EXCHANGE, "dlx", exchange("dlx"), by("b"));
    const leads = step("create", QUEUE, "q", queue("q", '{"x-dead-letter-exchange":"dlx"}'), by("a"));
    assert.deepEqual(await judgedOn(same, target, leads), ["safe"]);
    assert.deepEqual(await judgedOn(other, target, leads), ["care", "target-unknown"]);
    // A policy of another broker took away what one of this broker says.
    const policy = (name: string, priority: number, definition: object): object => ({
      name,
      vhost: "/",
      policy: { pattern: "^q$", applyTo: "queues", priority, definition },
    });
    const policies = [
      step("same", QUEUE, "q", queue("q"), by("a")),
      step("same", POLICY, "keeps", policy("keeps", 1, { "dead-letter-exchange": "x" }), by("a")),
      step("create", POLICY, "strong", policy("strong", 9, { "max-priority": 3 }), by("b")),
    ];
    assert.deepEqual(await judgedOn(same, ...policies), ["loss", "policy-protection-gone"]);
    assert.deepEqual(await judgedOn(other, ...policies), ["care", "policy-changed"]);
  });

  it("gives the alias that helps: of a name, of what moves out of the stack's top, and of what moves elsewhere", async () => {
    const moved = (op: string, urnTypes: string, name: string): PreviewStep => {
      const urn = `urn:pulumi:prod::shop::${urnTypes}${QUEUE}::${name}`;
      const one = step(op, QUEUE, name, queue("q"));
      return { ...one, urn };
    };
    const aliasOf = async (from: string, to: string): Promise<string | undefined> => {
      const { findings } = await reviewed([moved("create", to, "q"), moved("delete", from, "old")]);
      assert.equal(findings[0]?.rule, "live-deleted");
      return findings[0]?.alias;
    };
    assert.equal(await aliasOf("", ""), '{ name: "old" }');
    assert.equal(await aliasOf("", "my:index:Shop$"), '{ name: "old", parent: pulumi.rootStackResource }');
    assert.equal(await aliasOf("my:index:Shop$", ""), `"urn:pulumi:prod::shop::my:index:Shop$${QUEUE}::old"`);
  });

  it("alarms at nothing that stays: kept by the state alone, gone with another resource, or routed by more", async () => {
    const before = step("replace", QUEUE, "q", queue("q"), { retainOnDelete: true });
    const after = { ...before.newState, retainOnDelete: false, inputs: queue("q", '{"x-expires":5}') };
    assert.deepEqual(await judged([{ ...before, newState: after as never }]), ["care", "queue-kept-and-replaced"]);
    const released = step("same", QUEUE, "q", queue("q"), { retainOnDelete: true });
    const free = { ...released, newState: { ...released.newState, retainOnDelete: false } };
    assert.deepEqual(await judged([free as never]), ["care", "no-longer-kept"]);
    const target = step("delete", EXCHANGE, "in", exchange("in"));
    const withIt = step("delete", QUEUE, "q", queue("q"), { deletedWith: target.urn });
    assert.deepEqual(await judged([target, withIt]), ["care", "exchange-gone", "queue-kept"]);
    // The engine deletes it before it knows what leaves: it was care, and the queue went with its messages.
    const gone = { deletedWith: target.urn };
    const anew = change("replace", QUEUE, "q", queue("q"), queue("q", '{"x-expires":5}'), gone);
    assert.deepEqual(await judged([target, ...deletedFirst(anew)]), ["loss", "queue-replaced", "exchange-gone"]);
    const inVhost = step("delete", QUEUE, "q", queue("q"), {
      deletedWith: "urn:pulumi:prod::shop::rabbitmq:index/vHost:VHost::v",
    });
    const vhost = step("delete", "rabbitmq:index/vHost:VHost", "v", { name: "/" });
    assert.equal((await judged([vhost, inVhost]))[0], "loss");
    const lasting = step("delete", "rabbitmq:index/vHost:VHost", "v", { name: "/" }, { retainOnDelete: true });
    assert.deepEqual(
      await judged([lasting, inVhost]),
      ["safe", "resource-kept", "queue-kept"],
      "the engine skips both",
    );
    const source = step("same", EXCHANGE, "in", exchange("in"));
    const widened = change("replace", BINDING, "b", binding("a.b"), binding("a.*"));
    assert.deepEqual(await judged([source, ...createdFirst(widened)]), ["safe"]);
    const narrowed = change("replace", BINDING, "b", binding("a.*"), binding("a.b"));
    assert.equal((await judged([source, ...createdFirst(narrowed)]))[0], "loss");
    const headers = step("same", EXCHANGE, "in", { name: "in", vhost: "/", settings: { type: "headers" } });
    const matching = (match: string): object => binding("", { arguments: { "x-match": match, country: "DE" } });
    const anyOf = change("replace", BINDING, "b", matching("all"), matching("any"));
    assert.deepEqual(await judged([headers, ...createdFirst(anyOf)]), ["safe"]);
    const allOf = change("replace", BINDING, "b", matching("any"), matching("all"));
    assert.deepEqual(await judged([headers, ...createdFirst(allOf)]), ["loss", "unroutable-lost"]);
  });
});
