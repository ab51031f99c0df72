import { randomInt } from "node:crypto";
import { run } from "../../../toolchain/dist/run";
import { ServerRegister } from "../servers";

/** A network on this machine, with a host for each pod; this machine has the first address. */
export interface PodNetwork {
  id: string;
  addressOf: (ordinal: number) => string;
  namespaceOf: (ordinal: number) => string;
}

const existing = new ServerRegister<{ id: string; hosts: number }>("networks", remove);

/** Creates a bridge and a network namespace for each pod. @throws Error if this machine may not */
export async function createNetwork(hosts: number): Promise<PodNetwork> {
  const id = `rd${randomInt(0x1000, 0xffff).toString(16)}`;
  const subnet = `10.213.${randomInt(1, 255)}`;
  const network: PodNetwork = {
    id,
    addressOf: (ordinal) => `${subnet}.${10 + ordinal}`,
    namespaceOf: (ordinal) => namespaceOf(id, ordinal),
  };
  existing.put(id, { id, hosts });
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
export async function removeNetwork({ id }: PodNetwork, hosts: number): Promise<void> {
  await remove({ id, hosts });
  existing.remove(id);
}

/** Removes all networks that tests have left. */
export function removeAllNetworks(): Promise<void> {
  return existing.stopAll();
}

async function remove({ id, hosts }: { id: string; hosts: number }): Promise<void> {
  for (let ordinal = 0; ordinal < hosts; ordinal++) {
    await ip("netns", "del", namespaceOf(id, ordinal)).catch(() => undefined);
  }
  await ip("link", "del", id).catch(() => undefined);
}

function namespaceOf(id: string, ordinal: number): string {
  return `${id}-${ordinal}`;
}

function outsideOf({ id }: PodNetwork, ordinal: number): string {
  return `${id}h${ordinal}`;
}

function ip(...args: string[]): Promise<string> {
  return run("ip", args);
}
