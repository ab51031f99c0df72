import type {
  BindingPlan,
  DelayedExchange,
  EndpointPlan,
  ExchangePlan,
  PolicyPlan,
  QueuePlan,
} from "@rabbitmq-delay/topology";
import type { AdoptedPart, DeclaredExchange, DeclaredQueue, OwnershipPlan } from "@rabbitmq-delay/topology/stack";
import { checkList } from "../api/answers";
import { FoundBinding, asPlans, missingBindings, readBindings } from "../api/bindings";
import { BrokerAddress, ManagementApi, ManagementApiError } from "../api/managementApi";
import { BrokerCheckError } from "../brokerCheckError";
import { checkGivenVersion, checkVersion } from "./brokerVersion";
import { shapes } from "./checkBroker";
import { adoptedQueues, checkAdopted } from "./checkAdopted";
import { areDifferencesOwn, checkDifferences, redeclaredQueues } from "./checkDifferences";
import { checkQueueLimit, queueLimitOf } from "./checkLimits";
import { checkExclusive } from "./exclusiveQueues";
import { checkDelayedExchanges } from "./delayedExchanges";
import { PolicyAnswer, checkPolicies } from "./checkPolicies";
import { FORGET, checkClaims, lostClaims, warnOfLost } from "./claims";
import { checkJoinedEnds, checkMatchingChange, warnOfEnforced } from "./matchingChange";
import { missingPolicies } from "./missingPolicies";
import { warnOfLeft } from "./leftNetworks";
import { warnOfMissing } from "./otherBroker";
import { checkQueues, visibleVhosts } from "./plannedQueues";
import { checkQueueTypes, checkUntyped, defaultQueueTypeOf } from "./queueTypes";
import { warnOfRefusing } from "./refusing";
import { checkRights, tagsOf } from "./rights";
import type { StackState } from "./stackState";
import { checkMoved, warnOfTakenOver } from "./takenOver";
import { checkUsers } from "./users";

/** The parts that a component is going to make, as far as the broker could refuse them half-way. */
export interface WantedParts {
  exchanges?: ExchangePlan[];
  queues?: QueuePlan[];
  /** The queues among them that a service consumes, which may need a policy of their own. */
  endpointQueues?: string[];
  /** The queues among them that hold what services failed at. */
  errorQueues?: string[];
  /** The bindings that are known already. */
  bindings?: BindingPlan[];
  /**
   * Where the bindings' destination comes from. One that is `existing` has to be on the broker, or belong to another component. An `output`
   * belongs to a resource of the program, which may have been made since the broker was read.
   */
  destination?: "existing" | "output";
  policies?: PolicyPlan[];
  /** The exchange that delays by the header `x-delay`, of which all of this is a part. */
  delayedExchange?: DelayedExchange;
  claims?: OwnershipPlan[];
  /** The messages that an endpoint takes from a network that this program does not make; for its own networks this is compared earlier. */
  endpoint?: EndpointPlan;
  /** Pairs of names that a vendor's clients may mix up. */
  allow?: string[];
  makesUsers?: boolean;
  /** Names of the users that it makes. */
  users?: string[];
  /** Former names of the claims' owner. */
  formerOwners?: string[];
  /** Whether a binding or a user that exists without a claim is taken over. */
  adopt?: boolean;
  /** What others may have declared already, and comes under the stack as it is. */
  adopted?: AdoptedPart;
  /** Queues that stay whatever `replaceable` says; another component of this stack may have them to be deleted all the same. */
  keptQueues?: string[];
  /** The broker's version, as the program gives it. */
  brokerVersion?: string;
  /** Whether things that this stack declared before may differ, because the engine then replaces them (`removal: "delete"`). */
  replaceable?: boolean;
  /**
   * Whether the bindings can only belong to the claims' owner. Then a binding that exists without a claim belongs to a stack that claims
   * nothing, and would be deleted with this one's.
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
  /** Warnings of components before. */
  told: Set<string>;
  /** The type that the vhost gives a queue without a type. */
  defaultType: string | undefined;
  /** Vhosts that the user may see. Read once, and only if needed, as are the bindings. */
  vhosts?: Promise<string[]>;
  bindings?: Promise<FoundBinding[]>;
  /** The same in the form of plans. */
  plannedBindings?: Promise<BindingPlan[]>;
}

/**
 * Reads everything with which a component's part of a vhost is compared.
 * @throws BrokerCheckError for a broker that can't be read; out of reach if the program itself makes the vhost
 */
export async function findParts(broker: BrokerAddress, vhost: string): Promise<FoundParts> {
  const api = new ManagementApi(broker);
  const version = await checkVersion(broker);
  const tags = await tagsOf(api, broker.username);
  const at = encodeURIComponent(vhost);
  const read = <T>(path: string): Promise<T> =>
    api.get<T>(path).catch((error: ManagementApiError) => {
      const { status, reason } = error;
      const why =
        status === 404 || status === 401 || status === 403
          ? `there is none, or user ${broker.username} may not use it`
          : `GET ${path} failed: ${reason}`;
      // A vhost that the program makes does not exist in its first preview.
      const isMadeAlong = status === 404 && tags.includes("administrator");
      throw new BrokerCheckError(`vhost: ${vhost} can't be read; ${why}`, isMadeAlong);
    });
  const list = async <T>(path: string, shape: keyof typeof shapes): Promise<T[]> =>
    checkList<T>(path, await read<unknown>(path), shapes[shape]);
  const [exchanges, queues, policies, operatorPolicies] = await Promise.all([
    list<DeclaredExchange>(`exchanges/${at}`, "exchanges"),
    list<DeclaredQueue>(
      `queues/${at}?columns=name,durable,auto_delete,exclusive,arguments,effective_policy_definition`,
      "queues",
    ),
    list<PolicyAnswer>(`policies/${at}`, "policies"),
    list<PolicyAnswer>(`operator-policies/${at}`, "policies"),
  ]);
  const queueLimit = await queueLimitOf(api, vhost);
  const defaultType = await defaultQueueTypeOf(api, vhost);
  const plannedQueues = new Set<string>();
  const listed = { exchanges, queues, policies, operatorPolicies };
  const told = new Set<string>();
  return { api, broker, tags, ...listed, queueLimit, plannedQueues, version, told, defaultType };
}

/**
 * Compares the parts that a component is going to make with those on the broker.
 * @param state of the running stack
 * @param planned queues and exchanges of all components of the program
 * @returns warnings, one line each
 * @throws BrokerCheckError for parts that the broker would refuse half-way, and for a name that belongs to somebody else
 */
export async function checkWanted(
  state: StackState,
  found: FoundParts,
  vhost: string,
  given: WantedParts & { component: string; name: string },
  planned: ReadonlySet<string>,
): Promise<string[]> {
  const { api, broker, tags, exchanges, queues, policies, operatorPolicies, queueLimit, plannedQueues, version } =
    found;
  const wanted = { ...given, bindings: knownBindings(found, vhost, given, planned) };
  const {
    policies: ownPolicies = [],
    claims = [],
    users = [],
    makesUsers,
    adopt,
    endpointQueues = [],
    errorQueues,
  } = wanted;
  const byNames = { exchanges: byName(exchanges), queues: byName(queues), defaultType: found.defaultType };
  const there = { exchanges: new Set(byNames.exchanges.keys()), queues: new Set(byNames.queues.keys()) };
  const entities = { exchanges: wanted.exchanges ?? [], queues: wanted.queues ?? [] };
  // Before anything is awaited, so that a component is told of the queues of all that are looked at with it.
  for (const { name } of entities.queues) if (!there.queues.has(name)) plannedQueues.add(name);
  checkGivenVersion(wanted.brokerVersion, version);
  await checkClaims(state, vhost, claims, exchanges, wanted.formerOwners);
  // An endpoint with one existing claim belongs to this stack, and so do all bindings of its queue.
  const lost = await lostClaims(state, broker.managementUrl, vhost, claims, there.exchanges);
  const isClaimed = lost.length > 0 || claims.some(({ name }) => there.exchanges.has(name));
  const bindings = async (): Promise<FoundBinding[]> => (found.bindings ??= readBindings(api, vhost));
  checkExclusive(wanted.bindings, byNames.queues);
  const adopted = wanted.adopted === undefined ? [] : [{ ...wanted.adopted, policies: ownPolicies }];
  const taken = adoptedQueues(adopted, policies, wanted.replaceable);
  const plannedBindings = (): Promise<BindingPlan[]> => (found.plannedBindings ??= bindings().then(asPlans));
  const adoption = await checkAdopted(state, vhost, adopted, { ...byNames, policies, bindings: plannedBindings });
  const ways = await checkDelayedExchanges(
    state,
    vhost,
    wanted.delayedExchange === undefined ? [] : [wanted.delayedExchange],
    { exchanges: byNames.exchanges, bindings: plannedBindings },
    { managementUrl: broker.managementUrl, isReplaceable: wanted.replaceable === true, planned },
  );
  if (wanted.areBindingsClaimed && !isClaimed && !adopt) checkUnclaimed(wanted.bindings, await bindings());
  const { keptQueues = [] } = wanted;
  const moved = wanted.replaceable === true ? entities.queues.map(({ name }) => name) : keptQueues;
  await checkMoved(
    state,
    vhost,
    moved.map((name) => [name, given.component] as const),
  );
  const isReplaced =
    wanted.replaceable === true &&
    mayBeOurs(wanted, byNames.exchanges, policies) &&
    (await areDifferencesOwn(state, vhost, entities, byNames));
  await checkUntyped(state, vhost, entities.queues, byNames);
  await checkMatchingChange(state, vhost, entities.queues, byNames.queues);
  checkJoinedEnds(wanted.bindings, byNames.queues);
  const lostParts = await warnOfMissing(state, broker, { vhost, entities }, there);
  // Each component of a program finds the same of another broker.
  const gone = lostParts.filter((warning) => !found.told.has(warning));
  for (const warning of gone) found.told.add(warning);
  const warnings = [
    ...gone,
    ...warnOfLost(lost),
    ...(given.component === "EndpointDelayBinding"
      ? // A preview does not know the bindings at another stack's network, but for the plan's.
        await warnOfLeft(state, api, vhost, [...wanted.bindings, ...(wanted.endpoint?.bindings ?? [])], given.name)
      : []),
    ...adoption,
    ...ways,
    ...(await warnOfTakenOver(
      state,
      vhost,
      entities.queues.filter(({ name }) => !taken.has(name)),
      byNames,
    )),
    ...checkDifferences(
      entities,
      byNames,
      isReplaced,
      await redeclaredQueues(state, vhost, entities.queues, byNames),
      given.component === "EndpointDelayBinding"
        ? [...entities.exchanges, ...entities.queues].map(({ name }) => name)
        : [],
    ),
    ...warnOfEnforced(entities.queues, byNames.queues),
    ...(await warnOfRefusing(
      wanted.bindings,
      wanted.delayedExchange === undefined ? [] : [wanted.delayedExchange],
      bindings,
      [...queues, ...entities.queues.filter(({ name }) => !there.queues.has(name))],
      ownPolicies,
      operatorPolicies,
    )),
    ...checkPolicies({ entities, policies: ownPolicies, endpointQueues, errorQueues }, { policies, operatorPolicies }),
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
  const vhosts = (): Promise<string[]> => (found.vhosts ??= visibleVhosts(api));
  await checkQueues(api, { vhost, version, planned: entities.queues, missing: missing.queues, vhosts });
  warnings.push(...checkQueueLimit(vhost, queueLimit, queues.length, plannedQueues.size));
  const news = missingPolicies(ownPolicies, policies);
  await checkRights(api, broker.username, { vhost, missing, there, policies: news, makesUsers }, tags);
  await checkUsers(state, api, broker, vhost, { users, claims, adopt }, exchanges);
  return warnings;
}

/**
 * The bindings whose ends are known: an output's queue may have been made after the broker was read, and nobody else can have a binding at
 * a queue that did not exist.
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

/**
 * Whether something may belong to this stack: a policy or a claim of this name shows that the stack was here before. If a component has
 * neither, the answer is yes.
 */
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

/** @throws BrokerCheckError if a binding exists already, made by hand or by a stack that claims nothing */
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
