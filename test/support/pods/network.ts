import { randomInt } from "node:crypto";
import { run } from "../../../toolchain/dist/run";

/** A network on this machine, with a host for each pod; this machine has the first address. */
export interface PodNetwork {
  id: string;
  addressOf: (ordinal: number) => string;
  namespaceOf: (ordinal: number) => string;
}

/** Creates a bridge and a network namespace for each pod. @throws Error if this machine may not */
export async function createNetwork(hosts: number): Promise<PodNetwork> {
  const id = `rd${randomInt(0x1000, 0xffff).toString(16)}`;
  const subnet = `10.213.${randomInt(1, 255)}`;
  const network: PodNetwork = {
    id,
    addressOf: (ordinal) => `${subnet}.${10 + ordinal}`,
    namespaceOf: (ordinal) => `${id}-${ordinal}`,
  };
  try {
    await connect(network, subnet, hosts);
  } catch (error) {
    await removeNetwork(network, hosts);
    throw error;
  }
  return network;
}

async function connect(network: PodNetwork, subnet: string, hosts: number): Promise<void> {
  const { id } = network;
  await ip("link", "add", id, "type", "bridge");
  await ip("addr", "add", `${subnet}.1/24`, "dev", id);
  await ip("link", "set", id, "up");
  for (let ordinal = 0; ordinal < hosts; ordinal++) {
    const namespace = network.namespaceOf(ordinal);
    await ip("netns", "add", namespace);
    const outside = outsideOf(network, ordinal);
    await ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    await ip("link", "set", outside, "master", id, "up");
    await ip("-n", namespace, "addr", "add", `${network.addressOf(ordinal)}/24`, "dev", "eth0");
    await ip("-n", namespace, "link", "set", "eth0", "up");
    await ip("-n", namespace, "link", "set", "lo", "up");
  }
}

/** Unplugs a host's cable, or plugs it in again. */
export function setCable(network: PodNetwork, ordinal: number, state: "up" | "down"): Promise<string> {
  return ip("link", "set", outsideOf(network, ordinal), state);
}

/** Removes the whole network; parts that are already gone don't matter. */
export async function removeNetwork(network: PodNetwork, hosts: number): Promise<void> {
  for (let ordinal = 0; ordinal < hosts; ordinal++) {
    await ip("netns", "del", network.namespaceOf(ordinal)).catch(() => undefined);
  }
  await ip("link", "del", network.id).catch(() => undefined);
}

function outsideOf({ id }: PodNetwork, ordinal: number): string {
  return `${id}h${ordinal}`;
}

function ip(...args: string[]): Promise<string> {
  return run("ip", args);
}
