// Written by `make reference` from the zod schemas; edit those.

import type {
  FilledRetryIntervalsOptions,
  FilledWorkRetryOptions,
  FilledHoldSettingsOptions,
  HoldDestinationOptions,
  FilledHoldQueuesOptions,
  FilledDelayedRetryOptions,
} from "./options.generated";
import { checkEntityName } from "./names";
import {
  KnownNames,
  Source,
  byHand,
  readAnyText,
  readFlag,
  readList,
  readNumberOrText,
  readObject,
  readText,
  readWholeNumber,
  readWord,
} from "./optionReading";
import { checkDelays, toDelayMs } from "./retry/delays";
import {
  checkAddressPart,
  checkDeadLetterExchange,
  checkDeadLetterKey,
  checkHoldPrefix,
  checkPatterns,
} from "./retry/rules";

/** Names of the options of interval queues. */
export const retryIntervalsNames = {
  intervals: true,
  prefix: true,
  queueType: true,
  atLeastOnce: true,
  parking: true,
} satisfies KnownNames;

/** Reads the options of interval queues. @throws DelayTopologyError */
export function readRetryIntervalsOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): FilledRetryIntervalsOptions {
  return readObject(given, what, source, retryIntervalsNames, (options) => ({
    intervals: readList(options.found("intervals"), checkDelays, (item) => readNumberOrText(item, toDelayMs)),
    prefix: options.takesDefault("prefix") ? "mt-delay" : readText(options.found("prefix"), checkEntityName),
    queueType: options.takesDefault("queueType")
      ? "classic"
      : readWord(options.found("queueType"), ["quorum", "classic"]),
    atLeastOnce: options.lacks("atLeastOnce")
      ? undefined
      : readFlag(options.found("atLeastOnce"), "it must be true or false"),
    parking: options.takesDefault("parking") ? true : readFlag(options.found("parking"), "it must be true or false"),
  }));
}

/** Names of the options of a work queue with retries. */
export const workRetryNames = {
  queue: true,
  delays: true,
  maxRetries: true,
  patterns: true,
  queueType: true,
  atLeastOnce: true,
  rejected: true,
} satisfies KnownNames;

/** Reads the options of a work queue with retries. @throws DelayTopologyError */
export function readWorkRetryOptions(given: unknown, what: string, source: Source = byHand): FilledWorkRetryOptions {
  return readObject(given, what, source, workRetryNames, (options) => ({
    queue: readText(options.found("queue"), checkEntityName),
    delays: readList(options.found("delays"), checkDelays, (item) => readNumberOrText(item, toDelayMs)),
    maxRetries: options.lacks("maxRetries") ? undefined : readWholeNumber(options.found("maxRetries"), 0, 1000),
    patterns: options.takesDefault("patterns")
      ? ["#"]
      : readList(options.found("patterns"), checkPatterns, (item) =>
          readAnyText(item, "it must be a text without @ and /"),
        ),
    queueType: options.takesDefault("queueType")
      ? "quorum"
      : readWord(options.found("queueType"), ["quorum", "classic"]),
    atLeastOnce: options.lacks("atLeastOnce")
      ? undefined
      : readFlag(options.found("atLeastOnce"), "it must be true or false"),
    rejected: options.takesDefault("rejected") ? "dead" : readWord(options.found("rejected"), ["dead", "retry"]),
  }));
}

/** Names of the options of hold queues that are declared on demand. */
export const holdSettingsNames = {
  prefix: true,
  queueType: true,
  atLeastOnce: true,
  leaseMs: true,
} satisfies KnownNames;

/** Reads the options of hold queues that are declared on demand. @throws DelayTopologyError */
export function readHoldSettingsOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): FilledHoldSettingsOptions {
  return readObject(given, what, source, holdSettingsNames, (options) => ({
    prefix: options.takesDefault("prefix") ? "hold" : readText(options.found("prefix"), checkHoldPrefix),
    queueType: options.takesDefault("queueType")
      ? "classic"
      : readWord(options.found("queueType"), ["quorum", "classic"]),
    atLeastOnce: options.lacks("atLeastOnce")
      ? undefined
      : readFlag(options.found("atLeastOnce"), "it must be true or false"),
    leaseMs: options.lacks("leaseMs") ? undefined : readWholeNumber(options.found("leaseMs"), 1, 315360000000),
  }));
}

/** Names of the options of a destination of held messages. */
export const holdDestinationNames = { exchange: true, routingKey: true } satisfies KnownNames;

/** Reads the options of a destination of held messages. @throws DelayTopologyError */
export function readHoldDestinationOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): HoldDestinationOptions {
  return readObject(given, what, source, holdDestinationNames, (options) => ({
    exchange: readText(options.found("exchange"), checkAddressPart),
    routingKey: readText(options.found("routingKey"), checkAddressPart),
  }));
}

/** Names of the options of hold queues. */
export const holdQueuesNames = {
  delays: true,
  destinations: [{ exchange: true, routingKey: true }],
  prefix: true,
  queueType: true,
  atLeastOnce: true,
  leaseMs: true,
} satisfies KnownNames;

/** Reads the options of hold queues. @throws DelayTopologyError */
export function readHoldQueuesOptions(given: unknown, what: string, source: Source = byHand): FilledHoldQueuesOptions {
  return readObject(given, what, source, holdQueuesNames, (options) => ({
    delays: readList(options.found("delays"), checkDelays, (item) => readNumberOrText(item, toDelayMs)),
    destinations: readList(
      options.found("destinations"),
      "it must be a list of at least one destination",
      (item) =>
        options.object(item, holdQueuesNames.destinations[0], (part) => ({
          exchange: readText(part.found("exchange"), checkAddressPart),
          routingKey: readText(part.found("routingKey"), checkAddressPart),
        })),
      1,
    ),
    prefix: options.takesDefault("prefix") ? "hold" : readText(options.found("prefix"), checkHoldPrefix),
    queueType: options.takesDefault("queueType")
      ? "classic"
      : readWord(options.found("queueType"), ["quorum", "classic"]),
    atLeastOnce: options.lacks("atLeastOnce")
      ? undefined
      : readFlag(options.found("atLeastOnce"), "it must be true or false"),
    leaseMs: options.lacks("leaseMs") ? undefined : readWholeNumber(options.found("leaseMs"), 1, 315360000000),
  }));
}

/** Names of the options of a queue with delayed retry. */
export const delayedRetryNames = {
  queue: true,
  type: true,
  minMs: true,
  maxMs: true,
  deliveryLimit: true,
  deadLetterExchange: true,
  deadLetterRoutingKey: true,
  settings: true,
} satisfies KnownNames;

/** Reads the options of a queue with delayed retry. @throws DelayTopologyError */
export function readDelayedRetryOptions(
  given: unknown,
  what: string,
  source: Source = byHand,
): FilledDelayedRetryOptions {
  return readObject(given, what, source, delayedRetryNames, (options) => ({
    queue: readText(options.found("queue"), checkEntityName),
    type: options.takesDefault("type") ? "failed" : readWord(options.found("type"), ["failed", "returned", "all"]),
    minMs: readWholeNumber(options.found("minMs"), 1, 315360000000),
    maxMs: options.lacks("maxMs") ? undefined : readWholeNumber(options.found("maxMs"), 1, 315360000000),
    deliveryLimit: options.takesDefault("deliveryLimit")
      ? 20
      : readWholeNumber(options.found("deliveryLimit"), 1, 1000000),
    deadLetterExchange: options.lacks("deadLetterExchange")
      ? undefined
      : readText(options.found("deadLetterExchange"), checkDeadLetterExchange),
    deadLetterRoutingKey: options.lacks("deadLetterRoutingKey")
      ? undefined
      : readText(options.found("deadLetterRoutingKey"), checkDeadLetterKey),
    settings: options.takesDefault("settings")
      ? "arguments"
      : readWord(options.found("settings"), ["arguments", "policy"]),
  }));
}
