import { strict as assert } from "node:assert";
import { EntityPlan, delayNetwork, planRetry, workRetry } from "@rabbitmq-delay/topology";
import {
  AdoptableFound,
  AdoptedPart,
  adoptedEndpoint,
  adoptedNetwork,
  adoptedWorkQueue,
  compareAdopted,
  planOwnEntities,
} from "@rabbitmq-delay/topology/stack";
import fc from "fast-check";

const pair = workRetry({ queue: "invoices", delays: ["1s", "1m"] });
const parts: AdoptedPart[] = [
  ...(["nservicebus", "nservicebus-v1", "celery"] as const).map((preset) =>
    adoptedNetwork(delayNetwork({ preset }), []),
  ),
  adoptedNetwork(delayNetwork({ preset: "nservicebus", matching: "enforced" }), []),
  adoptedNetwork(delayNetwork({ preset: "custom", prefix: "shop", radix: 8, parking: false }), []),
  adoptedEndpoint({ name: "Sales" }, planOwnEntities({ name: "Sales", client: "nservicebus" }) as EntityPlan, []),
  adoptedWorkQueue(pair, planRetry(pair), []),
];

/** A broker that has what a plan says. */
function brokerWith({ exchanges, queues, bindings }: EntityPlan): AdoptableFound {
  return {
    exchanges: new Map(
      exchanges.map((plan) => [plan.name, { ...plan, auto_delete: false, internal: false, arguments: {} }]),
    ),
    queues: new Map(queues.map((plan) => [plan.name, { ...plan, auto_delete: false }])),
    bindings: [...bindings],
  };
}

function all({ core, added }: AdoptedPart): EntityPlan {
  return {
    exchanges: [...core.exchanges, ...added.exchanges],
    queues: [...core.queues, ...added.queues],
    bindings: [...core.bindings, ...added.bindings],
  };
}

describe("compareAdopted", () => {
  for (const part of parts) {
    const [first] = part.core.bindings;
    const title = `${part.title}, of ${part.core.queues.length} queues`;

    it(`${title}: what is as planned has no difference, with and without what the stack adds`, () => {
      assert.deepEqual(compareAdopted(part, brokerWith(all(part))).differences, []);
      assert.deepEqual(compareAdopted(part, brokerWith(all(part))).additions, []);
      const { differences, additions, there } = compareAdopted(part, brokerWith(part.core));
      assert.deepEqual(differences, []);
      assert.equal(additions.length, part.added.exchanges.length + part.added.queues.length);
      assert.equal(there.bindings, part.core.bindings.length);
    });

    it(`${title}: made anew where nothing is there`, () => {
      const none = brokerWith({ exchanges: [], queues: [], bindings: [] });
      assert.deepEqual(compareAdopted(part, none).differences, []);
      assert.equal(compareAdopted(part, none).there.queues, 0);
    });

    it(`${title}: each single thing that is otherwise is named, with a way out`, () => {
      const { exchanges, queues, bindings } = part.core;
      const change = fc.oneof(
        fc.constantFrom(...queues).map(({ name }) => ({ kind: "queue", name, how: "missing" }) as const),
        fc.constantFrom(...exchanges).map(({ name }) => ({ kind: "exchange", name, how: "missing" }) as const),
        fc.constantFrom(...queues).map(({ name }) => ({ kind: "queue", name, how: "argument" }) as const),
        fc.constantFrom(...queues).map(({ name }) => ({ kind: "queue", name, how: "transient" }) as const),
        fc.constantFrom(...exchanges).map(({ name }) => ({ kind: "exchange", name, how: "type" }) as const),
        fc.nat(bindings.length - 1).map((index) => ({ kind: "binding", index, how: "missing" }) as const),
      );
      fc.assert(
        fc.property(change, (changed) => {
          const broker = brokerWith(all(part));
          const found = {
            ...broker,
            exchanges: new Map(broker.exchanges),
            queues: new Map(broker.queues),
            bindings: [...broker.bindings],
          };
          const subject = changed.kind === "binding" ? bindings[changed.index]?.source : changed.name;
          if (changed.kind === "binding")
            found.bindings = found.bindings.filter((one) => one !== bindings[changed.index]);
          else if (changed.how === "missing") found[`${changed.kind}s`].delete(changed.name);
          else if (changed.kind === "exchange") {
            const there = found.exchanges.get(changed.name);
            if (there !== undefined) found.exchanges.set(changed.name, { ...there, type: "headers" });
          } else {
            const there = found.queues.get(changed.name);
            const values = changed.how === "argument" ? { ...there?.arguments, "x-max-length": 5 } : there?.arguments;
            if (there !== undefined)
              found.queues.set(changed.name, {
                ...there,
                durable: changed.how !== "transient",
                arguments: values ?? {},
              });
          }
          // The exchange of an endpoint without a queue is all that there is of it.
          const { differences } = compareAdopted(part, found);
          if (part.kind === "endpoint" && changed.how === "missing") {
            const { additions } = compareAdopted(part, found);
            assert.deepEqual(differences, [], "it is made");
            assert.equal(additions.length, 1);
            const made =
              changed.kind === "binding"
                ? /^the binding of queue Sales to exchange Sales by ""$/
                : /^(queue|exchange) Sales$/;
            assert.match(String(additions[0]), made);
            return;
          }
          assert.ok(
            differences.some((difference) => difference.includes(String(subject))),
            `${JSON.stringify(changed)}: ${differences.join()}`,
          );
          for (const difference of differences)
            assert.match(difference, /: give |: it can't be adopted|leave adopt out/);
        }),
        { numRuns: 60 },
      );
    });

    if (part.kind === "network") {
      it(`${title}: endpoints and vendors' own bindings are no difference; a stranger in a level is one`, () => {
        const broker = brokerWith(all(part));
        const delivery = part.core.exchanges[0]?.name as string;
        const bound = (source: string): AdoptableFound => ({
          ...broker,
          bindings: [
            ...broker.bindings,
            { source, destination: "Sales", destinationType: "exchange" as const, routingKey: "#.Sales" },
          ],
        });
        assert.deepEqual(compareAdopted(part, bound(delivery)).differences, []);
        const [stranger] = compareAdopted(part, bound(first?.source ?? "")).differences;
        assert.match(String(stranger), /by "#\.Sales" is there, and not in the plan; .*unbind it/);
        // Back from the end into a level, as nobody's endpoint is.
        const back = { source: delivery, destination: String(first?.source), destinationType: "exchange" as const };
        const looped = { ...broker, bindings: [...broker.bindings, { ...back, routingKey: "#" }] };
        assert.match(compareAdopted(part, looped).differences.join(), /by "#" is there, and not in the plan/);
        const [parking] = part.added.exchanges.filter(({ type }) => type === "fanout");
        if (parking !== undefined) assert.deepEqual(compareAdopted(part, bound(parking.name)).differences, []);
      });
    }
  }

  // Adopted, it got each message that its successor got.
  it("does not bind a queue again that somebody has put out of use", () => {
    const part = adoptedEndpoint(
      { name: "Sales" },
      planOwnEntities({ name: "Sales", client: "nservicebus" }) as EntityPlan,
      [],
    );
    const successor = { source: "Sales", destination: "Sales.v3", destinationType: "queue" as const, routingKey: "" };
    const retired = { ...brokerWith(all(part)), bindings: [successor] };
    const [difference, ...more] = compareAdopted(part, retired).differences;
    assert.match(
      String(difference),
      /^exchange Sales leads to Sales\.v3 and not to queue Sales: bound to both, each message/,
    );
    assert.deepEqual(more, []);
    assert.deepEqual(compareAdopted(part, { ...retired, bindings: [] }).differences, []);
    const both = { ...retired, bindings: [...all(part).bindings, successor] };
    assert.deepEqual(compareAdopted(part, both).differences, []);
  });

  it("does not take over a queue that goes with its connection", () => {
    const [part] = parts as [AdoptedPart];
    const broker = brokerWith(all(part));
    const queues = new Map([...broker.queues].map(([name, queue]) => [name, { ...queue, exclusive: true }]));
    const { differences } = compareAdopted(part, { ...broker, queues });
    assert.equal(differences.length, part.core.queues.length);
    assert.match(String(differences[0]), /exclusive true \(declared here: false\)/);
  });

  it("says which option the broker has otherwise", () => {
    const part = adoptedNetwork(delayNetwork({ preset: "celery" }), []);
    const classic = adoptedNetwork(delayNetwork({ preset: "celery", queueType: "classic" }), []);
    const [difference] = compareAdopted(part, brokerWith(all(classic))).differences;
    assert.match(String(difference), /x-queue-type "classic" \(declared here: "quorum"\).*: give queueType/);
    const enforced = adoptedNetwork(delayNetwork({ preset: "nservicebus", matching: "enforced" }), []);
    const plain = adoptedNetwork(delayNetwork({ preset: "nservicebus" }), []);
    const { differences } = compareAdopted(enforced, brokerWith(all(plain)));
    assert.equal(differences.length, 1, differences.join("\n"));
    assert.match(String(differences[0]), /rabbitmq-delay enforce changes that/);
  });

  it("names what else a work queue's exchange leads to, and what else comes to the work queue", () => {
    const part = adoptedWorkQueue(pair, planRetry(pair), []);
    const broker = brokerWith(all(part));
    const more = (source: string, destination: string, routingKey: string): string[] => {
      const binding = { source, destination, destinationType: "queue" as const, routingKey };
      return compareAdopted(part, { ...broker, bindings: [...broker.bindings, binding] }).differences;
    };
    assert.match(more("invoices", "copy", "#").join(), /queue copy to exchange invoices by "#" is there.*: unbind it$/);
    assert.match(
      more("invoices", "invoices", "zzz").join(),
      /queue invoices to exchange invoices by "zzz" is there.*or give patterns as the broker has them$/,
    );
    const binding = { source: "invoices", destination: "invoices", destinationType: "queue" as const, routingKey: "a" };
    const own = compareAdopted(part, { ...broker, bindings: [...broker.bindings, binding] }, () => true);
    assert.deepEqual(own.differences, [], "the stack's own is not compared");
    assert.deepEqual(more("invoices.dead", "monitor", "#"), []);
  });

  it("names a queue without a type where the vhost's default is another now, unless the stack has declared it", () => {
    const part = adoptedNetwork(delayNetwork({ preset: "nservicebus-v1" }), []);
    const broker = { ...brokerWith(all(part)), defaultType: "quorum" };
    const { differences } = compareAdopted(part, broker);
    assert.equal(differences.length, 28);
    assert.match(
      String(differences[0]),
      /exists with x-queue-type "classic" .*default_queue_type makes "quorum"; set that to classic/,
    );
    assert.deepEqual(compareAdopted(part, broker, () => true).differences, []);
  });

  it("advises no option that makes another network, or that decides nothing", () => {
    const advice = (part: AdoptedPart, name: string, values: Record<string, unknown>, isDurable = true): string => {
      const broker = brokerWith(all(part));
      const queue = broker.queues.get(name);
      assert.ok(queue !== undefined);
      const queues = new Map(broker.queues);
      queues.set(name, { ...queue, durable: isDurable, arguments: { ...queue.arguments, ...values } });
      return compareAdopted(part, { ...broker, queues }).differences.join();
    };
    const custom = adoptedNetwork(delayNetwork({ preset: "custom", prefix: "shop", levels: 2, radix: 2 }), []);
    const [level] = custom.core.queues.map(({ name }) => name);
    for (const values of [{ "x-message-ttl": 5 }, { "x-queue-type": "classic" }])
      assert.match(advice(custom, level as string, values), /it can't be adopted as it is; drain it and delete it/);
    const odd = { name: "x-orders", client: "nservicebus" as const };
    const endpoint = adoptedEndpoint(odd, planOwnEntities(odd) as EntityPlan, []);
    for (const [values, isDurable] of [[{}, false] as const, [{ "x-max-length": 5 }, true] as const])
      assert.match(
        advice(endpoint, "x-orders", values, isDurable),
        /leave createQueue and client out, and the stack only binds it/,
      );
    assert.match(advice(endpoint, "x-orders", { "x-queue-type": "classic" }), /: give queueType as the broker has it$/);
    const retry = adoptedWorkQueue(pair, planRetry(pair), []);
    assert.match(advice(retry, "invoices.retry-1000", { "x-message-ttl": 5 }), /: give delays as the broker has it$/);
  });

  it("has no difference for what the stack itself has lost since", () => {
    const [part] = parts as [AdoptedPart];
    const broker = brokerWith(all(part));
    const [queue] = part.core.queues.map(({ name }) => name);
    const queues = new Map(broker.queues);
    queues.delete(queue as string);
    assert.equal(compareAdopted(part, { ...broker, queues }).differences.length, 1);
    assert.deepEqual(compareAdopted(part, { ...broker, queues }, () => true).differences, []);
  });
});
