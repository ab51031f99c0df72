import * as pulumi from "@pulumi/pulumi";
import { DelayTopologyError, openedJson } from "@rabbitmq-delay/topology";
import { checkVhost } from "./checks";
import { JoinedNetwork, descriptorOf } from "./descriptor";
import { KnownNetwork, knownNetwork } from "./knownNetworks";
import { checkedLater } from "./laterValues";

/** The network that a component joins, as its arguments give it. */
interface Joining {
  network?: JoinedNetwork;
  furtherNetworks?: JoinedNetwork[];
  vhost?: pulumi.Input<string>;
}

/**
 * The options of a component that joins a network: a topology of this program lends it its provider, where the options name none.
 */
export function joiningOptions(
  joining: Joining,
  opts: pulumi.ComponentResourceOptions | undefined,
): pulumi.ComponentResourceOptions | undefined {
  const provider = knownNetwork(joinedSource(joining))?.provider;
  return provider === undefined || hasOwnProvider(opts) ? opts : { ...opts, provider };
}

/** Whether the options lead to a provider of RabbitMQ by themselves, or through their parent. */
function hasOwnProvider({ provider, providers, parent }: pulumi.ComponentResourceOptions = {}): boolean {
  const given = [provider, ...(Array.isArray(providers) ? providers : Object.values(providers ?? {}))];
  if (given.some((one) => packageOf(one) === "rabbitmq")) return true;
  return parent?.getProvider("rabbitmq:index/exchange:Exchange") !== undefined;
}

/** The SDK's own question, which its types leave out. */
function packageOf(provider: pulumi.ProviderResource | undefined): string | undefined {
  return (provider as { getPackage?(): string } | undefined)?.getPackage?.();
}

/** The first network that is joined. */
export function joinedSource({ network, furtherNetworks = [] }: Joining): unknown {
  return network ?? furtherNetworks[0];
}

/**
 * The vhost in which a component is declared that joins a network: the network's.
 * @returns the one that is given where there is no network, or its descriptor, of version 1, does not say
 * @throws DelayTopologyError, or rejects with it, where another one than the network's is given
 */
export function joinedVhost({ network, furtherNetworks = [], vhost }: Joining): pulumi.Input<string> | undefined {
  const networks = [network, ...furtherNetworks].filter((joined) => joined !== undefined);
  return networks.reduce<pulumi.Input<string> | undefined>((found, joined) => vhostBeside(joined, found), vhost);
}

/** The vhost of a network, which is the one that is given beside it. */
function vhostBeside(
  network: JoinedNetwork,
  vhost: pulumi.Input<string> | undefined,
): pulumi.Input<string> | undefined {
  const known = knownNetwork(network);
  if (known !== undefined) return vhostOfKnown(known, vhost);
  const descriptor = descriptorOf(network);
  if (isPlain(descriptor) && isPlain(vhost)) return sameVhost(vhostOf(descriptor), vhost as string | undefined);
  return checkedLater(pulumi.all([descriptor, vhost]), ([joined, own]) => sameVhost(vhostOf(joined), own) ?? "/");
}

/** One and the same value needs no look; it may not be known yet. */
function vhostOfKnown(known: KnownNetwork, vhost: pulumi.Input<string> | undefined): pulumi.Input<string> {
  if (vhost === undefined || vhost === known.vhost) return known.vhost;
  if (isPlain(known.vhost) && isPlain(vhost)) return sameVhost(known.vhost as string, vhost as string) as string;
  return checkedLater(pulumi.all([known.vhost, vhost]), ([joined, own]) => sameVhost(joined, own) as string);
}

function sameVhost(joined: string | undefined, own: string | undefined): string | undefined {
  if (joined === undefined || own === undefined || joined === own) return joined ?? own;
  checkVhost(own);
  throw new DelayTopologyError("vhost", own, `the network is declared in ${JSON.stringify(joined)}; leave vhost out`);
}

function vhostOf(descriptor: unknown): string | undefined {
  const { vhost } = (openedJson(descriptor) ?? {}) as { vhost?: unknown };
  return typeof vhost === "string" ? vhost : undefined;
}

/** Whether a value is known when the program runs. */
export function isPlain(input: unknown): boolean {
  return !pulumi.Output.isInstance(input) && !(input instanceof Promise);
}
