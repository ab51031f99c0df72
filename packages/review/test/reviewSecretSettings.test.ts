import { strict as assert } from "node:assert";
import type { BrokerAnswers } from "../dist/broker/brokerAnswers";
import { parsePreview, type PreviewStep } from "../dist/preview/preview";
import { Review, reviewOf } from "../dist/review";
import { change, queueStep, step } from "./steps";

const BINDING = "rabbitmq:index/binding:Binding";
const EXCHANGE = "rabbitmq:index/exchange:Exchange";
const declared = { durable: true, auto_delete: false, internal: false, type: "topic" };

/** A broker whose vhost has these things. */
function brokerWith(has: Record<string, object[]>): BrokerAnswers {
  const answers: Record<string, unknown> = {
    overview: { rabbitmq_version: "4.3.6" },
    ...Object.fromEntries(
      ["queues", "exchanges", "bindings", "policies", "operator-policies"].map((kind) => [
        `${kind}/%2F`,
        has[kind] ?? [],
      ]),
    ),
  };
  return {
    managementUrl: "http://broker:15672",
    get: async <T>(path: string): Promise<T | undefined> => answers[path.split("?")[0] as string] as T | undefined,
  };
}

const boundTo = (source: string, destination: string): object => ({
  ...{ source, destination, destination_type: "queue", routing_key: "#", arguments: {} },
});

const reviewed = (steps: PreviewStep[], broker?: BrokerAnswers): Promise<Review> =>
  reviewOf(parsePreview(JSON.stringify({ steps }), "test"), { broker });

const queueWith = (argumentsJson: string): PreviewStep =>
  step("same", "rabbitmq:index/queue:Queue", "q", { name: "q", vhost: "/", settings: { argumentsJson } });

describe("a review of what is secret, or only the broker's", () => {
  it("shows no secret of the broker's arguments, and calls nothing different that it can't read", async () => {
    const found = { "x-max-length": 1, "x-api-token": "hunter2", "x-dead-letter-routing-key": "amqp://u:hunter2@h" };
    const broker = brokerWith({ queues: [{ ...declared, name: "q", messages: 0, consumers: 1, arguments: found }] });
    const named = await reviewed([queueWith('{"x-max-length":1}')], broker);
    assert.equal(named.findings[0]?.rule, "missing-on-broker");
    assert.doesNotMatch(JSON.stringify(named), /hunter2/);
    const secret = await reviewed([queueWith("[secret]")], broker);
    assert.deepEqual([secret.verdict, secret.findings], ["nothing", []]);
  });

  it("takes two secrets for the same only where the engine finds no difference", async () => {
    const inVhost = (destination: string): object => ({
      vhost: "[secret]",
      source: "in",
      destination,
      destinationType: "queue",
      routingKey: "a",
    });
    const shop = step("same", EXCHANGE, "in", { name: "in", vhost: "[secret]", settings: { type: "fanout" } });
    const replaced = (more: object): PreviewStep[] =>
      ["create-replacement", "replace", "delete-replaced"].map((op) => ({
        ...change("replace", BINDING, "b", inVhost("[secret]"), inVhost("[secret]")),
        op,
        ...more,
      }));
    assert.deepEqual((await reviewed([shop, ...replaced({})])).findings[0]?.rule, "replaced-by-itself");
    assert.notEqual((await reviewed([shop, ...replaced({ diffReasons: ["destination"] })])).verdict, "safe");
  });

  it("shows no key that only the broker's copy of a binding tells", async () => {
    const bound = (source: string, routingKey: string): object => ({
      ...{ source, destination: "in", destinationType: "exchange", routingKey, vhost: "/" },
    });
    const there = (source: string): object => ({
      ...{ source, destination: "in", destination_type: "exchange", routing_key: "hunter2.*", arguments: {} },
    });
    const named = (name: string, more: object = {}): PreviewStep =>
      step("same", EXCHANGE, name, { name, vhost: "/", settings: { type: "topic", ...more } });
    const delivery = "nsb.v2.delay-delivery";
    const queues = { name: "w", arguments: { "x-dead-letter-exchange": "front" }, messages: 0, consumers: 1 };
    const has = {
      exchanges: ["front", "in", "spare", "out", delivery].map((name) => ({ ...declared, name, arguments: {} })),
      queues: [queues, { ...queues, name: "q", arguments: {} }].map((one) => ({ ...declared, ...one })),
      bindings: [there("front"), there(delivery)],
    };
    const toQueue = { ...bound("spare", "#"), destination: "q", destinationType: "queue" };
    const w = { name: "w", vhost: "/", settings: { argumentsJson: '{"x-dead-letter-exchange":"front"}' } };
    const steps = [
      ...[named("front"), named("in", { arguments: { "alternate-exchange": "spare" } }), named("spare")],
      ...[named("out"), named(delivery), queueStep("same", "q"), step("same", "rabbitmq:index/queue:Queue", "w", w)],
      ...["front", delivery].map((source) => step("same", BINDING, `${source}-in`, bound(source, "[secret]"))),
      ...[step("same", BINDING, "spare-q", toQueue)],
      step("create", BINDING, "in-out", { ...bound("in", "#"), destination: "out" }),
    ];
    const review = await reviewed(steps, brokerWith({ ...has, bindings: [...has.bindings, boundTo("spare", "q")] }));
    const lost = review.findings.find(({ rule }) => rule === "unroutable-lost")?.detail;
    assert.equal(
      lost,
      'queue w, which stays, passes messages on to exchange front by "[secret]": no queue gets them any more.',
    );
    assert.doesNotMatch(JSON.stringify(review), /hunter2/);
    assert.ok(!review.findings.some(({ rule }) => rule === "foreign-binding"));
  });

  it("believes a binding of the broker only where it leads to the same destination from the same network", async () => {
    const bound = (routing_key: string): object => ({
      source: "in",
      destination: "q",
      destination_type: "queue",
      routing_key,
      arguments: {},
    });
    const broker = brokerWith({
      exchanges: [{ ...declared, name: "in", arguments: {} }],
      queues: [{ ...declared, name: "q", messages: 0, consumers: 1, arguments: {} }],
      bindings: [bound("a"), bound("b")],
    });
    const values = (routingKey: string): object => ({
      vhost: "/",
      source: "in",
      destination: "q",
      destinationType: "queue",
      routingKey,
    });
    const shop = step("same", EXCHANGE, "in", { name: "in", vhost: "/", settings: { type: "topic" } });
    const { verdict, findings } = await reviewed(
      [shop, queueStep("same", "q"), change("replace", BINDING, "b", values("a"), values("b"))],
      broker,
    );
    // Nothing passes messages on to the exchange, so that nothing waits for the key that goes.
    assert.deepEqual([verdict, findings[0]?.rule], ["care", "binding-gone"]);
  });

  it("sees nothing new in a policy that the broker has already, and that comes under the stack", async () => {
    const definition = { "max-length": 100 };
    const broker = brokerWith({
      queues: [{ ...declared, name: "q", messages: 0, consumers: 1, arguments: {}, policy: "lim" }],
      policies: [{ name: "lim", pattern: "^q$", "apply-to": "queues", priority: 0, definition }],
    });
    const policy = { name: "lim", vhost: "/", policy: { pattern: "^q$", applyTo: "queues", priority: 0, definition } };
    const { verdict, findings } = await reviewed(
      [queueStep("same", "q"), step("create", "rabbitmq:index/policy:Policy", "lim", policy)],
      broker,
    );
    assert.notEqual(verdict, "loss", JSON.stringify(findings));
  });

  it("does not run a pattern of somebody's that takes for ever", async () => {
    const name = `${"orders".repeat(6)}!`;
    const broker = brokerWith({
      queues: [{ ...declared, name, messages: 0, consumers: 1, arguments: {} }],
      policies: [
        { name: "p", pattern: "^([a-z]+)*$", "apply-to": "queues", priority: 0, definition: { "max-length": 1 } },
      ],
    });
    const { verdict } = await reviewed([queueStep("same", name)], broker);
    assert.equal(verdict, "nothing");
  });
});
