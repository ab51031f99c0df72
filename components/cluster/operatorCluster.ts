import type { input } from "@pulumi/kubernetes/types";
import { advancedConfig, operatorConf } from "./brokerConfig";
import { ForeignObject, metadata } from "./manifest";
import type { ClusterShape } from "./shape";
import { restrictedContainer } from "../restrictedContainer";
import { secretNames, spread } from "./statefulSet";

/** A resource of rabbitmq/cluster-operator, which makes the rest. */
export function operatorClusterManifest(shape: ClusterShape): ForeignObject {
  const memory = `${shape.memory.limitMiB}Mi`;
  const { tls } = shape;
  const resources: input.core.v1.ResourceRequirements = {
    requests: { cpu: shape.cpu, memory },
    limits: { memory },
  };
  return {
    apiVersion: "rabbitmq.com/v1beta1",
    kind: "RabbitmqCluster",
    metadata: metadata(shape, shape.name),
    spec: {
      replicas: shape.replicas,
      image: shape.image,
      persistence: { storageClassName: shape.storage.className, storage: `${shape.storage.sizeGiB}Gi` },
      resources,
      affinity: spread(shape).affinity,
      terminationGracePeriodSeconds: shape.shutdownLimitSeconds,
      secretBackend: { externalSecret: { name: secretNames(shape).defaultUser } },
      ...(tls === undefined ? {} : { tls: { secretName: tls.secretName, disableNonTLSListeners: true } }),
      rabbitmq: {
        additionalPlugins: shape.plugins,
        additionalConfig: operatorConf(shape),
        advancedConfig: advancedConfig(shape),
      },
      override: { statefulSet: { spec: { template: { spec: restrictedPods(shape) } } } },
    },
  };
}

/** The operator leaves out what the pod security level `restricted` asks for. */
function restrictedPods(shape: ClusterShape): input.core.v1.PodSpec {
  // The operator's own scripts write into the image's folders.
  const securityContext = { ...restrictedContainer, readOnlyRootFilesystem: false };
  return {
    securityContext: { runAsNonRoot: true, runAsUser: 999, fsGroup: 0, seccompProfile: { type: "RuntimeDefault" } },
    initContainers: [{ name: "setup-container", securityContext }],
    containers: [{ name: "rabbitmq", securityContext }],
    topologySpreadConstraints: spread(shape).topologySpreadConstraints,
  };
}
