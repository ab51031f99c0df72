import { networkOfDelivery } from "@rabbitmq-delay/topology/stack";
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
 * Finds queues that no resource of the plan declares, e.g. hold queues that publishers make, and that dead-letter to what is deleted without
 * waiting for its confirm.
 */
export function liveFeeders(changes: readonly EntityChange[], live: LiveVhosts): Finding[] {
  const planned = new Set(
    changes
      .filter(({ kind }) => kind === "queue")
      .map(({ before, after }) => JSON.stringify([(before ?? after)?.vhost, (before ?? after)?.name])),
  );
  return changes.flatMap((change): Finding[] => {
    const { urn, kind, action, parent, before } = change;
    if (!takesBindingsAlong(change) || (kind === "queue" && action === "replace")) return [];
    const [vhost, name] = [before?.vhost, before?.name];
    const queues = isReadable(vhost) ? [...(live.get(vhost)?.queues.values() ?? [])] : [];
    const feeders = queues.filter(({ name: queue, arguments: values }) => {
      const { "x-dead-letter-exchange": exchange, "x-dead-letter-routing-key": key } = values;
      const isTarget = kind === "exchange" ? exchange === name : exchange === "" && key === name;
      const isSafe = values["x-dead-letter-strategy"] === "at-least-once";
      return isTarget && !isSafe && !planned.has(JSON.stringify([vhost, queue]));
    });
    const [first] = feeders;
    if (first === undefined) return [];
    const more = feeders.length === 1 ? "" : `, and ${feeders.length - 1} more,`;
    const found = `queue ${first.name}${more} passes its messages on to it, and is on the broker alone`;
    const rule = "unroutable-lost";
    const entity = `${kind} ${brokerName(change)}`;
    return [{ rule, severity: rules[rule].severity, urn, parent, entity, causes: [], found }];
  });
}
