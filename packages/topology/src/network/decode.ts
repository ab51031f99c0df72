import { DelayTopologyError } from "../errors";
import type { DelayNetwork } from "./delayNetwork";
import { keyPrefixBytes } from "./levels";

/** What a routing key says. */
export interface DecodedKey {
  delayMs: number;
  destination: string;
}

/**
 * Reads a routing key of this network.
 * @throws DelayTopologyError for a key with too few levels, a digit that the radix doesn't have, or no destination
 */
export function decodeRoutingKey(
  network: Pick<DelayNetwork, "radix" | "levels" | "unitMs">,
  routingKey: string,
): DecodedKey {
  const { radix, levels, unitMs } = network;
  const prefix = keyPrefixBytes(network);
  const allowed = `a key of this network is ${levels} digits below ${radix}, each with a dot behind it, then the destination`;
  if (typeof routingKey !== "string" || routingKey.length <= prefix) {
    throw new DelayTopologyError("routingKey", routingKey, allowed);
  }
  let units = 0;
  for (let index = 0; index < prefix; index += 2) {
    const digit = "0123456789abcdef".indexOf(routingKey.charAt(index));
    if (digit < 0 || digit >= radix || routingKey[index + 1] !== ".") {
      throw new DelayTopologyError("routingKey", routingKey, allowed);
    }
    units = units * radix + digit;
  }
  return { delayMs: units * unitMs, destination: routingKey.slice(prefix) };
}
