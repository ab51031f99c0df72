import type { z } from "zod";
import { DelayTopologyError } from "../errors";
import { removals } from "../removal";
import {
  anyText,
  filePath,
  flag,
  numberBetween,
  object,
  oneNumberOf,
  oneOf,
  recordOf,
  secretBy,
  textBy,
  textLike,
  wholeNumber,
} from "../schema/fields";
import { lazily, zod } from "../schema/zod";
import { checkClusterPassword, checkErlangCookie } from "./clusterSecrets";
import { settingsSchema } from "./clusterSettingsSchema";
import { DEFAULT_IMAGE, imageVersion } from "./image";
import { DEFAULT_WATERMARK } from "./memory";
import { clusterName, hostName, namespaceName, objectName, storageClassName } from "./nameSchema";

/** Who makes a cluster's pods: this package itself, or RabbitMQ's cluster operator. */
export const clusterModes = ["statefulset", "operator"] as const;

/** Kinds of cert-manager's issuers. */
export const issuerKinds = ["ClusterIssuer", "Issuer"] as const;

/** Quorum queues need an odd number of nodes. */
const NODES = [1, 3, 5] as const;
/** More memory than any machine of today has. */
const MOST_MEMORY_MIB = 16_777_216;

const storageSchema = lazily(() =>
  object({
    className: storageClassName().describe(
      "Name of the StorageClass. Take one that can grow volumes, and whose reclaim policy is `Retain`.",
    ),
    sizeGiB: wholeNumber(4, 16_384).default(20).describe("Size of each node's volume in GiB."),
  }),
);

const tlsSchema = lazily(() =>
  object({
    secretName: objectName(SECRET_RULE)
      .optional()
      .describe(
        "Secret of type `kubernetes.io/tls`, with `ca.crt` where a ServiceMonitor is made; with `issuer` the one to make, by default `NAME-tls`.",
      ),
    issuer: objectName(SECRET_RULE).optional().describe("A cert-manager issuer; default: none, and the Secret exists."),
    issuerKind: oneOf(issuerKinds).optional().describe("Kind of the issuer; default `ClusterIssuer`."),
    dnsNames: zod()
      .array(hostName(), { error: "it must be a list" })
      .default([])
      .describe("Names in the certificate beside those of the Services, `localhost`, and the host of `managementUrl`."),
  }),
);

const SECRET_RULE = "it must be the name of an object of Kubernetes";

const accessSchema = lazily(() =>
  object({
    clientNamespaces: namespaces().describe("Namespaces of services."),
    managementNamespaces: namespaces().describe(
      "Namespaces of what uses the management API: an ingress controller, a CI runner.",
    ),
    monitoringNamespaces: namespaces().describe("Namespaces of what reads the metrics."),
  }),
);

function namespaces(): z.ZodDefault<z.ZodArray<z.ZodString>> {
  return zod().array(namespaceName(), { error: "it must be a list" }).default([]);
}

const monitoringSchema = lazily(() =>
  object({
    serviceMonitor: flag().default(false).describe("Whether to make a ServiceMonitor for the Prometheus operator."),
    dashboard: flag()
      .default(false)
      .describe("Whether to make a ConfigMap with the dashboard of delay networks, as Grafana's sidecar finds it."),
    labels: recordOf(anyText(), { what: "a text" })
      .default({})
      .describe(
        'Labels of both, where Prometheus or Grafana select by them; a dashboard has `grafana_dashboard: "1"` anyhow.',
      ),
  }),
);

const ingressSchema = lazily(() =>
  object({
    host: hostName().describe("Host name, e.g. `rabbitmq.example.com`."),
    className: objectName("it must name an IngressClass").describe("Name of the IngressClass."),
    tlsSecretName: objectName(
      "it must name a Secret with the host's certificate; the administrator's password comes this way",
    ).describe("Secret with the host's certificate."),
    annotations: recordOf(anyText(), { what: "a text" })
      .default({})
      .describe("Annotations, e.g. that the controller shall speak TLS to the Service."),
  }),
);

/** A RabbitMQ cluster on Kubernetes, as a component takes it; a stack's config gives its secrets beside it. */
export const clusterSchema = lazily(() =>
  object({
    namespace: namespaceName().describe("The Kubernetes namespace, e.g. `messaging`."),
    createNamespace: flag()
      .default(false)
      .describe("Whether to make the namespace, too, with pod security `restricted`; without, it exists."),
    clusterName: clusterName()
      .optional()
      .describe(
        "Name of the cluster and of its objects; default the component's name, in a stack's config `rabbitmq`.",
      ),
    mode: oneOf(clusterModes)
      .default("statefulset")
      .describe(
        "`statefulset`: all objects are made here; `operator`: the RabbitMQ cluster operator makes them of one resource.",
      ),
    replicas: oneNumberOf(NODES, "it must be 1, 3 or 5; an even number survives no more losses")
      .default(3)
      .describe("Number of nodes. Quorum queues need an odd number, and outlive the loss of the lesser half."),
    image: textBy((property, image) => imageVersion(image, property))
      .default(DEFAULT_IMAGE)
      .describe("The broker's image with a tag of its version, 4.1 or newer."),
    storage: storageSchema().describe("The volume of each node."),
    memoryMiB: wholeNumber(1, MOST_MEMORY_MIB)
      .default(2048)
      .describe("Memory of each node in MiB, requested and limit; at least 747 with the default watermark."),
    memoryWatermark: numberBetween(0.3, 0.8)
      .default(DEFAULT_WATERMARK)
      .describe("The part of its memory at which a node stops taking messages; the default is RabbitMQ's own."),
    cpu: textLike(/^(\d+(\.\d+)?|[1-9]\d*m)$/, "it must be a number of processors, e.g. 2 or 500m")
      .default("1")
      .describe(
        'Requested processors of each node, as a text, in YAML e.g. `"2"` or `500m`. There is no limit: throttling a node costs heartbeats.',
      ),
    tls: tlsSchema().optional().describe("Encryption towards clients; default none, plain text."),
    plugins: zod()
      .array(textLike(/^[a-z][a-z0-9_]*$/, "it must be a plugin's name, e.g. rabbitmq_shovel"), {
        error: "it must be a list",
      })
      .default([])
      .describe("Plugins beside management, Prometheus and peer discovery, e.g. `rabbitmq_shovel`."),
    config: settingsSchema()
      .default({})
      .describe(
        'Further settings of rabbitmq.conf, e.g. `{"log.console.level": "warning"}`; not those that other properties make.',
      ),
    deadLetterPrefetch: wholeNumber(1, 10_000)
      .default(256)
      .describe(
        "How many messages the dead-letter worker of a level queue has on the way at once. RabbitMQ's own 32 is for queues where a dead letter is the exception. Each is in memory on its way.",
      ),
    access: accessSchema().optional().describe("Who may connect, by namespaces; default the cluster's own namespace."),
    monitoring: monitoringSchema()
      .optional()
      .describe(
        "What of it is measured, by the Prometheus operator and Grafana; default nothing, though the metrics are there.",
      ),
    ingress: ingressSchema().optional().describe("Way in to the management API from outside; default none."),
    managementUrl: textBy(checkManagementUrl)
      .optional()
      .describe(
        "Where the program reaches the management API: the address of an ingress (default where `ingress` is given), that of a port-forward (`https://localhost:15671`), or the Service's own (default), which only pods reach.",
      ),
    caCertFile: filePath()
      .optional()
      .describe(
        "File with the certificate authority in PEM, for the program's own connections; default the system's authorities.",
      ),
    username: textLike(/^[A-Za-z0-9._-]{1,64}$/, "it must have 1 to 64 letters, digits and . _ -")
      .default("administrator")
      .describe("Name of the administrator that the cluster is born with."),
    password: secretBy(checkClusterPassword)
      .optional()
      .describe("Its password, a secret of 16 to 200 letters, digits and `. _ ~ -`; default: one is generated, once."),
    erlangCookie: secretBy(checkErlangCookie)
      .optional()
      .describe(
        "What the nodes know each other by, a secret of 20 to 200 letters and digits; default: one is generated, once.",
      ),
    readyTimeoutSeconds: wholeNumber(1, 86_400)
      .default(600)
      .describe("How long to wait for the nodes after an update, in seconds."),
    shutdownLimitSeconds: wholeNumber(30, 604_800)
      .default(3600)
      .describe("How long a pod that ends waits for queues to be safe without it, in seconds."),
    removal: oneOf(removals)
      .default("retain")
      .describe(
        "What happens to the cluster when it leaves the program. A StatefulSet's volumes stay in any case; the operator's go with its resource, whoever deletes that.",
      ),
  }),
);

function checkManagementUrl(property: string, url: unknown): void {
  if (typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return;
  throw new DelayTopologyError(property, url, "it must be an http or https address, e.g. https://localhost:15671");
}
