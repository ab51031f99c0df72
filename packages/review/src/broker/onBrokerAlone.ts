import { EntityChange, EntityKind, bindingIdentity, mayBeBinding } from "../preview/entityChange";
import type { Bound, FoundPolicy, LiveVhosts } from "./liveVhosts";

const TYPES = {
  queue: "rabbitmq:index/queue:Queue",
  exchange: "rabbitmq:index/exchange:Exchange",
  binding: "rabbitmq:index/binding:Binding",
  policy: "rabbitmq:index/policy:Policy",
  operatorPolicy: "rabbitmq:index/operatorPolicy:OperatorPolicy",
} as const;

/**
 * Returns the queues, exchanges, bindings and policies that no resource of a plan's state declares, in the form of resources that stay as
 * they are. A policy whose name the plan declares anew ends with the update.
 */
export function onBrokerAlone(changes: readonly EntityChange[], live: LiveVhosts): EntityChange[] {
  const namesOf = (side: "before" | "after"): Set<string | undefined> =>
    new Set(
      changes.filter((change) => change[side] !== undefined).map((change) => identityOf(change.type, change[side])),
    );
  const [known, declared] = [namesOf("before"), namesOf("after")];
  // The broker's copy of a binding that stays tells its key.
  const changed = changes.filter(({ kind, action }) => kind === "binding" && action !== "same");
  const isOwn = (binding: Bound): boolean => changed.some(({ before }) => mayBeBinding(before, binding));
  return [...live].flatMap(([vhost, { queues, exchanges, bindings, policies, operatorPolicies }]) => {
    const toChange = (kind: EntityKind, type: string, values: Record<string, unknown>): EntityChange[] => {
      const identity = identityOf(type, values);
      if (known.has(identity)) return [];
      const isEnding = kind === "policy" && declared.has(identity);
      return [
        {
          urn: "",
          type,
          name: String(values.name ?? ""),
          kind,
          action: isEnding ? "delete" : "same",
          isImport: false,
          isRetained: false,
          isReleased: false,
          before: values,
          ...(isEnding ? {} : { after: values }),
          causes: [],
          dependencies: [],
        },
      ];
    };
    return [
      ...[...queues.values()].flatMap(({ name, arguments: values }) =>
        toChange("queue", TYPES.queue, { name, vhost, settings: { argumentsJson: JSON.stringify(values) } }),
      ),
      // The default exchange has no name, and nobody can change what is bound to it.
      ...[...exchanges.values()].flatMap(({ name, type, auto_delete: autoDelete, arguments: values }) =>
        name === ""
          ? []
          : toChange("exchange", TYPES.exchange, { name, vhost, settings: { type, autoDelete, arguments: values } }),
      ),
      ...bindings.flatMap((binding) =>
        binding.source === "" || isOwn(binding) ? [] : toChange("binding", TYPES.binding, { ...binding }),
      ),
      ...[...(policies?.values() ?? [])].flatMap((policy) =>
        toChange("policy", TYPES.policy, valuesOfPolicy(vhost, policy)),
      ),
      ...[...(operatorPolicies?.values() ?? [])].flatMap((policy) =>
        toChange("policy", TYPES.operatorPolicy, valuesOfPolicy(vhost, policy)),
      ),
    ];
  });
}

const ENDS = ["vhost", "source", "destination", "destinationType"] as const;

/**
 * Returns a function that tells whether a plan's state declares a binding of the broker. A binding of the state whose key or arguments can't be
 * read may be any of those between the same two.
 */
export function ownBindings(changes: readonly EntityChange[]): (binding: Bound) => boolean {
  const own = changes.filter(({ kind }) => kind === "binding").map(({ before }) => before ?? {});
  const known = new Set(own.map(bindingIdentity).filter((identity) => identity !== undefined));
  const unread = own.filter((values) => bindingIdentity(values) === undefined);
  return (binding) =>
    known.has(bindingIdentity({ ...binding }) as string) ||
    unread.some((values) => ENDS.every((end) => values[end] === binding[end]));
}

/** Returns a policy of the broker in the form of a resource's values. */
export function valuesOfPolicy(
  vhost: string,
  { name, pattern, "apply-to": applyTo, priority, definition }: FoundPolicy,
): Record<string, unknown> {
  return { name, vhost, policy: { pattern, applyTo, priority, definition } };
}

/** Identity of a resource within one broker. */
function identityOf(type: string, values: Record<string, unknown> = {}): string | undefined {
  return type === TYPES.binding ? bindingIdentity(values) : JSON.stringify([type, values.vhost, values.name]);
}
