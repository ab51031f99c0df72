import { DelayTopologyError } from "../errors";
import { brokerLimits, checkEndpointName, utf8Length } from "../names";
import type { DelayNetwork } from "./delayNetwork";
import { digitName, maximumDestinationBytes } from "./levels";

/** Where and with which key a message is published so that it arrives after its delay. */
export interface EncodedDelay {
  /** The exchange of the highest level that delays the message. */
  exchange: string;
  routingKey: string;
  /** The level of that exchange; 0 for no delay. */
  level: number;
  /** The delay that the network will keep: the one asked for, rounded up. */
  delayMs: number;
  /** In how many queues the message waits, one after another. */
  hops: number;
}

export interface EncodeOptions {
  /**
   * How much longer the delay may be, as a fraction of it, for fewer hops: the delay with the fewest hops in
   * `[delay, delay · (1 + tolerance)]` is taken. Default 0.
   */
  tolerance?: number;
}

/**
 * Turns a delay and a destination into an exchange and a routing key.
 * @param delayMs milliseconds; rounded up to the network's unit; negative is 0
 * @param destination an endpoint's name or a key that one of its patterns matches
 * @throws DelayTopologyError for NaN, a delay over the network's maximum, or a destination that is no name or too long
 */
export function encodeDelay(
  network: DelayNetwork,
  delayMs: number,
  destination: string,
  options?: EncodeOptions,
): EncodedDelay {
  const tables = tablesOf(network);
  let units = unitsOf(network, delayMs);
  if (options?.tolerance !== undefined) units = fewestDigits(network, units, delayMs, options.tolerance);
  tables.checkDestination(destination);
  const level = tables.highestLevel(units);
  return {
    exchange: network.entryExchanges[level] as string,
    routingKey: tables.keyOf(units) + destination,
    level,
    delayMs: units * network.unitMs,
    hops: tables.nonZeroDigits(units),
  };
}

function unitsOf(network: DelayNetwork, delayMs: number): number {
  if (typeof delayMs !== "number" || Number.isNaN(delayMs)) {
    throw new DelayTopologyError("delayMs", delayMs, "it must be a number of milliseconds");
  }
  const units = delayMs <= 0 ? 0 : Math.ceil(delayMs / network.unitMs);
  if (units * network.unitMs > network.maximumDelayMs) {
    throw new DelayTopologyError("delayMs", delayMs, `the network's maximum is ${network.maximumDelayMs} ms`);
  }
  return units;
}

/**
 * The number with the fewest non-zero digits from `units` to the tolerated end. Only `units` and its roundings up to a power
 * of the radix need to be tried: any other number in between has at least as many non-zero digits as one of them.
 */
function fewestDigits(network: DelayNetwork, units: number, delayMs: number, tolerance: number): number {
  if (typeof tolerance !== "number" || !(tolerance >= 0) || tolerance === Infinity) {
    throw new DelayTopologyError("tolerance", tolerance, "it must be a fraction from 0, e.g. 0.01 for one percent");
  }
  const last = Math.min(Math.floor((delayMs * (1 + tolerance)) / network.unitMs), network.radix ** network.levels - 1);
  const { nonZeroDigits } = tablesOf(network);
  let best = units;
  for (let power = network.radix; power <= last; power *= network.radix) {
    const rounded = Math.ceil(units / power) * power;
    if (rounded <= last && nonZeroDigits(rounded) < nonZeroDigits(best)) best = rounded;
  }
  return best;
}

interface KeyTables {
  keyOf: (units: number) => string;
  highestLevel: (units: number) => number;
  nonZeroDigits: (units: number) => number;
  checkDestination: (destination: string) => void;
}

const tablesByNetwork = new WeakMap<DelayNetwork, KeyTables>();
let lastNetwork: DelayNetwork | undefined;
let lastTables: KeyTables | undefined;

function tablesOf(network: DelayNetwork): KeyTables {
  if (network === lastNetwork) return lastTables as KeyTables;
  let tables = tablesByNetwork.get(network);
  if (tables === undefined) {
    tables = makeTables(network);
    tablesByNetwork.set(network, tables);
  }
  lastNetwork = network;
  lastTables = tables;
  return tables;
}

/** Precomputes the text of every group of digits, so that a key is a few look-ups instead of a loop over all levels. */
function makeTables(network: DelayNetwork): KeyTables {
  const { radix, levels } = network;
  const room = maximumDestinationBytes(network);
  // Digits looked up together: 256 texts at the most, so that a network's tables stay small.
  const digitsPerChunk = { 2: 8, 4: 4, 8: 2, 16: 2 }[radix];
  const chunkStates = radix ** digitsPerChunk;
  const chunks: string[][] = [];
  for (let done = 0; done < levels; done += digitsPerChunk) {
    chunks.push(keyTexts(radix, Math.min(digitsPerChunk, levels - done)));
  }
  const count = chunks.length;
  const accepted = new Set<string>();
  let lastAccepted: string | undefined;
  return {
    keyOf(units) {
      let key = "";
      let rest = units;
      for (let index = 0; index < count; index++) {
        const higher = Math.floor(rest / chunkStates);
        key = ((chunks[index] as string[])[rest - higher * chunkStates] as string) + key;
        rest = higher;
      }
      return key;
    },
    highestLevel(units) {
      let level = 0;
      for (let rest = Math.floor(units / radix); rest > 0; rest = Math.floor(rest / radix)) level++;
      return level;
    },
    nonZeroDigits(units) {
      let digits = 0;
      for (let rest = units; rest > 0; rest = Math.floor(rest / radix)) if (rest % radix !== 0) digits++;
      return digits;
    },
    checkDestination(destination) {
      if (destination === lastAccepted || accepted.has(destination)) return;
      checkEndpointName("destination", destination);
      if (utf8Length(destination) > room) {
        throw new DelayTopologyError(
          "destination",
          destination,
          `it has ${utf8Length(destination)} bytes; ${levels} levels leave at most ${room} bytes of the routing key's ` +
            `${brokerLimits.shortStringBytes}`,
        );
      }
      if (accepted.size >= 1000) accepted.clear();
      accepted.add(destination);
      lastAccepted = destination;
    },
  };
}

function keyTexts(radix: number, digits: number): string[] {
  return Array.from({ length: radix ** digits }, (_, value) => {
    let text = "";
    for (let position = 0, rest = value; position < digits; position++, rest = Math.floor(rest / radix)) {
      text = `${digitName(rest % radix)}.${text}`;
    }
    return text;
  });
}
