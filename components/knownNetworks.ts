import type * as pulumi from "@pulumi/pulumi";
import { BoundPatterns, DelayNetwork, EndpointPlan } from "rabbitmq-delay-topology";

/** A network that a topology of this program declares. */
export interface KnownNetwork {
  network: DelayNetwork;
  /** Name of the delivery exchange, once the network is there. */
  deliveryExchange: pulumi.Output<string>;
  bound: BoundPatterns;
}

// Beside the components, not in them: every field of a component becomes an output.
const known = new WeakMap<object, KnownNetwork>();

/** Notes which network a topology of this program declares, so that its endpoints are checked before anything is made. */
export function rememberNetwork(
  topology: object,
  network: DelayNetwork,
  deliveryExchange: pulumi.Output<string>,
): void {
  known.set(topology, { network, deliveryExchange, bound: new BoundPatterns() });
}

/** The network that a topology of this program declares, or undefined for another source of a descriptor. */
export function knownNetwork(topology: object): KnownNetwork | undefined {
  return known.get(topology);
}

/**
 * Notes an endpoint of a network.
 * @param allow pairs of names that may be mixed up, see `namePair`
 * @throws DelayTopologyError when a message could reach both it and an earlier one
 */
export function rememberEndpoint({ bound }: KnownNetwork, plan: EndpointPlan, allow?: readonly string[]): void {
  bound.add(plan.bound, allow);
}
