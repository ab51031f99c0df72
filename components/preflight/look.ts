import * as pulumi from "@pulumi/pulumi";
import type {
  BindingPlan,
  DeclaredExchange,
  DeclaredQueue,
  EndpointPlan,
  ExchangePlan,
  OwnershipPlan,
  PolicyPlan,
  QueuePlan,
} from "rabbitmq-delay-topology";
import { checkVhost } from "../checks";
import { checkList } from "./answers";
import { BrokerCheckError } from "./brokerCheckError";
import { FoundBinding, missingBindings, readBindings } from "./bindings";
import { checkGivenVersion, checkVersion } from "./brokerVersion";
import { shapes } from "./checkBroker";
import { areDifferencesOwn, checkDifferences } from "./checkDifferences";
import { checkQueueLimit, queueLimitOf } from "./checkLimits";
import { PolicyAnswer, checkPolicies } from "./checkPolicies";
import { FORGET, checkClaims, lostClaims, warnOfLost } from "./claims";
import { compareInProgram } from "./inProgram";
import { BrokerAddress, ManagementApi, ManagementApiError } from "./managementApi";
import { missingPolicies } from "./missingPolicies";
import { addressOf, valueOf } from "./providerAddress";
import { checkQueueTypes, defaultQueueTypeOf } from "./queueTypes";
import { checkRights, tagsOf } from "./rights";
import { checkMoved, warnOfTakenOver } from "./takenOver";
import { checkUsers } from "./users";

/** What a component is going to make, as far as the broker could refuse it half-way. */
export interface Wanted {
  exchanges?: ExchangePlan[];
  queues?: QueuePlan[];
  /** Those of the queues that a service consumes, which may want a policy for them. */
  endpointQueues?: string[];
  /** One that a preview doesn't know is not looked at. */
  bindings?: pulumi.Input<BindingPlan>[];
  /**
   * Where the bindings' destination comes from: one that is `existing` has to be on the broker, or of another component; an `output`
   * is of a resource of the program, which may have been made since the look.
   */
  destination?: "existing" | "output";
  policies?: pulumi.Input<PolicyPlan[]>;
  claims?: OwnershipPlan[];
  /** What an endpoint takes of a network that this program does not make; what it makes is compared before. */
  endpoint?: pulumi.Input<EndpointPlan>;
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

/** The same, with what was awaited. */
type Known = Wanted & { policies: PolicyPlan[]; bindings: BindingPlan[]; endpoint?: EndpointPlan; component: string };

/** What is on a broker before a program makes anything. */
interface Found {
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

// By the provider, as the broker is before this program makes anything; components share it.
const looks = new WeakMap<object, Map<string, Promise<Found | undefined>>>();
const lookedBefore = new WeakSet<object>();
/** Where no provider is given: the default one, which is the same for all. */
const DEFAULT_PROVIDER = {};
const asking = new Set<Promise<void>>();
/** Queues and exchanges of all components of this program, whether they were looked at or not. */
const planned = new Set<string>();

/** Notes that a program looked at a provider's broker itself, for all that it declares there. */
export function rememberLook(provider: object): void {
  lookedBefore.add(provider);
}

/**
 * Looks at the broker of a component's provider: whether it can be reached and is new enough, whether the deployer may make all
 * that is wanted, and whether a name is somebody else's.
 * A provider that can't be asked (of a program in another language, behind a proxy, or unknown in a preview) is not asked.
 * @returns the vhost, once nothing speaks against; it fails with a BrokerCheckError else, in previews too
 */
export function vhostOnceLooked(
  component: pulumi.Resource,
  vhost: pulumi.Input<string> | undefined,
  wanted: Wanted,
): pulumi.Output<string> {
  return lookFirst(component, vhost, wanted).vhost;
}

/** The same; `ready` is for what is made without a vhost. */
export function lookFirst(
  component: pulumi.Resource,
  vhost: pulumi.Input<string> | undefined,
  wanted: Wanted,
): { vhost: pulumi.Output<string>; ready: pulumi.Output<void> } {
  if (typeof vhost === "string") checkVhost(vhost);
  const place = pulumi.output(vhost ?? "/").apply(checkVhost);
  for (const { name } of [...(wanted.queues ?? []), ...(wanted.exchanges ?? [])]) planned.add(name);
  const provider = component.getProvider("rabbitmq:index/exchange:Exchange");
  const hasLooked = provider !== undefined && lookedBefore.has(provider);
  const ready = pulumi.output(hasLooked ? undefined : look(provider, place, wanted, component.constructor.name));
  return { vhost: pulumi.all([place, ready]).apply(([known]) => known), ready };
}

async function look(
  provider: pulumi.ProviderResource | undefined,
  place: pulumi.Output<string>,
  wanted: Wanted,
  component: string,
): Promise<void> {
  const broker = await addressOf(provider);
  const vhost = await valueOf(place);
  if (vhost === undefined) return;
  const [policies, endpoint, given] = await Promise.all([
    valueOf(pulumi.output(wanted.policies ?? [])),
    valueOf(pulumi.output(wanted.endpoint)),
    Promise.all((wanted.bindings ?? []).map((binding) => valueOf(pulumi.output(binding)))),
  ]);
  const bindings = given.filter((binding) => binding !== undefined);
  const answer = lookAt(provider, broker, vhost, {
    ...wanted,
    component,
    endpoint: endpoint as EndpointPlan | undefined,
    policies: policies ?? [],
    bindings,
  });
  asking.add(answer);
  try {
    await answer;
  } finally {
    // Another component of the program that was refused meanwhile refuses this one too, so that nothing is made at all. Those that
    // don't ask yet are not waited for: what they need may come of this one.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(asking);
}

async function lookAt(
  provider: pulumi.ProviderResource | undefined,
  broker: BrokerAddress | undefined,
  vhost: string,
  wanted: Known,
): Promise<void> {
  // A process may run several programs, each with a stack of its own, and the default provider is the same for all of them.
  const run = provider ?? pulumi.runtime.getStackResource();
  const warnings = run === undefined ? [] : compareInProgram(run, vhost, wanted);
  await Promise.all(warnings.map((warning) => pulumi.log.warn(warning)));
  const found = broker === undefined ? undefined : await foundOn(provider ?? DEFAULT_PROVIDER, broker, vhost);
  if (found !== undefined) await check(found, vhost, wanted);
}

function foundOn(provider: object, broker: BrokerAddress, vhost: string): Promise<Found | undefined> {
  const ofProvider = looks.get(provider) ?? new Map<string, Promise<Found | undefined>>();
  looks.set(provider, ofProvider);
  const before = ofProvider.get(vhost);
  if (before !== undefined) return before;
  const asked = ask(broker, vhost).catch(async (error: Error) => {
    if (!(error instanceof BrokerCheckError) || !error.isOutOfReach || !pulumi.runtime.isDryRun()) throw error;
    await pulumi.log.warn(`${error.message}; this preview does not know what is on it`);
    return undefined;
  });
  ofProvider.set(vhost, asked);
  return asked;
}

async function ask(broker: BrokerAddress, vhost: string): Promise<Found> {
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

async function check(found: Found, vhost: string, given: Known): Promise<void> {
  const { api, broker, tags, exchanges, queues, policies, operatorPolicies, queueLimit, plannedQueues, version } =
    found;
  const wanted = { ...given, bindings: knownBindings(found, vhost, given) };
  const { claims = [], users = [], makesUsers, adopt, endpointQueues = [] } = wanted;
  checkGivenVersion(wanted.brokerVersion, version);
  await checkClaims(vhost, claims, exchanges, wanted.formerOwners);
  const byNames = { exchanges: byName(exchanges), queues: byName(queues), defaultType: found.defaultType };
  const there = { exchanges: new Set(byNames.exchanges.keys()), queues: new Set(byNames.queues.keys()) };
  const entities = { exchanges: wanted.exchanges ?? [], queues: wanted.queues ?? [] };
  // An endpoint of which one claim is there is this stack's, and so are all bindings of its queue.
  const lost = await lostClaims(broker.managementUrl, vhost, claims, there.exchanges);
  const isClaimed = lost.length > 0 || claims.some(({ name }) => there.exchanges.has(name));
  const bindings = async (): Promise<FoundBinding[]> => (found.bindings ??= readBindings(api, vhost));
  if (wanted.areBindingsClaimed && !isClaimed && !adopt) checkUnclaimed(wanted.bindings, await bindings());
  if (wanted.replaceable === true) {
    await checkMoved(
      vhost,
      entities.queues.map(({ name }) => [name, given.component] as const),
    );
  }
  const isReplaced =
    wanted.replaceable === true &&
    mayBeOurs(wanted, byNames.exchanges, policies) &&
    (await areDifferencesOwn(vhost, entities, byNames));
  const warnings = [
    ...warnOfLost(lost),
    ...(await warnOfTakenOver(vhost, entities.queues, byNames)),
    ...checkDifferences(entities, byNames, isReplaced),
    ...checkPolicies({ entities, policies: wanted.policies, endpointQueues }, { policies, operatorPolicies }),
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
  const news = missingPolicies(wanted.policies, policies);
  await checkRights(api, broker.username, { vhost, missing, there, policies: news, makesUsers }, tags);
  await checkUsers(api, broker, vhost, { users, claims, adopt }, exchanges);
  await Promise.all(warnings.map((warning) => pulumi.log.warn(warning)));
}

/**
 * The bindings whose ends are known: the queue of an output may have been made after the look, and nobody else's binding can be at one
 * that was not there.
 * @throws BrokerCheckError for a destination that nobody makes
 */
function knownBindings(
  { exchanges, queues }: Found,
  vhost: string,
  { bindings, destination: origin }: { bindings: BindingPlan[] } & Wanted,
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
  { claims = [], policies }: Wanted & { policies: PolicyPlan[] },
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
