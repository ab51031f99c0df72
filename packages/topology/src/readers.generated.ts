// Written by `make reference` from the zod schemas; edit those.

import type {
  FilledDelayNetworkOptions,
  FilledErrorQueuesOptions,
  FilledDelayedExchangeOptions,
  FilledDelayedStoreOptions,
  FilledGatewayQueuesOptions,
} from "./options.generated";
import { checkExchangeOfOthers } from "./exchange/rules";
import { checkEntityName, checkVhostName } from "./names";
import {
  KnownNames,
  Source,
  atMost,
  byHand,
  readFilledText,
  readFlag,
  readList,
  readNumberOf,
  readNumberOrText,
  readObject,
  readText,
  readWholeNumber,
  readWord,
} from "./optionReading";
import { checkDelays, toDelayMs } from "./retry/delays";
import { checkErrorQueueList } from "./retry/rules";

/** Names of the options of a delay network. */
export const delayNetworkNames = {
  preset: true,
  prefix: true,
  radix: true,
  levels: true,
  unitMs: true,
  queueType: true,
  matching: true,
  parking: true,
  vhost: true,
} satisfies KnownNames;

/** Reads the options of a delay network. @throws DelayTopologyError */
export function readDelayNetworkOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): FilledDelayNetworkOptions {
  return readObject(given, what, source, delayNetworkNames, (options) => ({
    preset: readWord(options.found("preset"), ["nservicebus", "nservicebus-v1", "celery", "custom"]),
    prefix: options.lacks("prefix") ? undefined : readText(options.found("prefix"), checkEntityName),
    radix: options.lacks("radix")
      ? undefined
      : readNumberOf(options.found("radix"), [2, 4, 8, 16], "it must be one of 2, 4, 8, 16"),
    levels: options.lacks("levels") ? undefined : readWholeNumber(options.found("levels"), 1, 127),
    unitMs: options.lacks("unitMs") ? undefined : readWholeNumber(options.found("unitMs"), 1, 315360000000),
    queueType: options.lacks("queueType") ? undefined : readWord(options.found("queueType"), ["quorum", "classic"]),
    matching: options.takesDefault("matching")
      ? "exact"
      : readWord(options.found("matching"), ["exact", "suffix", "enforced"]),
    parking: options.takesDefault("parking") ? true : readFlag(options.found("parking"), "it must be true or false"),
    vhost: options.takesDefault("vhost") ? "/" : readText(options.found("vhost"), checkVhostName),
  }));
}

/** Names of the options of error queues. */
export const errorQueuesNames = { names: true, queueType: true } satisfies KnownNames;

/** Reads the options of error queues. @throws DelayTopologyError */
export function readErrorQueuesOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): FilledErrorQueuesOptions {
  return readObject(given, what, source, errorQueuesNames, (options) => ({
    names: readList(options.found("names"), checkErrorQueueList, (item) =>
      readFilledText(item, "it must be a non-empty text"),
    ),
    queueType: options.takesDefault("queueType")
      ? "quorum"
      : readWord(options.found("queueType"), ["quorum", "classic"]),
  }));
}

/** Names of the options of a delayed exchange. */
export const delayedExchangeNames = {
  exchange: true,
  delays: true,
  delivery: true,
  type: true,
  declareDelivery: true,
  queueType: true,
  atLeastOnce: true,
  otherwise: true,
} satisfies KnownNames;

/** Reads the options of a delayed exchange. @throws DelayTopologyError */
export function readDelayedExchangeOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): FilledDelayedExchangeOptions {
  return readObject(given, what, source, delayedExchangeNames, (options) => ({
    exchange: readText(options.found("exchange"), checkEntityName),
    delays: atMost(
      options.found("delays"),
      readList(options.found("delays"), checkDelays, (item) => readNumberOrText(item, toDelayMs)),
      300,
      "it must be a list of at most 300 delays",
    ),
    delivery: options.lacks("delivery") ? undefined : readText(options.found("delivery"), checkExchangeOfOthers),
    type: options.lacks("type") ? undefined : readWord(options.found("type"), ["direct", "topic", "fanout", "headers"]),
    declareDelivery: options.takesDefault("declareDelivery")
      ? true
      : readFlag(options.found("declareDelivery"), "it must be true or false"),
    queueType: options.takesDefault("queueType")
      ? "quorum"
      : readWord(options.found("queueType"), ["quorum", "classic"]),
    atLeastOnce: options.lacks("atLeastOnce")
      ? undefined
      : readFlag(options.found("atLeastOnce"), "it must be true or false"),
    otherwise: options.lacks("otherwise") ? undefined : readText(options.found("otherwise"), checkExchangeOfOthers),
  }));
}

/** Names of the options of the broker's side of a store. */
export const delayedStoreNames = {
  name: true,
  forwards: [{ exchange: true, delivery: true, type: true, declare: true }],
  toQueues: true,
  exchanges: true,
} satisfies KnownNames;

/** Reads the options of the broker's side of a store. @throws DelayTopologyError */
export function readDelayedStoreOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): FilledDelayedStoreOptions {
  return readObject(given, what, source, delayedStoreNames, (options) => ({
    name: options.takesDefault("name") ? "delayed" : readText(options.found("name"), checkEntityName),
    forwards: options.takesDefault("forwards")
      ? []
      : readList(options.found("forwards"), "it must be a list", (item) =>
          options.object(item, delayedStoreNames.forwards[0], (part) => ({
            exchange: readText(part.found("exchange"), checkEntityName),
            delivery: readText(part.found("delivery"), checkEntityName),
            type: part.takesDefault("type")
              ? "topic"
              : readWord(part.found("type"), ["direct", "topic", "fanout", "headers"]),
            declare: part.lacks("declare") ? undefined : readFlag(part.found("declare"), "it must be true or false"),
          })),
        ),
    toQueues: options.takesDefault("toQueues") ? true : readFlag(options.found("toQueues"), "it must be true or false"),
    exchanges: options.takesDefault("exchanges")
      ? []
      : readList(options.found("exchanges"), "it must be a list", (item) => readText(item, checkEntityName)),
  }));
}

/** Names of the options of the broker's side of a gateway, without its network. */
export const gatewayQueuesNames = {
  name: true,
  forwards: [{ exchange: true, delivery: true, type: true, declare: true }],
  toQueues: true,
  exchanges: true,
  singleActiveConsumer: true,
} satisfies KnownNames;

/** Reads the options of the broker's side of a gateway, without its network. @throws DelayTopologyError */
export function readGatewayQueuesOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): FilledGatewayQueuesOptions {
  return readObject(given, what, source, gatewayQueuesNames, (options) => ({
    name: options.takesDefault("name") ? "gateway" : readText(options.found("name"), checkEntityName),
    forwards: options.takesDefault("forwards")
      ? []
      : readList(options.found("forwards"), "it must be a list", (item) =>
          options.object(item, gatewayQueuesNames.forwards[0], (part) => ({
            exchange: readText(part.found("exchange"), checkEntityName),
            delivery: readText(part.found("delivery"), checkEntityName),
            type: part.takesDefault("type")
              ? "topic"
              : readWord(part.found("type"), ["direct", "topic", "fanout", "headers"]),
            declare: part.lacks("declare") ? undefined : readFlag(part.found("declare"), "it must be true or false"),
          })),
        ),
    toQueues: options.takesDefault("toQueues") ? true : readFlag(options.found("toQueues"), "it must be true or false"),
    exchanges: options.takesDefault("exchanges")
      ? []
      : readList(options.found("exchanges"), "it must be a list", (item) => readText(item, checkEntityName)),
    singleActiveConsumer: options.takesDefault("singleActiveConsumer")
      ? false
      : readFlag(options.found("singleActiveConsumer"), "it must be true or false"),
  }));
}
