import type { BindingPlan } from "@rabbitmq-delay/topology";
import {
  ALL_FAULTS,
  AuditFinding,
  CONVENTIONAL_BASES,
  coveredNames,
  faultExchange,
  messageTypeOf,
} from "@rabbitmq-delay/topology/stack";

/** A login with permissions in a vhost. */
export interface Login {
  user: string;
  tags: string[];
  /** Its permission to declare, a pattern of names. */
  configure: string;
}

interface Found {
  exchanges: readonly { name: string }[];
  queues: readonly { name: string }[];
  bindings: readonly BindingPlan[];
  logins?: readonly Login[];
}

/** Names that NServiceBus and MassTransit give to the exchange of a message type: namespace and type. */
const TYPE = /^[^:\s]+:[^:]/;

/**
 * Finds exchanges of message types that a login may not declare, although its client declares them with those that it may. The bindings tell
 * which: whoever else published or subscribed to a type has bound its exchange to those of its base classes and interfaces. Permissions that
 * `EndpointUser` does not write are left alone, and so is a type that another vendor's client uses as well.
 */
export function auditMessageTypes({ exchanges, queues, bindings, logins = [] }: Found): AuditFinding[] {
  const there = new Set(exchanges.map(({ name }) => name));
  // An exchange with a queue of its name is an endpoint's, which subscribes to the type.
  const endpoints = new Set(queues.map(({ name }) => name));
  const toBases = bindings.filter(
    ({ source, destination, destinationType, routingKey }) =>
      destinationType === "exchange" &&
      routingKey === "" &&
      [source, destination].every((name) => TYPE.test(name) && !endpoints.has(name)),
  );
  return logins.flatMap((login) => auditLogin(login, there, toBases));
}

function auditLogin(
  { user, tags, configure }: Login,
  there: ReadonlySet<string>,
  toBases: readonly BindingPlan[],
): AuditFinding[] {
  const names = coveredNames(configure) ?? [];
  const may = new Set(names);
  const isMassTransit =
    may.has(ALL_FAULTS) || names.some((name) => may.has(`${name}_error`) && may.has(`${name}_skipped`));
  if (tags.includes("administrator") || !(isMassTransit || tags.includes("management"))) return [];
  const declared = names
    .flatMap((name) => (isMassTransit ? [name, faultExchange(name)] : [name]))
    .filter((name) => TYPE.test(name) && there.has(name))
    .map((name) => withBases(name, toBases))
    .filter((types) => types.some((type) => CONVENTIONAL_BASES.includes(type)) !== isMassTransit)
    .flat();
  const missing = [...new Set(declared)].filter((name) => !may.has(name)).sort();
  // The component grants these with any type, or with the type whose faults they are.
  const granted = missing.filter((name) =>
    [...CONVENTIONAL_BASES, ALL_FAULTS, ...names.map(faultExchange)].includes(name),
  );
  const named = missing.filter((name) => !granted.includes(name));
  const types = [...new Set(named.map(messageTypeOf))];
  return [
    ...finding(
      named,
      `name ${types.join(" and ")} in messageTypes of its EndpointUser, or remove the binding if the type no longer has such a base`,
    ),
    ...finding(granted, "declare its EndpointUser again, which grants them with any message type"),
  ];

  function finding(lacking: readonly string[], remedy: string): AuditFinding[] {
    if (lacking.length === 0) return [];
    const list = lacking.map((name) => `exchange ${name}`).join(" and ");
    const harm = isMassTransit
      ? "MassTransit declares them with such a message or its fault, and gets 403: Publish never returns, and a message that fails for good stays in its queue"
      : "NServiceBus declares them when it subscribes to such an event or publishes it, and gets 403: its process ends";
    const message = `may not declare ${list}, which go with its message types; ${harm}; ${remedy}`;
    return [{ rule: "missing-right", severity: "warning", subject: `login ${user}`, message }];
  }
}

/** Returns a type's exchange with those of all its base classes and interfaces: a client binds each to the next, or the type to all. */
function withBases(name: string, toBases: readonly BindingPlan[]): string[] {
  const all = new Set([name]);
  for (const type of all) toBases.filter(({ source }) => source === type).forEach((base) => all.add(base.destination));
  return [...all];
}
