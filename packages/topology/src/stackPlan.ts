import { checkOwnedName, maximumOwnedBytes, ownedNames, propertyOf } from "./access/ownership";
import { EntityPlan, planEntities } from "./entities";
import { DelayTopologyError } from "./errors";
import { DelayedExchange, delayedExchange, planDelayedExchange } from "./exchange/delayedExchange";
import { boundType, checkClientNetwork, planOwnEntities, sendsTo } from "./network/clientEndpoint";
import { ConfiguredNetworks, configuredNetworks } from "./network/configuredNetworks";
import type { DelayNetwork } from "./network/delayNetwork";
import { checkShortString } from "./names";
import { EndpointPlan, maximumEndpointBytes, planBinding } from "./network/endpoint";
import { checkEndpointsApart } from "./network/topic";
import { planErrorQueue } from "./retry/errorQueue";
import { retryDescriptors } from "./retry/retryConfig";
import { RetryDescriptor, planRetry } from "./retry/retryDescriptor";
import type { EndpointConfig, StackConfig } from "./options.generated";
import { DelayGateway, planGatewayQueues } from "./store/delayGateway";
import { DelayedStore, planDelayedStore } from "./store/delayedStore";
import { MessageIntake, intakeExchangesOf } from "./store/intake";
import { delayGatewayOf, delayedStoreOf } from "./store/storeConfig";

/** What one part of a stack's config declares. */
export interface StackPart {
  /** Where it stands in the config, e.g. `workQueues[0]`. */
  place: string;
  entities: EntityPlan;
}

/** What a stack's config comes to on the broker. */
export interface StackPlan {
  networks: ConfiguredNetworks;
  retries: RetryDescriptor[];
  exchanges: DelayedExchange[];
  store: DelayedStore | undefined;
  gateway: DelayGateway | undefined;
  /** Networks, retries, delayed exchanges, the store, the gateway without what leads back to it, shared error queues and those of endpoints: all but the endpoints' own queues. */
  parts: StackPart[];
  /** The endpoints that the stack declares itself, and what it declares for each: a queue, and what its client has with it. */
  created: { endpoint: EndpointConfig; entities: EntityPlan }[];
}

/**
 * Plans all that a stack's config declares.
 * @param vhost the stack's
 * @throws DelayTopologyError for what a part refuses, for a name that is too long to be claimed, and for a queue or an exchange that two parts would declare: when one of them
 * left the config, it would take it from the other
 */
export function planStack(config: StackConfig, vhost: string): StackPlan {
  const { endpoints = [] } = config;
  const networks = configuredNetworks(config, vhost);
  const retries = retryDescriptors(config);
  const exchanges = (config.delayedExchanges ?? []).map((options, index) =>
    at(`delayedExchanges[${index}]`, () => delayedExchange(options)),
  );
  const store = at("delayedStore", () => delayedStoreOf(config.delayedStore));
  const gateway = at("delayGateway", () => delayGatewayOf(config.delayGateway, networks));
  checkOtherwise(exchanges, { delayedStore: store, delayGateway: gateway });
  checkEndpointNames(endpoints);
  endpoints.forEach((endpoint, index) =>
    ownedNames(endpoint).forEach((name) => {
      const rooms = networks.joinedBy(endpoint).map(({ network }) => maximumEndpointBytes(network, endpoint, name));
      const place = `endpoints[${index}].${propertyOf(endpoint, name)}`;
      checkShortString(place, name, Math.min(maximumOwnedBytes("endpoint"), ...rooms));
    }),
  );
  checkUsers(config);
  checkIntakesApart(endpoints, [store, gateway]);
  const created = createdBy(endpoints);
  const parts = [
    ...networks.networks.map(({ place, network }) => ({ place, entities: planEntities(network) })),
    ...retryParts(config, retries),
    ...exchanges.map((descriptor, index) => ({
      place: `delayedExchanges[${index}]`,
      entities: planDelayedExchange(descriptor),
    })),
    ...(store === undefined ? [] : [{ place: "delayedStore", entities: planDelayedStore(store) }]),
    ...(gateway === undefined ? [] : [{ place: "delayGateway", entities: planGatewayQueues(gateway) }]),
    ...errorParts(config),
  ];
  const own = created.map(({ endpoint, entities }) => ({
    place: `endpoints[${endpoints.indexOf(endpoint)}]`,
    entities,
  }));
  checkDeclaredOnce([...parts, ...own]);
  checkLeads(exchanges, [...parts, ...own]);
  endpoints.forEach((endpoint, index) =>
    at(`endpoints[${index}]`, () => {
      checkClient(endpoint, networks);
      for (const { network } of networks.joinedBy(endpoint)) planJoining(network, endpoint);
    }),
  );
  return { networks, retries, exchanges, store, gateway, parts, created };
}

/**
 * Plans the bindings of a stack's endpoints, and of its gateway's return queue, at all networks that they join; messages may wait for
 * the gateway in one that it publishes into no longer.
 * @throws DelayTopologyError for a name or a pattern that can't be bound, and for endpoints that a network can't tell apart
 */
export function planEndpoints(
  { networks: { networks, joinedBy }, gateway }: StackPlan,
  { endpoints = [], allow = [] }: Pick<StackConfig, "endpoints" | "allow">,
): EndpointPlan[] {
  return networks.flatMap((one) => {
    const joining = endpoints.filter((endpoint) => joinedBy(endpoint).includes(one));
    const returned = gateway === undefined ? [] : [{ name: gateway.returnQueue }];
    const plans = [
      ...joining.map((endpoint) => planJoining(one.network, endpoint)),
      ...returned.map((endpoint) => planBinding(one.network, endpoint)),
    ];
    const bound = plans.flatMap((plan) => plan.bound);
    checkEndpointsApart(bound, allow);
    return plans;
  });
}

function planJoining(network: DelayNetwork, endpoint: EndpointConfig): EndpointPlan {
  return planBinding(network, { ...endpoint, type: boundType(endpoint) });
}

/** Each process has a user of its own, because each has its own rights. */
function checkUsers({ delayedStore, delayGateway }: StackConfig): void {
  for (const [part, user] of Object.entries({ delayedStore: delayedStore?.user, delayGateway: delayGateway?.user }))
    if (user !== undefined) checkOwnedName("user", user, `${part}.user`);
  if (delayGateway?.user === undefined || delayGateway.user !== delayedStore?.user) return;
  throw new DelayTopologyError("delayGateway.user", delayGateway.user, "delayedStore has this user; give each its own");
}

/** A process would take what a network delivers to an endpoint that is one of its own queues. */
function checkIntakesApart(
  endpoints: readonly EndpointConfig[],
  intakes: readonly (DelayedStore | DelayGateway | undefined)[],
): void {
  for (const intake of intakes) {
    if (intake === undefined) continue;
    const own = [intake.intakeQueue, "controlQueue" in intake ? intake.controlQueue : intake.returnQueue];
    const index = endpoints.findIndex(({ name }) => own.includes(name));
    if (index < 0) continue;
    const allowed = `${intake.name} takes messages from the queue of that name`;
    throw new DelayTopologyError(`endpoints[${index}].name`, endpoints[index]?.name, allowed);
  }
}

/** In the order in which the descriptors are made. */
function retryParts(config: StackConfig, retries: readonly RetryDescriptor[]): StackPart[] {
  const { retryIntervals, workQueues = [], holdQueues, delayedRetryQueues = [] } = config;
  const places = [
    ...(retryIntervals === undefined ? [] : ["retryIntervals"]),
    ...workQueues.map((_, index) => `workQueues[${index}]`),
    ...(holdQueues === undefined ? [] : ["holdQueues"]),
    ...delayedRetryQueues.map((_, index) => `delayedRetryQueues[${index}]`),
  ];
  return retries.map((descriptor, index) => ({ place: places[index] as string, entities: planRetry(descriptor) }));
}

/**
 * Messages that go round between exchanges would be dropped by the broker; and a store or a gateway refuses what comes from an exchange that it
 * has no forward for.
 */
function checkOtherwise(
  exchanges: readonly DelayedExchange[],
  intakes: Record<string, MessageIntake | undefined>,
): void {
  const byName = new Map(exchanges.map((descriptor) => [descriptor.exchange, descriptor]));
  exchanges.forEach(({ exchange, delivery, otherwise }, index) => {
    const place = `delayedExchanges[${index}]`;
    if (byName.has(delivery))
      throw new DelayTopologyError(
        `${place}.delivery`,
        delivery,
        "it is a delayed exchange, too, and would delay again",
      );
    const ways = [exchange];
    for (let next = otherwise; next !== undefined; next = byName.get(next)?.otherwise) {
      if (ways.includes(next))
        throw new DelayTopologyError(
          `${place}.otherwise`,
          otherwise,
          `it leads back to ${next}; messages would be dropped`,
        );
      ways.push(next);
    }
    for (const [name, intake] of Object.entries(intakes)) {
      if (intake === undefined || !intakeExchangesOf(intake).includes(ways.at(-1) as string)) continue;
      if (intake.forwards.some((one) => one.exchange === exchange && one.delivery === delivery)) continue;
      const forward = `{ exchange: ${exchange}, delivery: ${delivery}, declare: false }`;
      const what = name === "delayedStore" ? "store" : "gateway";
      const allowed = `it leads to the ${what}, which must know where to deliver: give ${name}.forwards ${forward}`;
      throw new DelayTopologyError(`${place}.otherwise`, otherwise, allowed);
    }
  });
}

/** A delayed exchange leads to exchanges of others, which are there, or to those of this stack that are declared before it. */
function checkLeads(exchanges: readonly DelayedExchange[], parts: readonly StackPart[]): void {
  const fronts = new Set(exchanges.map(({ exchange }) => exchange));
  exchanges.forEach(({ delivery, type, otherwise }, index) => {
    const leads = [...(type === undefined ? [["delivery", delivery] as const] : []), ["otherwise", otherwise] as const];
    for (const [property, name] of leads) {
      const part = parts.find(({ entities }) => entities.exchanges.some((one) => one.name === name));
      if (part === undefined || name === undefined) continue;
      const isBefore =
        /^(delayedStore|delayGateway|errorQueues\[)/.test(part.place) || (property === "otherwise" && fronts.has(name));
      if (isBefore) continue;
      const allowed = `${part.place} declares it in the same update; lead to what is there, to the store, the gateway, an error queue or another delayed exchange`;
      throw new DelayTopologyError(`delayedExchanges[${index}].${property}`, name, allowed);
    }
  });
}

/** Endpoints may share an error queue, with each other or with the whole stack, which declares it first. */
function errorParts({ errorQueues = [], endpoints = [] }: StackConfig): StackPart[] {
  const shared = errorQueues.map((name, index) => ({ place: `errorQueues[${index}]`, entities: planErrorQueue(name) }));
  const own = endpoints.map((endpoint) => ownErrorQueue(endpoint, errorQueues));
  return [
    ...shared,
    ...own.flatMap((name, index) =>
      name === undefined || own.indexOf(name) !== index
        ? []
        : [{ place: `endpoints[${index}].errorQueue`, entities: planErrorQueue(name) }],
    ),
  ];
}

/** Names of all queues of a stack that hold what services failed at. */
export function errorQueuesOf({ parts, ...plan }: StackPlan): string[] {
  const own = parts.filter(({ place }) => /^errorQueues\[|\.errorQueue$/.test(place));
  return [...deadQueuesOf(plan), ...own.flatMap(({ entities }) => entities.queues.map(({ name }) => name))];
}

/** Names of the queues for what used up its retries, or could not be read by a store or a gateway. */
export function deadQueuesOf({
  retries,
  store,
  gateway,
}: Partial<Pick<StackPlan, "retries" | "store" | "gateway">>): string[] {
  const dead = (retries ?? []).map((retry) => ("deadQueue" in retry ? retry.deadQueue : undefined));
  return [...dead, store?.errorQueue, gateway?.errorQueue].filter((name) => name !== undefined);
}

/** The error queue that is declared along with an endpoint; undefined where it has none, or one that the stack declares for all. */
export function ownErrorQueue(
  { errorQueue }: Pick<EndpointConfig, "errorQueue">,
  errorQueues: readonly string[] = [],
): string | undefined {
  return errorQueue === undefined || errorQueues.includes(errorQueue) ? undefined : errorQueue;
}

/** The error of an endpoint's options says in which endpoint they stand. */
function createdBy(endpoints: readonly EndpointConfig[]): StackPlan["created"] {
  return endpoints.flatMap((endpoint, index) => {
    const entities = at(`endpoints[${index}]`, () => planOwnEntities(endpoint));
    return entities === undefined ? [] : [{ endpoint, entities }];
  });
}

function at<T>(place: string, plan: () => T): T {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    // What is planned for one endpoint names it so; the place says which one.
    const property = error.property.replace(/^endpoint\./, "");
    throw new DelayTopologyError(`${place}.${property}`, error.value, error.allowed);
  }
}

/** A client's endpoint joins at least one network that its client sends to. */
function checkClient(endpoint: EndpointConfig, { joinedBy }: ConfiguredNetworks): void {
  const presets = joinedBy(endpoint).map(({ network }) => network.preset);
  const { client } = endpoint;
  const used = presets.find((preset) => client !== undefined && sendsTo(client, preset));
  checkClientNetwork(endpoint, used ?? presets.join(", "));
}

function checkEndpointNames(endpoints: readonly EndpointConfig[]): void {
  endpoints.forEach(({ name }, index) => {
    const first = endpoints.findIndex((other) => other.name === name);
    if (first === index) return;
    const allowed = `endpoints[${first}] has this name; give all of its patterns and networks there`;
    throw new DelayTopologyError(`endpoints[${index}].name`, name, allowed);
  });
}

function checkDeclaredOnce(parts: readonly StackPart[]): void {
  const places = new Map<string, string>();
  for (const { place, entities } of parts) {
    const names = [
      ...entities.exchanges.map(({ name }) => ["exchange", name] as const),
      ...entities.queues.map(({ name }) => ["queue", name] as const),
    ];
    for (const [kind, name] of names) {
      const earlier = places.get(`${kind} ${name}`);
      if (earlier !== undefined)
        throw new DelayTopologyError(place, name, `${earlier} declares the ${kind} of that name`);
      places.set(`${kind} ${name}`, place);
    }
  }
}
