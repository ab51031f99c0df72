import * as pulumi from "@pulumi/pulumi";
import type { DelayNetwork } from "@rabbitmq-delay/topology";

/** A delay network's descriptor in types that every Pulumi language has; its meaning is that of `DelayNetwork`. */
export interface DelayNetworkDescriptor {
  /** Always `delay-network`. */
  kind: string;
  /** Version of the descriptor's format: 2, or 1 in what an earlier release wrote. */
  version: number;
  /** The vhost that it is declared in; a descriptor of version 1 does not say. */
  vhost?: string;
  /** `nservicebus`, `nservicebus-v1`, `celery` or `custom`. */
  preset: string;
  /** What all names of the network start with. */
  prefix: string;
  /** Digits per level: 2, 4, 8 or 16. */
  radix: number;
  /** Number of levels. */
  levels: number;
  /** Smallest delay, in milliseconds. */
  unitMs: number;
  /** `quorum` or `classic`. */
  queueType: string;
  /** `exact`, `suffix` or `enforced`. */
  matching: string;
  /** The exchange of each level; the index is the level. */
  entryExchanges: string[];
  /** The topic exchange that the vendor's clients know as the end of the network. */
  deliveryExchange: string;
  /**
   * The topic exchange that every message reaches when its delay is over, to which endpoints are bound: the delivery exchange, except where
   * `matching` is `enforced`. A descriptor of version 1 does not name it.
   */
  bindingExchange?: string;
  /** The exchange that gets what no binding takes. */
  parkingExchange?: string;
  /** The queue that keeps what no binding takes. */
  parkingQueue?: string;
  /** The longest delay, in milliseconds. */
  maximumDelayMs: number;
}

/** Whatever exposes a network's descriptor: a `DelayLevelTopology` of the same program. */
export interface DelayNetworkSource {
  /** The descriptor. */
  network: pulumi.Input<DelayNetworkDescriptor>;
}

/**
 * Network that a component joins: a topology of the same program, its output, or a descriptor out of another stack, as an object or as JSON
 * text (`networkJson`).
 */
export type JoinedNetwork = pulumi.Input<DelayNetworkDescriptor> | pulumi.Input<string> | DelayNetworkSource;

/** Returns the descriptor of what was given for a network, or its JSON text. */
export function descriptorOf(network: JoinedNetwork): pulumi.Input<DelayNetworkDescriptor | string> {
  const isSource =
    typeof network === "object" && network !== null && !pulumi.Output.isInstance(network) && "network" in network;
  return isSource ? network.network : (network as pulumi.Input<DelayNetworkDescriptor | string>);
}

/** Fails to compile when the descriptor and the pure core's type drift apart. */
export function toDescriptor(network: DelayNetwork): DelayNetworkDescriptor {
  return network;
}
