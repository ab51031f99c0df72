import * as pulumi from "@pulumi/pulumi";
import { BrokerCheckError, StackState } from "@rabbitmq-delay/broker";
import { DelayNetwork } from "@rabbitmq-delay/topology";
import { ConfiguredNetwork, ConfiguredNetworks } from "@rabbitmq-delay/topology/stack";
import { DelayLevelTopology, DelayNetworkDescriptor, Removal } from "pulumi-rabbitmq-delay";

/** The networks that a stack has declared. */
export interface DeclaredNetworks {
  /** What an endpoint joins: the network given as `network`, and the further ones. */
  joinedBy: (endpoint: { networks?: string[] }) => {
    network?: DelayLevelTopology;
    furtherNetworks: DelayLevelTopology[];
  };
  /** The topology of a network, by its name in the config; without a name, the current one. */
  topologyOf: (name: string | undefined) => DelayLevelTopology;
  /** All of them, in the order of the config. */
  topologies: DelayLevelTopology[];
  /** Stack outputs: the current network, and where there are several all of them by name. */
  outputs: { delayNetwork: pulumi.Output<DelayNetworkDescriptor>; delayNetworks?: object };
}

/** Declares the networks of a stack. */
export function declareNetworks(
  { networks, current, joinedBy }: ConfiguredNetworks,
  common: { vhost: pulumi.Input<string>; removal: Removal; brokerVersion: string | undefined },
  opts: pulumi.ComponentResourceOptions,
): DeclaredNetworks {
  const topologies = new Map(
    networks.map((one) => [one, new DelayLevelTopology(logicalName(one), { ...one.options, ...common }, opts)]),
  );
  const topologyOf = (one: ConfiguredNetwork): DelayLevelTopology => topologies.get(one) as DelayLevelTopology;
  const byName = networks.map((one) => [one.name, topologyOf(one).network]);
  return {
    joinedBy: (endpoint) => {
      const joined = joinedBy(endpoint);
      const first = joined.find(isFirst);
      return {
        network: first && topologyOf(first),
        furtherNetworks: joined.filter((one) => !isFirst(one)).map(topologyOf),
      };
    },
    topologies: networks.map(topologyOf),
    topologyOf: (name) => topologyOf(networks.find((one) => one.name === name) ?? current),
    outputs: {
      delayNetwork: topologyOf(current).network,
      ...(networks.some((one) => !isFirst(one)) && { delayNetworks: Object.fromEntries(byName) as object }),
    },
  };
}

const isFirst = ({ place }: ConfiguredNetwork): boolean => place === "network";

/** A further network is named by its prefix: another name for it in the config changes nothing. No entity has an @ in its name. */
function logicalName(one: ConfiguredNetwork): string {
  return isFirst(one) ? "delay" : `delay@${one.network.prefix}`;
}

/**
 * Refuses a network that changed its place in the config. What it consists of would have other names in the state: the engine would
 * make all of it once more, which changes nothing on the broker, and then delete it under the old names.
 * @throws BrokerCheckError that says where it has to stay
 */
export async function checkPlaces(state: StackState, networks: readonly ConfiguredNetwork[]): Promise<void> {
  const resources = await state.resources();
  if (resources === undefined) {
    if (networks.every(isFirst)) return;
    throw new BrokerCheckError("networks: this stack's state can't be read, so it can't be told which networks it has");
  }
  const nameOf = (urn: string): string => urn.slice(urn.lastIndexOf("::") + 2);
  const names = new Set(resources.map(({ urn }) => nameOf(urn)));
  for (const one of networks) {
    const entry = entryOf(one.network);
    const [here, there] = isFirst(one)
      ? [`delay-${entry}`, `delay@${one.network.prefix}-${entry}`]
      : [`delay@${one.network.prefix}-${entry}`, `delay-${entry}`];
    if (names.has(here) || !names.has(there)) continue;
    const old = isFirst(one) ? "networks" : "network";
    throw new BrokerCheckError(
      `${one.place}: this stack has declared the network ${one.network.prefix} as ${old}; leave it there, because the engine ` +
        "takes it for another one here, and would delete it with its messages once it is made",
    );
  }
}

function entryOf({ entryExchanges }: DelayNetwork): string {
  return entryExchanges[0] as string;
}
