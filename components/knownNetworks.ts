import { DelayNetwork, EndpointPlan, checkEndpointsApart } from "rabbitmq-delay-topology";

interface KnownNetwork {
  network: DelayNetwork;
  bound: EndpointPlan["bound"];
}

// Beside the components, not in them: every field of a component becomes an output.
const known = new WeakMap<object, KnownNetwork>();

/** Notes which network a topology of this program declares, so that its endpoints are checked before anything is made. */
export function rememberNetwork(topology: object, network: DelayNetwork): void {
  known.set(topology, { network, bound: [] });
}

/** The network that a topology of this program declares, or undefined for another source of a descriptor. */
export function knownNetwork(topology: object): DelayNetwork | undefined {
  return known.get(topology)?.network;
}

/**
 * Notes an endpoint of a topology.
 * @throws DelayTopologyError when a message could reach both it and an earlier one
 */
export function rememberEndpoint(topology: object, plan: EndpointPlan): void {
  const entry = known.get(topology);
  if (entry === undefined) return;
  checkEndpointsApart([...entry.bound, ...plan.bound]);
  entry.bound.push(...plan.bound);
}
