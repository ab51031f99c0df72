import { DelayTopologyError, checkOneOf } from "./errors";
import { DelayNetwork, Matching, Preset, QueueType, Radix, checkNetwork, presets, radixes } from "./network";
import { brokerLimits, checkEntityName, utf8Length } from "./names";
import { levelExchangeName, maximumDelayMs } from "./shape";

/** What a network is made from. Only `preset` is needed; what a vendor fixes can't be changed. */
export interface DelayNetworkOptions {
  /** Whose names and arguments: `nservicebus`, `nservicebus-v1`, `celery` or `custom`. */
  preset: Preset;
  /** Start of all names: needed for `custom`, optional for `celery` (put before its names with `_`). */
  prefix?: string;
  /** Digits per level, 2, 4, 8 or 16; `custom` only. Default 4. */
  radix?: Radix;
  /** Number of levels; `custom` only. Default: as many as a year needs. */
  levels?: number;
  /** Smallest delay in milliseconds; `custom` only. Default 1000. */
  unitMs?: number;
  /** `custom` and `celery` only. Default `quorum`. */
  queueType?: QueueType;
  /** How endpoints are told apart. Default `exact`. */
  matching?: Matching;
  /** Whether unroutable messages are kept in a parking queue. Default true. */
  parking?: boolean;
}

const YEAR_MS = 365 * 24 * 3600 * 1000;
const known = ["preset", "prefix", "radix", "levels", "unitMs", "queueType", "matching", "parking"];

/** 28 levels of one second, most significant first, is what NServiceBus and Celery share; source: their public code. */
const vendorShape = { radix: 2, levels: 28, unitMs: 1000 } as const;

/**
 * Makes a network's descriptor from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayNetwork(options: DelayNetworkOptions): DelayNetwork {
  if (typeof options !== "object" || options === null) {
    throw new DelayTopologyError("network", options, "it must be an object with at least a preset");
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key))
      throw new DelayTopologyError(key, options[key as "preset"], `known properties are ${known.join(", ")}`);
  }
  const preset = checkOneOf("preset", options.preset, presets);
  const parking = options.parking ?? true;
  if (typeof parking !== "boolean") throw new DelayTopologyError("parking", parking, "it must be true or false");
  const identity = preset === "custom" ? customIdentity(options) : vendorIdentity(preset, options);
  const { prefix, radix, levels, unitMs, queueType, deliveryExchange } = identity;
  const entryExchanges =
    Number.isSafeInteger(levels) && levels > 0 && levels < 128
      ? Array.from({ length: levels }, (_, level) => levelExchangeName({ preset, prefix }, level))
      : [];
  const names = [...entryExchanges, deliveryExchange, ...Object.values(parkingNames(preset, prefix))];
  checkPrefixRoom(options.prefix, preset === "custom" ? names.map((name) => `${name}-f`) : names);
  return checkNetwork(
    {
      kind: "delay-network",
      version: 1,
      preset,
      prefix,
      radix,
      levels,
      unitMs,
      queueType,
      matching: options.matching ?? "exact",
      entryExchanges,
      deliveryExchange,
      ...(parking ? parkingNames(preset, prefix) : {}),
      maximumDelayMs: maximumDelayMs({ radix, levels, unitMs }),
    },
    "",
  );
}

type Identity = Pick<DelayNetwork, "prefix" | "radix" | "levels" | "unitMs" | "queueType" | "deliveryExchange">;

/** Own names contain the shape, so that one name always has the same arguments. */
function customIdentity(options: DelayNetworkOptions): Identity {
  const unitMs = options.unitMs ?? 1000;
  const radix = checkOneOf("radix", options.radix ?? 4, radixes);
  const levels = options.levels ?? levelsForAYear(radix, unitMs);
  const queueType = options.queueType ?? "quorum";
  const name = checkEntityName("prefix", options.prefix);
  // The queue type is an argument too: a classic network is another network.
  const prefix = `${name}.r${radix}x${levels}u${unitMs}${queueType === "classic" ? "c" : ""}`;
  return { prefix, radix, levels, unitMs, queueType, deliveryExchange: `${prefix}.delivery` };
}

function vendorIdentity(preset: Exclude<Preset, "custom">, options: DelayNetworkOptions): Identity {
  const fixed: Record<string, unknown> = { ...vendorShape };
  if (preset !== "celery") {
    fixed.prefix = undefined;
    fixed.queueType = preset === "nservicebus" ? "quorum" : "classic";
  }
  for (const [property, value] of Object.entries(fixed)) {
    const given = options[property as keyof DelayNetworkOptions];
    if (given !== undefined && given !== value) {
      const allowed = value === undefined ? "leave it out" : `it must be ${String(value)} or left out`;
      throw new DelayTopologyError(
        property,
        given,
        `preset ${preset} has fixed names and arguments, so ${allowed}; preset custom lets you choose`,
      );
    }
  }
  if (preset === "celery") {
    const before = options.prefix === undefined ? "" : `${checkEntityName("prefix", options.prefix)}_`;
    const prefix = `${before}celery_delayed`;
    return { ...vendorShape, prefix, queueType: options.queueType ?? "quorum", deliveryExchange: `${prefix}_delivery` };
  }
  const prefix = preset === "nservicebus" ? "nsb.v2.delay" : "nsb.delay";
  const queueType = preset === "nservicebus" ? "quorum" : "classic";
  return { ...vendorShape, prefix, queueType, deliveryExchange: `${prefix}-delivery` };
}

function parkingNames(preset: Preset, prefix: string): Pick<DelayNetwork, "parkingExchange" | "parkingQueue"> {
  const separator = { celery: "_", custom: ".", nservicebus: "-", "nservicebus-v1": "-" }[preset];
  return { parkingExchange: `${prefix}${separator}parking`, parkingQueue: `${prefix}${separator}parking` };
}

/** The names of a network are longer than its prefix; the error is about what was given. */
function checkPrefixRoom(given: string | undefined, names: string[]): void {
  const longest = Math.max(...names.map(utf8Length));
  if (given === undefined || longest <= brokerLimits.shortStringBytes) return;
  const room = brokerLimits.shortStringBytes - (longest - utf8Length(given));
  throw new DelayTopologyError(
    "prefix",
    given,
    `it has ${utf8Length(given)} bytes; names made from it leave at most ${room} bytes`,
  );
}

function levelsForAYear(radix: Radix, unitMs: number): number {
  const unit = Number.isSafeInteger(unitMs) && unitMs > 0 ? unitMs : 1000;
  let levels = 1;
  while (maximumDelayMs({ radix, levels, unitMs: unit }) < YEAR_MS) levels++;
  return levels;
}
