import type { ConfiguredNetworks } from "../network/configuredNetworks";
import { DelayTopologyError } from "../errors";
import type { StackConfig } from "../options.generated";
import { DelayGateway, delayGateway } from "./delayGateway";
import { DelayedStore, delayedStore } from "./delayedStore";
import { withNameAs } from "./intake";

/**
 * Makes the descriptor of the store that a stack's config declares.
 * @throws DelayTopologyError for what it refuses
 */
export function delayedStoreOf(config: StackConfig["delayedStore"]): DelayedStore | undefined {
  if (config === undefined) return undefined;
  const { storeName: name, forwards, toQueues, exchanges } = config;
  return delayedStore({ name, forwards, toQueues, exchanges }, withNameAs("storeName"));
}

/**
 * Makes the descriptor of the gateway that a stack's config declares.
 * @throws DelayTopologyError for what it refuses, and for a network that the stack has not
 */
export function delayGatewayOf(
  config: StackConfig["delayGateway"],
  { networks, current }: ConfiguredNetworks,
): DelayGateway | undefined {
  if (config === undefined) return undefined;
  const { gatewayName: name, network: wanted, forwards, toQueues, exchanges, singleActiveConsumer } = config;
  const joined = wanted === undefined ? current : networks.find((one) => one.name === wanted);
  if (joined === undefined) {
    const names = networks.map((one) => one.name).join(", ");
    throw new DelayTopologyError("network", wanted, `it must be one of the stack's networks, ${names}`);
  }
  const options = { name, forwards, toQueues, exchanges, singleActiveConsumer, network: joined.network };
  return delayGateway(options, withNameAs("gatewayName"));
}
