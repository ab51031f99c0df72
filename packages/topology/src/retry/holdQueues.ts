import { createHash } from "node:crypto";
import type { QueuePlan } from "../entities";
import { checkInteger, DelayTopologyError } from "../errors";
import { brokerLimits, utf8Length } from "../names";
import type { QueueType } from "../network/delayNetwork";
import { byHand, Source } from "../optionReading";
import type { FilledHoldSettingsOptions, HoldQueuesOptions, HoldSettingsOptions } from "../options.generated";
import { checkQueueKind, waitingArguments } from "../queueKind";
import { namedAs, optionsIn, readDescriptor } from "../readDescriptor";
import {
  holdQueuesNames,
  readHoldDestinationOptions,
  readHoldQueuesOptions,
  readHoldSettingsOptions,
} from "../retryReaders.generated";
import { checkDeclared, checkDelayMs, sortedDelays } from "./delays";

/** Where held messages go. */
export interface HoldDestination {
  /** An exchange, or `""` for the broker's default exchange. */
  exchange: string;
  /** The routing key that messages get; on the default exchange, a queue's name. */
  routingKey: string;
}

/** What all hold queues of one make have in common; with a duration and a destination it gives a queue. */
export interface HoldSettings {
  /** Start of all names: letters, digits, `.`, `_` and `-`. */
  prefix: string;
  queueType: QueueType;
  atLeastOnce: boolean;
  /** How long a queue stays after its last declare beyond its delay, in milliseconds; undefined: for ever. */
  leaseMs?: number;
}

/** The descriptor of declared hold queues: plain JSON that a stack exports. */
export interface HoldQueues extends HoldSettings {
  kind: "hold-queues";
  version: 1;
  /** Durations, in milliseconds, ascending; there is a queue for each with each destination. */
  delaysMs: number[];
  destinations: HoldDestination[];
}

/**
 * Makes the common settings of hold queues.
 * @param at names a property for messages
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function holdSettings(
  options: HoldSettingsOptions = {},
  at: (name: string) => string = (name) => name,
): HoldSettings {
  return makeHoldSettings(readHoldSettingsOptions(options, "options", { ...byHand, at }), at);
}

function makeHoldSettings(
  { prefix, leaseMs, ...kind }: FilledHoldSettingsOptions,
  at: (name: string) => string,
): HoldSettings {
  const settings = { prefix, ...checkQueueKind(kind, at) };
  if (leaseMs === undefined) return settings;
  if (kind.queueType === "classic") return { ...settings, leaseMs };
  throw new DelayTopologyError(
    at("leaseMs"),
    leaseMs,
    "the broker does not renew a quorum queue's lease, and would delete it with its messages; leave it out or take classic",
  );
}

/**
 * Makes the descriptor of declared hold queues from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function holdQueues(options: HoldQueuesOptions): HoldQueues {
  return makeHoldQueues(options, byHand);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseHoldQueues(value: unknown, property = "holdQueues"): HoldQueues {
  return readDescriptor<HoldQueues>(value, "hold-queues", property, (given, source) =>
    makeHoldQueues(optionsIn(holdQueuesNames, given, IN_DESCRIPTOR), namedAs(source, IN_DESCRIPTOR)),
  );
}

/** What the descriptor calls options that it has under another name. */
const IN_DESCRIPTOR = { delays: "delaysMs" };

function makeHoldQueues(options: unknown, source: Source): HoldQueues {
  const { at } = source;
  const { delays, destinations, ...shape } = readHoldQueuesOptions(options, "holdQueues", source);
  const settings = makeHoldSettings(shape, at);
  const delaysMs = sortedDelays(delays);
  const seen = new Set<string>();
  destinations.forEach((destination, index) => {
    const property = `${at("destinations")}[${index}]`;
    checkDestination(property, destination);
    const name = holdQueueName(settings, delaysMs[0] as number, destination);
    if (seen.has(name)) throw new DelayTopologyError(property, destination, "it stands in the list already");
    seen.add(name);
  });
  checkExpiry(at("leaseMs"), settings, delaysMs.at(-1) as number);
  return { kind: "hold-queues", version: 1, ...settings, delaysMs, destinations };
}

function checkDestination(property: string, destination: HoldDestination): void {
  readHoldDestinationOptions(destination, property, { ...byHand, at: (name) => `${property}.${name}` });
  const { exchange, routingKey } = destination;
  if (exchange === "" && routingKey === "") {
    throw new DelayTopologyError(`${property}.routingKey`, "", "on the default exchange it must be a queue's name");
  }
}

function checkExpiry(property: string, { leaseMs }: HoldSettings, delayMs: number): void {
  if (leaseMs === undefined) return;
  checkInteger(property, leaseMs, 1, brokerLimits.messageTtlMs - delayMs);
}

/**
 * Name of the queue for a duration and a destination. Whatever makes a difference on the broker stands in it, so that equal
 * parameters always give the same queue and others never do; where they have no room in 255 bytes, their SHA-256 stands for them.
 */
function holdQueueName(settings: HoldSettings, delayMs: number, { exchange, routingKey }: HoldDestination): string {
  const { prefix, leaseMs, queueType, atLeastOnce } = settings;
  const lease = leaseMs === undefined ? "" : `+${leaseMs}`;
  const kind = queueType === "classic" ? "" : atLeastOnce ? "q" : "q1";
  const start = `${prefix}.${delayMs}${lease}${kind}.`;
  // The length tells where the exchange's name ends: `a:b` and `c` is not `a` and `b:c`.
  const readable = `${start}${utf8Length(exchange)}:${escape(exchange)}:${escape(routingKey)}`;
  if (utf8Length(readable) <= brokerLimits.shortStringBytes) return readable;
  return `${start}sha256:${createHash("sha256").update(readable).digest("hex")}`;
}

/** The Pulumi provider separates the parts of its ids by `@` and `/`, and control characters make names that nobody can type. */
function escape(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[%@/\u0000-\u001f\u007f]/g, (character) => encodeURIComponent(character));
}

/**
 * Plans the queue that holds messages for a duration and a destination.
 * @throws DelayTopologyError for a duration or destination that can't be
 */
export function planHoldQueue(settings: HoldSettings, delayMs: number, destination: HoldDestination): QueuePlan {
  checkDelayMs("delayMs", delayMs);
  checkExpiry("leaseMs", settings, delayMs);
  checkDestination("destination", destination);
  return {
    name: holdQueueName(settings, delayMs, destination),
    durable: true,
    arguments: {
      ...waitingArguments(settings, delayMs, destination),
      ...(settings.leaseMs === undefined ? {} : { "x-expires": delayMs + settings.leaseMs }),
    },
  };
}

/** Plans all declared hold queues; messages are published to them by name, on the default exchange. */
export function planHoldQueues(descriptor: HoldQueues): QueuePlan[] {
  const { delaysMs, destinations } = descriptor;
  return destinations.flatMap((destination) =>
    delaysMs.map((delayMs) => planHoldQueue(descriptor, delayMs, destination)),
  );
}

/**
 * The declared queue for a duration and a destination.
 * @throws DelayTopologyError that lists what there is
 */
export function declaredHoldQueue(descriptor: HoldQueues, delayMs: number, destination: HoldDestination): QueuePlan {
  const { delaysMs, destinations } = descriptor;
  checkDeclared("delayMs", delayMs, delaysMs);
  const { exchange, routingKey } = destination;
  if (!destinations.some((declared) => declared.exchange === exchange && declared.routingKey === routingKey)) {
    const declared = destinations.map((other) => `${other.exchange || "(default)"} → ${other.routingKey}`);
    throw new DelayTopologyError("destination", destination, `there are queues for ${declared.join(", ")}`);
  }
  return planHoldQueue(descriptor, delayMs, destination);
}
