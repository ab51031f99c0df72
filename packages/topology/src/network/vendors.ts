import type { DelayNetwork, Preset, QueueType } from "./delayNetwork";

/** 28 levels of one second, most significant first, is what NServiceBus and Celery share; source: their public code. */
export const vendorShape = { radix: 2, levels: 28, unitMs: 1000 } as const;

/** What NServiceBus's networks are called, and the queue type that each of its versions has. */
const nserviceBus = {
  nservicebus: { prefix: "nsb.v2.delay", queueType: "quorum" },
  "nservicebus-v1": { prefix: "nsb.delay", queueType: "classic" },
} as const;

/** What Celery's networks are called, after a prefix of the user's and `_`. */
const CELERY_PREFIX = "celery_delayed";

/** The start of a vendor's names; only Celery takes a prefix of the user's own. */
export function vendorPrefix(preset: Exclude<Preset, "custom">, own?: string): string {
  if (preset !== "celery") return nserviceBus[preset].prefix;
  return own === undefined ? CELERY_PREFIX : `${own}_${CELERY_PREFIX}`;
}

/** The queue type that a vendor fixes; undefined where it takes any. */
export function vendorQueueType(preset: Exclude<Preset, "custom">): QueueType | undefined {
  return preset === "celery" ? undefined : nserviceBus[preset].queueType;
}

/** The start of own names contains the shape, so that one name always has the same arguments. */
export function customPrefix(
  own: string,
  { radix, levels, unitMs, queueType }: Pick<DelayNetwork, "radix" | "levels" | "unitMs" | "queueType">,
): string {
  // The queue type is an argument too: a classic network is another network.
  return `${own}.r${radix}x${levels}u${unitMs}${queueType === "classic" ? "c" : ""}`;
}

const separators = { celery: "_", custom: ".", nservicebus: "-", "nservicebus-v1": "-" } as const;

/** The exchange that a network's messages reach in the end. */
export function deliveryName({ preset, prefix }: Pick<DelayNetwork, "preset" | "prefix">): string {
  return `${prefix}${separators[preset]}delivery`;
}

/**
 * The exchange that endpoints are bound to: the delivery exchange, or, where exact matching is enforced, one that no client of the vendor
 * knows.
 */
export function bindingName(network: Pick<DelayNetwork, "preset" | "prefix" | "matching">): string {
  return network.matching === "enforced" ? `${network.prefix}-exact` : deliveryName(network);
}

/** The presets whose matching can be enforced: NServiceBus's clients leave level 0 alone, but each Celery worker declares it anew. */
export function canEnforce(preset: Preset): boolean {
  return preset in nserviceBus;
}

/** The exchange and the queue of a network's parking, which have one name. */
export function parkingName({ preset, prefix }: Pick<DelayNetwork, "preset" | "prefix">): string {
  return `${prefix}${separators[preset]}parking`;
}

/** What a network of a preset must be, where it is not free to choose; in the order in which a reader would ask. */
export function presetOf(network: DelayNetwork): [keyof DelayNetwork, unknown][] {
  const { preset, prefix } = network;
  const own = preset === "custom" ? ownPrefixOf(network) : celeryPrefixOf(network);
  const names: [keyof DelayNetwork, unknown][] = [
    ["deliveryExchange", deliveryName(network)],
    // A descriptor of version 1 does not name it.
    ...(network.version === 1 ? [] : ([["bindingExchange", bindingName(network)]] as [keyof DelayNetwork, unknown][])),
    ["parkingExchange", network.parkingExchange === undefined ? undefined : parkingName(network)],
    ["parkingQueue", network.parkingQueue === undefined ? undefined : parkingName(network)],
  ];
  if (preset === "custom") {
    return [["prefix", own === undefined ? customPrefix("NAME", network) : prefix], ...names];
  }
  return [
    ...(Object.entries(vendorShape) as [keyof DelayNetwork, unknown][]),
    ["queueType", vendorQueueType(preset) ?? network.queueType],
    ["prefix", vendorPrefix(preset, own)],
    ...names,
  ];
}

/** The user's part of a network's prefix; undefined where there is none. */
function ownPrefixOf(network: DelayNetwork): string | undefined {
  const shape = customPrefix("", network);
  const { prefix } = network;
  return prefix.endsWith(shape) && prefix !== shape ? prefix.slice(0, -shape.length) : undefined;
}

function celeryPrefixOf({ preset, prefix }: DelayNetwork): string | undefined {
  const end = `_${CELERY_PREFIX}`;
  return preset === "celery" && prefix.endsWith(end) && prefix !== end ? prefix.slice(0, -end.length) : undefined;
}
