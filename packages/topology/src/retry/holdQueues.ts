import { createHash } from "node:crypto";
import type { QueuePlan } from "../entities";
import { DelayTopologyError, checkInteger, checkKnown } from "../errors";
import { brokerLimits, checkShortString, utf8Length } from "../names";
import type { QueueType } from "../network/delayNetwork";
import { checkDelayMs, readDelays } from "./delays";
import { checkHead } from "../descriptorHead";
import { checkQueueKind, waitingArguments } from "../queueKind";

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

/** Options that {@link holdSettings} reads. */
export interface HoldSettingsOptions {
  /** Default `hold`. */
  prefix?: string;
  /** Default `classic`; `quorum` goes without a lease, because no declare renews a quorum queue's. */
  queueType?: QueueType;
  /** Default true for `quorum`; `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * How long a queue stays after its last declare beyond its delay, in milliseconds. It then goes **with the messages in it**,
   * so leases are for publishers that declare the queue before each message (`holdFor`), and nobody else.
   */
  leaseMs?: number;
}

/** What hold queues are made from. */
export interface HoldQueuesOptions extends HoldSettingsOptions {
  /** Milliseconds, or texts like `"5m"`; each once, in any order. */
  delays: (number | string)[];
  /** Each once. */
  destinations: HoldDestination[];
}

const knownSettings = ["prefix", "queueType", "atLeastOnce", "leaseMs"];

/**
 * Makes the common settings of hold queues.
 * @param at names a property for messages
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function holdSettings(
  options: HoldSettingsOptions = {},
  at: (name: string) => string = (name) => name,
): HoldSettings {
  checkKnown("options", options, knownSettings);
  const { prefix = "hold", queueType = "classic", atLeastOnce, leaseMs } = options;
  if (typeof prefix !== "string" || !/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(prefix) || prefix.startsWith("amq.")) {
    const allowed = "1 to 100 letters, digits, dots, _ and -, not starting with a dot or with amq.";
    throw new DelayTopologyError(at("prefix"), prefix, `it must be ${allowed}`);
  }
  const kind = checkQueueKind({ queueType, atLeastOnce }, at);
  if (leaseMs === undefined) return { prefix, ...kind };
  checkInteger(at("leaseMs"), leaseMs, 1, brokerLimits.messageTtlMs);
  if (queueType === "quorum") {
    throw new DelayTopologyError(
      at("leaseMs"),
      leaseMs,
      "the broker does not renew a quorum queue's lease, and would delete it with its messages; leave it out or take classic",
    );
  }
  return { prefix, ...kind, leaseMs };
}

/**
 * Makes the descriptor of declared hold queues from options.
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function holdQueues(options: HoldQueuesOptions): HoldQueues {
  checkKnown("holdQueues", options, [...knownSettings, "delays", "destinations"]);
  const { delays, destinations, ...settings } = options;
  return checkHoldQueues(settings, readDelays("delays", delays), destinations, (name) => name);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseHoldQueues(value: unknown, property = "holdQueues"): HoldQueues {
  const { prefix, queueType, atLeastOnce, leaseMs, delaysMs, destinations } = checkHead<HoldQueues>(
    value,
    "hold-queues",
    property,
  );
  const at = (name: string): string => `${property}.${name}`;
  // Options have defaults; a part that a descriptor lacks would name queues that nobody declared.
  for (const [name, value] of Object.entries({ prefix, queueType })) {
    if (value === undefined) throw new DelayTopologyError(at(name), value, "a descriptor says it");
  }
  const settings = { prefix, queueType, atLeastOnce, leaseMs };
  return checkHoldQueues(settings, readDelays(at("delaysMs"), delaysMs), destinations, at);
}

function checkHoldQueues(
  options: HoldSettingsOptions,
  delaysMs: number[],
  given: unknown,
  at: (name: string) => string,
): HoldQueues {
  const settings = holdSettings(options, at);
  if (!Array.isArray(given) || given.length === 0) {
    throw new DelayTopologyError(at("destinations"), given, "it must be a list of at least one destination");
  }
  const seen = new Set<string>();
  const destinations = given.map((destination: unknown, index) => {
    const checked = checkDestination(`${at("destinations")}[${index}]`, destination);
    const name = holdQueueName(settings, delaysMs[0] as number, checked);
    if (seen.has(name)) {
      throw new DelayTopologyError(`${at("destinations")}[${index}]`, destination, "it stands in the list already");
    }
    seen.add(name);
    return checked;
  });
  const longestMs = delaysMs.at(-1) as number;
  checkExpiry(at("leaseMs"), settings, longestMs);
  return { kind: "hold-queues", version: 1, ...settings, delaysMs, destinations };
}

function checkDestination(property: string, destination: unknown): HoldDestination {
  if (typeof destination !== "object" || destination === null) {
    throw new DelayTopologyError(property, destination, "it must be an object with exchange and routingKey");
  }
  const { exchange, routingKey } = destination as Partial<HoldDestination>;
  for (const [name, value] of Object.entries({ exchange, routingKey })) {
    if (typeof value !== "string") {
      throw new DelayTopologyError(`${property}.${name}`, value, `it must be a text, e.g. "" for the default exchange`);
    }
    if (/\p{Surrogate}/u.test(value)) {
      throw new DelayTopologyError(`${property}.${name}`, value, "it must not contain lone surrogates");
    }
    checkShortString(`${property}.${name}`, value);
  }
  if (exchange === "" && routingKey === "") {
    throw new DelayTopologyError(`${property}.routingKey`, "", "on the default exchange it must be a queue's name");
  }
  return { exchange: exchange as string, routingKey: routingKey as string };
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
  const checked = checkDestination("destination", destination);
  return {
    name: holdQueueName(settings, delayMs, checked),
    durable: true,
    arguments: {
      ...waitingArguments(settings, delayMs, checked),
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
  if (!delaysMs.includes(delayMs)) {
    throw new DelayTopologyError("delayMs", delayMs, `there are queues for ${delaysMs.join(", ")} ms`);
  }
  const { exchange, routingKey } = destination;
  if (!destinations.some((declared) => declared.exchange === exchange && declared.routingKey === routingKey)) {
    const declared = destinations.map((other) => `${other.exchange || "(default)"} → ${other.routingKey}`);
    throw new DelayTopologyError("destination", destination, `there are queues for ${declared.join(", ")}`);
  }
  return planHoldQueue(descriptor, delayMs, destination);
}
