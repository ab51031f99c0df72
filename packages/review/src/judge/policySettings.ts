import type { InForce, PolicyTarget, PolicyView } from "./policiesInForce";
import { effectiveSetting } from "@rabbitmq-delay/topology/stack";
import type { DeliveryLimits } from "./deliveryLimits";
import { SECRET, isSecretName, withoutSecrets } from "../redact";

/** Settings by which a queue drops messages, and what a larger value means. */
const LIMITS = ["message-ttl", "expires", "max-length", "max-length-bytes", "max-age"];
const ALTERNATE = "alternate-exchange";
const DELIVERY_LIMIT = "delivery-limit";
const OVERFLOW = "overflow";
/** Limits of which a queue heeds the lowest that an argument, a policy or an operator policy gives. */
const LOWEST = LIMITS.slice(0, 4);
/** Settings that an overflow is for. */
export const LENGTHS = ["max-length", "max-length-bytes"];
export const DEAD_LETTERS = "dead-letter-exchange";
/** Settings of a queue unless an argument or a policy says otherwise. */
const DEFAULTS: Record<string, unknown> = { overflow: "drop-head", "dead-letter-strategy": "at-most-once" };
/** Units of an age, in seconds. */
const AGES: Record<string, number> = { s: 1, m: 60, h: 3600, D: 86_400, M: 30 * 86_400, Y: 365 * 86_400 };
/** Settings that keep messages from being dropped: removing them drops messages. */
const KEEPING = ["alternate-exchange", DEAD_LETTERS, "dead-letter-routing-key"];

/** Settings of a policy. */
export type Said = Pick<PolicyView, "definition">;

/** A queue or an exchange for which policies of one kind are judged. */
export interface Place extends PolicyTarget {
  /** Kind and name, in words. */
  label: string;
  /** Settings that policies of the other kind may give; undefined where that is not known. */
  others?: ReadonlySet<string>;
}

export function hasLength(definition: Record<string, unknown>): boolean {
  return LENGTHS.some((key) => key in definition);
}

/** Whether a saying is an overflow, and nothing is said any more of what it is for. */
export function isWithoutLength(saying: string, later: PolicyView | undefined): boolean {
  return saying.startsWith("overflow: ") && !hasLength(later?.definition ?? {});
}

/** Returns a place with the type that its queue has after the update. */
export function withTypeOf(place: Place, { queueArguments: later }: PolicyTarget): Place {
  const given = place.queueArguments;
  return given === undefined
    ? place
    : { ...place, queueArguments: { ...given, "x-queue-type": later?.["x-queue-type"] } };
}

/**
 * Whether a queue may keep dead letters until another queue takes them. The queue does so only with an overflow that refuses messages, with or
 * without a length. Measured on RabbitMQ 3.10.8 and 4.3.6.
 */
export function mayHoldDeadLetters({ definition }: Said, given: Record<string, unknown> = {}): boolean {
  const strategy = given["x-dead-letter-strategy"] ?? definition["dead-letter-strategy"];
  return strategy !== undefined && strategy !== "at-most-once";
}

/** Whether a policy's limits count instead of the queue's own. Measured on RabbitMQ 3.10.8 and 4.3.6. */
function isStream(given: Record<string, unknown> | undefined): boolean {
  return given?.["x-queue-type"] === "stream";
}

/** Whether a queue is of a type that counts no deliveries. */
function isWithoutCount(given: Record<string, unknown> = {}): boolean {
  return ["classic", "stream"].includes(String(given["x-queue-type"]));
}

/**
 * Settings that a policy, or none, gives one entity. An exchange has an alternate exchange alone. The lower of a policy's and an argument's limit
 * counts, of a stream's the policy's, and {@link effectiveSetting} tells which other setting does.
 */
export function onTarget(view: PolicyView | undefined, { queueArguments: given }: PolicyTarget): Said {
  const said = Object.entries(view?.definition ?? {}).filter(([key]) => (key === ALTERNATE) === (given === undefined));
  const own = (key: string): unknown => given?.[`x-${key}`];
  const limits = LIMITS.filter((key) => own(key) !== undefined);
  const isOwn = (key: string): boolean => own(key) !== undefined && !limits.includes(key) && key !== DELIVERY_LIMIT;
  const definition = Object.fromEntries(said.filter(([key]) => !isOwn(key)));
  if (own(OVERFLOW) !== undefined) definition[OVERFLOW] = effectiveSetting(OVERFLOW, given ?? {}, view?.definition);
  for (const key of limits) {
    // A limit that can't be read is neither higher nor lower.
    const isLower = !isStream(given) && isMore(key, own(key), definition[key]);
    if (definition[key] === undefined || isLower) definition[key] = own(key);
  }
  return { definition };
}

/**
 * Adds limits that policies of the other kind give a queue in all states of the update: these count as an argument does. A queue may have
 * less than the highest of them, and not more.
 */
export function withLimits(place: Place, others: InForce[]): Place {
  const said = others.flatMap(({ found, isSure }) => [
    ...found.map(({ view }) => view.definition),
    ...(isSure ? [] : [{} as Said["definition"]]),
  ]);
  const given = { ...place.queueArguments };
  for (const key of LOWEST) {
    const limit = Math.max(...said.map((definition) => amountOf(key, definition[key])));
    if (isStream(given) && said.some((definition) => key in definition)) given[`x-${key}`] = limit;
    else if (!Number.isNaN(limit) && !isMore(key, given[`x-${key}`], limit)) given[`x-${key}`] = limit;
  }
  if (said.some((definition) => DELIVERY_LIMIT in definition)) {
    const own = given[`x-${DELIVERY_LIMIT}`];
    const counts = [...said.map((definition) => definition[DELIVERY_LIMIT]), ...(own === undefined ? [] : [own])];
    // Without any limit, the broker's default counts: a limit that is not the same throughout can't be told.
    given[`x-${DELIVERY_LIMIT}`] = new Set(counts.map(String)).size === 1 ? counts[0] : "";
  }
  const settings = { ...place, others: new Set(said.flatMap((definition) => Object.keys(definition))) };
  return place.queueArguments === undefined ? settings : { ...settings, queueArguments: given };
}

/** Settings of `later` by which a queue drops messages that it kept under `earlier`, as `key: value`. */
export function dropsMore(earlier: Said | undefined, later: Said, limits: DeliveryLimits, target?: Place): string[] {
  return Object.entries(later.definition)
    .filter(([key, value]) => {
      if (key === DELIVERY_LIMIT)
        return limits.isLower(earlier?.definition ?? {}, later.definition, target?.queueArguments);
      if (!isDropping(key, value)) return false;
      const before = earlier?.definition[key] ?? (target?.others?.has(key) === false ? DEFAULTS[key] : undefined);
      if (before === undefined) return true;
      return String(before) !== String(value) && !isMore(key, before, value);
    })
    .map(said);
}

function isDropping(key: string, value: unknown): boolean {
  if (LIMITS.includes(key)) return true;
  if (key === "overflow") return !String(value).startsWith("reject-publish");
  if (key === "dead-letter-strategy") return value !== "at-least-once";
  return key.startsWith("dead-letter-");
}

/** Whether the new limit is as high or higher, so that it drops no more than the old one. */
function isMore(key: string, before: unknown, after: unknown): boolean {
  return LIMITS.includes(key) && amountOf(key, after) >= amountOf(key, before);
}

/** A limit as a number; NaN where it can't be read. */
function amountOf(key: string, value: unknown): number {
  const [, digits, unit = ""] = /^(\d+)(\D?)$/.exec(String(value)) ?? [];
  const units: Record<string, number> = key === "max-age" ? AGES : { "": 1 };
  return Number(digits) * (units[unit] ?? NaN);
}

/** Settings that keep messages which would be dropped otherwise. */
export function keeps({ definition }: Said, limits: DeliveryLimits, target?: PolicyTarget): string[] {
  return Object.entries(definition)
    .filter(
      ([key, value]) =>
        KEEPING.includes(key) ||
        (key === DELIVERY_LIMIT && limits.isLower(definition, {}, target?.queueArguments)) ||
        (key === "overflow" && String(value).startsWith("reject-publish")) ||
        (key === "dead-letter-strategy" && value === "at-least-once"),
    )
    .map(said);
}

function said([key, value]: [string, unknown]): string {
  return `${key}: ${isSecretName(key) ? SECRET : withoutSecrets(String(value))}`;
}

/** The key of a setting in words. */
export function keyOf(saying: string): string {
  return saying.split(": ")[0] ?? "";
}

export function isKept(
  saying: string,
  earlier: Said,
  later: Said | undefined,
  limits: DeliveryLimits,
  target?: Place,
): boolean {
  const key = keyOf(saying);
  const [before, after] = [earlier.definition[key], later?.definition[key]];
  if (key === DELIVERY_LIMIT)
    return (
      isWithoutCount(target?.queueArguments) ||
      !limits.isLower(earlier.definition, later?.definition ?? {}, target?.queueArguments)
    );
  const isRefusing = [before, after].every((value) => /^reject-publish(-dlx)?$/.test(String(value)));
  // A classic queue refuses the same messages; a quorum queue does not support the setting with -dlx.
  if (key === "overflow" && isRefusing && target?.queueArguments?.["x-queue-type"] === "classic")
    return after === "reject-publish-dlx" || before === "reject-publish" || !mayHaveDeadLetters(earlier, target);
  return after !== undefined && String(before) === String(after);
}

/** Whether a queue may have a dead-letter exchange: by a policy, by a policy of the other kind, or by an argument. */
export function mayHaveDeadLetters({ definition }: Said, { queueArguments, others }: Place): boolean {
  if (others?.has(DEAD_LETTERS) !== false) return true;
  return definition[DEAD_LETTERS] !== undefined || queueArguments?.[`x-${DEAD_LETTERS}`] !== undefined;
}
