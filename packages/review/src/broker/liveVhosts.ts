import type { BindingPlan } from "@rabbitmq-delay/topology";
import { BrokerAnswerError, DeclaredExchange, DeclaredQueue } from "@rabbitmq-delay/topology/stack";
import { EntityChange, bindingIdentity } from "../preview/entityChange";
import { listOf, vhostsOf } from "./askBroker";
import type { BrokerAnswers } from "./brokerAnswers";

/** What a vhost has, as far as a state is compared with it. */
export interface VhostContent {
  /** With the name of the policy that applies, if one does; so the exchanges. */
  queues: ReadonlyMap<string, FoundQueue>;
  exchanges: ReadonlyMap<string, DeclaredExchange & WithPolicy>;
  /** By their names; undefined if the user may not read them. */
  policies: ReadonlyMap<string, FoundPolicy> | undefined;
  /** The same of operator policies. */
  operatorPolicies: ReadonlyMap<string, FoundPolicy> | undefined;
  bindings: readonly Bound[];
  /** The same, to look up. */
  bound: ReadonlySet<string>;
}

interface WithPolicy {
  policy?: string;
}

/** A queue on the broker, with its type, which its arguments may leave out. */
type FoundQueue = DeclaredQueue & WithPolicy & { type?: string };

/** A policy, as the management API shows it. */
export interface FoundPolicy {
  name: string;
  pattern: string;
  "apply-to": string;
  priority: number;
  definition: Record<string, unknown>;
}

/** A binding on the broker. */
export type Bound = Pick<BindingPlan, "source" | "destination" | "destinationType" | "routingKey"> & {
  vhost: string;
  /** With the types that the broker has. */
  argumentsJson: string;
};

/** The vhosts of a plan that the broker has, by their names. */
export type LiveVhosts = ReadonlyMap<string, VhostContent>;

/** Reads them. @throws BrokerAnswerError for a broker out of reach, or an answer that can't be right */
export async function readVhosts(changes: readonly EntityChange[], broker: BrokerAnswers): Promise<LiveVhosts> {
  const found = new Map<string, VhostContent>();
  for (const { name, isThere } of vhostsOf(changes)) {
    // A vhost that is yet to be made has nothing.
    if (isThere || (await broker.get(`exchanges/${encodeURIComponent(name)}?columns=name`)) !== undefined) {
      found.set(name, await readVhost(name, broker));
    }
  }
  return found;
}

async function readVhost(vhost: string, broker: BrokerAnswers): Promise<VhostContent> {
  type FoundBinding = Pick<Bound, "source" | "destination"> & {
    arguments: Record<string, unknown>;
    destination_type: BindingPlan["destinationType"];
    routing_key: string;
  };
  const list = <T extends object>(
    kind: "queues" | "exchanges" | "bindings",
    columns: string,
    more = "",
  ): Promise<T[]> => listOf<T>(broker, vhost, kind, `${columns}${more}`, columns.split(","));
  const queues = await list<FoundQueue>("queues", "name,durable,auto_delete,arguments", ",policy,type");
  const exchanges = await list<DeclaredExchange & WithPolicy>(
    "exchanges",
    "name,type,durable,auto_delete,internal,arguments",
    ",policy",
  );
  const found = await list<FoundBinding>("bindings", "source,destination,destination_type,routing_key,arguments");
  const bindings = found.map(({ destination_type: destinationType, routing_key: routingKey, ...others }) => ({
    source: others.source,
    destination: others.destination,
    argumentsJson: JSON.stringify(others.arguments),
    vhost,
    destinationType,
    routingKey,
  }));
  return {
    queues: new Map(queues.map((queue) => [queue.name, queue])),
    exchanges: new Map(exchanges.map((exchange) => [exchange.name, exchange])),
    policies: await readPolicies("policies", vhost, broker),
    operatorPolicies: await readPolicies("operator-policies", vhost, broker),
    bindings,
    bound: new Set(bindings.map((binding) => bindingIdentity({ ...binding }) as string)),
  };
}

/** Only a user with the tag policymaker or administrator may read them. */
async function readPolicies(
  kind: "policies" | "operator-policies",
  vhost: string,
  broker: BrokerAnswers,
): Promise<VhostContent["policies"]> {
  try {
    const found = await broker.get<FoundPolicy[]>(`${kind}/${encodeURIComponent(vhost)}`);
    const isList = Array.isArray(found) && found.every((policy) => typeof policy?.definition === "object");
    return isList ? new Map(found.map((policy) => [policy.name, policy])) : undefined;
  } catch (error) {
    if (!(error instanceof BrokerAnswerError)) throw error;
    return undefined;
  }
}
