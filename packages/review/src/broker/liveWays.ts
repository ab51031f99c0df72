import { bindingName, canEnforce, networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { takesBindingsAlong } from "../judge/bindingsLeftOut";
import type { Finding } from "../judge/findings";
import { viewOn } from "../judge/policiesInForce";
import { rules } from "../judge/rules";
import { EntityChange, bindingIdentity, brokerName, isReadable } from "../preview/entityChange";
import type { LiveVhosts, VhostContent } from "./liveVhosts";

/** Makes it a loss where a network shall park what has no way any more, and the broker would not. */
export function withoutParking(finding: Finding, changes: readonly EntityChange[], live: LiveVhosts): Finding {
  if (!finding.isParked) return finding;
  const before = changes.find(({ urn }) => urn === finding.urn)?.before;
  const vhost = isReadable(before?.vhost) ? live.get(before.vhost) : undefined;
  if (vhost === undefined || !isReadable(before?.source)) return finding;
  const missing = missingOfParking(before.source, String(before.vhost), vhost, changes);
  if (missing === undefined) return finding;
  return { ...finding, severity: "loss", found: `${missing}, so that nothing keeps it` };
}

/** What of a network's parking the broker does not have, in words. */
function missingOfParking(
  delivery: string,
  vhost: string,
  { exchanges, queues, bound, policies }: VhostContent,
  changes: readonly EntityChange[],
): string | undefined {
  const { parkingExchange, parkingQueue } = networkOfDelivery(delivery) ?? {};
  if (parkingExchange === undefined || parkingQueue === undefined) return undefined;
  if (!exchanges.has(parkingExchange) || !queues.has(parkingQueue))
    return `its network's parking, ${parkingExchange} and queue ${parkingQueue}, is not on the broker`;
  const binding = { vhost, source: parkingExchange, destination: parkingQueue, destinationType: "queue" };
  if (!bound.has(bindingIdentity(binding) as string))
    return `queue ${parkingQueue} is not bound to ${parkingExchange} on the broker`;
  const found = exchanges.get(delivery);
  const own = policies?.get(found?.policy ?? "")?.definition ?? plannedDefinition(found?.policy, changes);
  const alternate = found?.arguments["alternate-exchange"] ?? own?.["alternate-exchange"];
  return alternate === parkingExchange
    ? undefined
    : `${delivery} does not lead to ${parkingExchange} on the broker what finds no binding`;
}

/** What a policy of that name says in the state. */
function plannedDefinition(
  name: string | undefined,
  changes: readonly EntityChange[],
): Record<string, unknown> | undefined {
  const policy = changes.find(({ kind, before }) => kind === "policy" && before?.name === name && name !== undefined);
  return policy === undefined ? undefined : viewOn(policy, "before")?.definition;
}

/**
 * Finds queues and exchanges that no resource of the plan declares, e.g. hold queues that publishers make, and that pass messages on to what is
 * deleted without waiting for its confirm.
 */
export function liveFeeders(changes: readonly EntityChange[], live: LiveVhosts): Finding[] {
  const planned = new Set(
    changes.map(({ kind, before, after }) => JSON.stringify([kind, (before ?? after)?.vhost, (before ?? after)?.name])),
  );
  return changes.flatMap((change): Finding[] => {
    const { urn, kind, action, parent, before } = change;
    if (!takesBindingsAlong(change) || (kind === "queue" && action === "replace")) return [];
    const [vhost, name] = [before?.vhost, before?.name];
    const { queues, exchanges } = (isReadable(vhost) ? live.get(vhost) : undefined) ?? {};
    const feeders = [
      ...[...(queues?.values() ?? [])].filter((queue) => feeds(queue, change)).map((queue) => ["queue", queue.name]),
      ...[...(exchanges?.values() ?? [])]
        .filter((exchange) => kind === "exchange" && exchange.arguments["alternate-exchange"] === name)
        .map((exchange) => ["exchange", exchange.name]),
    ].filter(([kindOf, feeder]) => !planned.has(JSON.stringify([kindOf, vhost, feeder])));
    const [first] = feeders;
    if (first === undefined) return [];
    const more = feeders.length === 1 ? "" : `, and ${feeders.length - 1} more,`;
    const found = `${first.join(" ")}${more} passes messages on to it, and is on the broker alone`;
    const rule = "unroutable-lost";
    const entity = `${kind} ${brokerName(change)}`;
    return [{ rule, severity: rules[rule].severity, urn, parent, entity, causes: [], found }];
  });
}

/** Whether a queue dead-letters to an exchange, or to a queue by the default exchange, without waiting for a confirm. */
function feeds({ arguments: values }: { arguments: Record<string, unknown> }, { kind, before }: EntityChange): boolean {
  const { "x-dead-letter-exchange": exchange, "x-dead-letter-routing-key": key } = values;
  if (values["x-dead-letter-strategy"] === "at-least-once") return false;
  return kind === "exchange" ? exchange === before?.name : exchange === "" && key === before?.name;
}

/** Says of an endpoint that leaves a network where it stays bound: `enforce` binds it to the other end, of which the state knows nothing. */
export function stillBound(finding: Finding, changes: readonly EntityChange[], live: LiveVhosts): Finding {
  const { kind, action, before } = changes.find(({ urn }) => urn === finding.urn) ?? {};
  if (kind !== "binding" || action !== "delete") return finding;
  const network = networkOfDelivery(String(before?.source));
  if (network === undefined || !canEnforce(network.preset)) return finding;
  const matching = network.matching === "enforced" ? ("exact" as const) : ("enforced" as const);
  const end = bindingName({ ...network, matching });
  const known = new Set(changes.map((change) => (change.kind === "binding" ? bindingIdentity(change.before) : "")));
  const bindings = (isReadable(before?.vhost) ? live.get(before.vhost)?.bindings : undefined) ?? [];
  const other = bindings.find(
    (binding) =>
      binding.source === end &&
      binding.destination === before?.destination &&
      binding.destinationType === before?.destinationType &&
      !known.has(bindingIdentity({ ...binding })),
  );
  if (other === undefined) return finding;
  const found = `it stays bound to ${end} by ${JSON.stringify(other.routingKey)} on the broker, which no program declares, and gets what comes there; unbind it by hand`;
  return { ...finding, found, isParked: false };
}
