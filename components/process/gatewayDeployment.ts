import * as pulumi from "@pulumi/pulumi";
import { checkDeployedUser, readGatewayDeployment } from "@rabbitmq-delay/topology/stack";
import { readArguments } from "../knownArguments";
import type { DeployedProcess } from "./deployment";

/** The gateway's process on Kubernetes. */
export interface GatewayDeploymentArgs {
  /** Namespace, which exists. */
  namespace: string;
  /** Image in which `rabbitmq-delay` is on PATH, such as the project's Dockerfile makes. */
  image: string;
  /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`, the output `amqpUrl` of a `RabbitMqCluster`. */
  amqpUrl: pulumi.Input<string>;
  /** Instances side by side, 1 to 10; default 2. */
  replicas?: number;
  /** Memory of each in MiB, at least 128; default 256. A 32nd of it is for the bodies of each queue in hand; further ones wait in files. */
  memoryMiB?: number;
  /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
  caSecret?: string;
}

/**
 * The gateway's process as it is deployed.
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function gatewayProcess(args: GatewayDeploymentArgs, hasUser: boolean): DeployedProcess {
  const settings = readArguments(args, readGatewayDeployment, { later: ["amqpUrl"] });
  checkDeployedUser("gateway", hasUser);
  return {
    settings: { ...settings, amqpUrl: args.amqpUrl },
    kind: "delay-gateway",
    container: "gateway",
    command: ["rabbitmq-delay", "gateway", "run", "--exit-on-critical"],
    httpPort: 9479,
    descriptor: { folder: "/etc/delay-gateway", file: "gateway.json" },
    settingsPrefix: "RABBITMQ_DELAY_GATEWAY",
    env: [],
  };
}
