import * as pulumi from "@pulumi/pulumi";
import { checkDeployedUser, readStoreDeployment } from "@rabbitmq-delay/topology/stack";
import { readArguments } from "../knownArguments";
import type { DeployedProcess } from "./deployment";

/** The store's process on Kubernetes, beside its database. */
export interface StoreDeploymentArgs {
  /** Namespace, which exists. */
  namespace: string;
  /** Image in which `rabbitmq-delay` is on PATH, such as the project's Dockerfile makes. */
  image: string;
  /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`, the output `amqpUrl` of a `RabbitMqCluster`. */
  amqpUrl: pulumi.Input<string>;
  /** Name of the Secret with the address of the database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
  databaseSecret: string;
  /** Its key, default `url`. Pods that run go on with what the Secret held when they started (`kubectl rollout restart`). */
  databaseSecretKey?: string;
  /** Instances side by side, 1 to 10; default 2. PostgreSQL keeps them from delivering twice. */
  replicas?: number;
  /** Memory of each in MiB, at least 256; default 512. A 32nd of it is for the bodies of each queue in hand; further ones wait in files. */
  memoryMiB?: number;
  /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
  caSecret?: string;
}

/**
 * The store's process as it is deployed.
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function storeProcess(args: StoreDeploymentArgs, hasUser: boolean): DeployedProcess {
  const settings = readArguments(args, readStoreDeployment, { later: ["amqpUrl"] });
  checkDeployedUser("store", hasUser);
  const { databaseSecret, databaseSecretKey } = settings;
  return {
    settings: { ...settings, amqpUrl: args.amqpUrl },
    kind: "delayed-store",
    container: "store",
    command: ["rabbitmq-delay", "store", "run", "--exit-on-critical"],
    httpPort: 9478,
    descriptor: { folder: "/etc/delayed-store", file: "store.json" },
    settingsPrefix: "RABBITMQ_DELAY_STORE",
    env: [
      {
        name: "RABBITMQ_DELAY_STORE",
        valueFrom: { secretKeyRef: { name: databaseSecret, key: databaseSecretKey } },
      },
    ],
  };
}
