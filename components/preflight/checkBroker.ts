import { BindingPlan, EntityPlan, PolicyPlan } from "rabbitmq-delay-topology";
import { BrokerCheckError } from "./brokerCheckError";
import { checkVersion, VersionNeed } from "./brokerVersion";
import { BrokerAddress, ManagementApi, ManagementApiError } from "./managementApi";

/** What is going to be declared. */
export interface Expectation {
  /** The vhost. */
  vhost: string;
  /** Whether the vhost is made along, so that it may be missing. */
  createsVhost?: boolean;
  /** Planned exchanges and queues. */
  entities: Pick<EntityPlan, "exchanges" | "queues">;
  /** Planned policies: parking, and settings of queues. */
  policies?: PolicyPlan[];
  /** How many nodes the broker must have at least; default: any. */
  minimumNodes?: number;
  /** Versions that parts of it need, beside those that all of it needs. */
  needs?: VersionNeed[];
  /** Bindings to queues and exchanges; those that are not planned must exist. */
  bindings?: BindingPlan[];
  /**
   * Whether a network that these components declared before may differ: the engine replaces it then (`removal: "delete"`).
   * What others declared may never differ.
   */
  replaceable?: boolean;
}

interface FoundExchange {
  name: string;
  type: string;
  durable: boolean;
  auto_delete: boolean;
  internal: boolean;
  arguments: Record<string, unknown>;
}
interface FoundQueue {
  name: string;
  durable: boolean;
  auto_delete: boolean;
  arguments: Record<string, unknown>;
}
interface FoundPolicy {
  name: string;
  pattern: string;
  "apply-to": string;
  priority: number;
}

/**
 * Looks at a broker before anything is declared on it.
 * @returns warnings: what is allowed but worth knowing, a line each
 * @throws BrokerCheckError for a broker that is out of reach, too old or without the management plugin, for wrong
 * credentials, an unknown vhost, an existing entity with other arguments, a policy in conflict, or a missing endpoint
 */
export async function checkBroker(broker: BrokerAddress, expectation: Expectation): Promise<string[]> {
  const api = new ManagementApi(broker);
  await checkVersion(broker, expectation.needs);
  await checkNodes(api, expectation);
  const vhost = encodeURIComponent(expectation.vhost);
  const [exchanges, queues, policies] = await Promise.all([
    inVhost<FoundExchange[]>(api, broker, expectation, `exchanges/${vhost}`),
    inVhost<FoundQueue[]>(api, broker, expectation, `queues/${vhost}?columns=name,durable,auto_delete,arguments`),
    inVhost<FoundPolicy[]>(api, broker, expectation, `policies/${vhost}`),
  ]);
  const found = { exchanges: byName(exchanges), queues: byName(queues) };
  checkDestinations(expectation, found);
  const differences = [
    ...expectation.entities.exchanges.flatMap((plan) => compareExchange(plan, found.exchanges.get(plan.name))),
    ...expectation.entities.queues.flatMap((plan) => compareQueue(plan, found.queues.get(plan.name))),
  ];
  const untyped = expectation.entities.queues.filter(({ arguments: values }) => !("x-queue-type" in values));
  const isIgnored = untyped.some((plan) => compareQueue(plan, found.queues.get(plan.name)).length > 0);
  const own = new Set((expectation.policies ?? []).map(({ name }) => name));
  const isOurs = policies.some(({ name }) => own.has(name));
  if (differences.length > 0 && (isIgnored || !(expectation.replaceable && isOurs))) {
    throw new BrokerCheckError(
      `${differences.slice(0, 3).join("; ")}${differences.length > 3 ? `; and ${differences.length - 3} more` : ""}: ` +
        `an entity can't change its arguments. Drain and delete it, or give the network another prefix or shape`,
    );
  }
  return [
    ...differences.map((difference) => `${difference}: it will be replaced, with the messages in it`),
    ...checkPolicies(expectation, policies),
  ];
}

async function checkNodes(api: ManagementApi, { minimumNodes = 1 }: Expectation): Promise<void> {
  if (minimumNodes <= 1) return;
  const nodes = await api.get<unknown[]>("nodes?columns=name").catch((error: ManagementApiError) => {
    throw new BrokerCheckError(
      `broker.managementUrl: its nodes can't be counted (HTTP ${error.status}: ${error.message})`,
    );
  });
  if (nodes.length >= minimumNodes) return;
  throw new BrokerCheckError(
    `broker.managementUrl: the broker has ${nodes.length} node${nodes.length === 1 ? "" : "s"}, and a production stack needs ` +
      `${minimumNodes}, so that quorum queues outlive the loss of one; add single-node to allow where that is meant`,
  );
}

async function inVhost<T extends unknown[]>(
  api: ManagementApi,
  broker: BrokerAddress,
  { vhost, createsVhost }: Expectation,
  path: string,
): Promise<T> {
  try {
    return await api.get<T>(path);
  } catch (error) {
    const { status, message } = error as ManagementApiError;
    if (status === 404 && createsVhost) return [] as unknown as T;
    const why =
      status === 404
        ? `there is no vhost ${vhost}; create it with rabbitmqctl add_vhost, or set createVhost: true`
        : status === 401 || status === 403
          ? `user ${broker.username} may not read vhost ${vhost}`
          : `GET ${path} failed (HTTP ${status}: ${message})`;
    throw new BrokerCheckError(`broker.vhost: ${why}`);
  }
}

function byName<T extends { name: string }>(entities: T[]): Map<string, T> {
  return new Map(entities.map((entity) => [entity.name, entity]));
}

function compareExchange(plan: EntityPlan["exchanges"][number], found: FoundExchange | undefined): string[] {
  if (found === undefined) return [];
  const wanted = { type: plan.type, durable: true, auto_delete: false, internal: false };
  const given = { type: found.type, durable: found.durable, auto_delete: found.auto_delete, internal: found.internal };
  return describe(`exchange ${plan.name}`, { ...given, ...found.arguments }, wanted);
}

function compareQueue(plan: EntityPlan["queues"][number], found: FoundQueue | undefined): string[] {
  if (found === undefined) return [];
  const given: Record<string, unknown> = { durable: found.durable, auto_delete: found.auto_delete, ...found.arguments };
  const wanted: Record<string, unknown> = { durable: true, auto_delete: false, ...plan.arguments };
  // For the broker, a classic queue is the same with and without the argument, whichever way its default type points.
  if (wanted["x-queue-type"] === "classic" && given["x-queue-type"] === undefined) given["x-queue-type"] = "classic";
  if (given["x-queue-type"] === "classic" && wanted["x-queue-type"] === undefined) delete given["x-queue-type"];
  return describe(`queue ${plan.name}`, given, wanted);
}

function describe(what: string, found: Record<string, unknown>, wanted: Record<string, unknown>): string[] {
  const keys = [...new Set([...Object.keys(found), ...Object.keys(wanted)])];
  const differing = keys.filter((key) => found[key] !== wanted[key]);
  if (differing.length === 0) return [];
  const show = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));
  return [
    `${what} exists with ${differing.map((key) => `${key} ${show(found[key])} (declared here: ${show(wanted[key])})`).join(", ")}`,
  ];
}

function checkDestinations(
  { entities, bindings = [], vhost }: Expectation,
  found: { exchanges: Map<string, unknown>; queues: Map<string, unknown> },
): void {
  const planned = { exchanges: byName(entities.exchanges), queues: byName(entities.queues) };
  for (const { destination, destinationType } of bindings) {
    const kind = destinationType === "queue" ? "queues" : "exchanges";
    if (planned[kind].has(destination) || found[kind].has(destination)) continue;
    throw new BrokerCheckError(
      `endpoints: there is no ${destinationType} ${destination} in vhost ${vhost}` +
        (destinationType === "queue" ? "; declare it first, or set createQueue: true" : "; declare it first"),
    );
  }
}

/** Only one policy applies to an entity, so another one that matches takes ours away, or loses its own effect. */
function checkPolicies({ entities, policies: planned = [] }: Expectation, policies: FoundPolicy[]): string[] {
  const own = new Set(planned.map(({ name }) => name));
  return planned.flatMap((policy) => {
    const { names, kinds, what, effect, remedy } = rangeOf(policy, entities);
    const ours = names.filter((name) => new RegExp(policy.pattern, "u").test(name));
    const others = policies
      .filter((other) => !own.has(other.name) && kinds.includes(other["apply-to"]))
      .filter((other) => ours.some((name) => matches(other.pattern, name)));
    const stronger = others.find((other) => other.priority >= policy.priority);
    if (stronger !== undefined) {
      throw new BrokerCheckError(
        `policy ${stronger.name} (pattern ${stronger.pattern}, priority ${stronger.priority}) applies to ${what} ` +
          `and would keep ${policy.name} (priority ${policy.priority}) from ${effect}; lower its priority, narrow ` +
          `its pattern, or ${remedy}`,
      );
    }
    return others.map((other) => `policy ${other.name} no longer applies to ${what}: ${policy.name} goes before it`);
  });
}

/** What a policy is for. */
function rangeOf(
  { applyTo, pattern }: PolicyPlan,
  { exchanges, queues }: Expectation["entities"],
): { names: string[]; kinds: string[]; what: string; effect: string; remedy: string } {
  if (applyTo === "exchanges") {
    return {
      names: exchanges.map(({ name }) => name),
      kinds: ["exchanges", "all"],
      what: "the network's exchanges",
      effect: "parking unroutable messages",
      remedy: "set parking: false",
    };
  }
  return {
    names: queues.map(({ name }) => name),
    kinds: ["quorum_queues", "queues", "all"],
    what: `the queue of ${pattern}`,
    effect: "delaying its retries",
    remedy: "set settings: arguments",
  };
}

/** A pattern in the broker's dialect that JavaScript can't read is taken as one that matches. */
function matches(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern).test(name);
  } catch {
    return true;
  }
}
