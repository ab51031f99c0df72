import * as pulumi from "@pulumi/pulumi";
import { DelayGateway, DelayLevelTopology, GatewayDeploymentArgs } from "pulumi-rabbitmq-delay";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";
import { processArguments } from "./process";

/**
 * Declares the broker's side of a gateway.
 * @param networkOf the topology of a network, by its name in the config; without a name, the current one
 */
export function declareGateway(
  config: ProgramConfig,
  broker: Pick<StackBroker, "vhost" | "brokerVersion" | "outputs">,
  networkOf: (name: string | undefined) => DelayLevelTopology,
  opts: pulumi.ComponentResourceOptions,
): { gateway?: DelayGateway; outputs: Record<string, unknown> } {
  const { delayGateway: given, gatewayPassword } = config;
  if (given === undefined) return { outputs: {} };
  const { deployment, ...shared } = processArguments(given, gatewayPassword, config, broker);
  const network = networkOf(given.network);
  const args = { ...given, ...shared, network, deployment: deployment as GatewayDeploymentArgs | undefined };
  const gateway = new DelayGateway("gateway", args, opts);
  const users = given.user === undefined ? {} : { gatewayUsers: gateway.users };
  return { gateway, outputs: { delayGateway: gateway.delayGateway, ...users } };
}
