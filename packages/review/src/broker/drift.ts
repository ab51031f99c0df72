import type { BindingPlan, ExchangePlan, QueuePlan } from "@rabbitmq-delay/topology";
import {
  DeclaredExchange,
  DeclaredQueue,
  compareExchange,
  compareQueue,
  networkOfDelivery,
} from "@rabbitmq-delay/topology/stack";
import type { Finding } from "../judge/findings";
import { rules } from "../judge/rules";
import { isAt, takesBindingsAlong } from "../judge/bindingsLeftOut";
import { EntityChange, bindingIdentity, brokerName, isReadable, queueArguments } from "../preview/entityChange";
import type { BrokerAnswers } from "./brokerAnswers";
import { listOf } from "./askBroker";

/** What a vhost has, as far as a state is compared with it. */
interface VhostContent {
  queues: ReadonlyMap<string, DeclaredQueue>;
  exchanges: ReadonlyMap<string, DeclaredExchange>;
  bindings: readonly Bound[];
  /** The same, to look up. */
  bound: ReadonlySet<string>;
}

type Bound = Pick<BindingPlan, "source" | "destination" | "destinationType" | "routingKey"> & {
  vhost: string;
  arguments: Record<string, unknown>;
};

/** The vhosts that a plan's state knows, by their names. */
export type LiveVhosts = ReadonlyMap<string, VhostContent>;

/** Reads them. @throws BrokerAnswerError for a broker out of reach, or an answer that can't be right */
export async function readVhosts(changes: readonly EntityChange[], broker: BrokerAnswers): Promise<LiveVhosts> {
  const names = new Set(
    changes
      .filter(({ kind }) => ["queue", "exchange", "binding"].includes(kind))
      .map(({ before }) => before?.vhost)
      .filter(isReadable),
  );
  const found = new Map<string, VhostContent>();
  for (const name of names) found.set(name, await readVhost(name, broker));
  return found;
}

async function readVhost(vhost: string, broker: BrokerAnswers): Promise<VhostContent> {
  type FoundBinding = Pick<Bound, "source" | "destination" | "arguments"> & {
    destination_type: BindingPlan["destinationType"];
    routing_key: string;
  };
  const list = <T extends object>(kind: "queues" | "exchanges" | "bindings", columns: string): Promise<T[]> =>
    listOf<T>(broker, vhost, kind, columns, columns.split(","));
  const queues = await list<DeclaredQueue>("queues", "name,durable,auto_delete,arguments");
  const exchanges = await list<DeclaredExchange>("exchanges", "name,type,durable,auto_delete,internal,arguments");
  const found = await list<FoundBinding>("bindings", "source,destination,destination_type,routing_key,arguments");
  const bindings = found.map(({ destination_type: destinationType, routing_key: routingKey, ...others }) => ({
    ...others,
    vhost,
    destinationType,
    routingKey,
  }));
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    exchanges: new Map(exchanges.map((exchange) => [exchange.name, exchange])),
    bindings,
    bound: new Set(bindings.map((binding) => bindingIdentity({ ...binding }) as string)),
  };
}

/**
 * Finds what the engine leaves as it is, and the broker does not have as the state says: no update declares it anew.
 * @param isElsewhere whether a resource is on another broker of the plan
 */
export function driftOf(
  changes: readonly EntityChange[],
  live: LiveVhosts,
  isElsewhere: (urn: string) => boolean,
): Finding[] {
  return changes.flatMap((change): Finding[] => {
    const { urn, kind, action, parent, before } = change;
    const vhost = isReadable(before?.vhost) ? live.get(before.vhost) : undefined;
    if (vhost === undefined || !["same", "update"].includes(action) || isElsewhere(urn)) return [];
    const found = differenceOf(change, vhost);
    if (found === undefined) return [];
    const rule = "missing-on-broker";
    const entity = `${kind} ${brokerName(change)}`;
    return [{ rule, severity: rules[rule].severity, urn, parent, entity, causes: [], found }];
  });
}

const ABSENT = "it is not on the broker";

/** How the broker's differs from the state's, in words. */
function differenceOf({ kind, before = {} }: EntityChange, vhost: VhostContent): string | undefined {
  const { name, settings } = before;
  switch (kind) {
    case "queue": {
      if (!isReadable(name)) return undefined;
      const found = vhost.queues.get(name);
      if (found === undefined) return ABSENT;
      const values = queueArguments(before);
      // The broker may give an untyped queue the type that its vhost has, which is not read here.
      const given = "x-queue-type" in values ? found : { ...found, arguments: withoutType(found.arguments) };
      return compareQueue({ name, durable: true, arguments: values } as QueuePlan, given)[0];
    }
    case "exchange": {
      if (!isReadable(name)) return undefined;
      const found = vhost.exchanges.get(name);
      if (found === undefined) return ABSENT;
      const type = (settings as { type?: unknown } | undefined)?.type;
      if (!isReadable(type)) return undefined;
      const wanted = queueArguments(before);
      const missing = Object.keys(wanted).find((key) => found.arguments[key] === undefined);
      if (missing !== undefined) return `exchange ${name} exists without ${missing}`;
      const others = Object.entries(found.arguments).filter(([key, value]) => String(wanted[key]) !== String(value));
      const given = { ...found, arguments: Object.fromEntries(others) };
      return compareExchange({ name, type } as ExchangePlan, given)[0];
    }
    case "binding": {
      const identity = bindingIdentity(before);
      return identity === undefined || vhost.bound.has(identity) ? undefined : ABSENT;
    }
    default:
      return undefined;
  }
}

function withoutType(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => key !== "x-queue-type"));
}

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
  return changes.flatMap((change): Finding[] => {
    const { urn, kind, action, parent, before } = change;
    if (!takesBindingsAlong(change) || (kind === "queue" && action === "delete")) return [];
    const bindings = isReadable(before?.vhost) ? (live.get(before.vhost)?.bindings ?? []) : [];
    const others = bindings.filter(
      // Every queue is bound to the default exchange by its name, and is again when it is declared anew.
      (binding) => binding.source !== "" && isAt({ ...binding }, change) && !isOwn(binding),
    );
    const [first, ...rest] = others;
    if (first === undefined) return [];
    const more = rest.length === 0 ? "" : `, and ${rest.length} more`;
    const found = `${first.destinationType} ${first.destination} is bound to ${first.source} by ${JSON.stringify(first.routingKey)}${more}`;
    const rule = "bindings-of-others-gone";
    const entity = `${kind} ${brokerName(change)}`;
    return [{ rule, severity: rules[rule].severity, urn, parent, entity, causes: [], found }];
  });
}

const ENDS = ["vhost", "source", "destination", "destinationType"] as const;

/** Makes it a loss where a network shall park what has no way any more, and its parking is not on the broker. */
export function withoutParking(finding: Finding, changes: readonly EntityChange[], live: LiveVhosts): Finding {
  if (!finding.isParked) return finding;
  const before = changes.find(({ urn }) => urn === finding.urn)?.before;
  const vhost = isReadable(before?.vhost) ? live.get(before.vhost) : undefined;
  const { parkingExchange, parkingQueue } = networkOfDelivery(String(before?.source)) ?? {};
  if (vhost === undefined || parkingExchange === undefined || parkingQueue === undefined) return finding;
  if (vhost.exchanges.has(parkingExchange) && vhost.queues.has(parkingQueue)) return finding;
  const found = `its network's parking, ${parkingExchange} and queue ${parkingQueue}, is not on the broker, so that nothing keeps it`;
  return { ...finding, severity: "loss", found };
}
