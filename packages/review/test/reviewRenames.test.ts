import { strict as assert } from "node:assert";
import type { BrokerAnswers } from "../dist/broker/brokerAnswers";
import { NOT_KNOWN } from "../dist/preview/entityChange";
import { parsePreview, type PreviewStep } from "../dist/preview/preview";
import { renderMarkdown } from "../dist/report/markdown";
import { reviewOf } from "../dist/review";
import { change, judged, queueStep, reviewed, step } from "./steps";

const BINDING = "rabbitmq:index/binding:Binding";
const EXCHANGE = "rabbitmq:index/exchange:Exchange";
const QUEUE = "rabbitmq:index/queue:Queue";
const urnOf = (type: string, name: string): string => `urn:pulumi:prod::shop::${type}::${name}`;

const exchangeOf = (name: string, type = "topic"): object => ({ name, vhost: "/", settings: { type } });

function bindingOf(routingKey: string): object {
  return { vhost: "/", source: "shop", destination: "orders", destinationType: "queue", routingKey };
}

/** The steps by which the engine replaces a resource that has an alias: it deletes the old side at the end, under the former URN. */
function replacedWithAlias(type: string, from: [string, object], to: [string, object]): PreviewStep[] {
  const [oldUrn, newUrn] = [from, to].map(([name]) => urnOf(type, name)) as [string, string];
  const [oldState, newState] = [from, to].map(([name, inputs]) => ({
    urn: urnOf(type, name),
    type,
    custom: true,
    inputs: inputs as Record<string, unknown>,
  }));
  return [
    { op: "create-replacement", urn: newUrn, oldState, newState },
    { op: "replace", urn: newUrn, oldState, newState },
    { op: "delete-replaced", urn: oldUrn, oldState },
  ];
}

describe("a review of what is renamed", () => {
  it("takes a replaced resource with an alias for one, although the engine deletes it under its former URN", async () => {
    const others = [step("same", EXCHANGE, "shop", exchangeOf("shop")), queueStep("same", "orders")];
    const widened = replacedWithAlias(BINDING, ["old", bindingOf("a.b")], ["new", bindingOf("a.#")]);
    assert.deepEqual(await judged([...others, ...widened]), ["safe"]);
    const narrowed = replacedWithAlias(BINDING, ["old", bindingOf("a.#")], ["new", bindingOf("a.b")]);
    assert.deepEqual(await judged([...others, ...narrowed]), ["loss", "unroutable-lost"]);
  });

  it("says that a renamed exchange is gone under its former name, and not that the broker refuses it", async () => {
    const to = (name: string, type: string): PreviewStep[] =>
      replacedWithAlias(EXCHANGE, ["old", exchangeOf("shop")], ["new", exchangeOf(name, type)]);
    assert.deepEqual(await judged(to("store", "topic")), ["care", "exchange-gone"]);
    assert.deepEqual(await judged(to("store", "fanout")), ["care", "exchange-gone"]);
    // The broker has this one already, with another type.
    assert.deepEqual(await judged(to("shop", "fanout")), ["care", "exchange-refused"]);
  });

  // Each was said to fail half-way, which the update does not do.
  it("says that a retained thing stays beside one of another name, unless the new name can't be read", async () => {
    const kept = { retainOnDelete: true };
    const named = (name: string, settings: object = {}): object => ({ name, vhost: "/", settings });
    const renamed = (type: string, to: string, settings: object = {}): PreviewStep[] => [
      change("replace", type, "own", named("old"), named(to, settings), kept),
    ];
    const limited = { argumentsJson: '{"x-max-length":5}' };
    assert.deepEqual(await judged(renamed(QUEUE, "new", limited)), ["safe", "queue-kept"]);
    assert.deepEqual(await judged(renamed(QUEUE, "old", limited)), ["care", "queue-kept-and-replaced"]);
    assert.deepEqual(await judged(renamed(QUEUE, "[secret]")), ["care", "queue-kept-and-replaced"]);
    assert.deepEqual(await judged(renamed(QUEUE, NOT_KNOWN)), ["care", "queue-kept-and-replaced"]);
    const elsewhere = change("replace", QUEUE, "own", named("old"), { ...named("old"), vhost: "other" }, kept);
    assert.deepEqual(await judged([elsewhere]), ["safe", "queue-kept"]);
    assert.deepEqual(await judged(renamed(EXCHANGE, "new", { type: "fanout" })), ["safe", "resource-kept"]);
    assert.deepEqual(await judged(renamed(EXCHANGE, "old", { type: "fanout" })), [
      "care",
      "resource-kept-and-replaced",
    ]);
    assert.deepEqual(await judged(renamed(EXCHANGE, NOT_KNOWN)), ["care", "resource-kept-and-replaced"]);
    const vhost = change("replace", "rabbitmq:index/vHost:VHost", "v", { name: "old" }, { name: "new" }, kept);
    assert.deepEqual(await judged([vhost]), ["safe", "resource-kept"]);
    const led = change(
      "replace",
      QUEUE,
      "own",
      named("old", { argumentsJson: '{"x-dead-letter-exchange":"shop"}' }),
      named("new"),
      kept,
    );
    const target = step("delete", EXCHANGE, "shop", exchangeOf("shop"));
    assert.equal((await judged([led, target]))[0], "loss", "what waits in the old one is led on as before");
  });

  // It was a loss, and the update fails without a deletion.
  it("says that the engine refuses an import of other settings, unless another step deletes the old side", async () => {
    const id = "orders@/";
    const orders = (settings: object): object => ({ name: "orders", vhost: "/", settings });
    const [there, other] = [orders({ arguments: { "x-queue-type": "quorum" } }), orders({ argumentsJson: "{}" })];
    const steps = (
      { state = {}, program = {}, diffReasons = ["settings"] },
      ops = ["delete-replaced", "replace", "create-replacement"],
    ): PreviewStep[] =>
      ops.map((op) => {
        const one = change("replace", QUEUE, "orders", there, other);
        const [oldState, newState] = [
          { ...one.oldState, ...state },
          { ...one.newState, ...program },
        ] as Required<PreviewStep>["newState"][];
        return { ...one, op, diffReasons, oldState, ...(op.startsWith("delete") ? {} : { newState }) };
      });
    const importing = { ...step("create", QUEUE, "orders", other), op: "import" };
    const first = { ...importing, newState: { ...importing.newState, importID: id } } as PreviewStep;
    const imported = { state: { id, importID: id }, program: { importID: id } };
    const bound = step("same", BINDING, "bound", bindingOf("#"));
    const refused = ["care", "import-refused"];
    assert.deepEqual(await judged([first, ...steps({ state: imported.state })]), refused);
    assert.deepEqual(await judged([...steps(imported), bound]), refused);
    assert.deepEqual(await judged(steps({ ...imported, state: { id } })), refused);
    const replaced = ["loss", "queue-replaced"];
    assert.deepEqual(await judged(steps({ state: imported.state })), replaced, "without the option");
    assert.deepEqual(await judged(steps({ ...imported, program: { importID: "other@/" } })), replaced);
    assert.deepEqual(await judged(steps({ ...imported, diffReasons: [] })), replaced, "another resource's deletion");
    assert.deepEqual(await judged(steps(imported, ["import-replacement", "replace", "delete-replaced"])), replaced);
    assert.equal((await judged(steps(imported, ["delete", "replace"])))[0], "loss", "an interrupted replacement");
  });

  it("names the form of the alias where a group has several resources", async () => {
    const moved = (before: string, after: string): PreviewStep[] =>
      ["a", "b"].flatMap((name) =>
        (
          [
            ["create", after],
            ["delete", before],
          ] as const
        ).map(([op, parents]) => ({
          ...queueStep(op, name),
          urn: urnOf(`${parents}${QUEUE}`, `${op === "create" ? "new" : "old"}-${name}`),
        })),
      );
    const aliasIn = async (steps: PreviewStep[]): Promise<string | undefined> =>
      /`aliases: \[(.*?)\]`/.exec(renderMarkdown(await reviewed(steps), "prod", "shop"))?.[1];
    assert.equal(await aliasIn(moved("", "")), '{ name: "OLD_NAME" }');
    assert.equal(
      await aliasIn(moved("", "shop:index:Queues$")),
      '{ name: "OLD_NAME", parent: pulumi.rootStackResource }',
    );
    assert.equal(await aliasIn(moved("shop:index:Queues$", "")), '"OLD_URN"');
  });

  it("counts all messages of a vhost that goes under a former logical name", async () => {
    const vhost = (op: string, name: string): PreviewStep =>
      step(op, "rabbitmq:index/vHost:VHost", name, { name: "shop" });
    const orders = { name: "orders", vhost: "shop", settings: { argumentsJson: "{}" } };
    const queue = {
      name: "orders",
      messages: 7,
      consumers: 1,
      state: "running",
      durable: true,
      auto_delete: false,
      arguments: {},
    };
    const broker: BrokerAnswers = {
      managementUrl: "http://broker:15672",
      get: async <T>(path: string): Promise<T | undefined> =>
        (path === "overview" ? { rabbitmq_version: "4.3.6" } : path.startsWith("queues/shop") ? [queue] : []) as T,
    };
    const steps = [vhost("create", "new"), vhost("delete", "old"), change("same", QUEUE, "orders", orders, orders)];
    const { findings, messagesAtRisk } = await reviewOf(parsePreview(JSON.stringify({ steps }), "test"), { broker });
    assert.equal(findings[0]?.rule, "live-deleted");
    assert.equal(messagesAtRisk, 7);
  });
});

describe("a preview of one resource", () => {
  it("is whole where it has no unchanged one to list", async () => {
    const steps = [step("delete", BINDING, "orders", bindingOf("a"))];
    const rulesOf = async (changeSummary: object): Promise<string[]> => {
      const { verdict, findings } = await reviewOf(parsePreview(JSON.stringify({ steps, changeSummary }), "test"));
      return [verdict, ...findings.map(({ rule }) => rule)];
    };
    // The stack itself counts as unchanged.
    assert.deepEqual(await rulesOf({ delete: 1, same: 1 }), ["loss", "unroutable-lost"]);
    assert.deepEqual(await rulesOf({ delete: 1, same: 2 }), ["care", "binding-gone"], "an exchange that is not listed");
  });
});
