import type * as pulumi from "@pulumi/pulumi";
import type { ClusterMode, IssuerKind, Removal } from "../enums";

/** A RabbitMQ cluster on Kubernetes. */
export interface RabbitMqClusterArgs {
  /** The Kubernetes namespace, e.g. `messaging`. */
  namespace: string;
  /** Whether to make the namespace, too, with pod security `restricted`; default false: it exists. */
  createNamespace?: boolean;
  /** Name of the cluster and of its objects, default the component's name; at most 40 characters, lower case. */
  clusterName?: string;
  /** `statefulset` (default): all objects are made here; `operator`: the RabbitMQ cluster operator makes them of one resource. */
  mode?: ClusterMode;
  /** Number of nodes: 1, 3 (default) or 5. Quorum queues need an odd number, and outlive the loss of the lesser half. */
  replicas?: number;
  /** The broker's image with a tag of its version, 4.1 or newer; default `rabbitmq:4.3.6`. */
  image?: string;
  /** The volume of each node. */
  storage: ClusterStorageArgs;
  /** Memory of each node in MiB, requested and limit; default 2048, at least 768 with the default watermark. */
  memoryMiB?: number;
  /** The part of its memory at which a node stops taking messages, from 0.3 to 0.8; default 0.6, as RabbitMQ's own. */
  memoryWatermark?: number;
  /** Requested processors of each node, as a text, in YAML e.g. `"2"` or `500m`; default `1`. There is no limit: throttling a node costs heartbeats. */
  cpu?: string;
  /** Encryption towards clients; default none, plain text. */
  tls?: ClusterTlsArgs;
  /** Plugins beside management, Prometheus and peer discovery, e.g. `rabbitmq_shovel`. */
  plugins?: string[];
  /** Further settings of rabbitmq.conf, e.g. `{"log.console.level": "warning"}`; not those that other arguments make. */
  config?: Record<string, string>;
  /**
   * How many messages the dead-letter worker of a level queue has on the way at once, 1 to 10,000; default 256. RabbitMQ's own
   * 32 is for queues where a dead letter is the exception: 10,000 messages that were due within 2 s were up to 3.4 s late
   * with it, 1.5 s with 128, and 0.6 s with 512 (measured: 4.3.6, three nodes on two processors). Each is in memory on its way.
   */
  deadLetterPrefetch?: number;
  /** Who may connect, by namespaces; default the cluster's own namespace. */
  access?: ClusterAccessArgs;
  /** What of it is measured, by the Prometheus operator and Grafana; default nothing, though the metrics are there. */
  monitoring?: ClusterMonitoringArgs;
  /** Way in to the management API from outside; default none. */
  ingress?: ClusterIngressArgs;
  /**
   * Where this program reaches the management API: the address of an ingress (default where `ingress` is given), that of a
   * port-forward (`https://localhost:15671`), or the Service's own (default), which only pods reach.
   */
  managementUrl?: string;
  /** File with the certificate authority in PEM, for this program's own connections; default the system's authorities. */
  caCertFile?: string;
  /** Name of the administrator that the cluster is born with; default `administrator`. */
  username?: string;
  /** Its password, a secret of 16 to 200 letters, digits and `. _ ~ -`; default: one is generated, once. */
  password?: pulumi.Input<string>;
  /** What the nodes know each other by, a secret of 20 to 200 letters and digits; default: one is generated, once. */
  erlangCookie?: pulumi.Input<string>;
  /** How long to wait for the nodes after an update, in seconds; default 600. */
  readyTimeoutSeconds?: number;
  /** How long a pod that ends waits for queues to be safe without it, in seconds; default 3600. */
  shutdownLimitSeconds?: number;
  /**
   * What happens to the cluster when it leaves the program: `retain` (default) or `delete`. A StatefulSet's volumes stay in any
   * case; the operator's go with its resource, whoever deletes that.
   */
  removal?: Removal;
}

/** Volumes of a cluster. */
export interface ClusterStorageArgs {
  /** Name of the StorageClass. Take one that can grow volumes, and whose reclaim policy is `Retain`. */
  className: string;
  /** Size of each node's volume in GiB, 4 to 16,384; default 20. */
  sizeGiB?: number;
}

/** Certificates of a cluster: an existing Secret, or one that cert-manager makes. */
export interface ClusterTlsArgs {
  /** Secret of type `kubernetes.io/tls`, with `ca.crt` where a ServiceMonitor is made; with `issuer` the one to make, by default `NAME-tls`. */
  secretName?: string;
  /** A cert-manager issuer. */
  issuer?: string;
  /** `ClusterIssuer` (default) or `Issuer`. */
  issuerKind?: IssuerKind;
  /** Names in the certificate beside those of the Services, `localhost`, and the host of `managementUrl`. */
  dnsNames?: string[];
}

/** Who may connect to a cluster, by namespaces. */
export interface ClusterAccessArgs {
  /** Namespaces of services. */
  clientNamespaces?: string[];
  /** Namespaces of what uses the management API: an ingress controller, a CI runner. */
  managementNamespaces?: string[];
  /** Namespaces of what reads the metrics. */
  monitoringNamespaces?: string[];
}

/** Monitoring of a cluster. */
export interface ClusterMonitoringArgs {
  /** Whether to make a ServiceMonitor for the Prometheus operator; default false. */
  serviceMonitor?: boolean;
  /** Whether to make a ConfigMap with the dashboard of delay networks, as Grafana's sidecar finds it; default false. */
  dashboard?: boolean;
  /** Labels of both, where Prometheus or Grafana select by them; a dashboard has `grafana_dashboard: "1"` anyhow. */
  labels?: Record<string, pulumi.Input<string>>;
}

/** An Ingress to the management API. */
export interface ClusterIngressArgs {
  /** Host name, e.g. `rabbitmq.example.com`. */
  host: string;
  /** Name of the IngressClass. */
  className: string;
  /** Secret with the host's certificate. */
  tlsSecretName: string;
  /** Annotations, e.g. that the controller shall speak TLS to the Service. */
  annotations?: Record<string, pulumi.Input<string>>;
}
