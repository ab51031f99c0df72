import { bindingName, canEnforce, networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { takesBindingsAlong } from "../judge/bindingsLeftOut";
import type { Finding } from "../judge/finding";
import { rules, takesLiveOne } from "../judge/rules";
import { EntityChange, bindingIdentity, isReadable } from "../preview/entityChange";
import { withoutSecrets } from "../redact";
import type { LiveVhosts } from "./liveVhosts";

/**
 * Says where an endpoint is bound on the broker that leaves an end of its network: `enforce` binds it to the other end, of which the state knows
 * nothing.
 */
export function stillBound(finding: Finding, changes: readonly EntityChange[], live: LiveVhosts): Finding {
  const { kind, action, before, after } = changes.find(({ urn }) => urn === finding.urn) ?? {};
  const vhost = isReadable(before?.vhost) ? live.get(before.vhost) : undefined;
  if (kind !== "binding" || vhost === undefined || takesLiveOne(finding.rule)) return finding;
  const wanted = bindingIdentity(after);
  const isHeld = changes.some((other) => bindingIdentity(other.before) === wanted && other.action !== "same");
  if (action === "replace" && wanted !== undefined && vhost.bound.has(wanted) && !isHeld && isOtherEnd(before, after)) {
    const rule = "bound-already";
    const found = `it is bound to ${String(after?.source)} already`;
    return { ...finding, rule, severity: rules[rule].severity, isParked: false, found, detail: undefined };
  }
  const network = networkOfDelivery(String(before?.source));
  if (action !== "delete" || network === undefined || !canEnforce(network.preset)) return finding;
  const isGone = changes.some(
    (change) =>
      takesBindingsAlong(change) &&
      change.kind === before?.destinationType &&
      change.before?.name === before?.destination &&
      change.before?.vhost === before?.vhost,
  );
  if (isGone) return finding;
  const matching = network.matching === "enforced" ? ("exact" as const) : ("enforced" as const);
  const end = bindingName({ ...network, matching });
  const known = new Set(changes.map((change) => (change.kind === "binding" ? bindingIdentity(change.before) : "")));
  const other = vhost.bindings.find(
    (binding) =>
      binding.source === end &&
      binding.destination === before?.destination &&
      binding.destinationType === before?.destinationType &&
      !known.has(bindingIdentity({ ...binding })),
  );
  if (other === undefined) return finding;
  const key = JSON.stringify(withoutSecrets(other.routingKey));
  const found = `it stays bound to ${end} by ${key} on the broker, which no program declares, and gets what comes there; unbind it by hand`;
  return { ...finding, found, isParked: false };
}

/** Whether a binding leads to the same destination from the other end of its network, to which `enforce` has moved all messages. */
function isOtherEnd(before: Record<string, unknown> = {}, after: Record<string, unknown> = {}): boolean {
  const [from, to] = [before, after].map(({ source }) => networkOfDelivery(String(source)));
  const isSameNetwork = from !== undefined && from.preset === to?.preset && from.prefix === to.prefix;
  return isSameNetwork && before.destination === after.destination && before.destinationType === after.destinationType;
}
