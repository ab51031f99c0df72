import { networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { isAt, takesBindingsAlong } from "../judge/bindingsLeftOut";
import type { Finding } from "../judge/finding";
import { viewOn } from "../judge/policiesInForce";
import { EntityChange, isReadable } from "../preview/entityChange";
import type { LiveVhosts, VhostContent } from "./liveVhosts";

/**
 * Settles by what the broker has whether that is kept which loses a binding: a loss where it shall be kept and is not, and no loss where this
 * plan does not say that it is kept, as that of a service's stack, and it is.
 */
export function withLiveAlternate(finding: Finding, changes: readonly EntityChange[], live: LiveVhosts): Finding {
  const { kind, before } = changes.find(({ urn }) => urn === finding.urn) ?? {};
  const isParked = finding.isParked === true;
  if (kind !== "binding" || !(isParked || finding.rule === "unroutable-lost")) return finding;
  const vhost = isReadable(before?.vhost) ? live.get(before.vhost) : undefined;
  if (vhost === undefined || !isReadable(before?.source)) return finding;
  const alternate = alternateOf(before.source, vhost, changes);
  const missing = missingOf(before.source, alternate, vhost);
  if (isParked)
    return missing === undefined
      ? finding
      : { ...finding, severity: "loss", found: `${missing}, so that nothing keeps it` };
  const isLeft = missingOf(before.source, alternate, withoutLeaving(vhost, changes)) === undefined;
  if (!isLeft || isTouched([before.source, alternate], changes)) return finding;
  const found = `on the broker, ${alternate as string} takes what finds no binding at ${before.source}: it is kept`;
  return { ...finding, severity: "care", found };
}

/** A vhost without the bindings of what the update deletes or declares anew. */
function withoutLeaving(vhost: VhostContent, changes: readonly EntityChange[]): VhostContent {
  const gone = changes.filter(takesBindingsAlong);
  return { ...vhost, bindings: vhost.bindings.filter((binding) => !gone.some((change) => isAt(binding, change))) };
}

/** Whether a plan declares or changes one of these exchanges, or what is bound to the second one: then the plan tells what becomes of it. */
function isTouched([exchange, alternate]: [unknown, unknown], changes: readonly EntityChange[]): boolean {
  return changes.some(({ kind, action, before, after }) => {
    const { name, source } = before ?? after ?? {};
    if (kind === "exchange") return name === exchange || (name === alternate && action !== "same");
    return (
      (kind === "binding" && source === alternate && action !== "same") || (kind === "policy" && action !== "same")
    );
  });
}

/** The alternate exchange that an exchange has on the broker. */
export function alternateOf(
  exchange: string,
  { exchanges, policies }: VhostContent,
  changes: readonly EntityChange[],
): unknown {
  const found = exchanges.get(exchange);
  const policy = policies?.get(found?.policy ?? "")?.definition ?? plannedDefinition(found?.policy, changes);
  return found?.arguments["alternate-exchange"] ?? policy?.["alternate-exchange"];
}

/** What a policy of that name says in the state; only a policymaker may read it on the broker. */
function plannedDefinition(
  name: string | undefined,
  changes: readonly EntityChange[],
): Record<string, unknown> | undefined {
  const policy = changes.find(({ kind, before }) => kind === "policy" && before?.name === name && name !== undefined);
  return policy === undefined ? undefined : viewOn(policy, "before")?.definition;
}

/** What keeps an exchange's alternate exchange from taking each message, in words. */
function missingOf(exchange: string, alternate: unknown, vhost: VhostContent): string | undefined {
  const parking = networkOfDelivery(exchange)?.parkingExchange;
  if (!isReadable(alternate) || (parking !== undefined && alternate !== parking)) {
    return `${exchange} does not lead to ${parking ?? "an alternate exchange"} on the broker what finds no binding`;
  }
  if (!vhost.exchanges.has(alternate))
    return `${alternate}, to which ${exchange} leads what finds no binding, is not on the broker`;
  return leadsAllOn(alternate, vhost)
    ? undefined
    : `nothing is bound to ${alternate} on the broker that takes each message`;
}

/** Whether each message that comes to an exchange comes to a queue by one of its bindings. */
function leadsAllOn(name: string, vhost: VhostContent, seen: ReadonlySet<string> = new Set()): boolean {
  const { exchanges, queues, bindings } = vhost;
  const found = exchanges.get(name);
  if (found === undefined || seen.has(name)) return false;
  return bindings.some(({ source, routingKey, destination, destinationType }) => {
    const takesAll = found.type === "fanout" || (found.type === "topic" && routingKey === "#");
    if (source !== name || !takesAll) return false;
    return destinationType === "queue"
      ? queues.has(destination)
      : leadsAllOn(destination, vhost, new Set([...seen, name]));
  });
}
