import * as pulumi from "@pulumi/pulumi";
import {
  DelayTopologyError,
  Endpoint,
  OwnershipPlan,
  ownedNames,
  parseDelayNetwork,
  parseRetryIntervals,
  planBinding,
  planOwnership,
  planReturnBinding,
} from "rabbitmq-delay-topology";
import { Declarer } from "./declare";
import { DelayNetworkDescriptor, DelayNetworkSource } from "./descriptor";
import { EndpointType, QueueType, Removal } from "./enums";
import { knownNetwork, rememberEndpoint } from "./knownNetworks";
import { removalOptions } from "./removal";
import { thisStack } from "./thisStack";
import type { RetryIntervalsDescriptor } from "./retryIntervalQueues";

/** Which queue or exchange receives delayed or returned messages, and from where. */
export interface EndpointDelayBindingArgs {
  /** Name of the queue or exchange, and the destination that publishers give. */
  endpoint: string;
  /** The network, as a topology of the same program. Give this or `network`, or neither with `retryIntervals`. */
  topology?: DelayNetworkSource;
  /** The network, as a descriptor out of another stack (`stackReference.requireOutput("delayNetwork")`). */
  network?: pulumi.Input<DelayNetworkDescriptor>;
  /**
   * Interval queues from which the endpoint's queue shall get its failed messages back, beside or without a delay network:
   * the output of a `RetryIntervalQueues`, or a descriptor out of another stack.
   */
  retryIntervals?: pulumi.Input<RetryIntervalsDescriptor>;
  /** `queue` (default) or `exchange`. */
  endpointType?: EndpointType;
  /** Destinations that reach this endpoint, `*` for any one word; default: the endpoint's name. */
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
  /** Further arguments of the declared queue, in the broker's words, e.g. `{"x-delivery-limit": 5}`. */
  queueArguments?: Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- what the schema takes
  /** What happens to the declared queue when it leaves the program: `retain` (default) or `delete`. Bindings always go. */
  removal?: Removal;
  /**
   * Whose the endpoint is: the broker refuses another owner of its names. Default: this stack, where the network comes from
   * another one, and nobody else.
   */
  owner?: string;
  /** The vhost of the network; default `/`. */
  vhost?: pulumi.Input<string>;
}

/**
 * Lets one queue or exchange of a service receive the delayed messages of a network, and lets a queue get back the failed
 * ones that waited in interval queues.
 * Throws a DelayTopologyError, before anything is made where the network is known by then, for bad arguments and for an
 * endpoint that the network can't tell from another one of the same topology.
 */
export class EndpointDelayBinding extends pulumi.ComponentResource {
  /** Name of the bound queue or exchange. */
  public readonly destination: pulumi.Output<string>;
  /** The binding keys at the network's delivery exchange, and last the one at the return exchange. */
  public readonly bindingKeys: pulumi.Output<string[]>;

  constructor(name: string, args: EndpointDelayBindingArgs, opts?: pulumi.ComponentResourceOptions) {
    const endpoint: Endpoint = { name: args.endpoint, type: args.endpointType, patterns: args.patterns };
    const bindings = planEndpoint(args, endpoint);
    const options = removalOptions(args.removal);
    checkQueueArguments(args);
    const claims = planClaims(args, endpoint);
    super("rabbitmq-delay:index:EndpointDelayBinding", name, {}, opts);

    const vhost = args.vhost ?? "/";
    const claimed = claims.map((claim) => new Declarer(name, vhost, { parent: this }).exchange(claim));
    const children = { parent: this, dependsOn: claimed };
    const destination = args.createQueue
      ? declareQueue(new Declarer(name, vhost, { ...options, ...children }), args)
      : (args.destination ?? args.endpoint);
    declareBindings(new Declarer(name, vhost, children), bindings, destination);

    this.destination = pulumi.output(destination);
    this.bindingKeys = pulumi.all(bindings.map(({ routingKey }) => routingKey));
    this.registerOutputs({ destination: this.destination, bindingKeys: this.bindingKeys });
  }
}

/** What is bound, as far as it is known when the program runs. */
interface PlannedBinding {
  /** Last part of the logical name. */
  label: string;
  destinationType: EndpointType;
  source: pulumi.Input<string>;
  routingKey: pulumi.Input<string>;
}

/** Plans at once what is known when the program runs, so that a mistake shows before the first resource; else when it arrives. */
function planEndpoint(args: EndpointDelayBindingArgs, endpoint: Endpoint): PlannedBinding[] {
  const { topology, network, retryIntervals } = args;
  const sources = [topology, network].filter((source) => source !== undefined).length;
  if (sources > 1 || (sources === 0 && retryIntervals === undefined)) {
    throw new DelayTopologyError("network", network, "give one of topology and network, or retryIntervals");
  }
  if (sources === 0 && endpoint.patterns !== undefined) {
    throw new DelayTopologyError(
      "patterns",
      endpoint.patterns,
      "they are for a delay network; give topology or network",
    );
  }
  return [
    ...(sources === 0 ? [] : planDelayed(args, endpoint)),
    ...(retryIntervals === undefined ? [] : [planReturned(retryIntervals, endpoint)]),
  ];
}

/** The patterns are plain values, so the number of bindings and their names never depend on another stack. */
function planDelayed({ topology, network }: EndpointDelayBindingArgs, endpoint: Endpoint): PlannedBinding[] {
  const destinationType = endpoint.type ?? EndpointType.Queue;
  const labels = endpoint.patterns ?? [endpoint.name];
  const known = topology === undefined ? undefined : knownNetwork(topology);
  if (known !== undefined) {
    const plan = planBinding(known.network, endpoint);
    rememberEndpoint(known, plan);
    return plan.bindings.map(({ routingKey }, index) => ({
      label: labels[index] as string,
      destinationType,
      source: known.deliveryExchange,
      routingKey,
    }));
  }
  const plan = whenKnown(topology === undefined ? network : topology.network, (value) =>
    planBinding(parseDelayNetwork(value), endpoint),
  );
  return labels.map((label, index) => ({
    label,
    destinationType,
    source: plan.apply(({ bindings }) => bindings[index]?.source ?? ""),
    routingKey: plan.apply(({ bindings }) => bindings[index]?.routingKey ?? ""),
  }));
}

function planReturned(
  retryIntervals: pulumi.Input<RetryIntervalsDescriptor>,
  { name, type }: Endpoint,
): PlannedBinding {
  if (type === EndpointType.Exchange) {
    throw new DelayTopologyError("endpointType", type, "messages come back to a queue; leave retryIntervals out");
  }
  const plan = whenKnown(retryIntervals, (value) => planReturnBinding(parseRetryIntervals(value), name));
  return {
    // No pattern has a slash.
    label: "/return",
    destinationType: EndpointType.Queue,
    source: plan.apply(({ source }) => source),
    routingKey: plan.apply(({ routingKey }) => routingKey),
  };
}

/** In one program, endpoints are told apart before anything is made; between stacks, the broker has to. */
function planClaims({ owner, network }: EndpointDelayBindingArgs, endpoint: Endpoint): OwnershipPlan[] {
  const isOfAnotherStack = pulumi.Output.isInstance(network);
  if (owner === undefined && !isOfAnotherStack) return [];
  return ownedNames(endpoint).map((name) => planOwnership("endpoint", name, owner ?? thisStack()));
}

/** Runs at once on a plain value. */
function whenKnown<T, U>(input: pulumi.Input<T> | undefined, plan: (value: unknown) => U): pulumi.Output<U> {
  const isPlain = !pulumi.Output.isInstance(input) && !(input instanceof Promise);
  const planned = isPlain ? pulumi.output(plan(input)) : pulumi.output(input).apply(plan);
  return planned as pulumi.Output<U>;
}

function checkQueueArguments(args: EndpointDelayBindingArgs): void {
  const { createQueue, queueType, queueArguments, destination, endpointType } = args;
  if (createQueue && (endpointType === EndpointType.Exchange || destination !== undefined)) {
    throw new DelayTopologyError("createQueue", createQueue, "it is for a queue with the endpoint's own name");
  }
  if (!createQueue && (queueType !== undefined || queueArguments !== undefined)) {
    throw new DelayTopologyError("queueType", queueType, "queueType and queueArguments go with createQueue: true");
  }
  if (queueType !== undefined && !Object.values(QueueType).includes(queueType)) {
    throw new DelayTopologyError("queueType", queueType, `it must be one of ${Object.values(QueueType).join(", ")}`);
  }
  if (queueArguments !== undefined && "x-queue-type" in queueArguments) {
    throw new DelayTopologyError("queueArguments", queueArguments, "give the type as queueType");
  }
}

function declareQueue(declarer: Declarer, args: EndpointDelayBindingArgs): pulumi.Output<string> {
  const queueArguments = { ...args.queueArguments, "x-queue-type": args.queueType ?? QueueType.Quorum };
  return declarer.queue({ name: args.endpoint, durable: true, arguments: queueArguments }).name;
}

function declareBindings(declarer: Declarer, bindings: PlannedBinding[], destination: pulumi.Input<string>): void {
  bindings.forEach(({ label, source, ...plan }) => declarer.binding(label, plan, source, destination));
}
