import type { ExchangePlan, QueuePlan } from "./entities";
import { matchingChangeOf } from "./network/enforced";

/** An exchange as the management API shows it. */
export interface DeclaredExchange {
  name: string;
  type: string;
  durable: boolean;
  auto_delete: boolean;
  internal: boolean;
  arguments: Record<string, unknown>;
}

/** A queue as the management API shows it, as far as it was declared so. */
export interface DeclaredQueue {
  name: string;
  durable: boolean;
  auto_delete: boolean;
  arguments: Record<string, unknown>;
  /** Whether it goes with the connection that declared it, and no other connection may use it; default: it does not. */
  exclusive?: boolean;
}

/**
 * How an exchange on a broker differs from the planned one, so that the broker would refuse to declare it.
 * @returns a sentence without its end for each exchange that differs: none or one
 */
export function compareExchange(plan: Pick<ExchangePlan, "name" | "type">, found?: DeclaredExchange): string[] {
  if (found === undefined) return [];
  const wanted = { type: plan.type, durable: true, auto_delete: false, internal: false };
  const given = { type: found.type, durable: found.durable, auto_delete: found.auto_delete, internal: found.internal };
  return describe(`exchange ${plan.name}`, { ...given, ...found.arguments }, wanted);
}

/**
 * The same for a queue.
 * @param defaultType what the vhost makes of a queue without a type; default: classic
 */
export function compareQueue(plan: QueuePlan, found?: DeclaredQueue, defaultType = "classic"): string[] {
  if (found === undefined) return [];
  const given: Record<string, unknown> = { durable: found.durable, auto_delete: found.auto_delete, ...found.arguments };
  const wanted: Record<string, unknown> = { durable: true, auto_delete: false, ...plan.arguments };
  if (found.exclusive === true) [given.exclusive, wanted.exclusive] = [true, false];
  // For the broker, a classic queue is the same with and without the argument, whichever way its default type points.
  if (wanted["x-queue-type"] === "classic" && given["x-queue-type"] === undefined) given["x-queue-type"] = "classic";
  // So is one of the vhost's default type, which newer brokers name.
  const isDefault = ["classic", defaultType].includes(String(given["x-queue-type"]));
  if (isDefault && wanted["x-queue-type"] === undefined) delete given["x-queue-type"];
  return describe(`queue ${plan.name}`, given, wanted).map((difference) => difference + hintOf(found, plan));
}

/**
 * How a queue on a broker differs where the plan gives no type, and the vhost's default is another one now: the broker then refuses to declare
 * it again. A queue that the stack has declared itself is not declared again, so that it may differ.
 * @param defaultType what the vhost makes of a queue without a type; default: classic
 */
export function compareUntyped(
  { name, arguments: values }: QueuePlan,
  found?: DeclaredQueue,
  defaultType = "classic",
): string[] {
  if (found === undefined || "x-queue-type" in values) return [];
  const type = String(found.arguments["x-queue-type"] ?? "classic");
  if (type === defaultType) return [];
  return [
    `queue ${name} exists with x-queue-type ${JSON.stringify(type)} (declared here without one, as its vendor does, of which the vhost's ` +
      `default_queue_type makes ${JSON.stringify(defaultType)}; set that to ${type})`,
  ];
}

/** How a level's queue that leads to the other end of its network gets there. */
function hintOf({ arguments: found }: DeclaredQueue, { arguments: wanted }: QueuePlan): string {
  const change = matchingChangeOf(found, wanted);
  if (change === undefined) return "";
  return ` (rabbitmq-delay enforce${change === "undone" ? " --undo" : ""} changes that without losing a message)`;
}

function describe(what: string, found: Record<string, unknown>, wanted: Record<string, unknown>): string[] {
  const differences = describeDifferences(found, wanted);
  return differences.length === 0 ? [] : [`${what} exists with ${differences.join(", ")}`];
}

/** Each property in which two differ, with both values. */
export function describeDifferences(found: Record<string, unknown>, wanted: Record<string, unknown>): string[] {
  const keys = [...new Set([...Object.keys(found), ...Object.keys(wanted)])];
  const show = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return keys
    .filter((key) => found[key] !== wanted[key])
    .map((key) => `${key} ${show(found[key])} (declared here: ${show(wanted[key])})`);
}
