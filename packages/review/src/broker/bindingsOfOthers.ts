import { isAt, takesBindingsAlong } from "../judge/bindingsLeftOut";
import type { Finding } from "../judge/finding";
import { rules } from "../judge/rules";
import { EntityChange, bindingIdentity, brokerName, isReadable } from "../preview/entityChange";
import { withoutSecrets } from "../redact";
import type { Bound, LiveVhosts } from "./liveVhosts";

/**
 * Finds bindings of others that go with an exchange that is deleted, or with an exchange or a queue that is declared anew: no program makes
 * them again.
 */
export function bindingsOfOthers(changes: readonly EntityChange[], live: LiveVhosts): Finding[] {
  const ownBindings = changes.filter(({ kind }) => kind === "binding").map(({ before }) => before ?? {});
  const own = new Set(ownBindings.map(bindingIdentity).filter((identity) => identity !== undefined));
  // One whose key can't be read may be any of those between the same two.
  const unread = ownBindings.filter((values) => bindingIdentity(values) === undefined);
  const isOwn = (binding: Bound): boolean =>
    own.has(bindingIdentity({ ...binding }) as string) ||
    unread.some((values) => ENDS.every((part) => values[part] === binding[part]));
  const gone = changes.filter((change) => change.action === "delete" && takesBindingsAlong(change));
  return changes.flatMap((change): Finding[] => {
    const { urn, kind, action, parent, before } = change;
    if (!takesBindingsAlong(change) || (kind === "queue" && action === "delete")) return [];
    const bindings = isReadable(before?.vhost) ? (live.get(before.vhost)?.bindings ?? []) : [];
    const others = bindings.filter(
      // Every queue is bound to the default exchange by its name, and is again when it is declared anew.
      (binding) =>
        binding.source !== "" &&
        isAt(binding, change) &&
        !isOwn(binding) &&
        // Nobody misses a binding whose other end goes as well.
        !gone.some((other) => other !== change && isAt(binding, other)),
    );
    const [first, ...rest] = others;
    if (first === undefined) return [];
    const more = rest.length === 0 ? "" : `, and ${rest.length} more`;
    const found = `${first.destinationType} ${first.destination} is bound to ${first.source} by ${JSON.stringify(withoutSecrets(first.routingKey))}${more}`;
    const rule = "bindings-of-others-gone";
    const entity = `${kind} ${brokerName(change)}`;
    return [{ rule, severity: rules[rule].severity, urn, parent, entity, causes: [], found }];
  });
}

const ENDS = ["vhost", "source", "destination", "destinationType"] as const;
