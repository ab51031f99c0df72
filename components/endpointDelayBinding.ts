import * as pulumi from "@pulumi/pulumi";
import {
  DelayNetwork,
  DelayTopologyError,
  Endpoint,
  EntityPlan,
  PolicyPlan,
  QueuePlan,
  parseDelayNetwork,
  planErrorQueue,
} from "@rabbitmq-delay/topology";
import {
  OwnEndpoint,
  OwnershipPlan,
  adoptedEndpoint,
  boundType,
  deliveryLimitPolicies,
  describeUnlimited,
  endpointLimitPolicies,
  limitingPreset,
  planEndpointOwnership,
  planOwnEntities,
  readEndpointBinding,
} from "@rabbitmq-delay/topology/stack";
import { Declarer, declareEntities } from "./declare";
import { JoinedNetwork, descriptorOf } from "./descriptor";
import { boundTo, checkBindings, declareBindings, joinsNetwork, planEndpoint, whenKnown } from "./endpointBindings";
import { EndpointClient, EndpointType, QueueType, Removal, RoutingTopology } from "./enums";
import { isPlain, joinedSource, joinedVhost, joiningOptions } from "./joinedNetwork";
import { givenArguments, readArguments } from "./knownArguments";
import { knownNetwork } from "./knownNetworks";
import { Wanted, vhostOnceLooked } from "./look";
import { isReplaced, removalOptions } from "./removal";
import { thisStack } from "./thisStack";
import type { RetryIntervalsDescriptor } from "./retryIntervalQueues";

/** Which queue or exchange receives delayed or returned messages, and from where. */
export interface EndpointDelayBindingArgs {
  /** Name of the queue or exchange, and the destination that publishers give. */
  endpoint: string;
  /**
   * The network that the endpoint joins: a `DelayLevelTopology` of the same program or its `network`, or a descriptor out of another
   * stack (`stackReference.requireOutput("delayNetwork")`), also as JSON text. Default: none, with `retryIntervals` or `furtherNetworks`.
   */
  network?: JoinedNetwork;
  /**
   * Further networks that the endpoint joins, e.g. while one takes the place of another: topologies of the same program, or descriptors
   * or their JSON texts as plain values. Their bindings are named by the network's prefix, so that the order of the list means nothing; but a network that
   * was given as `network` can't become one of these while the endpoint joins it, nor the other way round.
   */
  furtherNetworks?: JoinedNetwork[];
  /**
   * Interval queues from which the endpoint's queue shall get its failed messages back, beside or without a delay network:
   * the output of a `RetryIntervalQueues`, or a descriptor out of another stack, also as JSON text. It is bound by the queue's own name (`destination`,
   * where that is given), which is what its consumer puts on them; a queue with several endpoints has it at one of them.
   */
  retryIntervals?: pulumi.Input<RetryIntervalsDescriptor> | pulumi.Input<string>;
  /** `queue` (default) or `exchange`. */
  endpointType?: EndpointType;
  /**
   * Destinations that reach this endpoint, `*` for any one word; default: the endpoint's name. A consumer whose failed messages come
   * back over the network then has to say one of them; see `throughDeclared`'s `destination`.
   */
  patterns?: string[];
  /**
   * Name of the queue or exchange to bind, default `endpoint`. Give the resource's own `name` output where your program
   * declares it, so that a replaced queue gets its binding back.
   */
  destination?: pulumi.Input<string>;
  /** Whether to declare the queue; default false: bind one that exists. */
  createQueue?: boolean;
  /** Type of the declared queue: `quorum` (default) or `classic`. */
  queueType?: QueueType;
  /**
   * Further keys of the policy that this component sets for the declared queue, in the broker's words, e.g. `{ "max-length": 5000, overflow:
   * "reject-publish" }`, or `{ "delivery-limit": 5, "dead-letter-exchange": "dlx" }` in the place of no limit. Only one policy applies to a
   * queue, so that a team's own would have no effect there. Default: none.
   */
  queuePolicy?: Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- what the schema takes
  /** Further arguments of the declared queue, in the broker's words, e.g. `{"x-delivery-limit": 5}`. */
  queueArguments?: Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- what the schema takes
  /**
   * Whose client consumes the queue: the queue and its exchange are then declared byte for byte as that client would.
   * `nservicebus`: its installers are not needed; the queue is quorum (default) or classic, and the network is bound to the exchange. An
   * instance with a discriminator (`Sales-1`) is an endpoint of its own.
   * `masstransit`: `queueType` has to be given as the service has it, and the network is bound to the queue; with `endpointType: exchange`
   * the endpoint is the exchange of a message type that is published with a delay.
   * `celery`: the queue is quorum (default) or classic, behind a topic exchange of its name, and the network, of preset `celery`, is bound
   * to the exchange by `#.NAME`, as a worker binds it.
   * Default: none that expects anything.
   */
  client?: EndpointClient;
  /** How NServiceBus routes: `conventional` (default), by a fanout exchange in front of each queue, or `direct`, without one. */
  routingTopology?: RoutingTopology;
  /**
   * Name of an error queue that is declared along, behind an exchange of the same name; default: none. Give both names to
   * `consumeWithRetries` (`errorQueue`, `errorExchange`), and the name to the service's `EndpointUser`. Leave it out for one that an
   * `ErrorQueues` declares, of this program or of the broker's stack.
   */
  errorQueue?: string;
  /**
   * What happens to the declared queue when it leaves the program: `retain` or `delete`. Default: that of the topology, where this
   * program declares it in TypeScript or JavaScript, else `retain`. Its bindings always go; the error queue, and the exchange of a message
   * type, always stay, because other services may use them too.
   */
  removal?: Removal;
  /**
   * Whose the endpoint is: another owner of its names is refused before anything is made. Default: this stack where the endpoint joins
   * a network, and nobody where it has `retryIntervals` alone.
   */
  owner?: string;
  /** What this stack, or its `owner`, was called before, e.g. `billing/prod`: claims of these owners are taken for its own. */
  formerOwners?: string[];
  /**
   * Whether the endpoint may be there already, e.g. because its client has declared it or its binding: it then comes under the stack with
   * what waits there, and what differs is named before anything is made. Default false: a binding that is there without a claim is refused,
   * because it may be another stack's. It may stay.
   */
  adopt?: boolean;
  /**
   * Pairs of names that a vendor's clients mix up and that are meant all the same, e.g. `Sales with Europe.Sales`: `Sales` then gets
   * the messages of `Europe.Sales` as well. Default: none; such endpoints of one topology are refused on vendors' presets.
   */
  allow?: string[];
  /** The vhost; default the network's, and `/` where its descriptor, of version 1, does not say or there is none. Another than the network's is refused. */
  vhost?: pulumi.Input<string>;
  /**
   * The broker's version where the program knows it, e.g. `4.3.6`. From 4.0 a policy lifts the delivery limit that each quorum
   * queue has there (20); before 4.0 there is none to lift. Default: not known, and the limit is set, by policy, so high
   * (2,147,483,647) that no message reaches it, which brokers of all versions take.
   */
  brokerVersion?: string;
}

/**
 * Lets one queue or exchange of a service receive the delayed messages of a network, and lets a queue get back the failed
 * ones that waited in interval queues.
 * Throws a DelayTopologyError, before anything is made where the network is known by then, for bad arguments and for an
 * endpoint that the network can't tell from another one of the same topology.
 * @example
 * ```ts
 * import { DelayLevelTopology, EndpointDelayBinding } from "pulumi-rabbitmq-delay";
 *
 * const network = new DelayLevelTopology("delay", { preset: "custom", prefix: "orders" });
 * new EndpointDelayBinding("billing", { endpoint: "Billing", createQueue: true, network });
 * ```
 */
export class EndpointDelayBinding extends pulumi.ComponentResource {
  /** Name of the bound queue or exchange. */
  public readonly destination: pulumi.Output<string>;
  /** The binding keys at the network's binding exchange, and last the one at the return exchange. */
  public readonly bindingKeys: pulumi.Output<string[]>;

  constructor(name: string, args: EndpointDelayBindingArgs, opts?: pulumi.ComponentResourceOptions) {
    args = givenArguments(args);
    readArguments(args, readEndpointBinding, INPUTS);
    const own = planOwn(args);
    const { client, patterns } = args;
    const endpoint: Endpoint = { name: args.endpoint, type: boundType(ownOf(args)), patterns, client };
    const joined = joinedVhost(args);
    const bindings = planEndpoint(args, endpoint);
    const removal = args.removal ?? knownNetwork(joinedSource(args))?.removal;
    const options = removalOptions(removal);
    const claims = planClaims(args, endpoint);
    super("rabbitmq-delay:index:EndpointDelayBinding", name, {}, joiningOptions(args, opts));

    const queue = own?.queues[0];
    const errors = args.errorQueue === undefined ? undefined : planErrorQueue(args.errorQueue);
    const limits = limitsOf(args, queue);
    const errorLimits = deliveryLimitPolicies(errors?.queues ?? [], args);
    const { formerOwners, adopt, brokerVersion } = args;
    const place = vhostOnceLooked(this, joined, {
      claims,
      formerOwners,
      adopt,
      adopted:
        adopt === true && own !== undefined ? adoptedEndpoint({ name: args.endpoint }, own, [], errors) : undefined,
      brokerVersion,
      exchanges: [...(own?.exchanges ?? []), ...(errors?.exchanges ?? [])],
      queues: [...(queue === undefined ? [] : [queue]), ...(errors?.queues ?? [])],
      bindings: [...(own?.bindings ?? []), ...bindings.map((binding) => pulumi.output(boundTo(binding, args)))],
      endpoint: bindings[0]?.plan,
      allow: args.allow,
      destination: destinationOf(args, opts),
      policies: pulumi.all([...limits, ...errorLimits]),
      endpointQueues: queue === undefined ? [] : [queue.name],
      errorQueues: errors?.queues.map(({ name: kept }) => kept),
      keptQueues: errors?.queues.map(({ name: kept }) => kept),
      replaceable: isReplaced(removal),
      areBindingsClaimed: args.owner === undefined && isOfAnotherStack(args.network),
    });
    const checked = Promise.all([
      checkBindings(new Declarer(name, place, { parent: this }), bindings, args),
      new Declarer(name, place, { ...options, parent: this }).checkPlan(
        queue === undefined ? { bindings: [] } : (own as EntityPlan),
      ),
    ]);
    const vhost = pulumi.all([place, checked]).apply(([known]) => known);
    const claimed = claims.map((claim) => new Declarer(name, vhost, { parent: this }).claim(claim));
    const children = { parent: this, dependsOn: claimed };
    const kept = new Declarer(name, vhost, { ...children, retainOnDelete: true });
    // The exchange of a message type has no queue: it stays, because other services use it, too.
    const guarded = queue === undefined ? kept : new Declarer(name, vhost, { ...options, ...children });
    const set = limits.map((limit) => guarded.policy(limit, `${args.endpoint}.delivery-limit`));
    const destination = own === undefined ? (args.destination ?? args.endpoint) : declareOwn(own, guarded, set);
    const errorSet = errorLimits.map((limit) => kept.policy(limit));
    if (errors !== undefined) declareEntities(errors, () => kept, errorSet);
    declareBindings(new Declarer(name, vhost, children), bindings, destination);

    this.destination = pulumi.output(destination);
    this.bindingKeys = pulumi.all(bindings.map(({ routingKey }) => routingKey));
    this.registerOutputs({ destination: this.destination, bindingKeys: this.bindingKeys });
  }
}

/** What may be known later, and what such values may stand in. */
const INPUTS = {
  later: ["network", "retryIntervals", "destination", "vhost"],
  holders: ["furtherNetworks", "queueArguments"],
};

/**
 * In one program, endpoints are told apart before anything is made; between stacks, the broker has to. A stack that owns the
 * network claims its endpoints too, because a service's stack that takes one would take its binding along when it goes.
 */
function planClaims(args: EndpointDelayBindingArgs, endpoint: Endpoint): OwnershipPlan[] {
  const { owner } = args;
  if (owner === undefined && !joinsNetwork(args)) return [];
  return planEndpointOwnership(endpoint, owner ?? thisStack());
}

/** Whether a network's descriptor comes out of another stack's outputs; what a program has as a plain value may be its own. */
function isOfAnotherStack(network: JoinedNetwork | undefined): boolean {
  return network !== undefined && knownNetwork(network) === undefined && !isPlain(descriptorOf(network));
}

/** The endpoint's own queue, and what its client has with it; undefined for one that is there already. */
function planOwn(args: EndpointDelayBindingArgs): EntityPlan | undefined {
  const { client, endpointType } = args;
  if (client !== undefined && client !== EndpointClient.MassTransit && endpointType !== undefined) {
    throw new DelayTopologyError("endpointType", endpointType, `client: ${client} decides it; leave it out`);
  }
  const own = planOwnEntities(ownOf(args));
  for (const queue of own?.queues ?? []) checkUnlimited(queue, args.brokerVersion);
  if (own === undefined || args.destination === undefined) return own;
  throw new DelayTopologyError("createQueue", args.createQueue, "it is for a queue with the endpoint's own name");
}

/** @throws DelayTopologyError for a queue that would lose each message at its first return */
function checkUnlimited(queue: QueuePlan, brokerVersion: string | undefined): void {
  const fault = describeUnlimited(queue, brokerVersion);
  if (fault !== undefined)
    throw new DelayTopologyError("queueArguments.x-delivery-limit", queue.arguments["x-delivery-limit"], fault);
}

function ownOf({ endpoint, endpointType, ...args }: EndpointDelayBindingArgs): OwnEndpoint {
  return { ...args, name: endpoint, type: endpointType };
}

/** @returns the name of what the network is bound to, known once all of it is there */
function declareOwn(own: EntityPlan, declarer: Declarer, set: pulumi.Resource[]): pulumi.Output<string> {
  const names = declareEntities(
    own,
    () => declarer,
    set,
    own.queues.map(({ name }) => name),
  );
  return pulumi.all(names).apply(([first]) => first as string);
}

/** How many there are depends on no other stack; what they are, on the presets of the networks. */
function limitsOf(args: EndpointDelayBindingArgs, queue: QueuePlan | undefined): pulumi.Output<PolicyPlan>[] {
  if (queue === undefined) return [];
  const { network, furtherNetworks = [] } = args;
  const further = furtherNetworks.map(shapeOf);
  const known = knownNetwork(network);
  return endpointLimitPolicies(queue, undefined, args).map((limit) => {
    const beside = (joined: { network: DelayNetwork }[]): PolicyPlan =>
      endpointLimitPolicies(queue, limitingPreset([...joined, ...further]), args)[0] ?? limit;
    if (known !== undefined) return pulumi.output(beside([known]));
    if (network === undefined) return pulumi.output(beside([]));
    return whenKnown(descriptorOf(network), (value) => beside([{ network: parseDelayNetwork(value) }]));
  });
}

/** The shape of a further network, which is known when the program runs. */
function shapeOf(further: JoinedNetwork): { network: DelayNetwork } {
  return knownNetwork(further) ?? { network: parseDelayNetwork(descriptorOf(further)) };
}

/** A name that the program gives without saying that something makes it first has to be there. */
function destinationOf(
  { createQueue, client, destination }: EndpointDelayBindingArgs,
  opts: pulumi.ComponentResourceOptions | undefined,
): Wanted["destination"] {
  if (destination !== undefined && typeof destination !== "string") return "output";
  return createQueue === true || client !== undefined || opts?.dependsOn !== undefined ? undefined : "existing";
}
