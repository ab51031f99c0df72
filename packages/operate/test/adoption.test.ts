import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { LiveContent, planAdoption, planMatchingChange } from "@rabbitmq-delay/operate";
import {
  DelayNetwork,
  DelayNetworkOptions,
  delayNetwork,
  maximumDelayMs,
  planBinding,
  planEntities,
} from "@rabbitmq-delay/topology";
import { contentOf, networkPlan, planOf, queuePlan, sorted } from "./liveContent";

/** Options of any network that can be told from its names; prefixes look like other parts of names. */
const anyOptions: fc.Arbitrary<DelayNetworkOptions> = fc.oneof(
  fc.record({
    preset: fc.constantFrom("nservicebus" as const, "nservicebus-v1" as const),
    matching: fc.constantFrom("exact" as const, "suffix" as const, "enforced" as const),
    parking: fc.boolean(),
  }),
  fc.record(
    {
      preset: fc.constant("celery" as const),
      prefix: fc.constantFrom("shop", "a_b", "Größe", "celery_delayed"),
      queueType: fc.constantFrom("quorum" as const, "classic" as const),
      matching: fc.constantFrom("exact" as const, "suffix" as const),
      parking: fc.boolean(),
    },
    { requiredKeys: ["preset"] },
  ),
  fc
    .record({
      preset: fc.constant("custom" as const),
      prefix: fc.constantFrom("orders", "a.b", "x-delivery", "yes", "a.r4x2u10"),
      radix: fc.constantFrom(2 as const, 4 as const, 8 as const, 16 as const),
      levels: fc.integer({ min: 2, max: 6 }),
      unitMs: fc.constantFrom(1, 10, 1000),
      queueType: fc.constantFrom("quorum" as const, "classic" as const),
      matching: fc.constantFrom("exact" as const, "suffix" as const),
      parking: fc.boolean(),
    })
    .filter(({ radix, levels, unitMs }) => maximumDelayMs({ radix, levels, unitMs }) <= 315_360_000_000),
);

const endpointSets: fc.Arbitrary<string[]> = fc.uniqueArray(
  fc.constantFrom("Sales", "Billing", "a.b.c", "yes", "Größe", "x: y", "- #"),
  {
    minLength: 1,
  },
);

function bound(network: DelayNetwork, names: string[]): ReturnType<typeof queuePlan>[] {
  return names.map((name) => queuePlan(name, "quorum", planBinding(network, { name }).bindings));
}

/** The network that a stack has of it: with parking where it is a vendor's. */
function parkedOf(network: DelayNetwork, options: DelayNetworkOptions): DelayNetwork {
  return network.preset === "custom" ? network : delayNetwork({ ...options, parking: true });
}

describe("the config that adopts a network", () => {
  it("makes the same entities and bindings as are there, of any network", () => {
    fc.assert(
      fc.property(anyOptions, endpointSets, (options, names) => {
        const network = delayNetwork(options);
        const content = contentOf(networkPlan(network), ...bound(network, names));
        const adoption = planAdoption("/", content);
        assert.deepEqual(
          adoption.remarks.filter(({ kind }) => kind !== "note"),
          [],
        );
        const services = new Set(names);
        const adopted = parkedOf(network, options);
        const expected = contentOf(networkPlan(adopted), ...bound(adopted, names));
        const queues = expected.queues.filter(({ name }) => !services.has(name));
        const { plan, entities } = planOf(adoption);
        assert.deepEqual(sorted(entities), sorted({ ...expected, queues }));
        assert.deepEqual(
          plan.networks.networks.map((one) => one.network),
          [adopted],
        );
        assert.equal(adoption.config.network?.adopt, true);
        assert.deepEqual(
          adoption.config.endpoints?.map(({ name, adopt }) => [name, adopt]).sort(),
          names.map((name) => [name, true]).sort(),
        );
      }),
      { numRuns: 200 },
    );
  });

  it("has each of several networks, and says where an endpoint joins only some", () => {
    const networks = [
      delayNetwork({ preset: "nservicebus", parking: false, matching: "enforced" }),
      delayNetwork({ preset: "celery", prefix: "shop", parking: false, matching: "suffix" }),
      delayNetwork({ preset: "celery", queueType: "classic" }),
      delayNetwork({ preset: "custom", prefix: "shop", radix: 4, levels: 3, unitMs: 10 }),
      delayNetwork({ preset: "custom", prefix: "shop", radix: 2, levels: 3, unitMs: 10, queueType: "classic" }),
    ];
    const first = networks.map((network) => planBinding(network, { name: "Everywhere" }).bindings);
    const second = planBinding(networks[3] as DelayNetwork, { name: "Once" }).bindings;
    const content = contentOf(
      ...networks.map(networkPlan),
      queuePlan("Everywhere", "quorum", first.flat()),
      queuePlan("Once", "quorum", second),
    );
    const adoption = planAdoption("orders", content);
    assert.deepEqual(
      adoption.remarks.filter(({ kind }) => kind === "differs"),
      [],
    );
    assert.deepEqual(Object.keys(adoption.config.networks ?? {}), [
      "celery",
      "nservicebus",
      "shop",
      "shop-2",
      "shop-3",
    ]);
    assert.deepEqual(adoption.config.endpoints, [
      { name: "Everywhere", adopt: true },
      { name: "Once", networks: ["shop-2"], adopt: true },
    ]);
    assert.deepEqual(adoption.config.broker, { vhost: "orders" });
    const { entities } = planOf(adoption);
    const expected = contentOf(
      networkPlan(delayNetwork({ preset: "nservicebus", matching: "enforced" })),
      networkPlan(delayNetwork({ preset: "celery", prefix: "shop", matching: "suffix" })),
      ...networks.slice(2).map(networkPlan),
      queuePlan("Everywhere", "quorum", first.flat()),
      queuePlan("Once", "quorum", second),
    );
    const queues = expected.queues.filter(({ name }) => !["Everywhere", "Once"].includes(name));
    assert.deepEqual(sorted(entities), sorted({ ...expected, queues }));
  });

  it("names each single thing that is missing or otherwise", () => {
    fc.assert(
      fc.property(anyOptions, fc.nat(), fc.nat(), (options, which, how) => {
        const network = delayNetwork(options);
        const whole = contentOf(networkPlan(network), ...bound(network, ["Sales"]));
        const { content, names } = mutate(whole, network, which, how);
        const { remarks, config } = planAdoption("/", content);
        const differing = remarks.filter(({ kind }) => kind === "differs");
        for (const name of names)
          assert.ok(
            differing.some(({ message }) => message.includes(name)),
            `${name}: ${JSON.stringify(remarks)}`,
          );
        assert.equal(config.network?.preset, network.preset);
        assert.ok(differing.every(({ place }) => place[0] === "network"));
      }),
      { numRuns: 400 },
    );
  });

  it("says of a vhost without a network that there is none, and of what is left of one", () => {
    assert.deepEqual(planAdoption("/", contentOf(queuePlan("Sales"))), {
      vhost: "/",
      config: {},
      isEmpty: true,
      remarks: [],
    });
    const { exchanges } = planEntities(delayNetwork({ preset: "nservicebus" }));
    const left = planAdoption("/", contentOf({ exchanges: exchanges.slice(0, 1), queues: [], bindings: [] }));
    assert.equal(left.isEmpty, true);
    assert.match(
      left.remarks.map(({ kind, message }) => `${kind} ${message}`).join(),
      /^left out of network nsb\.v2\.delay there is no level's queue/,
    );
  });

  it("says that a change of a network's matching has not ended", () => {
    const network = delayNetwork({ preset: "nservicebus", parking: false });
    const { detour } = planMatchingChange(network);
    const adoption = planAdoption(
      "/",
      contentOf(networkPlan(network), { exchanges: [], queues: [detour.queue], bindings: [] }),
    );
    assert.match(adoption.remarks[0]?.message ?? "", /^rabbitmq-delay enforce has begun to change its matching/);
    assert.equal(adoption.remarks[0]?.kind, "differs");
  });

  it("names a vhost that no stack could have", () => {
    const { remarks } = planAdoption("a@b", contentOf(networkPlan(delayNetwork({ preset: "celery" }))));
    assert.match(
      remarks.find(({ kind }) => kind === "differs")?.message ?? "",
      /a stack would refuse this config: broker\.vhost/,
    );
  });
});

/** Takes away or changes one thing that a network has. @returns what a remark has to name */
function mutate(
  whole: LiveContent,
  network: DelayNetwork,
  which: number,
  how: number,
): { content: LiveContent; names: string[] } {
  const { exchanges, queues, bindings } = planEntities(network);
  const pick = <T>(all: readonly T[]): T => all[which % all.length] as T;
  const levels = queues.filter(({ name }) => name !== network.parkingQueue);
  switch (how % 7) {
    case 0: {
      const { name } = pick(queues);
      return {
        content: {
          ...whole,
          queues: whole.queues.filter((queue) => queue.name !== name),
          bindings: whole.bindings.filter((one) => one.destinationType !== "queue" || one.destination !== name),
        },
        names: [`queue ${name} is not on the broker`],
      };
    }
    case 1: {
      const { name } = pick(exchanges);
      const isOn = (one: { destinationType: string; destination: string; source: string }): boolean =>
        one.source === name || (one.destinationType === "exchange" && one.destination === name);
      return {
        content: {
          ...whole,
          exchanges: whole.exchanges.filter((exchange) => exchange.name !== name),
          bindings: whole.bindings.filter((one) => !isOn(one)),
        },
        names: [`exchange ${name} is not on the broker`],
      };
    }
    case 2: {
      const gone = pick(bindings);
      return {
        content: { ...whole, bindings: whole.bindings.filter((one) => JSON.stringify(one) !== JSON.stringify(gone)) },
        names: [`exchange ${gone.source} does not lead to ${gone.destinationType} ${gone.destination}`],
      };
    }
    case 3:
      return changed(whole, pick(levels).name, { "x-message-ttl": 7.5 }, "x-message-ttl");
    case 4:
      return changed(
        whole,
        pick(levels).name,
        { "x-queue-type": network.queueType === "quorum" ? "classic" : "quorum" },
        "",
      );
    case 5: {
      const { name } = pick(exchanges);
      const other = whole.exchanges.map((one) => (one.name === name ? { ...one, type: "headers" } : one));
      return { content: { ...whole, exchanges: other }, names: [`exchange ${name} exists with type "headers"`] };
    }
    default: {
      const { source } = pick(bindings.filter((one) => network.entryExchanges.includes(one.source)));
      const more = { source, destination: "Sales", destinationType: "queue" as const, routingKey: "#" };
      return {
        content: { ...whole, bindings: [...whole.bindings, more] },
        names: [`exchange ${source} also leads to queue Sales`],
      };
    }
  }
}

function changed(
  whole: LiveContent,
  name: string,
  values: object,
  key: string,
): { content: LiveContent; names: string[] } {
  const queues = whole.queues.map((one) =>
    one.name === name ? { ...one, arguments: { ...one.arguments, ...values } } : one,
  );
  return { content: { ...whole, queues }, names: [`queue ${name} exists with ${key}`] };
}
