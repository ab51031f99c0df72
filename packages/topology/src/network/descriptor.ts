import { checkInteger, checkOneOf, DelayTopologyError } from "../errors";
import { brokerLimits, checkEntityName, checkShortString, checkVhostName } from "../names";
import { checkDescriptorKeys } from "../readDescriptor";
import { DelayNetwork, Matching, matchings, Preset, presets, queueTypes, Radix, radixes } from "./delayNetwork";
import { levelExchangeName, levelQueueName, queueTtlMs } from "./levels";
import { openedJson } from "../openedJson";
import { bindingName, canEnforce, presetOf } from "./vendors";

/** A routing key needs two bytes a level and at least one for the destination. */
export const MOST_LEVELS = (brokerLimits.shortStringBytes - 1) / 2;

/**
 * Reads a descriptor that came from elsewhere: another stack, a file, an environment variable.
 * @param value the descriptor, or its JSON text
 * @param property what the error shall call it
 * @throws DelayTopologyError for another kind or version, a missing, malformed or unknown part, or names that don't fit the shape
 */
export function parseDelayNetwork(value: unknown, property = "network"): DelayNetwork {
  const opened = openedJson(value);
  if (typeof opened !== "object" || opened === null || Array.isArray(opened)) {
    throw new DelayTopologyError(
      property,
      value,
      "it must be a delay network's descriptor (an object with kind: delay-network), or its JSON text",
    );
  }
  const network = opened as Partial<DelayNetwork>;
  if (network.kind !== "delay-network") {
    throw new DelayTopologyError(`${property}.kind`, network.kind, `it must be "delay-network"`);
  }
  if (network.version !== 1 && network.version !== 2) {
    throw new DelayTopologyError(`${property}.version`, network.version, "this release reads versions 1 and 2");
  }
  checkDescriptorKeys(network, Object.keys(PROPERTIES), property);
  return checkNetwork(network as DelayNetwork, property);
}

/** All that a descriptor may have, in either version; fails to compile when one is missing. */
const PROPERTIES: Record<keyof DelayNetwork, true> = {
  kind: true,
  version: true,
  vhost: true,
  preset: true,
  prefix: true,
  radix: true,
  levels: true,
  unitMs: true,
  queueType: true,
  matching: true,
  entryExchanges: true,
  deliveryExchange: true,
  bindingExchange: true,
  parkingExchange: true,
  parkingQueue: true,
  maximumDelayMs: true,
};

/** Throws unless the shape is possible on a broker and all names are those of preset and shape; returns a copy without foreign fields. */
export function checkNetwork(network: DelayNetwork, property = "network"): DelayNetwork {
  const at = (name: string): string => (property === "" ? name : `${property}.${name}`);
  const { levels, unitMs } = network;
  checkOneOf(at("preset"), network.preset, presets);
  const radix = checkOneOf(at("radix"), network.radix, radixes);
  checkOneOf(at("queueType"), network.queueType, queueTypes);
  checkOneOf(at("matching"), network.matching, matchings);
  checkMatching(network.preset, network.matching, at("matching"));
  checkInteger(at("unitMs"), unitMs, 1, brokerLimits.messageTtlMs);
  checkEntityName(at("prefix"), network.prefix);
  if (network.preset !== "custom") checkPreset(network, at);
  checkInteger(at("levels"), levels, 1, MOST_LEVELS);
  const most = mostLevels(radix, unitMs);
  if (most === 0) {
    const allowed = `with radix ${radix} it must be at most ${Math.floor(brokerLimits.messageTtlMs / (radix - 1))}, so that no queue's TTL is over the broker's limit of ${brokerLimits.messageTtlMs} ms`;
    throw new DelayTopologyError(at("unitMs"), unitMs, allowed);
  }
  if (levels > most) {
    const longestTtlMs = queueTtlMs(network, levels - 1, radix - 1);
    throw new DelayTopologyError(
      at("levels"),
      levels,
      `with radix ${radix} and unitMs ${unitMs} a queue's TTL would be ${longestTtlMs} ms, over the broker's limit of ` +
        `${brokerLimits.messageTtlMs} ms; at most ${most} levels are allowed`,
    );
  }
  checkEntityName(at("deliveryExchange"), network.deliveryExchange);
  const names = Array.from({ length: levels }, (_, level) => levelExchangeName(network, level));
  if (!Array.isArray(network.entryExchanges) || names.some((name, level) => name !== network.entryExchanges[level])) {
    throw new DelayTopologyError(
      at("entryExchanges"),
      network.entryExchanges,
      `it must be the ${levels} exchanges ${names[0]} …`,
    );
  }
  names.forEach((name) => checkShortString(at("prefix"), name));
  checkShortString(at("prefix"), levelQueueName(network, levels - 1, radix - 1));
  if ((network.parkingExchange === undefined) !== (network.parkingQueue === undefined)) {
    throw new DelayTopologyError(
      at("parkingQueue"),
      network.parkingQueue,
      "parkingExchange and parkingQueue go together",
    );
  }
  if (network.parkingExchange !== undefined) {
    checkEntityName(at("parkingExchange"), network.parkingExchange);
    checkEntityName(at("parkingQueue"), network.parkingQueue);
  }
  if (network.preset === "custom") checkPreset(network, at);
  checkPlace(network, at);
  const maximumDelayMs = (radix ** levels - 1) * unitMs;
  if (network.maximumDelayMs !== maximumDelayMs) {
    throw new DelayTopologyError(
      at("maximumDelayMs"),
      network.maximumDelayMs,
      `for this shape it must be ${maximumDelayMs}`,
    );
  }
  return {
    kind: "delay-network",
    version: network.version,
    ...(network.version === 1 ? {} : { vhost: network.vhost }),
    preset: network.preset,
    prefix: network.prefix,
    radix,
    levels,
    unitMs,
    queueType: network.queueType,
    matching: network.matching,
    entryExchanges: names,
    deliveryExchange: network.deliveryExchange,
    bindingExchange: bindingName(network),
    ...(network.parkingExchange === undefined
      ? {}
      : { parkingExchange: network.parkingExchange, parkingQueue: network.parkingQueue }),
    maximumDelayMs,
  };
}

/** What version 2 says beside version 1. */
function checkPlace({ version, vhost, matching }: DelayNetwork, at: (name: string) => string): void {
  if (version !== 1) checkVhostName(at("vhost"), vhost);
  else if (matching === "enforced") {
    throw new DelayTopologyError(at("version"), version, "a network whose matching is enforced has version 2");
  }
}

/**
 * Refuses enforced matching where it can't be had, or is not needed.
 * @param property what the error shall call it
 * @throws DelayTopologyError naming the property
 */
export function checkMatching(preset: Preset, matching: Matching, property = "matching"): void {
  if (matching !== "enforced" || canEnforce(preset)) return;
  const why =
    preset === "celery"
      ? "each Celery worker declares level 0 with its own target, and fails where that is another; take exact, and names of which none ends with another"
      : "no vendor's client binds anything to a network of your own names, so that exact is enough";
  throw new DelayTopologyError(property, matching, `it is for the presets nservicebus and nservicebus-v1: ${why}`);
}

/** A descriptor that says one thing and means another would make keys that nobody reads, or delays of another length. */
function checkPreset(network: DelayNetwork, at: (name: string) => string): void {
  for (const [property, expected] of presetOf(network)) {
    if (network[property] === expected) continue;
    const whose = network.preset === "custom" ? "a network of this shape" : `preset ${network.preset}`;
    const allowed = `${whose} has fixed names and arguments, so it must be ${JSON.stringify(expected)}`;
    throw new DelayTopologyError(at(property), network[property], allowed);
  }
}

/** The most levels that a broker takes: each queue's TTL is within its limit, and a key leaves room for a destination. */
export function mostLevels(radix: Radix, unitMs: number): number {
  let levels = 0;
  while (levels < MOST_LEVELS && queueTtlMs({ radix, unitMs }, levels, radix - 1) <= brokerLimits.messageTtlMs)
    levels++;
  return levels;
}
