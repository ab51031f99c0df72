import type {
  BindingPlan,
  DeclaredExchange,
  DeclaredQueue,
  EndpointPlan,
  ExchangePlan,
  OwnershipPlan,
  PolicyPlan,
  QueuePlan,
} from "@rabbitmq-delay/topology";
import { checkList } from "../api/answers";
import { FoundBinding, missingBindings, readBindings } from "../api/bindings";
import { BrokerAddress, ManagementApi, ManagementApiError } from "../api/managementApi";
import { BrokerCheckError } from "../brokerCheckError";
import { checkGivenVersion, checkVersion } from "./brokerVersion";
import { shapes } from "./checkBroker";
import { areDifferencesOwn, checkDifferences } from "./checkDifferences";
import { checkQueueLimit, queueLimitOf } from "./checkLimits";
import { PolicyAnswer, checkPolicies } from "./checkPolicies";
import { FORGET, checkClaims, lostClaims, warnOfLost } from "./claims";
import { missingPolicies } from "./missingPolicies";
import { checkQueueTypes, defaultQueueTypeOf } from "./queueTypes";
import { checkRights, tagsOf } from "./rights";
import type { StackState } from "./stackState";
import { checkMoved, warnOfTakenOver } from "./takenOver";
import { checkUsers } from "./users";

/** What a component is going to make, as far as the broker could refuse it half-way. */
export interface WantedParts {
  exchanges?: ExchangePlan[];
  queues?: QueuePlan[];
  /** Those of the queues that a service consumes, which may want a policy for them. */
  endpointQueues?: string[];
  /** Those that are known. */
  bindings?: BindingPlan[];
  /**
   * Where the bindings' destination comes from: one that is `existing` has to be on the broker, or of another component; an `output`
   * is of a resource of the program, which may have been made since the look.
   */
  destination?: "existing" | "output";
  policies?: PolicyPlan[];
  claims?: OwnershipPlan[];
  /** What an endpoint takes of a network that this program does not make; what it makes is compared before. */
  endpoint?: EndpointPlan;
  /** Pairs of names that a vendor's clients may mix up. */
  allow?: string[];
  makesUsers?: boolean;
  /** Names of those users. */
  users?: string[];
  /** What the claims' owner was called before. */
  formerOwners?: string[];
  /** Whether a binding or a user that is there without a claim is taken over. */
  adopt?: boolean;
  /** What the program says that the broker is. */
  brokerVersion?: string;
  /** Whether what this stack declared before may differ: the engine replaces it then (`removal: "delete"`). */
  replaceable?: boolean;
  /**
   * Whether the bindings can be no others' than the claims' owner's: then one that is there without a claim is of a stack that
   * claims nothing, and would go with this one's.
   */
  areBindingsClaimed?: boolean;
}

/** What is on a broker before a program makes anything. */
export interface FoundParts {
  api: ManagementApi;
  broker: BrokerAddress;
  tags: string[];
  exchanges: DeclaredExchange[];
  queues: DeclaredQueue[];
  policies: PolicyAnswer[];
  operatorPolicies: PolicyAnswer[];
  /** How many queues the vhost may have. */
  queueLimit: number | "unknown" | undefined;
  /** Queues that components of this program are going to make. */
  plannedQueues: Set<string>;
  version: string;
  /** What the vhost makes of a queue without a type. */
  defaultType: string | undefined;
  /** Asked for once, and only where it matters. */
  bindings?: Promise<FoundBinding[]>;
}

/**
 * Reads what a component's part of a vhost is compared with.
 * @throws BrokerCheckError for a broker that can't be read; out of reach where the vhost is going to be made along
 */
export async function findParts(broker: BrokerAddress, vhost: string): Promise<FoundParts> {
  const api = new ManagementApi(broker);
  const version = await checkVersion(broker);
  const tags = await tagsOf(api, broker.username);
  const at = encodeURIComponent(vhost);
  const read = <T>(path: string): Promise<T> =>
    api.get<T>(path).catch((error: ManagementApiError) => {
      const { status, message } = error;
      const reason =
        status === 404 || status === 401 || status === 403
          ? `there is none, or user ${broker.username} may not use it`
          : `GET ${path} failed (HTTP ${status}: ${message})`;
      // A vhost that the program makes is not there in its first preview.
      const isMadeAlong = status === 404 && tags.includes("administrator");
      throw new BrokerCheckError(`vhost: ${vhost} can't be read; ${reason}`, isMadeAlong);
    });
  const list = async <T>(path: string, shape: keyof typeof shapes): Promise<T[]> =>
    checkList<T>(path, await read<unknown>(path), shapes[shape]);
  const [exchanges, queues, policies, operatorPolicies] = await Promise.all([
    list<DeclaredExchange>(`exchanges/${at}`, "exchanges"),
    list<DeclaredQueue>(`queues/${at}?columns=name,durable,auto_delete,arguments`, "queues"),
    list<PolicyAnswer>(`policies/${at}`, "policies"),
    list<PolicyAnswer>(`operator-policies/${at}`, "policies"),
  ]);
  const queueLimit = await queueLimitOf(api, vhost);
  const defaultType = await defaultQueueTypeOf(api, vhost);
  const plannedQueues = new Set<string>();
  const listed = { exchanges, queues, policies, operatorPolicies };
  return { api, broker, tags, ...listed, queueLimit, plannedQueues, version, defaultType };
}

/**
 * Compares what a component is going to make with what is on the broker.
 * @param state of the running stack
 * @param planned queues and exchanges of all components of the program
 * @returns warnings, a line each
 * @throws BrokerCheckError for what the broker would refuse half-way, and for a name that is somebody else's
 */
export async function checkWanted(
  state: StackState,
  found: FoundParts,
  vhost: string,
  given: WantedParts & { component: string },
  planned: ReadonlySet<string>,
): Promise<string[]> {
  const { api, broker, tags, exchanges, queues, policies, operatorPolicies, queueLimit, plannedQueues, version } =
    found;
  const wanted = { ...given, bindings: knownBindings(found, vhost, given, planned) };
  const { policies: ownPolicies = [], claims = [], users = [], makesUsers, adopt, endpointQueues = [] } = wanted;
  checkGivenVersion(wanted.brokerVersion, version);
  await checkClaims(state, vhost, claims, exchanges, wanted.formerOwners);
  const byNames = { exchanges: byName(exchanges), queues: byName(queues), defaultType: found.defaultType };
  const there = { exchanges: new Set(byNames.exchanges.keys()), queues: new Set(byNames.queues.keys()) };
  const entities = { exchanges: wanted.exchanges ?? [], queues: wanted.queues ?? [] };
  // An endpoint of which one claim is there is this stack's, and so are all bindings of its queue.
  const lost = await lostClaims(state, broker.managementUrl, vhost, claims, there.exchanges);
  const isClaimed = lost.length > 0 || claims.some(({ name }) => there.exchanges.has(name));
  const bindings = async (): Promise<FoundBinding[]> => (found.bindings ??= readBindings(api, vhost));
  if (wanted.areBindingsClaimed && !isClaimed && !adopt) checkUnclaimed(wanted.bindings, await bindings());
  if (wanted.replaceable === true) {
    await checkMoved(
      state,
      vhost,
      entities.queues.map(({ name }) => [name, given.component] as const),
    );
  }
  const isReplaced =
    wanted.replaceable === true &&
    mayBeOurs(wanted, byNames.exchanges, policies) &&
    (await areDifferencesOwn(state, vhost, entities, byNames));
  const warnings = [
    ...warnOfLost(lost),
    ...(await warnOfTakenOver(state, vhost, entities.queues, byNames)),
    ...checkDifferences(entities, byNames, isReplaced),
    ...checkPolicies({ entities, policies: ownPolicies, endpointQueues }, { policies, operatorPolicies }),
  ];
  const areEndsThere = ({ source, destination, destinationType }: BindingPlan): boolean =>
    there.exchanges.has(source) && there[destinationType === "queue" ? "queues" : "exchanges"].has(destination);
  const between = wanted.bindings.filter(areEndsThere);
  const missing = {
    exchanges: [...claims, ...entities.exchanges].filter(({ name }) => !there.exchanges.has(name)),
    queues: entities.queues.filter(({ name }) => !there.queues.has(name)),
    bindings: [
      ...wanted.bindings.filter((binding) => !areEndsThere(binding)),
      ...(between.length === 0 ? [] : missingBindings(between, await bindings())),
    ],
  };
  checkQueueTypes(missing.queues, vhost, found.defaultType);
  for (const { name } of missing.queues) plannedQueues.add(name);
  warnings.push(...checkQueueLimit(vhost, queueLimit, queues.length, plannedQueues.size));
  const news = missingPolicies(ownPolicies, policies);
  await checkRights(api, broker.username, { vhost, missing, there, policies: news, makesUsers }, tags);
  await checkUsers(state, api, broker, vhost, { users, claims, adopt }, exchanges);
  return warnings;
}

/**
 * The bindings whose ends are known: the queue of an output may have been made after the look, and nobody else's binding can be at one
 * that was not there.
 * @throws BrokerCheckError for a destination that nobody makes
 */
function knownBindings(
  { exchanges, queues }: FoundParts,
  vhost: string,
  { bindings = [], destination: origin }: WantedParts,
  planned: ReadonlySet<string>,
): BindingPlan[] {
  if (origin === undefined) return bindings;
  const isThere = ({ destination, destinationType }: BindingPlan): boolean =>
    (destinationType === "queue" ? queues : exchanges).some(({ name }) => name === destination);
  if (origin === "output") return bindings.filter(isThere);
  const missing = bindings.find((binding) => !isThere(binding) && !planned.has(binding.destination));
  if (missing === undefined) return bindings;
  throw new BrokerCheckError(
    `endpoint: there is no ${missing.destinationType} ${missing.destination} in vhost ${vhost}; nothing was made. Declare it first, ` +
      `set createQueue: true, or, where this program declares it itself, give destination as that resource's name output`,
  );
}

/** A policy or a claim of this name shows that this stack was here before; where it has neither, nothing speaks against it. */
function mayBeOurs(
  { claims = [], policies = [] }: WantedParts,
  exchanges: ReadonlyMap<string, unknown>,
  found: readonly PolicyAnswer[],
): boolean {
  if (claims.length === 0 && policies.length === 0) return true;
  return (
    claims.some(({ name }) => exchanges.has(name)) ||
    found.some(({ name }) => policies.some((own) => own.name === name))
  );
}

function byName<T extends { name: string }>(entities: readonly T[]): Map<string, T> {
  return new Map(entities.map((entity) => [entity.name, entity]));
}

/** @throws BrokerCheckError where a binding is there already, by a stack that claims nothing, or by hand */
function checkUnclaimed(bindings: readonly BindingPlan[], found: readonly FoundBinding[]): void {
  const missing = new Set(missingBindings(bindings, found));
  const there = bindings.find((binding) => !missing.has(binding));
  if (there === undefined) return;
  const { source, destination } = there;
  throw new BrokerCheckError(
    `endpoint: ${JSON.stringify(destination)} is bound to ${source} already, by a stack that does not say so, or by hand; ` +
      `nothing was made. If the binding is this stack's own, whose claim is lost or was never made, or nobody else's, set ` +
      `adopt: true for an update. If another stack has it, the binding would go with this one's: choose another name, or let ` +
      `that stack forget it, by ${FORGET}, before it leaves that program, and then set adopt: true here`,
  );
}
