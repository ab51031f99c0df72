import type { input } from "@pulumi/kubernetes/types";
import { Ingress, NetworkPolicy, PodDisruptionBudget, Service, metadata, selectorLabels } from "./manifest";
import { clusterPorts, nodesService } from "./places";
import type { ClusterShape } from "./shape";

/** Erlang's port mapper, the nodes' own connections, and those of the command-line tools. */
const NODE_PORTS: { port: number; endPort?: number }[] = [
  { port: 4369 },
  { port: 25672 },
  { port: 35672, endPort: 35682 },
];

/** Names of the nodes, also of those that are not ready: they have to find each other first. */
export function nodesServiceManifest(shape: ClusterShape): Service {
  return {
    kind: "Service",
    metadata: metadata(shape, nodesService(shape)),
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: selectorLabels(shape),
      ports: [
        { name: "epmd", port: 4369, protocol: "TCP" },
        { name: "cluster-rpc", port: 25672, protocol: "TCP" },
      ],
    },
  };
}

/** What clients connect to. */
export function clientServiceManifest(shape: ClusterShape): Service {
  const { amqp, management, prometheus } = clusterPorts(shape);
  return {
    kind: "Service",
    metadata: metadata(shape, shape.name),
    spec: {
      type: "ClusterIP",
      selector: selectorLabels(shape),
      ports: [amqp, management, prometheus].map(({ name, port }) => ({
        name,
        port,
        targetPort: port,
        protocol: "TCP",
      })),
    },
  };
}

/** Drains of machines take one node at a time. */
export function disruptionBudgetManifest(shape: ClusterShape): PodDisruptionBudget {
  return {
    kind: "PodDisruptionBudget",
    metadata: metadata(shape, shape.name),
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorLabels(shape) } },
  };
}

/** Who may connect to what: the nodes to each other, and namespaces to what they were given. */
export function networkPolicyManifest(shape: ClusterShape): NetworkPolicy {
  const { amqp, management, prometheus } = clusterPorts(shape);
  const { clientNamespaces, managementNamespaces, monitoringNamespaces } = shape.access;
  const from = (
    namespaces: string[],
    ports: { port: number; endPort?: number }[],
  ): input.networking.v1.NetworkPolicyIngressRule => ({
    from: [{ podSelector: {} }, ...namespaces.map(namespacePeer)],
    ports: ports.map((port) => ({ ...port, protocol: "TCP" })),
  });
  return {
    kind: "NetworkPolicy",
    metadata: metadata(shape, shape.name),
    spec: {
      podSelector: { matchLabels: selectorLabels(shape) },
      policyTypes: ["Ingress"],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: selectorLabels(shape) } }],
          ports: NODE_PORTS.map((port) => ({ ...port, protocol: "TCP" })),
        },
        from(clientNamespaces, [{ port: amqp.port }]),
        from(managementNamespaces, [{ port: management.port }]),
        from(monitoringNamespaces, [{ port: prometheus.port }]),
      ],
    },
  };
}

function namespacePeer(namespace: string): input.networking.v1.NetworkPolicyPeer {
  return { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
}

/** The way to the management API from outside. */
export function ingressManifest(shape: ClusterShape, given: NonNullable<ClusterShape["ingress"]>): Ingress {
  const { host, className, tlsSecretName, annotations } = given;
  const service = { name: shape.name, port: { name: clusterPorts(shape).management.name } };
  return {
    kind: "Ingress",
    metadata: metadata(shape, `${shape.name}-management`, { annotations }),
    spec: {
      ingressClassName: className,
      tls: [{ hosts: [host], secretName: tlsSecretName }],
      rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend: { service } }] } }],
    },
  };
}
