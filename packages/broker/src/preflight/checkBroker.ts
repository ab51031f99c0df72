import { BindingPlan, DelayedExchange, EntityPlan, PolicyPlan } from "@rabbitmq-delay/topology";
import {
  AdoptedPart,
  DeclaredExchange,
  DeclaredQueue,
  OwnershipPlan,
  compareQueue,
} from "@rabbitmq-delay/topology/stack";
import { describeFault, faultsOf } from "../brokerFaults";
import type { StackState } from "./stackState";
import { checkList } from "../api/answers";
import { BrokerCheckError } from "../brokerCheckError";
import { FoundBinding, asPlans, missingBindings, readBindings } from "../api/bindings";
import { checkVersion, VersionNeed } from "./brokerVersion";
import { PolicyAnswer, PolicyTarget, checkPolicies } from "./checkPolicies";
import { adoptedQueues, checkAdopted } from "./checkAdopted";
import { areDifferencesOwn, checkDifferences, redeclaredQueues } from "./checkDifferences";
import { checkQueueLimit, queueLimitOf } from "./checkLimits";
import { checkExclusive } from "./exclusiveQueues";
import { checkDelayedExchanges } from "./delayedExchanges";
import { checkClaims, lostClaims, warnOfLost } from "./claims";
import { BrokerAddress, ManagementApi, ManagementApiError } from "../api/managementApi";
import { checkMatchingChange, warnOfEnforced } from "./matchingChange";
import { warnOfLeft } from "./leftNetworks";
import { missingPolicies } from "./missingPolicies";
import { checkQueues, visibleVhosts } from "./plannedQueues";
import { checkQueueTypes, checkUntyped, defaultQueueTypeOf } from "./queueTypes";
import { checkVhostIsHere, warnOfMissing } from "./otherBroker";
import { warnOfRefusing } from "./refusing";
import { shellWord } from "./shellWord";
import { checkRights } from "./rights";
import { checkMoved, warnOfTakenOver } from "./takenOver";
import { checkUsers } from "./users";

/** What a program is going to declare. */
export interface Expectation {
  /** The vhost. */
  vhost: string;
  /** Whether the program makes the vhost in the same update, so that it may be missing. */
  createsVhost?: boolean;
  /** Planned exchanges and queues. */
  entities: Pick<EntityPlan, "exchanges" | "queues">;
  /** The queues among them that hold what services failed at. */
  errorQueues?: string[];
  /** Planned policies: parking, and settings of queues. */
  policies?: PolicyPlan[];
  /** Names that the stack is going to claim. */
  claims?: OwnershipPlan[];
  /** Former names of the claims' owner. */
  formerOwners?: readonly string[];
  /** Whether the program makes users. */
  makesUsers?: boolean;
  /** Names of those users. */
  users?: readonly string[];
  /** Whether an existing user is taken over. */
  adopt?: boolean;
  /** Parts of the entities that others may have declared already, and that come under the stack as they are. */
  adopted?: readonly AdoptedPart[];
  /** The lowest number of nodes that the broker must have; default: any. */
  minimumNodes?: number;
  /** Versions that parts of the topology need, beside the one that all of it needs. */
  needs?: VersionNeed[];
  /** Bindings to queues and exchanges; those that are not planned must exist. */
  bindings?: BindingPlan[];
  /** Exchanges that delay by the header `x-delay`; what they lead to has to be there, or to be planned. */
  delayedExchanges?: readonly DelayedExchange[];
  /**
   * Whether a network that these components declared before may differ, because the engine then replaces it (`removal: "delete"`). Things
   * that others declared may never differ.
   */
  replaceable?: boolean;
  /** Parts that are declared together: if other things of a group are on the broker, one that differs is this stack's own. */
  groups?: Pick<EntityPlan, "exchanges" | "queues">[];
  /** Names of queues that several kinds of components could declare, each with the component that does. */
  declarers?: (readonly [queue: string, component: string])[];
  /** Names of the broker's own faults that need no warning; see `brokerFaults`. */
  allowedFaults?: readonly string[];
}

/** The answers that are read for a vhost. */
export const shapes = {
  exchanges: { name: "string", type: "string", durable: "boolean", auto_delete: "boolean", arguments: "object" },
  queues: { name: "string", durable: "boolean", auto_delete: "boolean", arguments: "object" },
  policies: { name: "string", pattern: "string", "apply-to": "string", priority: "number", definition: "object" },
} as const;

/**
 * Checks a broker before anything is declared on it.
 * @returns warnings: things that are allowed but worth knowing, one line each
 * @throws BrokerCheckError for a broker that is out of reach, too old or without the management plugin, for wrong credentials, an unknown
 * vhost, an existing entity with other arguments, a policy in conflict, or a missing endpoint
 */
export async function checkBroker(
  state: StackState,
  broker: BrokerAddress,
  expectation: Expectation,
): Promise<string[]> {
  const api = new ManagementApi(broker);
  const version = await checkVersion(broker, expectation.needs);
  await checkNodes(api, expectation);
  const vhost = encodeURIComponent(expectation.vhost);
  const isNew = expectation.createsVhost === true && (await isMissing(api, expectation));
  if (expectation.createsVhost === true && !isNew) await checkVhostIsOwn(state, expectation);
  const read = <T>(path: string, shape: keyof typeof shapes): Promise<T[]> =>
    isNew ? Promise.resolve([]) : inVhost<T>(api, broker, expectation, path, shape);
  const [exchanges, queues, policies, operatorPolicies] = await Promise.all([
    read<DeclaredExchange>(`exchanges/${vhost}`, "exchanges"),
    read<DeclaredQueue>(
      `queues/${vhost}?columns=name,durable,auto_delete,exclusive,arguments,effective_policy_definition`,
      "queues",
    ),
    read<PolicyAnswer>(`policies/${vhost}`, "policies"),
    read<PolicyAnswer>(`operator-policies/${vhost}`, "policies"),
  ]);
  // Every vhost has the default exchange.
  if (!isNew && exchanges.length === 0) {
    throw new BrokerCheckError(
      `broker.managementUrl: the answer for vhost ${expectation.vhost} has no exchange at all; is this RabbitMQ's management API?`,
    );
  }
  if (expectation.createsVhost === true && !isNew) await checkVhostIsHere(state, broker, expectation, exchanges);
  const defaultType = await defaultQueueTypeOf(api, expectation.vhost, isNew);
  const found = { exchanges: byName(exchanges), queues: byName(queues), defaultType };
  checkDestinations(expectation, found);
  checkExclusive(expectation.bindings ?? [], found.queues);
  if (expectation.replaceable === true) await checkMoved(state, expectation.vhost, expectation.declarers ?? []);
  await checkClaims(state, expectation.vhost, expectation.claims ?? [], exchanges, expectation.formerOwners);
  let boundThere: Promise<FoundBinding[]> | undefined;
  const readBound = (): Promise<FoundBinding[]> =>
    (boundThere ??= isNew ? Promise.resolve([]) : readBindings(api, expectation.vhost));
  const { adopted = [] } = expectation;
  const taken = adoptedQueues(adopted, policies, expectation.replaceable);
  const adoption = await checkAdopted(state, expectation.vhost, adopted, {
    ...found,
    policies,
    bindings: async () => asPlans(await readBound()),
  });
  const ways = await checkDelayedExchanges(
    state,
    expectation.vhost,
    expectation.delayedExchanges ?? [],
    { exchanges: found.exchanges, bindings: async () => asPlans(await readBound()) },
    {
      managementUrl: broker.managementUrl,
      isReplaceable: expectation.replaceable === true,
      planned: new Set(expectation.entities.exchanges.map(({ name }) => name)),
    },
  );
  const own = new Set((expectation.policies ?? []).map(({ name }) => name));
  const isOurs = policies.some(({ name }) => own.has(name)) && !differsAlone(expectation, found);
  const isReplaced =
    expectation.replaceable === true &&
    isOurs &&
    (await areDifferencesOwn(state, expectation.vhost, expectation.entities, found));
  await checkUntyped(state, expectation.vhost, expectation.entities.queues, found);
  await checkMatchingChange(state, expectation.vhost, expectation.entities.queues, found.queues);
  const redeclared = await redeclaredQueues(state, expectation.vhost, expectation.entities.queues, found);
  const replaced = checkDifferences(
    expectation.entities,
    found,
    isReplaced,
    redeclared,
    (expectation.declarers ?? []).filter(([, component]) => component === "EndpointDelayBinding").map(([name]) => name),
  );
  const { claims = [], makesUsers } = expectation;
  const there = { exchanges: new Set(found.exchanges.keys()), queues: new Set(found.queues.keys()) };
  const areEndsThere = ({ source, destination, destinationType }: BindingPlan): boolean =>
    there.exchanges.has(source) && there[destinationType === "queue" ? "queues" : "exchanges"].has(destination);
  const bindings = expectation.bindings ?? [];
  const between = bindings.filter(areEndsThere);
  const missingQueues = expectation.entities.queues.filter(({ name }) => !found.queues.has(name));
  checkQueueTypes(missingQueues, expectation.vhost, defaultType);
  await checkQueues(api, {
    vhost: expectation.vhost,
    version,
    planned: expectation.entities.queues,
    missing: missingQueues,
    vhosts: () => visibleVhosts(api),
  });
  const limit = isNew ? undefined : await queueLimitOf(api, expectation.vhost);
  const room = checkQueueLimit(expectation.vhost, limit, queues.length, missingQueues.length);
  await checkRights(api, broker.username, {
    vhost: expectation.vhost,
    createsVhost: isNew,
    missing: {
      exchanges: [...expectation.entities.exchanges, ...claims].filter(({ name }) => !found.exchanges.has(name)),
      queues: missingQueues,
      bindings: [
        ...bindings.filter((binding) => !areEndsThere(binding)),
        ...(between.length === 0 ? [] : missingBindings(between, await readBound())),
      ],
    },
    there,
    policies: missingPolicies(expectation.policies ?? [], policies),
    makesUsers,
  });
  const { users = [], adopt } = expectation;
  await checkUsers(state, api, broker, expectation.vhost, { users, claims, adopt }, exchanges);
  return [
    ...(await warnOfMissing(state, broker, expectation, there)),
    ...(isNew ? [] : await warnOfLeft(state, api, expectation.vhost, bindings)),
    ...warnOfLost(await lostClaims(state, broker.managementUrl, expectation.vhost, claims, there.exchanges)),
    ...adoption,
    ...ways,
    ...(await warnOfTakenOver(
      state,
      expectation.vhost,
      expectation.entities.queues.filter(({ name }) => !taken.has(name)),
      found,
    )),
    ...replaced,
    ...warnOfEnforced(expectation.entities.queues, found.queues),
    ...(await warnOfRefusing(
      bindings,
      expectation.delayedExchanges ?? [],
      readBound,
      [...queues, ...missingQueues],
      expectation.policies ?? [],
      operatorPolicies,
    )),
    ...room,
    ...checkPolicies(policyTargetOf(expectation), { policies, operatorPolicies }),
    ...faultsOf(version, expectation.allowedFaults).map((fault) => describeFault(version, fault)),
  ];
}

function policyTargetOf({ entities, policies = [], bindings = [], errorQueues }: Expectation): PolicyTarget {
  const isEndpoint = new Set(
    bindings.filter(({ destinationType }) => destinationType === "queue").map(({ destination }) => destination),
  );
  const endpointQueues = entities.queues.map(({ name }) => name).filter((name) => isEndpoint.has(name));
  return { entities, policies, endpointQueues, errorQueues };
}

async function checkNodes(api: ManagementApi, { minimumNodes = 1 }: Expectation): Promise<void> {
  if (minimumNodes <= 1) return;
  const answer = await api.get<unknown>("nodes?columns=name").catch((error: ManagementApiError) => {
    throw new BrokerCheckError(`broker.managementUrl: its nodes can't be counted: ${error.reason}`);
  });
  const nodes = checkList("nodes", answer, { name: "string" });
  if (nodes.length >= minimumNodes) return;
  throw new BrokerCheckError(
    `broker.managementUrl: the broker has ${nodes.length} node${nodes.length === 1 ? "" : "s"}, and a production stack needs ` +
      `${minimumNodes}, so that quorum queues outlive the loss of one; add single-node to allow where that is meant`,
  );
}

/**
 * Whether a vhost that the program makes does not exist yet. Newer brokers also say 404 for a vhost that the user may not read, so the
 * vhost itself is asked for. Only an administrator may ask, and only an administrator can make a vhost.
 */
async function isMissing(api: ManagementApi, { vhost }: Expectation): Promise<boolean> {
  try {
    await api.get(`vhosts/${encodeURIComponent(vhost)}`);
    return false;
  } catch (error) {
    const { status, reason } = error as ManagementApiError;
    if (status === 404) return true;
    const why =
      status === 401 || status === 403
        ? `whether ${vhost} is there can't be asked: createVhost: true needs a user with the tag administrator`
        : `GET vhosts/${encodeURIComponent(vhost)} failed: ${reason}`;
    throw new BrokerCheckError(`broker.vhost: ${why}`);
  }
}

/**
 * Checks that a vhost belongs to this stack. The engine would silently take over a vhost that exists, and delete it with the stack, along
 * with everything that others have in it.
 * @throws BrokerCheckError for one that exists and is not in this stack's state
 */
async function checkVhostIsOwn(state: StackState, { vhost }: Expectation): Promise<void> {
  if ((await state.names("rabbitmq:index/vHost:VHost"))?.has(vhost) === true) return;
  throw new BrokerCheckError(
    `broker.vhost: ${vhost} is there already, and not in this stack's state, so that it is somebody else's; nothing was made. With ` +
      `createVhost: true, removal: delete would delete it with everybody's messages. Set createVhost: false to use it. If this ` +
      `stack made it in an update that was killed, or shall own it, bring it up with createVhost: false, and then run pulumi import ` +
      `--provider broker=URN --protect=false --generate-code=false rabbitmq:index/vHost:VHost vhost ${shellWord(vhost)} (pulumi stack --show-urns names provider broker)`,
  );
}

async function inVhost<T>(
  api: ManagementApi,
  broker: BrokerAddress,
  { vhost }: Expectation,
  path: string,
  shape: keyof typeof shapes,
): Promise<T[]> {
  const answer = await api.get<unknown>(path).catch((error: ManagementApiError) => {
    const { status, reason } = error;
    const why =
      status === 404
        ? `there is no vhost ${vhost}, or user ${broker.username} may not use it; create it with rabbitmqctl add_vhost and let the ` +
          `user in with rabbitmqctl set_permissions, or set createVhost: true`
        : status === 401 || status === 403
          ? `user ${broker.username} may not read vhost ${vhost}`
          : `GET ${path} failed: ${reason}`;
    throw new BrokerCheckError(`broker.vhost: ${why}`);
  });
  return checkList<T>(path, answer, shapes[shape]);
}

function byName<T extends { name: string }>(entities: T[]): Map<string, T> {
  return new Map(entities.map((entity) => [entity.name, entity]));
}

/**
 * Whether a queue differs and nothing shows that it is this stack's: no claim of its endpoint (claims were checked before), and nothing
 * else on the broker that is declared with it. Somebody else's queue would be refused half-way.
 */
function differsAlone(
  { entities, groups, claims = [] }: Expectation,
  found: { exchanges: Map<string, DeclaredExchange>; queues: Map<string, DeclaredQueue>; defaultType?: string },
): boolean {
  if (groups === undefined) return false;
  const claimed = new Set(claims.map(({ name }) => name).filter((name) => found.exchanges.has(name)));
  return entities.queues.some((plan) => {
    if (compareQueue(plan, found.queues.get(plan.name), found.defaultType).length === 0) return false;
    if (claimed.has(`rabbitmq-delay.owner-of-endpoint.${plan.name}`)) return false;
    const group = groups.find(({ queues }) => queues.some(({ name }) => name === plan.name));
    const hasCompanion =
      group !== undefined &&
      (group.exchanges.some(({ name }) => found.exchanges.has(name)) ||
        group.queues.some(({ name }) => name !== plan.name && found.queues.has(name)));
    return !hasCompanion;
  });
}

function checkDestinations(
  { entities, bindings = [], delayedExchanges = [], vhost }: Expectation,
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
  for (const { exchange, delivery, otherwise = delivery } of delayedExchanges) {
    const absent = [delivery, otherwise].find((name) => !planned.exchanges.has(name) && !found.exchanges.has(name));
    if (absent === undefined) continue;
    throw new BrokerCheckError(
      `delayedExchanges: there is no exchange ${absent} in vhost ${vhost}, to which ${exchange} leads; declare it first`,
    );
  }
}
