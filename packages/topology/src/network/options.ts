import type { z } from "zod";
import { DelayTopologyError } from "../errors";
import { brokerLimits, checkEntityName, checkVhostName, utf8Length } from "../names";
import { flag, object, oneNumberOf, oneOf, textBy, wholeNumber } from "../schema/fields";
import { readOptions } from "../schema/options";
import { DelayNetwork, Preset, Radix, matchings, presets, queueTypes, radixes } from "./delayNetwork";
import { MOST_LEVELS, checkMatching, checkNetwork, mostLevels } from "./descriptor";
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
import { lazily } from "../schema/zod";

/** A delay network, as a stack's config, a component and a program of one's own write it. What a vendor fixes can't be changed. */
export const networkSchema = lazily(() =>
  object({
    preset: oneOf(presets).describe(
      "Whose names and arguments: `nservicebus`, `nservicebus-v1` or `celery`, byte for byte, or `custom`.",
    ),
    prefix: textBy(checkEntityName)
      .optional()
      .describe(
        "Start of all names; needed for `custom`, optional for `celery` (put before its names with `_`), fixed for the others.",
      ),
    radix: oneNumberOf(radixes)
      .optional()
      .describe("Digits per level; `custom` only, default 4. A higher radix means fewer hops and less lateness."),
    levels: wholeNumber(1, MOST_LEVELS)
      .optional()
      .describe(
        "Number of levels; `custom` only, default as many as a year needs, or as the broker takes if those are fewer.",
      ),
    unitMs: wholeNumber(1, brokerLimits.messageTtlMs)
      .optional()
      .describe("Smallest delay in milliseconds; `custom` only, default 1000."),
    queueType: oneOf(queueTypes)
      .optional()
      .describe("Type of the level queues; `custom` and `celery` only, default `quorum`."),
    matching: oneOf(matchings)
      .default("exact")
      .describe(
        "How endpoints are told apart: `exact`, the vendors' `suffix`, which also catches `OTHER.ENDPOINT`, or `enforced`: exact " +
          "even though NServiceBus's senders bind by suffix; for its presets only.",
      ),
    parking: flag()
      .default(true)
      .describe(
        "Whether what no binding takes is kept in a parking queue. Without it such a message stalls its level.",
      ),
    vhost: textBy(checkVhostName).default("/").describe("The vhost that it is declared in."),
  }),
);

/** What a network is made from; {@link networkSchema} describes each property. */
export type DelayNetworkOptions = z.input<ReturnType<typeof networkSchema>>;

type Settings = z.output<ReturnType<typeof networkSchema>>;

const YEAR_MS = 365 * 24 * 3600 * 1000;

/**
 * Makes a network's descriptor from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayNetwork(options: DelayNetworkOptions): DelayNetwork {
  const settings = readOptions(networkSchema(), options, "network");
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

function customIdentity(options: Settings): Identity {
  const { unitMs = 1000, radix = 4, levels = defaultLevels(radix, unitMs), queueType = "quorum" } = options;
  const shape = { radix, levels, unitMs, queueType };
  const prefix = customPrefix(checkEntityName("prefix", options.prefix), shape);
  return { prefix, ...shape, deliveryExchange: deliveryName({ preset: "custom", prefix }) };
}

function vendorIdentity(preset: Exclude<Preset, "custom">, options: Settings): Identity {
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
