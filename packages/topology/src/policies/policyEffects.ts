import { describeDelay } from "../duration";
import type { QueuePlan } from "../entities";
import { waitMsOf } from "../queueKind";
import { describeLeaving, isUnlimited } from "./deliveryLimit";

/** What one setting of a policy does to the messages in a queue. */
export interface PolicyHarm {
  /** The key, e.g. `message-ttl`. */
  key: string;
  /** The key with its value, e.g. `message-ttl 500`. */
  setting: string;
  /** What kind of harm it is; the same kind in many queues is told once. */
  kind: "early" | "leaves" | "deleted" | "refused" | "misdirected";
  /** What it would do, as a sentence without its end. */
  harm: string;
}

/** A limit that no consumer reaches; NServiceBus sets it on its own queues. */
const HARMLESS_DELIVERIES = 100_000;
/** The overflow by which a queue refuses what is beyond its length. */
const REFUSING = "reject-publish";

/**
 * Returns the setting, other than a number, that counts of a queue's argument and a policy: the argument, except for a quorum queue's
 * overflow. Measured on RabbitMQ 3.10.8 and 4.3.6.
 */
export function effectiveSetting(
  key: string,
  queueArguments: Record<string, unknown>,
  definition: Record<string, unknown> = {},
): unknown {
  const [own, said] = [queueArguments[`x-${key}`], definition[key]];
  const isPolicyFirst = key === "overflow" && queueArguments["x-queue-type"] === "quorum";
  return isPolicyFirst ? (said ?? own) : (own ?? said);
}

/**
 * What settings of a policy would do to the messages in a queue, beside the queue's own arguments: the lower number wins, and
 * {@link effectiveSetting} tells which other setting does.
 * @param beside settings of the policy beside which an operator policy applies
 */
export function harmOf(
  { arguments: values }: Pick<QueuePlan, "arguments">,
  definition: Record<string, unknown>,
  beside: Record<string, unknown> = {},
): PolicyHarm[] {
  const harms: PolicyHarm[] = [];
  const add = (key: string, kind: PolicyHarm["kind"], harm: string): void =>
    void harms.push({ key, setting: describeKeys({ [key]: definition[key] }), kind, harm });
  const isLower = (key: string): boolean => {
    const others = [values[`x-${key}`], beside[key]];
    return (
      key in definition && !others.some((one) => typeof one === "number" && one >= 0 && Number(definition[key]) >= one)
    );
  };
  const settings = { ...beside, ...definition };
  const target = values["x-dead-letter-exchange"] ?? settings["dead-letter-exchange"];
  const leaves = describeLeaving(target);
  if (isLower("message-ttl")) {
    const after = describeDelay(Number(definition["message-ttl"]));
    const waitMs = waitMsOf(values);
    add(
      "message-ttl",
      waitMs === undefined ? "leaves" : "early",
      waitMs === undefined
        ? `messages in it would ${leaves} after ${after}`
        : `messages would leave it after ${after} instead of ${describeDelay(waitMs)}, so that they arrive early`,
    );
  }
  if (isLower("expires")) {
    const after = describeDelay(Number(definition.expires));
    add("expires", "deleted", `the broker would delete it with the messages in it after ${after} without a consumer`);
  }
  const overflow = String(effectiveSetting("overflow", values, settings) ?? "drop-head");
  // At-least-once needs an overflow that refuses.
  const isHolding =
    values["x-dead-letter-strategy"] === "at-least-once" && effectiveSetting("overflow", values, beside) === REFUSING;
  if ("overflow" in definition && isHolding && overflow !== REFUSING) {
    add("overflow", "leaves", "it would pass messages on at most once, so that those which no queue takes are dropped");
  }
  for (const key of ["max-length", "max-length-bytes"]) {
    if (!isLower(key)) continue;
    const full = `once it holds ${String(definition[key])} ${key === "max-length" ? "messages" : "bytes"}`;
    add(
      key,
      overflow.startsWith("reject-publish") ? "refused" : "leaves",
      overflow.startsWith("reject-publish")
        ? `it would refuse messages ${full}, so that publishing fails and the queues before it stand still`
        : `its oldest messages would ${leaves} ${full}`,
    );
  }
  const hasTarget = "x-dead-letter-exchange" in values;
  if (hasTarget && "dead-letter-routing-key" in definition && !("x-dead-letter-routing-key" in values)) {
    add(
      "dead-letter-routing-key",
      "misdirected",
      "each message would go on under that key instead of its own, and miss its destination",
    );
  }
  const limit = Number(definition["delivery-limit"]);
  const isCounted = values["x-queue-type"] !== "classic" && limit >= 0 && limit < HARMLESS_DELIVERIES;
  // A policy's limit counts beside an argument of -1 (resolve_delivery_limit in rabbit_quorum_queue.erl; measured on 4.3.6).
  if (isCounted && (isUnlimited({ arguments: values }) || isLower("delivery-limit"))) {
    add("delivery-limit", "leaves", `a message in it would ${leaves} after it was given back ${limit} times`);
  }
  return harms;
}

/** Keys and values of a definition, for a message. */
export function describeKeys(definition: Record<string, unknown>): string {
  const entries = Object.entries(definition);
  if (entries.length === 0) return "settings";
  return entries
    .map(([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
