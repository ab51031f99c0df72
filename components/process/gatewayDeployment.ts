import * as pulumi from "@pulumi/pulumi";
import { Properties, checkArguments } from "../knownArguments";
import { DeployedProcess, checkDeployment } from "./deployment";

const KNOWN: Properties<GatewayDeploymentArgs> = {
  namespace: true,
  image: true,
  amqpUrl: true,
  replicas: true,
  memoryMiB: true,
  caSecret: true,
};

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
  /** Memory of each in MiB, at least 128; default 256. A thousand bodies may be in hand, so give more where they are large. */
  memoryMiB?: number;
  /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
  caSecret?: string;
}

/**
 * The gateway's process as it is deployed.
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function gatewayProcess(args: GatewayDeploymentArgs, hasUser: boolean): DeployedProcess {
  checkArguments(KNOWN, args, "deployment", "deployment.");
  const process: DeployedProcess = {
    kind: "delay-gateway",
    container: "gateway",
    command: ["rabbitmq-delay", "gateway", "run", "--exit-on-critical"],
    httpPort: 9479,
    memoryMiB: { least: 128, default: 256 },
    descriptor: { folder: "/etc/delay-gateway", file: "gateway.json" },
    objects: {},
    env: [],
  };
  checkDeployment(process, args, hasUser);
  return process;
}
