import * as pulumi from "@pulumi/pulumi";
import {
  BindingPlan,
  DelayNetwork,
  DelayTopologyError,
  Endpoint,
  EndpointPlan,
  parseDelayNetwork,
  parseRetryIntervals,
  planBinding,
  planReturnBinding,
} from "@rabbitmq-delay/topology";
import { checkClientNetwork } from "@rabbitmq-delay/topology/stack";
import type { Declarer } from "./declare";
import { JoinedNetwork, descriptorOf } from "./descriptor";
import { EndpointClient, EndpointType } from "./enums";
import { isPlain } from "./joinedNetwork";
import { KnownNetwork, knownNetwork, rememberEndpoint } from "./knownNetworks";
import { checkedLater } from "./laterValues";
import type { RetryIntervalsDescriptor } from "./retryIntervalQueues";

/** What an endpoint joins, of the arguments of its component. */
interface JoiningEndpoint {
  endpoint: string;
  network?: JoinedNetwork;
  furtherNetworks?: JoinedNetwork[];
  retryIntervals?: pulumi.Input<RetryIntervalsDescriptor> | pulumi.Input<string>;
  destination?: pulumi.Input<string>;
  client?: EndpointClient;
  allow?: string[];
}

/** What is bound, as far as it is known when the program runs. */
export interface PlannedBinding {
  /** Last part of the logical name. */
  label: string;
  destinationType: EndpointType;
  source: pulumi.Input<string>;
  routingKey: pulumi.Input<string>;
  /** Last part of the logical name that it may have in the state instead. */
  former?: string;
  /** Name of the source where it is known before that is there; for the look at the broker. */
  sourceName?: string;
  /** The whole endpoint's plan, for a network that this program does not make. */
  plan?: pulumi.Output<EndpointPlan>;
}

/** Plans at once what is known when the program runs, so that a mistake shows before the first resource; else when it arrives. */
export function planEndpoint(args: JoiningEndpoint, endpoint: Endpoint): PlannedBinding[] {
  const { furtherNetworks = [], retryIntervals } = args;
  if (!joinsNetwork(args) && retryIntervals === undefined) {
    throw new DelayTopologyError("network", undefined, "give the network that the endpoint joins, or retryIntervals");
  }
  if (!joinsNetwork(args) && endpoint.patterns !== undefined) {
    throw new DelayTopologyError("patterns", endpoint.patterns, "they are for a delay network; give network");
  }
  return [
    ...(args.network === undefined ? [] : planDelayed(args.network, args, endpoint)),
    ...furtherNetworks.flatMap((further, index) => planFurther(further, index, args, endpoint)),
    ...(retryIntervals === undefined ? [] : [planReturned(retryIntervals, endpoint, args.destination)]),
  ];
}

/** The patterns are plain values, so the number of bindings and their names never depend on another stack. */
function planDelayed(
  network: JoinedNetwork,
  { allow, client, furtherNetworks = [] }: JoiningEndpoint,
  endpoint: Endpoint,
): PlannedBinding[] {
  // Of several networks, one is enough that the client sends to.
  const checked = (shape: DelayNetwork): DelayNetwork => {
    if (furtherNetworks.length === 0) checkClientNetwork({ client }, shape.preset);
    return shape;
  };
  const destinationType = endpoint.type ?? EndpointType.Queue;
  // Under another name than a binding to the queue: a client that comes or goes gets its binding before the other one goes.
  const end = client !== undefined && destinationType === EndpointType.Exchange ? "/exchange" : "";
  const labels = (endpoint.patterns ?? [endpoint.name]).map((label) => label + end);
  const known = knownNetwork(network);
  if (known !== undefined) {
    checked(known.network);
    return planKnown(known, endpoint, labels, allow);
  }
  const plan = whenKnown(descriptorOf(network), (value) => planBinding(checked(parseDelayNetwork(value)), endpoint));
  return labels.map((label, index) => ({
    label,
    destinationType,
    source: plan.apply(({ bindings }) => bindings[index]?.source ?? ""),
    routingKey: plan.apply(({ bindings }) => bindings[index]?.routingKey ?? ""),
    plan,
  }));
}

/** In a network of this program, whose shape is known. */
function planKnown(
  known: KnownNetwork,
  endpoint: Endpoint,
  labels: readonly string[],
  allow: string[] | undefined,
): PlannedBinding[] {
  const plan = planBinding(known.network, endpoint);
  rememberEndpoint(known, plan, allow);
  return plan.bindings.map(({ routingKey }, index) => ({
    label: labels[index] as string,
    destinationType: endpoint.type ?? EndpointType.Queue,
    source: known.bindingExchange,
    sourceName: known.network.bindingExchange,
    routingKey,
  }));
}

function planFurther(
  further: JoinedNetwork,
  index: number,
  args: JoiningEndpoint,
  endpoint: Endpoint,
): PlannedBinding[] {
  const prefix = prefixOf(further) ?? refuseUnknown(index);
  // No pattern has an @, so these are no labels of the first network's bindings.
  return planDelayed(further, args, endpoint).map((binding) => ({ ...binding, label: `${binding.label}@${prefix}` }));
}

/**
 * Plans what leads back to a queue from several networks, of which another one may become the first. So each binding is named by its
 * network, where that is known when the program runs; in the state it may have the name that it would have without.
 */
export function planReturns(network: JoinedNetwork, further: readonly JoinedNetwork[], name: string): PlannedBinding[] {
  const prefix = prefixOf(network);
  const [own, others] = [
    planDelayed(network, { endpoint: name, network }, { name }).map((binding) =>
      prefix === undefined ? binding : { ...binding, label: `${binding.label}@${prefix}` },
    ),
    further.flatMap((one, index) => planFurther(one, index, { endpoint: name, network: one }, { name })),
  ];
  return [...own, ...others].map((binding) => (binding.label === name ? binding : { ...binding, former: name }));
}

/** The prefix of a network that is known when the program runs. */
function prefixOf(network: JoinedNetwork): string | undefined {
  const known = knownNetwork(network);
  if (known !== undefined) return known.network.prefix;
  const descriptor = network === undefined ? undefined : descriptorOf(network);
  return descriptor !== undefined && isPlain(descriptor) ? parseDelayNetwork(descriptor).prefix : undefined;
}

/** Bindings are named when the program runs, so what they are named by has to be known then. */
function refuseUnknown(index: number): never {
  throw new DelayTopologyError(
    `furtherNetworks[${index}]`,
    Symbol("an Output"),
    "it must be a topology of a TypeScript program, or a plain descriptor or text, because bindings are named by it; bring that network up first, " +
      "and write its text here; join the network of another stack as network",
  );
}

function planReturned(
  retryIntervals: pulumi.Input<RetryIntervalsDescriptor> | pulumi.Input<string>,
  { name, type, client }: Endpoint,
  queue: pulumi.Input<string> = name,
): PlannedBinding {
  // Behind the exchange of a client's endpoint is a queue of its name; MassTransit's message types have none.
  if (type === EndpointType.Exchange && (client === undefined || client === "masstransit")) {
    throw new DelayTopologyError("endpointType", type, "messages come back to a queue; leave retryIntervals out");
  }
  if (pulumi.Resource.isInstance(retryIntervals)) {
    throw new DelayTopologyError("retryIntervals", Symbol("a component"), "give its output, component.retryIntervals");
  }
  const planFor = ([value, bound]: unknown[]): BindingPlan =>
    planReturnBinding(parseRetryIntervals(value), bound as string);
  const plan = [retryIntervals, queue].every(isPlain)
    ? pulumi.output(planFor([retryIntervals, queue]))
    : checkedLater(pulumi.all([retryIntervals, queue]), planFor);
  return {
    // No pattern has a slash.
    label: "/return",
    destinationType: EndpointType.Queue,
    source: plan.apply(({ source }) => source),
    routingKey: plan.apply(({ routingKey }) => routingKey),
  };
}

/** Whether an endpoint joins any network. */
export function joinsNetwork({ network, furtherNetworks = [] }: JoiningEndpoint): boolean {
  return network !== undefined || furtherNetworks.length > 0;
}

/** Runs at once on a plain value. */
export function whenKnown<T, U>(input: pulumi.Input<T> | undefined, plan: (value: unknown) => U): pulumi.Output<U> {
  const planned = isPlain(input) ? pulumi.output(plan(input)) : checkedLater(input, plan);
  return planned as pulumi.Output<U>;
}

/** A planned binding in the broker's words, without waiting for the network, where this program makes that. */
export function boundTo(
  { source, sourceName, routingKey, destinationType }: PlannedBinding,
  { destination, endpoint }: JoiningEndpoint,
): { [Part in keyof BindingPlan]: pulumi.Input<BindingPlan[Part]> } {
  return { source: sourceName ?? source, routingKey, destination: destination ?? endpoint, destinationType };
}

/** Resolves when the state has none of the bindings under another URN, e.g. of another component. */
export async function checkBindings(
  declarer: Declarer,
  bindings: PlannedBinding[],
  args: JoiningEndpoint,
): Promise<void> {
  await Promise.all(
    bindings.map((binding) => declarer.checkBinding(binding.label, boundTo(binding, args), binding.former)),
  );
}

/** Declares the bindings of an endpoint. */
export function declareBindings(
  declarer: Declarer,
  bindings: PlannedBinding[],
  destination: pulumi.Input<string>,
): pulumi.CustomResource[] {
  return bindings.map(({ label, former, source, sourceName = source, destinationType, routingKey }) => {
    const formerly = former === undefined ? undefined : { label: former, source: sourceName };
    return declarer.binding(label, { destinationType, routingKey }, source, destination, formerly);
  });
}
