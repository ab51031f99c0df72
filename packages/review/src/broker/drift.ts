import type { ExchangePlan, QueuePlan } from "@rabbitmq-delay/topology";
import { compareExchange, compareQueue } from "@rabbitmq-delay/topology/stack";
import type { Finding } from "../judge/finding";
import { rules } from "../judge/rules";
import {
  EntityChange,
  NOT_KNOWN,
  bindingIdentity,
  brokerName,
  isReadable,
  queueArguments,
} from "../preview/entityChange";
import { isSurelyFor, viewOn } from "../judge/policiesInForce";
import { showArguments } from "../preview/cause";
import { SECRET } from "../redact";
import type { LiveVhosts, VhostContent } from "./liveVhosts";

/**
 * Finds what the engine leaves as it is, and the broker does not have as the state says: no update declares it anew.
 */
export function driftOf(changes: readonly EntityChange[], live: LiveVhosts): Finding[] {
  return changes.flatMap((change): Finding[] => {
    const { urn, kind, action, parent, before } = change;
    const vhost = isReadable(before?.vhost) ? live.get(before.vhost) : undefined;
    if (vhost === undefined || !["same", "update"].includes(action)) return [];
    const found = differenceOf(change, before, vhost);
    if (found === undefined) return [];
    const rule = "missing-on-broker";
    const entity = `${kind} ${brokerName(change)}`;
    return [{ rule, severity: rules[rule].severity, urn, parent, entity, causes: [], found }];
  });
}

const ABSENT = "it is not on the broker";

/** Whether the broker lacks what the state has. */
export function isAbsent(change: EntityChange, vhost: VhostContent): boolean {
  return differenceOf(change, change.before, vhost) === ABSENT;
}

/** Returns how the broker's entity differs from one side of a change, in words. */
export function differenceOf(
  change: EntityChange,
  values: Record<string, unknown> = {},
  vhost: VhostContent,
): string | undefined {
  const { kind } = change;
  const { name, settings } = values;
  // Secret and unknown settings can't be compared, and no text may show what the broker has in their place.
  if ((kind === "queue" || kind === "exchange") && !isComparable(settings)) return undefined;
  switch (kind) {
    case "queue": {
      if (!isReadable(name)) return undefined;
      const found = vhost.queues.get(name);
      if (found === undefined) return ABSENT;
      const wanted = showArguments(queueArguments(values));
      // The broker may give an untyped queue the type that its vhost has, which is not read here.
      const there = showArguments(found.arguments);
      const typed = "x-queue-type" in wanted ? there : withoutType(there);
      // The provider declares what stands in a plain table as texts.
      const told = Object.entries(typed).map(([key, value]) => [key, isSame(wanted[key], value) ? wanted[key] : value]);
      const given = { ...found, arguments: Object.fromEntries(told) as Record<string, unknown> };
      return compareQueue({ name, durable: true, arguments: wanted } as QueuePlan, asIfLasting(given, settings))[0];
    }
    case "exchange": {
      if (!isReadable(name)) return undefined;
      const found = vhost.exchanges.get(name);
      if (found === undefined) return ABSENT;
      const type = (settings as { type?: unknown } | undefined)?.type;
      if (!isReadable(type)) return undefined;
      const [wanted, there] = [showArguments(queueArguments(values)), showArguments(found.arguments)];
      const missing = Object.keys(wanted).find((key) => there[key] === undefined);
      if (missing !== undefined) return `exchange ${name} exists without ${missing}`;
      const others = Object.entries(there).filter(([key, value]) => !isSame(wanted[key], value));
      const given = { ...found, arguments: Object.fromEntries(others) };
      return compareExchange({ name, type } as ExchangePlan, asIfLasting(given, settings))[0];
    }
    case "binding": {
      const identity = bindingIdentity(values);
      return identity === undefined || vhost.bound.has(identity) ? undefined : ABSENT;
    }
    case "policy":
      return differenceOfPolicy(change, vhost);
    default:
      return undefined;
  }
}

/** Whether settings can be read: they are no secrets, and known already. */
function isComparable(settings: unknown): boolean {
  const text = JSON.stringify(settings ?? {});
  return !text.includes(SECRET) && !text.includes(NOT_KNOWN);
}

function isSame(one: unknown, other: unknown): boolean {
  return String(one) === String(other);
}

/** What is durable, or deletes itself, as the program says it shall be, differs in nothing. */
function asIfLasting<T extends { durable: boolean; auto_delete: boolean }>(found: T, settings: unknown): T {
  const { durable = found.durable, autoDelete = found.auto_delete } = (settings ?? {}) as Record<string, unknown>;
  return { ...found, durable: found.durable === durable, auto_delete: found.auto_delete !== autoDelete };
}

function differenceOfPolicy(change: EntityChange, vhost: VhostContent): string | undefined {
  const { name, vhost: place } = change.before ?? {};
  const view = viewOn(change, "before");
  if (view === undefined || !isReadable(name)) return undefined;
  const policies = view.isOperators ? vhost.operatorPolicies : vhost.policies;
  if (policies !== undefined) {
    const found = policies.get(name);
    if (found === undefined) return ABSENT;
    const { pattern, "apply-to": applyTo, priority, definition } = found;
    const settings = { pattern, "apply-to": applyTo, priority, ...definition };
    const planned = { pattern: view.pattern, "apply-to": view.applyTo, priority: view.priority, ...view.definition };
    const keys = new Set<keyof typeof settings>([...Object.keys(settings), ...Object.keys(planned)] as never[]);
    const other = [...keys].find((key) => {
      const [there, here] = [settings[key], planned[key]].map(String);
      return there !== here && (planned[key] === undefined || here === "" || isReadable(here)) && here !== "NaN";
    });
    return other === undefined ? undefined : `it has another ${other}`;
  }
  if (view.isOperators) return undefined;
  // Nobody may read policies but a policymaker; each entity tells which one applies to it.
  const queues = [...vhost.queues.values()].map(({ arguments: queueArguments, ...queue }) => ({
    ...queue,
    queueArguments,
  }));
  const matched = [...queues, ...vhost.exchanges.values()].filter((entity) =>
    isSurelyFor(view, { ...entity, vhost: place }),
  );
  const bare = matched.find(({ policy }) => (policy ?? "") === "");
  return bare === undefined || matched.some(({ policy }) => policy === name)
    ? undefined
    : `no policy applies to ${bare.name} on the broker`;
}

function withoutType(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => key !== "x-queue-type"));
}
