import * as pulumi from "@pulumi/pulumi";
import * as rabbitmq from "@pulumi/rabbitmq";
import { argumentsAsWritten, givenArguments } from "./knownArguments";
import type { RabbitMqClusterArgs } from "./cluster/args";
import { declareCluster } from "./cluster/declareCluster";
import { amqpUrl, clusterPorts } from "./cluster/places";
import { untilReady } from "./cluster/ready";
import { clusterSecrets } from "./cluster/secrets";
import { ClusterShape } from "./cluster/shape";
import { clusterShape } from "./cluster/clusterShape";
import { secretNames } from "./cluster/statefulSet";
import { removalOptions } from "./removal";

/**
 * A RabbitMQ cluster on Kubernetes that suits delay networks: quorum queues, spread leaders, room for dead letters, and nodes
 * that end only when no queue needs them.
 * Throws a DelayTopologyError, before anything is made, that names the refused property, its value and what is allowed.
 * @example
 * ```ts
 * import { RabbitMqCluster } from "pulumi-rabbitmq-delay";
 *
 * const cluster = new RabbitMqCluster("rabbitmq", {
 *   namespace: "messaging",
 *   storage: { className: "fast", sizeGiB: 20 },
 * });
 * export const amqpUrl = cluster.amqpUrl;
 * ```
 */
export class RabbitMqCluster extends pulumi.ComponentResource {
  /** Where this program reaches the management API; known when all nodes answer there. */
  public readonly managementUrl: pulumi.Output<string>;
  /** Where services in the same Kubernetes connect, without a user, e.g. `amqps://NAME.NAMESPACE.svc:5671`. */
  public readonly amqpUrl: pulumi.Output<string>;
  /** Name of the administrator. */
  public readonly username: pulumi.Output<string>;
  /** Its password, a secret. */
  public readonly password: pulumi.Output<string>;
  /** Name of the Kubernetes Secret with both, and with `host` and `port`. */
  public readonly credentialsSecret: pulumi.Output<string>;

  constructor(name: string, args: RabbitMqClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    const shape = clusterShape(name, argumentsAsWritten(args));
    args = givenArguments(args);
    const removal = removalOptions(args.removal);
    super("rabbitmq-delay:index:RabbitMqCluster", name, {}, opts);

    const secrets = clusterSecrets(name, shape, args, { parent: this });
    const made = pulumi.all(declareCluster(name, shape, secrets, { ...removal, parent: this }));

    this.managementUrl = pulumi
      .all([made, secrets.password])
      .apply(([, password]) => whenReady(shape, password, args.caCertFile));
    this.amqpUrl = made.apply(() => amqpUrl(shape));
    this.username = made.apply(() => shape.username);
    this.password = secrets.password;
    this.credentialsSecret = made.apply(() => secretNames(shape).defaultUser);
    connections.set(this, { name, caCertFile: args.caCertFile });
    this.registerOutputs({
      managementUrl: this.managementUrl,
      amqpUrl: this.amqpUrl,
      username: this.username,
      password: this.password,
      credentialsSecret: this.credentialsSecret,
    });
  }

  /** A provider for what is declared on the cluster; it waits until all nodes answer. Made when it is first asked for. */
  get provider(): rabbitmq.Provider {
    const connection = connections.get(this) as Connection;
    connection.provider ??= new rabbitmq.Provider(
      connection.name,
      {
        endpoint: this.managementUrl,
        username: this.username,
        password: this.password,
        cacertFile: connection.caCertFile,
      },
      { parent: this },
    );
    return connection.provider;
  }
}

/** What a provider needs beside the outputs. */
interface Connection {
  name: string;
  caCertFile: string | undefined;
  provider?: rabbitmq.Provider;
}

// Beside the components, not in them: every field of a component becomes an output.
const connections = new WeakMap<object, Connection>();

/** A preview doesn't wait: it declares nothing on the broker. */
async function whenReady(shape: ClusterShape, password: string, caCertFile: string | undefined): Promise<string> {
  const { managementUrl, username } = shape;
  if (pulumi.runtime.isDryRun()) return managementUrl;
  const { port } = clusterPorts(shape).management;
  await untilReady({
    broker: { managementUrl, username, password, caCertFile },
    nodes: shape.replicas,
    limitMs: shape.readyTimeoutSeconds * 1000,
    remedy:
      `look at it by kubectl -n ${shape.namespace} get pods; where only the way to it is missing, kubectl -n ` +
      `${shape.namespace} port-forward service/${shape.name} ${port} and managementUrl, see docs/kubernetes.md`,
  });
  return managementUrl;
}
