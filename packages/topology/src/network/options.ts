import { DelayTopologyError } from "../errors";
import { brokerLimits, checkEntityName, utf8Length } from "../names";
import type { DelayNetworkOptions, FilledDelayNetworkOptions } from "../options.generated";
import { readDelayNetworkOptions } from "../readers.generated";
import type { DelayNetwork, Preset, Radix } from "./delayNetwork";
import { checkMatching, checkNetwork, mostLevels } from "./descriptor";
import { levelExchangeName, maximumDelayMs } from "./levels";
import {
  bindingName,
  customPrefix,
  deliveryName,
  parkingName,
  vendorPrefix,
  vendorQueueType,
  vendorShape,
} from "./vendors";

const YEAR_MS = 365 * 24 * 3600 * 1000;

/**
 * Makes a network's descriptor from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayNetwork(options: DelayNetworkOptions): DelayNetwork {
  const settings = readDelayNetworkOptions(options, "network");
  const { preset, parking, matching, vhost } = settings;
  checkMatching(preset, matching);
  const identity = preset === "custom" ? customIdentity(settings) : vendorIdentity(preset, settings);
  const { prefix, radix, levels, unitMs, queueType, deliveryExchange } = identity;
  const entryExchanges = Array.from({ length: levels }, (_, level) => levelExchangeName({ preset, prefix }, level));
  const bindingExchange = bindingName({ preset, prefix, matching });
  const names = [...entryExchanges, deliveryExchange, bindingExchange, ...Object.values(parkingNames(preset, prefix))];
  checkPrefixRoom(settings.prefix, preset === "custom" ? names.map((name) => `${name}-f`) : names);
  return checkNetwork(
    {
      kind: "delay-network",
      version: 2,
      vhost,
      preset,
      prefix,
      radix,
      levels,
      unitMs,
      queueType,
      matching,
      entryExchanges,
      deliveryExchange,
      bindingExchange,
      ...(parking ? parkingNames(preset, prefix) : {}),
      maximumDelayMs: maximumDelayMs({ radix, levels, unitMs }),
    },
    "",
  );
}

type Identity = Pick<DelayNetwork, "prefix" | "radix" | "levels" | "unitMs" | "queueType" | "deliveryExchange">;

function customIdentity(options: FilledDelayNetworkOptions): Identity {
  const { unitMs = 1000, radix = 4, levels = defaultLevels(radix, unitMs), queueType = "quorum" } = options;
  const shape = { radix, levels, unitMs, queueType };
  const prefix = customPrefix(checkEntityName("prefix", options.prefix), shape);
  return { prefix, ...shape, deliveryExchange: deliveryName({ preset: "custom", prefix }) };
}

function vendorIdentity(preset: Exclude<Preset, "custom">, options: FilledDelayNetworkOptions): Identity {
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

/** As many as a year needs, or as the broker takes if those are fewer; one where it takes none, which {@link checkNetwork} refuses. */
function defaultLevels(radix: Radix, unitMs: number): number {
  const most = mostLevels(radix, unitMs);
  let levels = 1;
  while (levels < most && maximumDelayMs({ radix, levels, unitMs }) < YEAR_MS) levels++;
  return levels;
}
