import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import {
  LiveMatching,
  MatchingChange,
  Step,
  isStillNext,
  planAllSteps,
  planMatchingChange,
  planSteps,
} from "@rabbitmq-delay/operate";
import {
  BindingPlan,
  DelayNetwork,
  PolicyPlan,
  delayNetwork,
  parkingPolicy,
  planBinding,
  planEntities,
} from "@rabbitmq-delay/topology";
import { DeclaredExchange, DeclaredQueue, topicMatches } from "@rabbitmq-delay/topology/stack";
import { rounds } from "../../../test/support/length";

/** A broker in memory that does what steps say, and refuses what a real one would refuse. */
class ModelBroker implements LiveMatching {
  readonly exchanges = new Map<string, DeclaredExchange>();
  readonly queues = new Map<string, DeclaredQueue>();
  bindings: BindingPlan[] = [];
  policies: PolicyPlan[] = [];
  private readonly waiting = new Map<string, Set<string>>();

  constructor(network: DelayNetwork, endpoints: string[], areVendors: boolean) {
    const { exchanges, queues, bindings } = planEntities(network);
    for (const { name, type } of exchanges) this.open(name, type);
    for (const { name, arguments: values } of queues) this.declare(name, values);
    this.bindings = [...bindings];
    const parking = parkingPolicy(network);
    if (parking !== undefined) this.policies.push(parking);
    for (const name of endpoints) {
      this.declare(name, { "x-queue-type": "quorum" });
      this.open(name, "fanout");
      this.bindings.push({ source: name, destination: name, destinationType: "queue", routingKey: "" });
      const source = network.deliveryExchange;
      const vendors: BindingPlan = { source, destination: name, destinationType: "exchange", routingKey: `#.${name}` };
      const isEnforced = network.matching === "enforced";
      if (areVendors) this.bindings.push(vendors);
      if (!areVendors || isEnforced) this.bindings.push(...planBinding(network, { name }).bindings);
    }
  }

  make(step: Step): void {
    switch (step.do) {
      case "declare-exchange":
        this.open(step.exchange, "topic");
        break;
      case "delete-exchange":
        this.exchanges.delete(step.exchange);
        this.bindings = this.bindings.filter(
          ({ source, destination, destinationType }) =>
            source !== step.exchange && !(destinationType === "exchange" && destination === step.exchange),
        );
        break;
      case "declare-queue":
        assert.ok(!this.queues.has(step.queue.name), `${step.queue.name} would be declared twice`);
        this.declare(step.queue.name, step.queue.arguments);
        break;
      case "bind":
        assert.ok(this.exchanges.has(step.binding.source), `${step.binding.source} is not there`);
        if (!this.has(step.binding)) this.bindings.push(step.binding);
        break;
      case "unbind":
        this.bindings = this.bindings.filter((binding) => !isSame(binding, step.binding));
        break;
      case "set-policy":
        this.policies = [...this.policies.filter(({ name }) => name !== step.policy.name), step.policy];
        break;
      case "delete-policy":
        this.policies = this.policies.filter(({ name }) => name !== step.policy);
        break;
      case "await-policy":
        assert.ok(this.policies.some(({ name }) => name === step.policy));
        break;
      case "await-ready":
        assert.ok(this.queues.has(step.queue));
        break;
      case "drain-queue":
        assert.ok(this.queues.has(step.queue));
        assert.ok(
          !this.bindings.some(
            ({ destination, destinationType }) => destinationType === "queue" && destination === step.queue,
          ),
          `${step.queue} would never be empty`,
        );
        this.queues.delete(step.queue);
        for (const queues of this.waiting.values()) queues.delete(step.queue);
        break;
    }
  }

  private declare(name: string, values: Record<string, unknown>): void {
    this.queues.set(name, { name, durable: true, auto_delete: false, arguments: values });
  }

  private open(name: string, type: string): void {
    const settings = { durable: true, auto_delete: false, internal: false, arguments: {} };
    this.exchanges.set(name, { name, type, ...settings });
  }

  /** An endpoint that its senders bind, or a stack where matching is enforced, while a run changes the network or not. */
  addEndpoint(network: DelayNetwork, name: string): void {
    this.declare(name, { "x-queue-type": "quorum" });
    this.open(name, "fanout");
    this.bindings.push({ source: name, destination: name, destinationType: "queue", routingKey: "" });
    if (network.matching === "enforced") this.bindings.push(...planBinding(network, { name }).bindings);
    else this.bindSender(network, name);
  }

  /** Whether the last run that got to its end, or the network's stack, has enforced its matching. */
  isEnforcedFor({ entryExchanges: [level = ""] }: DelayNetwork): boolean {
    const fallback = this.policies.find(({ name }) => name === `${level}-detour-fallback`);
    const former = fallback?.definition["alternate-exchange"];
    return String(former ?? this.queues.get(level)?.arguments["x-dead-letter-exchange"]).endsWith("-exact");
  }

  bindSender({ deliveryExchange: source }: DelayNetwork, name: string): void {
    this.bindings.push({ source, destination: name, destinationType: "exchange", routingKey: `#.${name}` });
  }

  private has(binding: BindingPlan): boolean {
    return this.bindings.some((one) => isSame(one, binding));
  }

  /** The queues in which messages for an endpoint may wait. */
  waitingFor(name: string): string[] {
    return [...(this.waiting.get(name) ?? [])];
  }

  noteWaiting(name: string, queues: string[]): void {
    this.waiting.set(name, new Set([...this.waitingFor(name), ...queues]));
  }

  /**
   * The queues in which a message that is published to an exchange ends, after all its delays.
   * @param passed gets those in which it waits before
   */
  deliver(exchange: string, key: string, passed: string[] = [], seen = new Set<string>()): string[] {
    assert.ok(this.exchanges.has(exchange), `${exchange}, where a message goes, is not there`);
    const targets = new Map(
      this.bindings
        .filter(({ source }) => source === exchange)
        .filter(({ routingKey }) => routingKey === "" || topicMatches(routingKey, key))
        .map((binding) => [`${binding.destinationType} ${binding.destination}`, binding]),
    );
    if (targets.size === 0) {
      const [policy] = this.policies
        .filter(({ pattern, applyTo }) => applyTo === "exchanges" && new RegExp(pattern, "u").test(exchange))
        .sort((one, other) => other.priority - one.priority);
      const alternate = policy?.definition["alternate-exchange"];
      return alternate === undefined ? [] : this.deliver(String(alternate), key, passed, seen);
    }
    return [...targets.values()].flatMap(({ destination, destinationType }) => {
      if (destinationType === "exchange") return this.deliver(destination, key, passed, seen);
      // The broker gives a queue a message once, by however many ways it comes there at once.
      if (seen.has(destination)) return [];
      seen.add(destination);
      const next = this.queues.get(destination)?.arguments["x-dead-letter-exchange"];
      if (next === undefined) return [destination];
      passed.push(destination);
      return this.deliver(String(next), key, passed, new Set());
    });
  }
}

function isSame(one: BindingPlan, other: BindingPlan): boolean {
  return JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
}

const options = fc.record({
  preset: fc.constantFrom("nservicebus" as const, "nservicebus-v1" as const),
  parking: fc.boolean(),
});
const endpoints = ["Sales", "Europe.Billing", "Shipping"];
/** How far each run gets before it is killed, or stopped and let go on after the others, and whether it goes back. */
const runs = fc.array(fc.record({ steps: fc.nat(40), undo: fc.boolean(), isStopped: fc.boolean() }), { maxLength: 6 });

/** What the broker refuses ends a run, which leaves what it did. */
function isMade(broker: ModelBroker, step: Step): boolean {
  try {
    broker.make(step);
    return true;
  } catch {
    return false;
  }
}

/** Each round waits anew. */
const isNoWaiting = (step: Step): boolean => !step.do.startsWith("await-");

describe("planSteps", () => {
  it("gives each message one way at each moment, wherever runs are killed, and gets to the end", () => {
    fc.assert(
      fc.property(
        options,
        fc.boolean(),
        fc.boolean(),
        runs,
        fc.boolean(),
        fc.nat(80),
        (shape, startsEnforced, areVendors, kills, lastUndo, appearsAt) => {
          const network = delayNetwork({ ...shape, matching: startsEnforced ? "enforced" : "exact" });
          const broker = new ModelBroker(network, endpoints, areVendors);
          const [plain, enforced] = [true, false].map((undo) => planMatchingChange(network, undo).network) as [
            DelayNetwork,
            DelayNetwork,
          ];
          const reached = [...endpoints];
          let steps = 0;
          const check = (): void => {
            // From the moment on at which a message reaches it, it always does: bound as the network had endpoints before the first run.
            if (steps++ === appearsAt) broker.addEndpoint(broker.isEnforcedFor(network) ? enforced : plain, "New");
            const isNew = broker.queues.has("New") && !reached.includes("New");
            const keyOfNew = `${"0.".repeat(27)}0.New`;
            if (isNew && broker.deliver(network.entryExchanges[0] as string, keyOfNew).includes("New"))
              reached.push("New");
            for (const name of reached) {
              for (const digits of ["0.0", "0.1", "1.1"]) {
                const key = `${"0.".repeat(26)}${digits}.${name}`;
                for (const exchange of network.entryExchanges.slice(0, 2)) {
                  const passed: string[] = [];
                  assert.deepEqual(broker.deliver(exchange, key, passed), [name]);
                  broker.noteWaiting(name, passed);
                }
                // Those that went by a queue before may wait in it.
                for (const queue of broker.waitingFor(name)) {
                  const end = broker.queues.get(queue)?.arguments["x-dead-letter-exchange"];
                  if (end !== undefined) assert.deepEqual(broker.deliver(String(end), key), [name], queue);
                }
              }
            }
          };
          check();
          const stopped: { change: MatchingChange; rest: Step[] }[] = [];
          const last = { steps: Infinity, undo: lastUndo, isStopped: false };
          const runToEnd = (change: MatchingChange, most: number, isStopped: boolean): Step[] => {
            const made: Step[] = [];
            let rounds = 0;
            for (let left = most, planned = planSteps(change, broker); left > 0 && planned.length > 0;) {
              assert.ok(++rounds <= 10, "a run gives up after ten rounds");
              for (const step of planned.slice(0, left)) {
                if (!isStillNext(step, change, broker)) break;
                broker.make(step);
                made.push(step);
                left--;
                check();
              }
              if (left <= 0 && isStopped) stopped.push({ change, rest: planned.slice(most) });
              planned = planSteps(change, broker);
            }
            return made;
          };
          for (const { steps: most, undo, isStopped } of [...kills, last]) {
            const change = planMatchingChange(network, undo);
            const all = planAllSteps(change, broker);
            const made = runToEnd(change, most, isStopped);
            if (most === Infinity && !broker.queues.has("New"))
              assert.deepEqual(made.filter(isNoWaiting), all.filter(isNoWaiting), "all steps were foreseen");
          }
          // What a run had planned before it was stopped, the others may have done, or undone.
          for (const { change, rest } of stopped) {
            for (const step of rest) {
              if (!isStillNext(step, change, broker) || !isMade(broker, step)) break;
              check();
            }
          }
          runToEnd(planMatchingChange(network, lastUndo), Infinity, false);
          const isThere = broker.queues.has("New");
          assert.deepEqual(planSteps(planMatchingChange(network, lastUndo), broker), []);
          const wanted = planEntities(planMatchingChange(network, lastUndo).network);
          for (const { name, arguments: values } of wanted.queues)
            assert.deepEqual(broker.queues.get(name)?.arguments, values);
          const own = isThere ? [...endpoints, "New"] : endpoints;
          const planned = new Set([...wanted.exchanges.map(({ name }) => name), ...own]);
          assert.deepEqual(new Set(broker.exchanges.keys()), planned);
          assert.equal(broker.queues.size, wanted.queues.length + own.length);
          assert.deepEqual(
            broker.policies,
            [parkingPolicy(planMatchingChange(network, lastUndo).network)].filter(Boolean),
          );
        },
      ),
      { numRuns: rounds(20, 60) },
    );
  });

  // What such a policy kept was lost once messages arrived at the other end, and one that goes before the detour's let a run wait for ten minutes.
  it("refuses policies of others that would be left behind, or go before those of the change", () => {
    for (const undo of [false, true]) {
      const network = delayNetwork({ preset: "nservicebus", matching: undo ? "enforced" : "exact" });
      const change = planMatchingChange(network, undo);
      const broker = new ModelBroker(network, endpoints, true);
      const set = (pattern: string, applyTo: PolicyPlan["applyTo"], priority: number): void => {
        broker.policies = [
          ...broker.policies.filter(({ name }) => name !== "team's"),
          { name: "team's", pattern, applyTo, priority, definition: { "alternate-exchange": "unroutable" } },
        ];
      };
      for (const pattern of [`^${change.from}$`, change.from]) {
        set(pattern, "exchanges", 5);
        assert.throws(
          () => planSteps(change, broker),
          /policy team's applies to exchange .*\(alternate-exchange\).*widen its pattern to both/,
        );
      }
      set("^nsb.v2.delay-(delivery|exact)$", "exchanges", 5);
      assert.ok(planSteps(change, broker).length > 0);
      for (const applyTo of ["queues", "exchanges"] as const) {
        set(".*", applyTo, 1_000_000_000);
        assert.throws(
          () => planSteps(change, broker),
          /policy team's has priority 1000000000 .*; give it one below 1000000000, or a narrower pattern$/,
        );
        set(".*", applyTo, 999_999_999);
        assert.ok(planSteps(change, broker).length > 0);
      }
      set("^other$", "exchanges", 5);
      const underway = new ModelBroker(network, endpoints, true);
      for (const step of planSteps(change, underway)) {
        if (step.do === "drain-queue") break;
        underway.make(step);
      }
      const strong: PolicyPlan = {
        name: "team's",
        pattern: ".*",
        applyTo: "exchanges",
        priority: 2e9,
        definition: { "alternate-exchange": "unroutable" },
      };
      underway.policies.push(strong);
      assert.throws(
        () => planSteps(change, underway),
        /MESSAGES HAVE NO WAY UNTIL THEN: .* and run this again at once$/,
      );
      for (let steps = planSteps(change, broker); steps.length > 0; steps = planSteps(change, broker))
        for (const step of steps) broker.make(step);
      set(change.from, "exchanges", 5);
      assert.deepEqual(planSteps(change, broker), [], "a network that is as it shall be is left alone");
    }
  });

  it("makes no exact key on the way back where a client's own binding is there, which would outlive its endpoint", () => {
    const network = delayNetwork({ preset: "nservicebus", matching: "enforced" });
    const change = planMatchingChange(network, true);
    for (const areVendors of [true, false]) {
      const broker = new ModelBroker(network, endpoints, areVendors);
      if (areVendors) {
        broker.bindings = broker.bindings.map((binding) =>
          binding.source === change.from ? { ...binding, destinationType: "exchange" } : binding,
        );
      }
      const bound = planSteps(change, broker).flatMap((step) => (step.do === "bind" ? [step.binding] : []));
      const exact = bound.filter(({ source, destination }) => source === change.to && endpoints.includes(destination));
      assert.equal(exact.length, areVendors ? 0 : endpoints.length);
    }
  });

  // Its messages found no way at the exact end, and level 0 never ran empty: the run gave up after ten minutes, half-way.
  it("lets an endpoint that only its senders have bound get on the way back what waits for it", () => {
    const network = delayNetwork({ preset: "nservicebus", matching: "enforced", parking: false });
    const broker = new ModelBroker(network, endpoints, true);
    broker.addEndpoint(delayNetwork({ preset: "nservicebus", parking: false }), "New");
    broker.bindings.push({
      source: network.deliveryExchange,
      destination: "x",
      destinationType: "queue",
      routingKey: "#",
    });
    const change = planMatchingChange(network, true);
    const key = `${"0.".repeat(27)}1.New`;
    assert.deepEqual(broker.deliver(change.from, key), []);
    for (const step of planSteps(change, broker)) {
      if (step.do === "drain-queue") break;
      broker.make(step);
    }
    assert.deepEqual(broker.deliver(change.from, key), ["New"]);
  });

  it("refuses a binding that takes several destinations' messages, a network of another form, and ways around it", () => {
    const network = delayNetwork({ preset: "nservicebus" });
    const change = planMatchingChange(network);
    const broker = new ModelBroker(network, endpoints, true);
    const withBinding = (binding: Partial<BindingPlan>): LiveMatching => ({
      exchanges: broker.exchanges,
      queues: broker.queues,
      policies: broker.policies,
      bindings: [
        ...broker.bindings,
        { source: network.deliveryExchange, destination: "all", destinationType: "queue", routingKey: "#", ...binding },
      ],
    });
    for (const routingKey of ["#", "#.Sales.#", "*.Sales", ""]) {
      assert.throws(
        () => planSteps(change, withBinding({ routingKey })),
        /takes the messages of several destinations/,
        routingKey,
      );
    }
    const level = network.entryExchanges[0] as string;
    const declared = { durable: true, auto_delete: false, internal: false };
    const withExchange = (name: string, more: object): LiveMatching => ({
      ...withBinding({ routingKey: "#.Sales" }),
      exchanges: new Map([...broker.exchanges, [name, { name, type: "topic", arguments: {}, ...declared, ...more }]]),
    });
    // It goes before a policy's, so that the detour would get nothing.
    const buried = { arguments: { "alternate-exchange": "graveyard" } };
    assert.throws(() => planSteps(change, withExchange(level, buried)), /alternate-exchange "graveyard"/);
    for (const name of ["nsb.v2.delay-exact", `${level}-detour-to-exact`]) {
      assert.throws(() => planSteps(change, withExchange(name, { type: "fanout" })), /type "fanout"/);
    }
    const exclusive = { name: "all", durable: false, auto_delete: true, exclusive: true, arguments: {} };
    assert.throws(
      () =>
        planSteps(change, {
          ...withBinding({ routingKey: "#.Sales" }),
          queues: new Map([...broker.queues, ["all", exclusive]]),
        }),
      /queue: "all" is not allowed; it is exclusive/,
    );
    assert.throws(() => planSteps(change, withBinding({ source: level })), /also leads to queue all/);
    assert.throws(
      () => planSteps(change, withBinding({ source: "x", destination: level })),
      /exchange x also leads to/,
    );
    broker.queues.set(level, { ...(broker.queues.get(level) as DeclaredQueue), arguments: { "x-message-ttl": 5 } });
    assert.throws(() => planSteps(change, broker), /queue nsb\.v2\.delay-level-00 exists with/);
    broker.exchanges.delete(network.deliveryExchange);
    assert.throws(() => planSteps(change, broker), /exchange nsb\.v2\.delay-delivery of it is not on the broker/);
    assert.throws(() => planMatchingChange(delayNetwork({ preset: "celery" })), /preset: "celery"/);
  });
});
