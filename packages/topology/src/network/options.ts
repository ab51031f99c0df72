import { DelayTopologyError, checkOneOf, checkKnown } from "../errors";
import { checkNetwork } from "./descriptor";
import { DelayNetwork, Matching, Preset, QueueType, Radix, presets, radixes } from "./delayNetwork";
import { brokerLimits, checkEntityName, utf8Length } from "../names";
import { levelExchangeName, maximumDelayMs } from "./levels";
import { customPrefix, deliveryName, parkingName, vendorPrefix, vendorQueueType, vendorShape } from "./vendors";

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
  /** The vhost that it is declared in. Default `/`. */
  vhost?: string;
}

const YEAR_MS = 365 * 24 * 3600 * 1000;
const known = ["preset", "prefix", "radix", "levels", "unitMs", "queueType", "matching", "parking", "vhost"];

/**
 * Makes a network's descriptor from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayNetwork(options: DelayNetworkOptions): DelayNetwork {
  if (typeof options !== "object" || options === null) {
    throw new DelayTopologyError("network", options, "it must be an object with at least a preset");
  }
  checkKnown("network", options, known);
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
      version: 2,
      vhost: options.vhost ?? "/",
      preset,
      prefix,
      radix,
      levels,
      unitMs,
      queueType,
      matching: options.matching ?? "exact",
      entryExchanges,
      deliveryExchange,
      bindingExchange: deliveryExchange,
      ...(parking ? parkingNames(preset, prefix) : {}),
      maximumDelayMs: maximumDelayMs({ radix, levels, unitMs }),
    },
    "",
  );
}

type Identity = Pick<DelayNetwork, "prefix" | "radix" | "levels" | "unitMs" | "queueType" | "deliveryExchange">;

function customIdentity(options: DelayNetworkOptions): Identity {
  const unitMs = options.unitMs ?? 1000;
  const radix = checkOneOf("radix", options.radix ?? 4, radixes);
  const levels = options.levels ?? levelsForAYear(radix, unitMs);
  const queueType = options.queueType ?? "quorum";
  const shape = { radix, levels, unitMs, queueType };
  const prefix = customPrefix(checkEntityName("prefix", options.prefix), shape);
  return { prefix, ...shape, deliveryExchange: deliveryName({ preset: "custom", prefix }) };
}

function vendorIdentity(preset: Exclude<Preset, "custom">, options: DelayNetworkOptions): Identity {
  const fixed: Record<string, unknown> = { ...vendorShape };
  if (preset !== "celery") {
    fixed.prefix = undefined;
    fixed.queueType = vendorQueueType(preset);
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
  if (options.prefix !== undefined) checkEntityName("prefix", options.prefix);
  const prefix = vendorPrefix(preset, options.prefix);
  const queueType = vendorQueueType(preset) ?? options.queueType ?? "quorum";
  return { ...vendorShape, prefix, queueType, deliveryExchange: deliveryName({ preset, prefix }) };
}

function parkingNames(preset: Preset, prefix: string): Pick<DelayNetwork, "parkingExchange" | "parkingQueue"> {
  const name = parkingName({ preset, prefix });
  return { parkingExchange: name, parkingQueue: name };
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
