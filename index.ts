import * as pulumi from "@pulumi/pulumi";
import { EndpointDelayBinding, ErrorQueues } from "pulumi-rabbitmq-delay";
import { stackState, thisStack } from "pulumi-rabbitmq-delay/program";
import {
  ConfiguredNetworks,
  EndpointConfig,
  boundType,
  ownErrorQueue,
  planStack,
} from "@rabbitmq-delay/topology/stack";
import { findBroker } from "./program/broker";
import { readConfig } from "./program/config";
import { declareDelayedExchanges } from "./program/delayedExchanges";
import { expectationOf } from "./program/expectation";
import { declareGateway } from "./program/gateway";
import { checkPlaces, declareNetworks } from "./program/networks";
import { checkProduction } from "./program/production";
import { declareRetries } from "./program/retries";
import { declareStore } from "./program/store";

/** The exit code by which Pulumi's Node host knows that the reason was logged already; see @pulumi/pulumi/cmd/run. */
const EXIT_AFTER_LOGGED_ERROR = 32;

/** A mistake of the user's is one line; ended at once, because a rejected program costs the SDK half a minute. */
export = (): Promise<Record<string, unknown>> =>
  declareStack().catch(async (error: Error) => {
    if (!["DelayTopologyError", "BrokerCheckError", "ConfigError"].includes(error.name)) throw error;
    await pulumi.log.error(error.message);
    process.exit(EXIT_AFTER_LOGGED_ERROR);
  });

/** One stack is one broker environment: a delay network, and the endpoints that this stack owns. */
async function declareStack(): Promise<Record<string, unknown>> {
  const config = readConfig();
  const { removal, errorQueues } = config;
  const plan = planStack(config, config.vhost);
  const { networks } = plan;
  checkProduction(config, networks.networks);
  await checkPlaces(stackState, networks.networks);
  const {
    provider,
    address,
    vhost,
    brokerVersion,
    outputs: ways,
  } = await findBroker(config, (version) => expectationOf(plan, config, version, thisStack()));

  const declared = declareNetworks(networks, { vhost, removal, brokerVersion }, { provider });
  const retries = declareRetries(config, { address, vhost, brokerVersion }, { provider });
  const errors =
    errorQueues.length > 0 &&
    new ErrorQueues("errors", { names: errorQueues, vhost, removal, brokerVersion }, { provider });
  const store = declareStore(config, { vhost, brokerVersion, outputs: ways }, { provider });
  const gateway = declareGateway(config, { vhost, brokerVersion, outputs: ways }, declared, { provider });
  const others = [store.store, gateway.gateway, errors || undefined].filter((component) => component !== undefined);
  const exchanges = declareDelayedExchanges(config, { vhost, brokerVersion }, { provider }, others);
  const outputs: Record<string, unknown> = {
    ...declared.outputs,
    vhost,
    ...retries.outputs,
    ...(errors && { errorQueues: errors.names }),
    ...exchanges,
    ...store.outputs,
    ...gateway.outputs,
    ...ways,
  };
  // An endpoint that is one of the shared queues is bound once that is there.
  const sharedQueue = (name: string): pulumi.Output<string> | undefined =>
    errors && errorQueues.includes(name) ? errors.names.apply(() => name) : undefined;
  for (const endpoint of config.endpoints) {
    const {
      name,
      type,
      patterns,
      createQueue,
      queueType,
      queuePolicy,
      client,
      routingTopology,
      retries: isRetried,
    } = endpoint;
    const args = {
      ...declared.joinedBy(endpoint),
      retryIntervals: isRetried ? retries.retryIntervals : undefined,
      endpoint: name,
      endpointType: type,
      patterns,
      destination: retries.queues.get(name) ?? sharedQueue(name),
      createQueue,
      queueType,
      queuePolicy,
      client,
      routingTopology,
      errorQueue: ownErrorQueue(endpoint, errorQueues),
      allow: config.allow,
      formerOwners: config.formerOwners,
      brokerVersion,
    };
    const binding = new EndpointDelayBinding(name, args, { provider });
    outputs[`endpoint ${name}`] = binding.bindingKeys.apply((keys) => describeEndpoint(endpoint, networks, keys));
  }
  return outputs;
}

/** What an endpoint gets, and from where, in a sentence. */
function describeEndpoint(endpoint: EndpointConfig, networks: ConfiguredNetworks, keys: readonly string[]): string {
  const { name, patterns = [name], retries = false } = endpoint;
  const joined = networks.joinedBy(endpoint).map(({ network }, index) => {
    const own = keys.slice(index * patterns.length, (index + 1) * patterns.length);
    return `${own.join(", ")} from ${network.bindingExchange}`;
  });
  const returned = retries ? ", and its failed messages from the interval queues" : "";
  return `${boundType(endpoint)} ${name} gets ${joined.join(", ")}${returned}`;
}
