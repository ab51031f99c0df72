import * as pulumi from "@pulumi/pulumi";
import { DelayLevelTopology, EndpointDelayBinding } from "pulumi-rabbitmq-delay";
import { thisStack } from "pulumi-rabbitmq-delay/program";
import { delayNetwork, delayedStoreOf } from "@rabbitmq-delay/topology";
import { findBroker } from "./program/broker";
import { readConfig } from "./program/config";
import { expectationOf } from "./program/expectation";
import { checkProduction } from "./program/production";
import { declareRetries, retryDescriptorsOf } from "./program/retries";
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
  const { removal } = config;
  const network = delayNetwork({ ...config.network, vhost: config.vhost });
  checkProduction(config, network);
  const planned = { network, retries: retryDescriptorsOf(config), store: delayedStoreOf(config.delayedStore) };
  const {
    provider,
    address,
    vhost,
    brokerVersion,
    outputs: ways,
  } = await findBroker(config, (version) => expectationOf(planned, config, version, thisStack()));

  const topology = new DelayLevelTopology("delay", { ...config.network, vhost, removal, brokerVersion }, { provider });

  const retries = declareRetries(config, { address, vhost, brokerVersion }, { provider });
  const store = declareStore(config, { vhost, brokerVersion, outputs: ways }, { provider });
  const outputs: Record<string, unknown> = {
    delayNetwork: topology.network,
    vhost,
    ...retries.outputs,
    ...store,
    ...ways,
  };
  for (const { name, type, patterns, createQueue, queueType, retries: isRetried } of config.endpoints) {
    const args = {
      topology,
      retryIntervals: isRetried ? retries.retryIntervals : undefined,
      endpoint: name,
      endpointType: type,
      patterns,
      destination: retries.queues.get(name),
      createQueue,
      queueType,
      allow: config.allow,
      formerOwners: config.formerOwners,
      brokerVersion,
    };
    const binding = new EndpointDelayBinding(name, args, { provider });
    outputs[`endpoint ${name}`] = binding.bindingKeys.apply((keys) => {
      const delayed = keys.slice(0, patterns?.length ?? 1).join(", ");
      const returned = isRetried ? ", and its failed messages from the interval queues" : "";
      return `${type ?? "queue"} ${name} gets ${delayed} from ${network.deliveryExchange}${returned}`;
    });
  }
  return outputs;
}
