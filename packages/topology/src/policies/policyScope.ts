/** The part of a policy that says to what it applies. */
interface Scope {
  pattern: string;
  applyTo: string;
  definition: Record<string, unknown>;
}

/** Settings that queues of both types heed on every broker; one policy with any other may be left out as a whole. */
export const heededByAll = [
  "message-ttl",
  "expires",
  "max-length",
  "max-length-bytes",
  "overflow",
  "dead-letter-exchange",
  "dead-letter-routing-key",
];
export const heededByQuorum = [...heededByAll, "dead-letter-strategy", "delivery-limit"];

/** Settings that queues of a type take, and settings that they refuse. */
interface TypeKeys {
  taken: readonly string[];
  refused: readonly string[];
}

// The keys of federation were measured on RabbitMQ 3.10.8 and 4.3.6 with the plugin; without it, the broker refuses such a policy.
const TAKEN_BY_EACH = [
  "federation-upstream",
  "federation-upstream-set",
  "federation-upstream-pattern",
  "max-length-bytes",
  "alternate-exchange",
  "queue-version",
  "consumer-timeout",
  "consumer-disconnected-timeout",
  "delayed-retry-type",
  "delayed-retry-min",
  "delayed-retry-max",
  "stream-filter-size-bytes",
];
const OF_CLASSIC = [
  "max-priority",
  "queue-mode",
  "queue-master-locator",
  "ha-mode",
  "ha-params",
  "ha-sync-mode",
  "ha-promote-on-shutdown",
  "ha-promote-on-failure",
];
const OF_STREAM = ["max-age", "stream-max-segment-size-bytes", "initial-cluster-size"];
const IN_MEMORY = ["max-in-memory-length", "max-in-memory-bytes"];

/**
 * Settings by the type of queues. A policy with a setting that the type refuses is passed over for the queue, and a weaker policy applies. Read
 * from `unsupported_policies` of each type, and measured, on RabbitMQ 3.10.8 and 4.3.6. Any other setting may be taken or refused.
 */
const keysOf: Readonly<Record<string, TypeKeys>> = {
  classic: {
    taken: [...heededByAll, ...TAKEN_BY_EACH, ...OF_CLASSIC],
    refused: ["dead-letter-strategy", "delivery-limit", "target-group-size", ...OF_STREAM],
  },
  quorum: {
    taken: [...heededByQuorum, ...TAKEN_BY_EACH, ...IN_MEMORY, "queue-leader-locator", "target-group-size"],
    refused: [...OF_CLASSIC, ...OF_STREAM],
  },
  stream: {
    taken: [...TAKEN_BY_EACH, ...OF_STREAM, "queue-leader-locator"],
    refused: [
      ...heededByQuorum.filter((key) => !TAKEN_BY_EACH.includes(key)),
      ...IN_MEMORY,
      ...OF_CLASSIC,
      "target-group-size",
    ],
  },
};

/**
 * Whether a policy applies to an entity, or may: what can't be told is taken as applying.
 * @param queueArguments the queue's arguments; undefined for an exchange
 */
export function appliesTo(policy: Scope, name: string, queueArguments?: Record<string, unknown>): boolean {
  return (
    kindsOf(queueArguments).includes(policy.applyTo) &&
    matchesPattern(policy.pattern, name) &&
    (queueArguments === undefined || typesOf(queueArguments).some((keys) => !refuses(keys, policy)))
  );
}

/** Whether a policy surely applies, so that weaker ones surely don't. */
export function certainlyAppliesTo(policy: Scope, name: string, queueArguments?: Record<string, unknown>): boolean {
  if (!appliesTo(policy, name, queueArguments) || isDoubtful(policy.pattern, name)) return false;
  // To an exchange, whatever it says applies. Measured on RabbitMQ 4.3.6.
  if (queueArguments === undefined) return true;
  const type = queueArguments["x-queue-type"];
  // A queue without a type is of the vhost's default type.
  if (type === undefined && !["queues", "all"].includes(policy.applyTo)) return false;
  // A vhost whose default type is stream is left out.
  const types = type === undefined ? keysOfTypes(["classic", "quorum"]) : typesOf(queueArguments);
  return types.every(({ taken }) => Object.keys(policy.definition).every((key) => taken.includes(key)));
}

/**
 * Whether each queue that takes all settings of one policy also takes those of another.
 * @param queueArguments of the queue; undefined for queues of any type
 */
export function isTakenWith(one: Definition, other: Definition, queueArguments?: Record<string, unknown>): boolean {
  return typesOf(queueArguments).every(
    (keys) =>
      refuses(keys, one) ||
      Object.keys(other.definition).every((key) => keys.taken.includes(key) || key in one.definition),
  );
}

type Definition = Pick<Scope, "definition">;

function refuses({ refused }: TypeKeys, { definition }: Definition): boolean {
  return refused.some((key) => key in definition);
}

/** Settings of the types that a queue may have. */
function typesOf(queueArguments: Record<string, unknown> = {}): TypeKeys[] {
  const type = String(queueArguments["x-queue-type"]);
  return keysOfTypes(Object.hasOwn(keysOf, type) ? [type] : Object.keys(keysOf));
}

function keysOfTypes(types: string[]): TypeKeys[] {
  return types.map((type) => keysOf[type] as TypeKeys);
}

function kindsOf(queueArguments: Record<string, unknown> | undefined): string[] {
  if (queueArguments === undefined) return ["exchanges", "all"];
  const type = queueArguments["x-queue-type"];
  if (type === "stream") return ["streams", "queues", "all"];
  if (type === "quorum" || type === "classic") return [`${type}_queues`, "queues", "all"];
  return ["classic_queues", "quorum_queues", "queues", "all"];
}

/** Whether a policy of ours applies: its pattern is one that JavaScript reads as the broker does, so that there is no doubt. */
export function ownAppliesTo(
  { pattern, applyTo }: Pick<Scope, "pattern" | "applyTo">,
  name: string,
  queueArguments?: Record<string, unknown>,
): boolean {
  const type = queueArguments?.["x-queue-type"];
  // A queue without a type may be of another one.
  if (queueArguments !== undefined && /^(classic|quorum)_queues$/.test(applyTo) && applyTo !== `${String(type)}_queues`)
    return false;
  return kindsOf(queueArguments).includes(applyTo) && new RegExp(pattern, "u").test(name);
}

/** Whether the broker's pattern matches; one that JavaScript can't read, or may read otherwise, is taken as one that does. */
export function matchesPattern(pattern: string, name: string): boolean {
  return isDoubtful(pattern, name) || patternOf(pattern).regex?.test(name) !== false;
}

function isDoubtful(pattern: string, name: string): boolean {
  const { regex, isOneName } = patternOf(pattern);
  if (isOneName && !name.endsWith("\n")) return false;
  return regex === undefined || /[^\x20-\x7e]/.test(name);
}

/** A pattern as JavaScript reads it. */
interface ReadPattern {
  /** Undefined where the broker may read it otherwise. */
  regex?: RegExp;
  /** Whether it matches one name and no other, in either dialect. */
  isOneName: boolean;
}

const readPatterns = new Map<string, ReadPattern>();
const MOST_REMEMBERED = 10_000;

/** Reads each pattern once: a review holds a thousand of them against a thousand queues. */
function patternOf(pattern: string): ReadPattern {
  const known = readPatterns.get(pattern);
  if (known !== undefined) return known;
  if (readPatterns.size >= MOST_REMEMBERED) readPatterns.clear();
  const read = readPattern(pattern);
  readPatterns.set(pattern, read);
  return read;
}

/** Escapes that both dialects have are few, the broker counts bytes, and brackets begin differently. */
function readPattern(pattern: string): ReadPattern {
  if (/^\^(?:[\w-]|\\[\x21-\x2f:-@[-`{-~])+\$$/.test(pattern)) return { regex: new RegExp(pattern), isOneName: true };
  if (/\\[^dDwWsSbBnrt\W_]|\\$|\[\^?\]|\[[:.=]|\(\?[^:=!<]|[^\x20-\x7e]/.test(pattern)) return { isOneName: false };
  // Repeated groups may take JavaScript longer than anybody waits, where the broker's engine gives up.
  if (/\)[*+{]/.test(pattern)) return { isOneName: false };
  try {
    return { regex: new RegExp(pattern), isOneName: false };
  } catch {
    return { isOneName: false };
  }
}
