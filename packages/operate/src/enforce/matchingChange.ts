import {
  BindingPlan,
  DelayNetwork,
  DelayTopologyError,
  PolicyPlan,
  QueuePlan,
  levelQueueName,
  parkingPolicy,
  planEntities,
} from "@rabbitmq-delay/topology";
import { bindingName, canEnforce, escapeRegex } from "@rabbitmq-delay/topology/stack";

/** A change of a network's matching: where level 0 leads now, and where it shall lead. */
export interface MatchingChange {
  /** The network as it shall be. */
  network: DelayNetwork;
  /** The exchange that endpoints are bound to before the change, and after it. */
  from: string;
  to: string;
  /** Level 0's exchange. */
  exchange: string;
  /** Level 0's queue, as it shall be. */
  queue: QueuePlan;
  /** What is bound to level 0's exchange: its queue, and the exchange for what has no digit left, before the change and after it. */
  before: [queue: BindingPlan, rest: BindingPlan];
  after: [queue: BindingPlan, rest: BindingPlan];
  /** The way by which messages go while level 0's queue is declared anew. */
  detour: Detour;
  /**
   * Lets the new end lead on to the old one what it has no binding for: an endpoint that a sender binds to the old end meanwhile loses
   * nothing.
   */
  fallback: PolicyPlan;
  /** The same of the change in the other direction, of the same name. */
  otherFallback: PolicyPlan;
  /** The way of the change in the other direction, of which a run that was killed may have left something. */
  otherDetour: Detour;
  /** The policy that parks what no binding takes, as the changed network has it; undefined without parking. */
  parking: PolicyPlan | undefined;
  /** The same, for both ends at once: it stays valid in the whole course of the change. */
  parkingOfBoth: PolicyPlan | undefined;
}

/** An exchange and a queue beside level 0, by which messages go meanwhile. */
export interface Detour {
  exchange: string;
  queue: QueuePlan;
  bindings: [BindingPlan, BindingPlan];
  /** Leads to the exchange what level 0 has no binding for. */
  policy: PolicyPlan;
  /** Keeps other people's policies off the queue, of which only one applies; it sets what the queue does anyway. */
  shield: PolicyPlan;
}

/** So that these go before parking, and before what anybody else sets meanwhile: messages have no other way then. */
export const PRIORITY = 1_000_000_000;

/**
 * What has to change so that exact matching is enforced in a network, or no longer.
 * @param network the network, in either state
 * @throws DelayTopologyError for a network whose matching can't be enforced
 */
export function planMatchingChange(network: DelayNetwork, undo = false): MatchingChange {
  if (!canEnforce(network.preset)) {
    const allowed = "matching is enforced on networks of the presets nservicebus and nservicebus-v1 alone";
    throw new DelayTopologyError("preset", network.preset, allowed);
  }
  const [plain, enforced] = (["exact", "enforced"] as const).map((matching) => withMatching(network, matching)) as [
    DelayNetwork,
    DelayNetwork,
  ];
  const [old, wanted] = undo ? [enforced, plain] : [plain, enforced];
  const exchange = wanted.entryExchanges[0] as string;
  const queue = queueOf(wanted);
  return {
    network: wanted,
    from: old.bindingExchange,
    to: wanted.bindingExchange,
    exchange,
    queue,
    before: levelBindings(old),
    after: levelBindings(wanted),
    detour: planDetour(wanted),
    otherDetour: planDetour(old),
    fallback: planFallback(old, wanted),
    otherFallback: planFallback(wanted, old),
    parking: parkingPolicy(wanted),
    parkingOfBoth: parkingPolicy(enforced),
  };
}

function planFallback(old: DelayNetwork, wanted: DelayNetwork): PolicyPlan {
  return {
    name: `${wanted.entryExchanges[0] as string}-detour-fallback`,
    pattern: `^${escapeRegex(wanted.bindingExchange)}$`,
    applyTo: "exchanges",
    priority: PRIORITY,
    definition: { "alternate-exchange": old.bindingExchange },
  };
}

function withMatching(network: DelayNetwork, matching: "exact" | "enforced"): DelayNetwork {
  return { ...network, version: 2, matching, bindingExchange: bindingName({ ...network, matching }) };
}

function queueOf(network: DelayNetwork): QueuePlan {
  const name = levelQueueName(network, 0, 1);
  return planEntities(network).queues.find((queue) => queue.name === name) as QueuePlan;
}

function levelBindings(network: DelayNetwork): [BindingPlan, BindingPlan] {
  const source = network.entryExchanges[0] as string;
  const of = (type: BindingPlan["destinationType"]): BindingPlan =>
    planEntities(network).bindings.find(
      (binding) => binding.source === source && binding.destinationType === type,
    ) as BindingPlan;
  return [of("queue"), of("exchange")];
}

/**
 * A detour delays like level 0, and leads to an end of the network. A policy makes its exchange the alternate exchange of level 0's: it
 * gets what level 0 has no binding for, so that no message ever goes both ways. Both directions have one policy, which one request changes.
 */
function planDetour(network: DelayNetwork): Detour {
  const source = network.entryExchanges[0] as string;
  const policy = `${source}-detour`;
  const name = `${policy}-to-${network.matching === "enforced" ? "exact" : "delivery"}`;
  const [toQueue, toEnd] = levelBindings(network);
  return {
    exchange: name,
    queue: { ...queueOf(network), name },
    bindings: [
      { ...toQueue, source: name, destination: name },
      { ...toEnd, source: name },
    ],
    policy: {
      name: policy,
      pattern: `^${escapeRegex(source)}$`,
      applyTo: "exchanges",
      priority: PRIORITY,
      definition: { "alternate-exchange": name },
    },
    shield: {
      name,
      pattern: `^${escapeRegex(name)}$`,
      applyTo: "queues",
      priority: PRIORITY,
      definition: { overflow: "reject-publish" },
    },
  };
}
