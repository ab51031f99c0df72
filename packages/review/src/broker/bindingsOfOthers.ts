import { isAt, takesBindingsAlong } from "../judge/bindingsLeftOut";
import type { Finding } from "../judge/finding";
import { rules } from "../judge/rules";
import { EntityChange, brokerName, isReadable } from "../preview/entityChange";
import { withoutSecrets } from "../redact";
import type { LiveVhosts } from "./liveVhosts";
import { ownBindings } from "./onBrokerAlone";

/**
 * Finds bindings of others that go with an exchange that is deleted, or with an exchange or a queue that is declared anew: no program makes
 * them again.
 */
export function bindingsOfOthers(changes: readonly EntityChange[], live: LiveVhosts): Finding[] {
  const isOwn = ownBindings(changes);
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
