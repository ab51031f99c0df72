import * as pulumi from "@pulumi/pulumi";
import { DelayGateway, GatewayDeploymentArgs } from "pulumi-rabbitmq-delay";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";
import type { DeclaredNetworks } from "./networks";
import { processArguments } from "./process";

/**
 * Declares the broker's side of a gateway, to which all networks lead back: messages may wait in one that it publishes into no longer.
 */
export function declareGateway(
  config: ProgramConfig,
  broker: Pick<StackBroker, "vhost" | "brokerVersion" | "outputs">,
  { topologyOf, topologies }: Pick<DeclaredNetworks, "topologyOf" | "topologies">,
  opts: pulumi.ComponentResourceOptions,
): { gateway?: DelayGateway; outputs: Record<string, unknown> } {
  const { delayGateway: given, gatewayPassword } = config;
  if (given === undefined) return { outputs: {} };
  const { deployment, ...shared } = processArguments(given, gatewayPassword, config, broker);
  const network = topologyOf(given.network);
  const furtherNetworks = topologies.filter((one) => one !== network);
  const args = {
    ...given,
    ...shared,
    network,
    furtherNetworks,
    deployment: deployment as GatewayDeploymentArgs | undefined,
  };
  const gateway = new DelayGateway("gateway", args, opts);
  const users = given.user === undefined ? {} : { gatewayUsers: gateway.users };
  return { gateway, outputs: { delayGateway: gateway.delayGateway, ...users } };
}
