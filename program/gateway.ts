import * as pulumi from "@pulumi/pulumi";
import { DelayGateway, DelayLevelTopology, GatewayDeploymentArgs } from "pulumi-rabbitmq-delay";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";

/**
 * Declares the broker's side of a gateway.
 * @param networkOf the topology of a network, by its name in the config; without a name, the current one
 */
export function declareGateway(
  { delayGateway: given, gatewayPassword, removal, formerOwners }: ProgramConfig,
  { vhost, brokerVersion, outputs: ways }: Pick<StackBroker, "vhost" | "brokerVersion" | "outputs">,
  networkOf: (name: string | undefined) => DelayLevelTopology,
  opts: pulumi.ComponentResourceOptions,
): { gateway?: DelayGateway; outputs: Record<string, unknown> } {
  if (given === undefined) return { outputs: {} };
  const credentials = given.user === undefined ? undefined : [{ password: pulumi.secret(gatewayPassword as string) }];
  // Beside a cluster of this stack's own, the process finds the broker by itself.
  const deployment = given.deployment && ({ amqpUrl: ways.amqpUrl, ...given.deployment } as GatewayDeploymentArgs);
  const args = {
    ...given,
    network: networkOf(given.network),
    deployment,
    credentials,
    formerOwners,
    vhost,
    removal,
    brokerVersion,
  };
  const gateway = new DelayGateway("gateway", args, opts);
  const users = given.user === undefined ? {} : { gatewayUsers: gateway.users };
  return { gateway, outputs: { delayGateway: gateway.delayGateway, ...users } };
}
