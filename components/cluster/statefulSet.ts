import type { input } from "@pulumi/kubernetes/types";
import { createHash } from "node:crypto";
import { advancedConfig, enabledPlugins, rabbitmqConf } from "./brokerConfig";
import { ConfigMap, ServiceAccount, StatefulSet, metadata, selectorLabels } from "./manifest";
import { clusterPorts, nodesService } from "./places";
import type { ClusterShape } from "./shape";
import { restrictedContainer } from "../restrictedContainer";

/** User and group of the official image. */
const RABBITMQ_USER = 999;
const CONFIG_FOLDER = "/etc/rabbitmq-cluster";
const DATA_FOLDER = "/var/lib/rabbitmq";
const COOKIE_FOLDER = "/run/erlang-cookie";

/** Names of the Secrets that the pods mount. */
export function secretNames({ name }: Pick<ClusterShape, "name">): { defaultUser: string; erlangCookie: string } {
  return { defaultUser: `${name}-default-user`, erlangCookie: `${name}-erlang-cookie` };
}

/** rabbitmq.conf and its like. */
export function configMapManifest(shape: ClusterShape): ConfigMap {
  return {
    kind: "ConfigMap",
    metadata: metadata(shape, configMapName(shape)),
    data: configFiles(shape),
  };
}

/** The pods talk to no Kubernetes API: from 4.1, nodes find each other by the names of their pods. */
export function serviceAccountManifest(shape: ClusterShape): ServiceAccount {
  return {
    kind: "ServiceAccount",
    metadata: metadata(shape, shape.name),
    automountServiceAccountToken: false,
  };
}

/** The nodes, each with its volume. */
export function statefulSetManifest(shape: ClusterShape): StatefulSet {
  return {
    kind: "StatefulSet",
    metadata: metadata(shape, shape.name),
    spec: {
      serviceName: nodesService(shape),
      replicas: shape.replicas,
      // After a whole outage a node waits for the others before it is ready, so none may wait for the one before it.
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "RollingUpdate" },
      // A node that has just come back first fetches what it missed.
      minReadySeconds: 15,
      revisionHistoryLimit: 5,
      selector: { matchLabels: selectorLabels(shape) },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      volumeClaimTemplates: [
        {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: "data", labels: selectorLabels(shape) },
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: shape.storage.className,
            volumeMode: "Filesystem",
            resources: { requests: { storage: `${shape.storage.sizeGiB}Gi` } },
          },
        },
      ],
      template: {
        metadata: {
          labels: selectorLabels(shape),
          // Pods read their config when they start, so another config has to be another pod.
          annotations: { "rabbitmq-delay/config-hash": hashOf(configFiles(shape)) },
        },
        spec: podSpec(shape),
      },
    },
  };
}

function podSpec(shape: ClusterShape): input.core.v1.PodSpec {
  return {
    serviceAccountName: shape.name,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // For the wait before the end, and for the node's own stop after it.
    terminationGracePeriodSeconds: shape.shutdownLimitSeconds + 120,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: RABBITMQ_USER,
      runAsGroup: RABBITMQ_USER,
      fsGroup: RABBITMQ_USER,
      fsGroupChangePolicy: "OnRootMismatch",
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...spread(shape),
    initContainers: [cookieContainer(shape)],
    containers: [brokerContainer(shape)],
    volumes: volumes(shape),
  };
}

/** Not two nodes on one machine, and no zone with the most of them where there are zones. */
export function spread(shape: ClusterShape): Pick<input.core.v1.PodSpec, "affinity" | "topologySpreadConstraints"> {
  const labelSelector = { matchLabels: selectorLabels(shape) };
  return {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname", labelSelector }],
      },
    },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway", labelSelector },
    ],
  };
}

/** Erlang takes a cookie only from a file that its owner alone may read, which no mounted Secret is. */
function cookieContainer({ image }: ClusterShape): input.core.v1.Container {
  const file = `${DATA_FOLDER}/.erlang.cookie`;
  return {
    name: "erlang-cookie",
    image,
    command: ["sh", "-ec", `rm -f ${file}; umask 077; cp ${COOKIE_FOLDER}/cookie ${file}; chmod 400 ${file}`],
    resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "64Mi" } },
    securityContext: restrictedContainer,
    volumeMounts: [
      { name: "data", mountPath: DATA_FOLDER },
      { name: "erlang-cookie", mountPath: COOKIE_FOLDER, readOnly: true },
    ],
  };
}

function brokerContainer(shape: ClusterShape): input.core.v1.Container {
  const { amqp, management, prometheus } = clusterPorts(shape);
  const memory = `${shape.memory.limitMiB}Mi`;
  return {
    name: "rabbitmq",
    image: shape.image,
    env: environment(shape),
    ports: [amqp, management, prometheus].map(({ name, port }) => ({ name, containerPort: port, protocol: "TCP" })),
    resources: { requests: { cpu: shape.cpu, memory }, limits: { memory } },
    securityContext: restrictedContainer,
    // A node may have much to recover before it takes clients: an hour.
    startupProbe: { tcpSocket: { port: amqp.name }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 360 },
    readinessProbe: { tcpSocket: { port: amqp.name }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    // The lightest check that shows a hung runtime; heavier ones end nodes that are only busy.
    livenessProbe: {
      exec: { command: ["rabbitmq-diagnostics", "-q", "ping"] },
      periodSeconds: 60,
      timeoutSeconds: 30,
      failureThreshold: 5,
    },
    lifecycle: { preStop: { exec: { command: ["sh", "-c", preStopScript(shape)] } } },
    volumeMounts: [
      { name: "data", mountPath: DATA_FOLDER },
      { name: "config", mountPath: CONFIG_FOLDER, readOnly: true },
      { name: "scratch", mountPath: "/tmp" },
      ...(shape.tls === undefined ? [] : [{ name: "tls", mountPath: "/etc/rabbitmq-tls", readOnly: true }]),
    ],
  };
}

/** A node ends once every quorum queue has a majority without it, and moves its leaders away first. */
export function preStopScript({ replicas, shutdownLimitSeconds }: ClusterShape): string {
  const wait = `rabbitmq-upgrade -q await_online_quorum_plus_one -t ${shutdownLimitSeconds}`;
  // A single node has nobody to wait for.
  return replicas === 1 ? "rabbitmq-upgrade -q drain" : `${wait}; rabbitmq-upgrade -q drain`;
}

function environment(shape: ClusterShape): input.core.v1.EnvVar[] {
  const fromPod = (name: string, fieldPath: string): input.core.v1.EnvVar => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return [
    fromPod("POD_NAME", "metadata.name"),
    fromPod("POD_NAMESPACE", "metadata.namespace"),
    { name: "HOME", value: DATA_FOLDER },
    { name: "RABBITMQ_USE_LONGNAME", value: "true" },
    { name: "RABBITMQ_NODENAME", value: `rabbit@$(POD_NAME).${nodesService(shape)}.$(POD_NAMESPACE)` },
    { name: "RABBITMQ_MNESIA_BASE", value: `${DATA_FOLDER}/mnesia` },
    { name: "RABBITMQ_CONFIG_FILES", value: `${CONFIG_FOLDER}/conf.d` },
    { name: "RABBITMQ_ADVANCED_CONFIG_FILE", value: `${CONFIG_FOLDER}/advanced.config` },
    { name: "RABBITMQ_ENABLED_PLUGINS_FILE", value: `${CONFIG_FOLDER}/enabled_plugins` },
    { name: "RABBITMQ_LOGS", value: "-" },
  ];
}

function volumes(shape: ClusterShape): input.core.v1.Volume[] {
  const { defaultUser, erlangCookie } = secretNames(shape);
  const items = (...paths: [string, string][]): { key: string; path: string }[] =>
    paths.map(([key, path]) => ({ key, path }));
  return [
    {
      name: "config",
      projected: {
        defaultMode: 0o440,
        sources: [
          {
            configMap: {
              name: configMapName(shape),
              items: items(
                ["rabbitmq.conf", "conf.d/10-cluster.conf"],
                ["advanced.config", "advanced.config"],
                ["enabled_plugins", "enabled_plugins"],
              ),
            },
          },
          { secret: { name: defaultUser, items: items(["default_user.conf", "conf.d/20-default-user.conf"]) } },
        ],
      },
    },
    {
      name: "erlang-cookie",
      secret: { secretName: erlangCookie, defaultMode: 0o440, items: items([".erlang.cookie", "cookie"]) },
    },
    { name: "scratch", emptyDir: { sizeLimit: "64Mi" } },
    ...(shape.tls === undefined
      ? []
      : [{ name: "tls", secret: { secretName: shape.tls.secretName, defaultMode: 0o440 } }]),
  ];
}

function configFiles(shape: ClusterShape): Record<string, string> {
  return {
    "rabbitmq.conf": rabbitmqConf(shape),
    "advanced.config": advancedConfig(shape),
    enabled_plugins: enabledPlugins(shape),
  };
}

function configMapName({ name }: ClusterShape): string {
  return `${name}-config`;
}

function hashOf(files: Record<string, string>): string {
  return createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
}
