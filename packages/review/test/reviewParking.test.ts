import { strict as assert } from "node:assert";
import { delayNetwork, parkingPolicy, planEntities } from "@rabbitmq-delay/topology";
import type { PreviewStep } from "../dist/preview/preview";
import { deletedFirst, judged, reviewed, step } from "./steps";

const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 2, queueType: "classic" });
const { deliveryExchange: delivery, parkingExchange } = network;
const parking = parkingExchange as string;
const parked = parkingPolicy(network) as NonNullable<ReturnType<typeof parkingPolicy>>;

const exchange = (op: string, name: string, settings: object = {}, more: object = {}): PreviewStep =>
  step(op, "rabbitmq:index/exchange:Exchange", name, { name, vhost: "/", settings }, more);
const policy = (op: string, name: string, values: object): PreviewStep =>
  step(op, "rabbitmq:index/policy:Policy", name, { name, vhost: "/", policy: values });
const queue = (name: string, settings: object): PreviewStep =>
  step("same", "rabbitmq:index/queue:Queue", name, { name, vhost: "/", settings });
const bound = (op: string, source: string, destination: string, more: object = {}): PreviewStep => {
  const values = { vhost: "/", source, destination, destinationType: "queue", routingKey: "#" };
  return step(op, "rabbitmq:index/binding:Binding", `${source}-${destination}`, values, more);
};

const queues = planEntities(network).queues.map(({ name, arguments: values }) =>
  queue(name, { argumentsJson: JSON.stringify(values) }),
);
const park = (op = "same"): PreviewStep => policy(op, parked.name, { ...parked });
const others = [exchange("same", delivery), ...queues];
const harmless = { "queue-leader-locator": "balanced" };

describe("a review of parking", () => {
  it("finds that the exchange goes to which a policy or an argument that stays sends what has no way: all of it would be lost", async () => {
    const lost = ["loss", "unroutable-lost"];
    for (const op of ["delete", "replace"]) {
      assert.deepEqual(await judged([park(), ...others, ...deletedFirst(exchange(op, parking))]), lost, op);
      assert.deepEqual(await judged([park(), ...deletedFirst(exchange(op, parking))]), lost, "of exchanges elsewhere");
      for (const settings of [
        { arguments: { "alternate-exchange": parking } },
        { argumentsJson: JSON.stringify({ "alternate-exchange": parking }) },
      ]) {
        assert.deepEqual(
          await judged([exchange("same", "shop", settings), ...deletedFirst(exchange(op, parking))]),
          lost,
        );
      }
    }
    const { findings } = await reviewed([park(), ...others, exchange("delete", parking)]);
    assert.match(findings[0]?.detail ?? "", new RegExp(`alternate exchange of policy ${parked.name}`));
    const all = [park(), exchange("delete", delivery), exchange("delete", parking)];
    assert.deepEqual(await judged(all), ["care", "exchange-gone", "exchange-gone"], "nobody is left to miss it");
    const kept = await judged([park(), ...others, exchange("delete", parking, {}, { retainOnDelete: true })]);
    assert.deepEqual(kept, ["safe"]);
  });

  it("finds that the exchange goes to which a policy sends dead letters, or the way behind it: they would be lost", async () => {
    const dead = policy("same", "dead", {
      pattern: "^work$",
      applyTo: "queues",
      definition: { "dead-letter-exchange": "dead" },
    });
    const work = queue("work", { argumentsJson: "{}" });
    for (const steps of [[dead, work], [dead]]) {
      assert.deepEqual(await judged([...steps, exchange("delete", "dead")]), ["loss", "unroutable-lost"]);
      assert.deepEqual(await judged([...steps, bound("delete", "dead", "errors")]), ["loss", "unroutable-lost"]);
    }
    const plain = queue("work", { arguments: { "x-dead-letter-exchange": "dead" } });
    assert.deepEqual(
      await judged([plain, exchange("delete", "dead")]),
      ["loss", "unroutable-lost"],
      "arguments as a map",
    );
    const elsewhere = queue("work", { argumentsJson: '{"x-dead-letter-exchange":"other"}' });
    const spared = await judged([dead, elsewhere, exchange("delete", "dead")]);
    assert.deepEqual(spared, ["care", "exchange-gone"], "an argument goes before the policy");
  });

  const foreign: [string, object, boolean][] = [
    ["of a lower priority", { pattern: ".*", applyTo: "all", priority: 0 }, true],
    ["for queues alone", { pattern: ".*", applyTo: "queues", priority: 200 }, true],
    ["of other names", { pattern: "^shop", applyTo: "all", priority: 200 }, true],
    ["of a higher priority", { pattern: ".*", applyTo: "all", priority: 200 }, false],
    ["of the same priority", { pattern: "^orders", applyTo: "exchanges", priority: parked.priority }, false],
    ["whose pattern JavaScript reads otherwise", { pattern: "\\Aorders", applyTo: "all", priority: 200 }, false],
    ["whose pattern is secret", { pattern: "[secret]", applyTo: "all", priority: 200 }, false],
  ];
  for (const [what, values, isParked] of foreign) {
    it(`knows whether the network parks beside a policy ${what}: the report would say that the lost is kept`, async () => {
      const steps = [park(), ...others, bound("delete", delivery, "Sales")];
      const other = { ...values, definition: harmless };
      const { verdict, findings } = await reviewed([...steps, policy("same", "other", other)]);
      assert.equal(verdict, isParked ? "care" : "loss");
      assert.equal(
        findings.some(({ detail }) => detail?.includes("The network parks it") === true),
        isParked,
      );
      const [fresh] = await judged([park(), ...others, policy("create", "other", other)]);
      assert.equal(fresh, isParked ? "care" : "loss", "and whether a new one takes the parking away");
      const [gone] = await judged([park(), ...others, policy("delete", "other", other)]);
      assert.equal(gone, "care", "its end takes nothing away");
    });
  }

  it("takes a policy for queues for none that parks", async () => {
    const queuesAlone = policy("same", "p", { ...parked, applyTo: "queues" });
    const steps = [queuesAlone, ...others, bound("delete", delivery, "Sales")];
    assert.deepEqual(await judged(steps), ["loss", "unroutable-lost"]);
  });

  it("knows the parking of a plan without the unchanged by the policy's URN, and by no name that looks like one", async () => {
    const details = async (urn: string): Promise<string> =>
      JSON.stringify((await reviewed([bound("delete", delivery, "Sales", { dependencies: [urn] })])).findings);
    const name = `delay-${parking}`;
    assert.match(await details(`urn:pulumi:prod::shop::rabbitmq:index/policy:Policy::${name}`), /The network parks it/);
    assert.doesNotMatch(await details(`urn:pulumi:prod::shop::aws:s3/bucket:Bucket::${name}`), /The network parks it/);
  });
});
