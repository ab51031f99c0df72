import { ClusterMode } from "../enums";
import { certificateManifest } from "./certificate";
import { ForeignKind, KubernetesObject, Namespace, allLabels } from "./manifest";
import { dashboardManifest, serviceMonitorManifest } from "./monitoring";
import {
  clientServiceManifest,
  disruptionBudgetManifest,
  ingressManifest,
  networkPolicyManifest,
  nodesServiceManifest,
} from "./services";
import { operatorClusterManifest } from "./operatorCluster";
import type { ClusterShape } from "./shape";
import { configMapManifest, serviceAccountManifest, statefulSetManifest } from "./statefulSet";

/** All of a cluster's objects but its Secrets, in the order in which they are made. */
export interface ClusterManifests {
  /** Only where it is made, too. */
  namespace: Namespace | undefined;
  /** What stands around the nodes, in either mode. */
  surroundings: KubernetesObject[];
  /** What the nodes are made of: a StatefulSet, or the operator's resource. */
  workload: KubernetesObject;
}

/** For each kind that others than Kubernetes define: whose it is, and the definition that must be there before. */
export const foreignKinds: Record<ForeignKind, { owner: string; definition: string }> = {
  RabbitmqCluster: { owner: "rabbitmq-cluster-operator", definition: "rabbitmqclusters.rabbitmq.com" },
  Certificate: { owner: "cert-manager", definition: "certificates.cert-manager.io" },
  ServiceMonitor: { owner: "prometheus-operator", definition: "servicemonitors.monitoring.coreos.com" },
};

/** Plans a cluster's objects. */
export function clusterManifests(shape: ClusterShape): ClusterManifests {
  const { mode, monitoring, ingress, tls } = shape;
  const isOwn = mode === ClusterMode.StatefulSet;
  return {
    namespace: shape.createNamespace ? namespaceManifest(shape) : undefined,
    surroundings: [
      ...(isOwn ? ownParts(shape) : []),
      disruptionBudgetManifest(shape),
      networkPolicyManifest(shape),
      ...(tls?.issuer === undefined ? [] : [certificateManifest(shape, tls)]),
      ...(ingress === undefined ? [] : [ingressManifest(shape, ingress)]),
      ...(monitoring.serviceMonitor ? [serviceMonitorManifest(shape)] : []),
      ...(monitoring.dashboard ? [dashboardManifest(shape)] : []),
    ],
    workload: isOwn ? statefulSetManifest(shape) : operatorClusterManifest(shape),
  };
}

/** What the operator makes itself. */
function ownParts(shape: ClusterShape): KubernetesObject[] {
  return [
    serviceAccountManifest(shape),
    configMapManifest(shape),
    nodesServiceManifest(shape),
    clientServiceManifest(shape),
  ];
}

function namespaceManifest(shape: ClusterShape): Namespace {
  return {
    kind: "Namespace",
    metadata: {
      name: shape.namespace,
      labels: { ...allLabels(shape), "pod-security.kubernetes.io/enforce": "restricted" },
    },
  };
}
