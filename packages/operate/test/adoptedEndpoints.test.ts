import { strict as assert } from "node:assert";
import { Adoption, LiveContent, planAdoption } from "@rabbitmq-delay/operate";
import {
  BindingPlan,
  DelayNetwork,
  delayNetwork,
  planBinding,
  planErrorQueue,
  planRetry,
  planReturnBinding,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { OwnEndpoint, boundType, planOwnEntities, planOwnership } from "@rabbitmq-delay/topology/stack";
import { contentOf, networkPlan, planOf, queuePlan } from "./liveContent";

const nserviceBus = delayNetwork({ preset: "nservicebus", parking: false, matching: "suffix" });
const enforced = delayNetwork({ preset: "nservicebus", parking: false, matching: "enforced" });
const own = delayNetwork({ preset: "custom", prefix: "orders", radix: 4, levels: 3 });

/** What a broker has of a network with endpoints as their clients declare them, and bindings besides. */
function withEndpoints(network: DelayNetwork, endpoints: OwnEndpoint[], ...more: BindingPlan[]): LiveContent {
  const plans = endpoints.map((endpoint) => {
    const plan = planOwnEntities(endpoint) ?? { exchanges: [], queues: [], bindings: [] };
    const bound = planBinding(network, { ...endpoint, type: boundType(endpoint) }).bindings;
    return { ...plan, bindings: [...plan.bindings, ...bound] };
  });
  return contentOf(networkPlan(network), ...plans, { exchanges: [], queues: [], bindings: more });
}

function toQueue(destination: string, network: DelayNetwork, routingKey: string): BindingPlan {
  return { source: network.deliveryExchange, destination, destinationType: "queue", routingKey };
}

function told({ remarks }: Adoption, kind: string): string[] {
  return remarks.filter((remark) => remark.kind === kind).map(({ message }) => message);
}

describe("the endpoints of a network that is adopted", () => {
  it("have the client that declares them so, and no other", () => {
    const endpoints: OwnEndpoint[] = [
      { name: "Billing", client: "nservicebus" },
      { name: "Shipping", client: "nservicebus", queueType: "classic" },
      { name: "Stock", client: "nservicebus", routingTopology: "direct" },
    ];
    const content = withEndpoints(nserviceBus, endpoints);
    const adoption = planAdoption("/", content);
    assert.deepEqual(adoption.config.endpoints, [
      { name: "Billing", client: "nservicebus", adopt: true },
      { name: "Shipping", client: "nservicebus", queueType: "classic", adopt: true },
      { name: "Stock", adopt: true },
    ]);
    assert.deepEqual(told(adoption, "differs"), []);
    assert.deepEqual(
      planOf(adoption).plan.created.map(({ endpoint }) => endpoint.name),
      ["Billing", "Shipping"],
    );
    const queues = content.queues.map((one) =>
      one.name === "Billing" ? { ...one, arguments: { ...one.arguments, "x-max-length": 5 } } : one,
    );
    const changed = planAdoption("/", { ...content, queues });
    assert.deepEqual(changed.config.endpoints?.[0], { name: "Billing", type: "exchange", adopt: true });
    assert.match(told(changed, "differs").join(), /not as NServiceBus declares it .* x-max-length 5/);
    assert.deepEqual(changed.remarks.find(({ kind }) => kind === "differs")?.place, ["endpoints", 0]);
  });

  it("are Celery's where a worker's exchange stands before the queue, on Celery's networks alone", () => {
    const celery = delayNetwork({ preset: "celery", parking: false, matching: "suffix" });
    const tasks: OwnEndpoint[] = [
      { name: "orders", client: "celery" },
      { name: "mails", client: "celery", queueType: "classic" },
    ];
    const adoption = planAdoption("/", withEndpoints(celery, tasks));
    assert.deepEqual(adoption.config.endpoints, [
      { name: "mails", client: "celery", queueType: "classic", adopt: true },
      { name: "orders", client: "celery", adopt: true },
    ]);
    assert.deepEqual(told(adoption, "differs"), []);
    // Beside an endpoint that is bound exactly, a worker's binding is still as it shall be.
    const mixed = withEndpoints(
      { ...celery, matching: "exact" },
      tasks,
      toQueue("stock", celery, `${"*.".repeat(28)}stock`),
    );
    const stock = { name: "stock", durable: true, auto_delete: false, arguments: { "x-queue-type": "quorum" } };
    const beside = planAdoption("/", { ...mixed, queues: [...mixed.queues, stock] });
    assert.deepEqual(told(beside, "differs"), []);
    assert.deepEqual(
      beside.config.endpoints?.map(({ name, client }) => [name, client]),
      [
        ["mails", "celery"],
        ["orders", "celery"],
        ["stock", undefined],
      ],
    );
    const elsewhere = planAdoption("/", withEndpoints(own, [tasks[0] as OwnEndpoint]));
    assert.deepEqual(elsewhere.config.endpoints, [{ name: "orders", type: "exchange", adopt: true }]);
  });

  it("have error queues beside them, but for the parking queues and dead queues of a stack", () => {
    const beside = (["dead", "retry"] as const).map((rejected) =>
      planRetry(workRetry({ queue: `invoices-${rejected}`, delays: ["20s"], rejected })),
    );
    const vendors = withEndpoints(nserviceBus, [{ name: "Billing", client: "nservicebus" }]);
    const more = contentOf(networkPlan(own), planErrorQueue("error"), ...beside);
    const merge = <K extends "exchanges" | "queues" | "bindings" | "policies">(kind: K): LiveContent[K] =>
      [...vendors[kind], ...more[kind]] as LiveContent[K];
    const content = {
      ...vendors,
      exchanges: merge("exchanges"),
      queues: merge("queues"),
      bindings: merge("bindings"),
      policies: merge("policies"),
    };
    const adoption = planAdoption("/", content);
    assert.deepEqual(adoption.config.errorQueues, ["error"]);
    assert.deepEqual(told(adoption, "differs"), []);
    const teams = { name: "teams", pattern: "^error$", applyTo: "queues", priority: 5, isOperator: false };
    const led = { ...teams, definition: { "dead-letter-exchange": "dlx" } };
    const refused = planAdoption("/", { ...content, version: "4.3.6", policies: [...content.policies, led] });
    assert.match(
      told(refused, "differs").join(),
      /^policy teams does not apply to queue error beside error\.delivery-limit/,
    );
  });

  // "Nothing differs", and the update took the team's policy off each queue.
  it("keep what a team's policy says of their queues, in the policy that the stack sets", () => {
    const celery = delayNetwork({ preset: "celery", parking: false, matching: "suffix" });
    const content = withEndpoints(celery, [{ name: "orders", client: "celery" }]);
    const definition = { "max-length": 5000, overflow: "reject-publish" };
    let shown: string | null = "teams";
    const adopted = (more: object, version = "4.3.6", others: object = definition): Adoption => {
      const teams = { name: "teams", pattern: ".*", applyTo: "queues", priority: 5, isOperator: false, ...more };
      const queues = content.queues.map((queue) => ({ ...queue, policy: shown }));
      return planAdoption("/", { ...content, version, queues, policies: [{ ...teams, definition: { ...others } }] });
    };
    const kept = adopted({});
    assert.deepEqual(kept.config.endpoints, [
      { name: "orders", client: "celery", queuePolicy: definition, adopt: true },
    ]);
    assert.match(
      told(kept, "note").join(),
      /policy teams applies to it, .* queuePolicy takes its max-length, overflow into/,
    );
    assert.ok(!told(kept, "note").some((message) => /teams no longer applies to queue orders/.test(message)));
    assert.deepEqual(
      told(kept, "differs").filter((message) => message.includes("queue orders")),
      [],
    );
    const bare = [{ name: "orders", client: "celery", adopt: true }];
    assert.deepEqual(adopted({}, "3.10.8").config.endpoints, bare, "no policy of the stack is there to push it off");
    assert.deepEqual(adopted({}, "4.3.6", { "delivery-limit": -1 }).config.endpoints, bare, "as the stack's own");
    const limited = { "delivery-limit": 5, "dead-letter-exchange": "dlx" };
    assert.deepEqual(adopted({}, "4.3.6", limited).config.endpoints?.[0]?.queuePolicy, limited);
    // The broker shows a policy of its queues seconds late.
    shown = null;
    assert.deepEqual(adopted({}).config.endpoints?.[0]?.queuePolicy, definition);
    assert.deepEqual(adopted({ pattern: "(?i)^ORDERS" }).config.endpoints?.[0]?.queuePolicy, definition, "in doubt");
    assert.deepEqual(adopted({ pattern: "^other$" }).config.endpoints, bare);
    const unheeded = { ...definition, "ha-mode": "all" };
    assert.deepEqual(adopted({}, "4.3.6", unheeded).config.endpoints, bare, "a quorum queue passes it over");
    shown = "before";
    assert.deepEqual(adopted({}).config.endpoints?.[0]?.queuePolicy, definition, "it shows one that is gone");
  });

  it("are MassTransit's only where exchanges of message types lead to them, at a network that NServiceBus does not use", () => {
    const content = withEndpoints(own, [{ name: "orders-service", client: "masstransit", queueType: "classic" }]);
    assert.deepEqual(planAdoption("/", content).config.endpoints, [{ name: "orders-service", adopt: true }]);
    const message: BindingPlan = {
      source: "Shop:OrderPlaced",
      destination: "orders-service",
      destinationType: "exchange",
      routingKey: "",
    };
    const fed = { ...content, bindings: [...content.bindings, message] };
    assert.deepEqual(planAdoption("/", fed).config.endpoints, [
      { name: "orders-service", client: "masstransit", queueType: "classic", adopt: true },
    ]);
  });

  it("are one with all their patterns, and keys that say no destination are named", () => {
    const endpoint = { name: "audit", patterns: ["audit", "orders.*", "x"] };
    const content = contentOf(
      networkPlan(own),
      queuePlan("audit", "quorum", [...planBinding(own, endpoint).bindings, toQueue("audit", own, "#")]),
      queuePlan("all", "quorum", [toQueue("all", own, "*.*.*.a.#")]),
      queuePlan("loose", "quorum", [toQueue("loose", own, "#.loose")]),
    );
    const adoption = planAdoption("/", content);
    assert.deepEqual(adoption.config.endpoints, [
      { ...endpoint, adopt: true },
      { name: "loose", adopt: true },
    ]);
    const [all, audit, loose, ...others] = told(adoption, "differs");
    assert.match(String(all), /leads to queue all with the key "\*\.\*\.\*\.a\.#"/);
    assert.match(String(audit), /leads to queue audit with the key "#"/);
    assert.match(String(loose), /queue loose is bound with #\.loose alone/);
    assert.deepEqual(others, []);
  });

  it("are left out where they are passing, or claimed by another stack", () => {
    const content = withEndpoints(own, [
      { name: "amq-like", createQueue: true },
      { name: "reply", createQueue: true },
      { name: "mine", createQueue: true },
      { name: "short", createQueue: true },
      { name: "theirs", createQueue: true },
    ]);
    const claim = planOwnership("endpoint", "theirs", "billing/prod");
    const declared = { durable: true, auto_delete: false, internal: false };
    const adoption = planAdoption("/", {
      ...content,
      exchanges: [...content.exchanges, { ...claim, ...declared }],
      queues: [
        ...content.queues.map((queue) => ({
          ...queue,
          durable: queue.name !== "short",
          auto_delete: queue.name === "amq-like",
          exclusive: queue.name === "reply",
        })),
        { name: "amq.gen-1", durable: true, auto_delete: false, arguments: {} },
      ],
      bindings: [...content.bindings, toQueue("amq.gen-1", own, "*.*.*.amq.gen-1")],
    });
    assert.deepEqual(adoption.config.endpoints, [{ name: "mine", adopt: true }]);
    assert.deepEqual(
      told(adoption, "left out").map((message) => message.split(";")[0]),
      [
        "queue amq-like goes with its connection (auto-delete)",
        "queue amq.gen-1 has a name of the broker's own, as generated ones have",
        "queue reply goes with its connection (exclusive)",
        "queue short goes when the broker stops (not durable)",
        "endpoint theirs is claimed by the stack billing/prod",
      ],
    );
  });

  it("that the network can't tell apart are named, with the way to tell them apart", () => {
    const names = ["Sales", "Europe.Sales"].map((name): OwnEndpoint => ({ name, client: "nservicebus" }));
    const mixed = planAdoption("/", withEndpoints(nserviceBus, names));
    assert.equal(mixed.config.endpoints?.length, 2);
    assert.match(
      told(mixed, "differs").join(),
      /refuses endpoint Sales here: .*Europe\.Sales.*rabbitmq-delay enforce --preset nservicebus, then matching: enforced/,
    );
    const apart = planAdoption("/", withEndpoints(enforced, names));
    assert.deepEqual(told(apart, "differs"), []);
    assert.equal(apart.config.network?.matching, "enforced");
  });

  it("of an enforced network are those of its exact exchange; what senders bind elsewhere is no other binding", () => {
    const sent: BindingPlan = {
      source: enforced.deliveryExchange,
      destination: "Sales",
      destinationType: "exchange",
      routingKey: "#.Sales",
    };
    const both = planAdoption("/", withEndpoints(enforced, [{ name: "Sales", client: "nservicebus" }], sent));
    assert.deepEqual(both.config.endpoints, [{ name: "Sales", client: "nservicebus", adopt: true }]);
    assert.deepEqual(told(both, "differs"), []);
    const content = contentOf(
      networkPlan(enforced),
      queuePlan("Late", "quorum", [toQueue("Late", enforced, "#.Late")]),
    );
    const late = planAdoption("/", content);
    assert.deepEqual(late.config.endpoints, [{ name: "Late", adopt: true }]);
    assert.match(
      told(late, "differs").join(),
      /queue Late is bound to nsb\.v2\.delay-delivery alone, where no message arrives/,
    );
  });
});

describe("retry queues that are adopted", () => {
  const shapes = [
    { queue: "work", delays: [5000, 60_000] },
    { queue: "a.b", delays: [1], patterns: ["x.*", "y"], queueType: "classic" as const, rejected: "retry" as const },
    { queue: "loose", delays: [10], atLeastOnce: false },
  ];
  const intervals = retryIntervals({ intervals: [1000, 2000], queueType: "classic" });

  it("are those that a stack would plan", () => {
    const returned = planReturnBinding(intervals, "Billing");
    const content = contentOf(
      networkPlan(own),
      ...shapes.map((shape) => planRetry(workRetry(shape))),
      planRetry(intervals),
      queuePlan("Billing", "quorum", [...planBinding(own, { name: "Billing" }).bindings, returned]),
      queuePlan("Elsewhere", "quorum", [planReturnBinding(intervals, "Elsewhere")]),
    );
    const adoption = planAdoption("/", content);
    assert.deepEqual(told(adoption, "differs"), []);
    assert.deepEqual(planOf(adoption).plan.retries, [
      intervals,
      ...shapes.map(workRetry).sort((one, other) => (one.name < other.name ? -1 : 1)),
    ]);
    assert.deepEqual(adoption.config.endpoints, [{ name: "Billing", retries: true, adopt: true }]);
    assert.match(
      told(adoption, "left out").join(),
      /queue Elsewhere gets its failed messages back from mt-delay-return/,
    );
  });

  it("are left out where they differ, and named; queues of others are no work queues", () => {
    const content = contentOf(
      networkPlan(own),
      planRetry(workRetry(shapes[0] as (typeof shapes)[0])),
      planRetry(intervals),
    );
    const queues = content.queues.map((one) =>
      ["work.retry-5000", "mt-delay-1000"].includes(one.name)
        ? { ...one, arguments: { ...one.arguments, "x-message-ttl": 4999 } }
        : one,
    );
    const adoption = planAdoption("/", { ...content, queues });
    assert.deepEqual(Object.keys(adoption.config), ["network"]);
    const [work, mine, ...others] = told(adoption, "differs");
    assert.match(
      String(work),
      /^work queue work: left out, because queue work\.retry-5000 exists with x-message-ttl 4999/,
    );
    assert.match(
      String(mine),
      /^interval queues mt-delay: left out, because queue mt-delay-1000 exists with x-message-ttl 4999/,
    );
    assert.deepEqual(others, []);
    // "See which policy goes before it", of a policy that was never set.
    const exchanges = content.exchanges.map((one) => ({ ...one, policy: undefined }));
    const bare = told(planAdoption("/", { ...content, exchanges, policies: [] }), "differs");
    assert.match(
      String(bare.find((message) => message.startsWith("interval"))),
      /^interval queues mt-delay: left out, because policy mt-delay-parking is not on the broker, .*; set it, with pattern \^mt-delay-return\$, /,
    );
    const foreign = contentOf({
      ...queuePlan("jobs"),
      queues: [
        ...queuePlan("jobs").queues,
        {
          name: "jobs.retry-5000",
          durable: true,
          arguments: { "x-message-ttl": 5000, "x-dead-letter-exchange": "jobs" },
        },
      ],
    });
    assert.equal(planAdoption("/", foreign).isEmpty, true);
  });

  it("are left out where the work queue's exchange leads elsewhere, too, as a stack would refuse that", () => {
    const work = planRetry(workRetry({ queue: "invoices", delays: ["1s"] }));
    const copy: BindingPlan = { source: "invoices", destination: "copy", destinationType: "queue", routingKey: "#" };
    const adoption = planAdoption("/", contentOf(networkPlan(own), { ...work, bindings: [...work.bindings, copy] }));
    assert.equal(adoption.config.workQueues, undefined);
    assert.match(told(adoption, "differs").join(), /work queue invoices: left out, because the binding of queue copy/);
  });

  it("need a network beside them in a stack of the program", () => {
    const adoption = planAdoption("/", contentOf(planRetry(intervals)));
    assert.equal(adoption.isEmpty, false);
    assert.match(
      told(adoption, "differs").join(),
      /a stack would refuse this config: network: undefined is not allowed; give network/,
    );
  });
});
