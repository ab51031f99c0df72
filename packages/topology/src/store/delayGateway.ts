import { AccessPlan, oneOfNames } from "../access/access";
import type { EntityPlan, QueuePlan } from "../entities";
import { DelayTopologyError } from "../errors";
import { checkEntityName } from "../names";
import type { DelayNetwork } from "../network/delayNetwork";
import { parseDelayNetwork } from "../network/descriptor";
import { EndpointPlan, planBinding } from "../network/endpoint";
import { byHand, Source } from "../optionReading";
import type { GatewayQueuesOptions } from "../options.generated";
import { optionsIn, readDescriptor } from "../readDescriptor";
import { gatewayQueuesNames, readGatewayQueuesOptions } from "../readers.generated";
import { checkIntakeApart, MessageIntake, planIntake, takenQueue, writtenBy } from "./intake";

/**
 * The descriptor of a gateway's side of the broker: plain JSON that a stack exports. A gateway takes messages with the header `x-delay`,
 * lets them wait in a delay network, and delivers them under the key that they were published with.
 */
export interface DelayGateway extends MessageIntake {
  kind: "delay-gateway";
  version: 1;
  /** The queue that messages come back to from the network; the network's endpoint. */
  returnQueue: string;
  /** Whether one process at a time takes messages, so that those of one delay, up to the network's longest, keep their order. */
  singleActiveConsumer: boolean;
  /** The network that messages wait in. */
  network: DelayNetwork;
}

/** Options of the broker's side of a gateway. */
export type DelayGatewayOptions = GatewayQueuesOptions & {
  /** The network that messages wait in: a descriptor. */
  network: unknown;
};

/**
 * Makes the descriptor of a gateway's side of the broker from options.
 * @param source names the properties for messages
 * @throws DelayTopologyError naming the property, the value and what is allowed
 */
export function delayGateway({ network, ...options }: DelayGatewayOptions, source: Source = byHand): DelayGateway {
  return makeDelayGateway(options, network, source);
}

/**
 * Reads a descriptor that came from elsewhere.
 * @throws DelayTopologyError for another kind or version, or a part that is missing or malformed
 */
export function parseDelayGateway(value: unknown, property = "delayGateway"): DelayGateway {
  return readDescriptor<DelayGateway>(value, "delay-gateway", property, (given, source) =>
    makeDelayGateway(optionsIn(gatewayQueuesNames, given), given.network, source),
  );
}

/** A gateway's side of the broker without its network, which may be known later than its names. */
export type GatewayQueues = Omit<DelayGateway, "network">;

/** The same as {@link delayGateway}, before the network is known. @throws DelayTopologyError */
export function gatewayQueues(options: Omit<DelayGatewayOptions, "network">, source: Source = byHand): GatewayQueues {
  return makeQueues(options, source);
}

function makeDelayGateway(options: unknown, network: unknown, source: Source): DelayGateway {
  const { at } = source;
  const gateway = { ...makeQueues(options, source), network: parseDelayNetwork(network, at("network")) };
  checkRound(gateway, at);
  bindReturns(gateway, at("name"));
  return gateway;
}

function makeQueues(options: unknown, source: Source): GatewayQueues {
  const { at } = source;
  const { name, forwards, toQueues, exchanges, singleActiveConsumer } = readGatewayQueuesOptions(
    options,
    "delayGateway",
    source,
  );
  const gateway: GatewayQueues = {
    kind: "delay-gateway",
    version: 1,
    name,
    intakeQueue: checkEntityName(at("name"), `${name}.intake`),
    errorQueue: `${name}.error`,
    returnQueue: `${name}.return`,
    forwards,
    toQueues,
    exchanges,
    singleActiveConsumer,
  };
  checkIntakeApart(gateway, [], at);
  return gateway;
}

/** An exchange of the network behind the gateway would take a due message for one with a delay in its key. */
function checkRound({ network, forwards, exchanges }: DelayGateway, at: (name: string) => string): void {
  const own = [...network.entryExchanges, network.deliveryExchange, network.bindingExchange];
  const check = (property: string, name: string): void => {
    if (own.includes(name))
      throw new DelayTopologyError(at(property), name, "the network has an exchange of that name");
  };
  forwards.forEach(({ exchange, delivery }, index) => {
    check(`forwards[${index}].exchange`, exchange);
    check(`forwards[${index}].delivery`, delivery);
  });
  exchanges.forEach((exchange, index) => check(`exchanges[${index}]`, exchange));
}

/** The network's bindings of the return queue. */
function bindReturns({ network, returnQueue }: DelayGateway, property: string): EndpointPlan {
  try {
    return planBinding(network, { name: returnQueue });
  } catch (error) {
    if (!(error instanceof DelayTopologyError)) throw error;
    throw new DelayTopologyError(property, returnQueue, error.allowed);
  }
}

/** Plans the gateway's exchanges and queues beside its network; see {@link planIntake}. */
export function planDelayGateway(gateway: DelayGateway): EntityPlan {
  const plan = planGatewayQueues(gateway);
  return { ...plan, bindings: [...plan.bindings, ...bindReturns(gateway, "name").bindings] };
}

/** Plans the same without what leads back from the network. */
export function planGatewayQueues(gateway: GatewayQueues): EntityPlan {
  const more: QueuePlan["arguments"] = gateway.singleActiveConsumer ? { "x-single-active-consumer": true } : {};
  const { exchanges, queues, bindings } = planIntake(gateway, [], more);
  return { exchanges, queues: [...queues, takenQueue(gateway, gateway.returnQueue, more)], bindings };
}

/**
 * Plans the least permissions of the process that runs the gateway: it consumes the intake and return queues, publishes into the network, to
 * the error exchange and to where messages may go, and declares nothing.
 */
export function planGatewayAccess(gateway: DelayGateway): AccessPlan {
  return {
    configure: oneOfNames([]),
    write: writtenBy(gateway, gateway.network.entryExchanges),
    read: oneOfNames([gateway.intakeQueue, gateway.returnQueue]),
    topics: [],
    tags: [],
  };
}
