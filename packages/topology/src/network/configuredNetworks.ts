import { DelayTopologyError } from "../errors";
import type { StackConfig } from "../options.generated";
import type { DelayNetwork } from "./delayNetwork";
import { delayNetwork } from "./options";

/** A network of a stack's config. */
export interface ConfiguredNetwork {
  /** What endpoints and `current` call it: its key among `networks`, or the prefix of the one that is given as `network`. */
  name: string;
  /** Where it stands in the config, e.g. `networks.faster`. */
  place: string;
  /** What it is made from. */
  options: NetworkOptions;
  network: DelayNetwork;
}

type NetworkOptions = NonNullable<StackConfig["network"]>;

/** What a stack's config says of its networks. */
export interface ConfiguredNetworks {
  networks: ConfiguredNetwork[];
  /** The one that publishers use. */
  current: ConfiguredNetwork;
  /** The networks that an endpoint joins: those that it names, and all where it names none. */
  joinedBy: (endpoint: { networks?: string[] }) => ConfiguredNetwork[];
}

/**
 * The networks of a stack's config: the one that is given as `network`, and those among `networks`.
 * @throws DelayTopologyError for no network, two of one name or with the same exchanges, and a name that none has
 */
export function configuredNetworks(
  config: Pick<StackConfig, "network" | "networks" | "current" | "endpoints">,
  vhost: string,
): ConfiguredNetworks {
  const { network: single, networks: further = {}, current: wanted, endpoints = [] } = config;
  const networks = Object.entries(further).map(([name, options]) => {
    const place = `networks.${name}`;
    return { name, place, options, network: makeNetwork(place, { ...options, vhost }) };
  });
  if (single !== undefined) {
    const network = makeNetwork("network", { ...single, vhost });
    networks.unshift({ name: network.prefix, place: "network", options: single, network });
  }
  checkApart(networks);
  const named = (property: string, name: string): ConfiguredNetwork => {
    const found = networks.find((one) => one.name === name);
    if (found !== undefined) return found;
    const names = networks.map((one) => one.name).join(", ");
    throw new DelayTopologyError(property, name, `it must be one of the stack's networks, ${names}`);
  };
  endpoints.forEach((endpoint, index) =>
    endpoint.networks?.forEach((name, position) => named(`endpoints[${index}].networks[${position}]`, name)),
  );
  // In the order of the networks: nothing follows from the order of an endpoint's list.
  const joinedBy = ({ networks: names }: { networks?: string[] }): ConfiguredNetwork[] =>
    names === undefined ? networks : networks.filter(({ name }) => names.includes(name));
  return { networks, current: wanted === undefined ? onlyOne(networks) : named("current", wanted), joinedBy };
}

/** The error of a network's options says in which of them they stand. */
function makeNetwork(
  place: string,
  { adopt: _adopt, ...options }: Omit<NetworkOptions, "vhost"> & { vhost: string },
): DelayNetwork {
  try {
    return delayNetwork(options);
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    throw new DelayTopologyError(`${place}.${error.property}`, error.value, error.allowed);
  }
}

function checkApart(networks: readonly ConfiguredNetwork[]): void {
  networks.forEach((one, index) => {
    const earlier = networks.slice(0, index);
    const same = earlier.find(({ network }) => network.deliveryExchange === one.network.deliveryExchange);
    if (same !== undefined) {
      const allowed = `${same.place} has exchanges of the same names; give it another prefix, or leave it out`;
      throw new DelayTopologyError(`${one.place}.prefix`, one.network.prefix, allowed);
    }
    if (earlier.some(({ name }) => name === one.name)) {
      throw new DelayTopologyError("networks", one.name, "the one that is given as network has this name, its prefix");
    }
  });
}

/** A change of the network that publishers use is never left to the order of a list. */
function onlyOne(networks: readonly ConfiguredNetwork[]): ConfiguredNetwork {
  const [first, second] = networks;
  if (first === undefined) throw new DelayTopologyError("network", undefined, "give network, or networks");
  if (second === undefined) return first;
  const names = networks.map(({ name }) => name).join(", ");
  throw new DelayTopologyError("current", undefined, `it must say which network publishers use, one of ${names}`);
}
