import type * as pulumi from "@pulumi/pulumi";
import { DelayNetwork, EndpointPlan } from "@rabbitmq-delay/topology";
import { BoundPatterns } from "@rabbitmq-delay/topology/stack";
import type { Removal } from "./enums";

/** A network that a topology of this program declares. */
export interface KnownNetwork {
  network: DelayNetwork;
  /** Name of the exchange that endpoints are bound to, once the network is there. */
  bindingExchange: pulumi.Output<string>;
  /** What joins it is declared in the same vhost, */
  vhost: pulumi.Input<string>;
  /** by the same provider, */
  provider: pulumi.ProviderResource | undefined;
  /** and kept or deleted in the same way, unless its own arguments say otherwise. */
  removal: Removal | undefined;
  bound: BoundPatterns;
}

// Beside the components, not in them: every field of a component becomes an output.
const known = new WeakMap<object, KnownNetwork>();

/**
 * Notes which network a topology of this program declares, so that its endpoints are checked before anything is made.
 * @param sources what may be given for it: the topology, and its output
 */
export function rememberNetwork(sources: object[], declared: Omit<KnownNetwork, "bound">): void {
  const one = { ...declared, bound: new BoundPatterns() };
  for (const source of sources) known.set(source, one);
}

/** The network that a topology of this program declares, or undefined for another source of a descriptor. */
export function knownNetwork(source: unknown): KnownNetwork | undefined {
  return typeof source === "object" && source !== null ? known.get(source) : undefined;
}

/**
 * Notes an endpoint of a network.
 * @param allow pairs of names that may be mixed up, see `namePair`
 * @throws DelayTopologyError when a message could reach both it and an earlier one
 */
export function rememberEndpoint({ bound }: KnownNetwork, plan: EndpointPlan, allow?: readonly string[]): void {
  bound.add(plan.bound, allow);
}
