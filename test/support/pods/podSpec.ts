import type { CapturedManifest } from "../capture";

/** The part of a container's description that a test needs to run it. */
export interface ContainerSpec {
  name: string;
  command?: string[];
  env?: { name: string; value?: string; valueFrom?: { fieldRef?: { fieldPath: string } } }[];
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  securityContext: { readOnlyRootFilesystem?: boolean };
  livenessProbe?: { exec?: { command: string[] } };
  lifecycle?: { preStop?: { exec?: { command: string[] } } };
}

type Items = { key: string; path: string }[] | undefined;

/** The part of a volume's description that a test needs to fill it. */
export interface VolumeSpec {
  name: string;
  emptyDir?: object;
  secret?: { secretName: string; defaultMode?: number; items?: Items };
  configMap?: { name: string; items?: Items };
  projected?: {
    defaultMode?: number;
    sources: { configMap?: { name: string; items?: Items }; secret?: { name: string; items?: Items } }[];
  };
}

/** The part of a StatefulSet that a test needs to run its pods. */
export interface PodSetSpec {
  name: string;
  namespace: string;
  serviceName: string;
  replicas: number;
  user: number;
  group: number;
  initContainers: ContainerSpec[];
  container: ContainerSpec;
  volumes: VolumeSpec[];
  claims: string[];
}

/** Reads the pods from a cluster's manifests. */
export function podSetSpec(manifests: CapturedManifest[]): PodSetSpec {
  const set = manifests.find(({ kind }) => kind === "StatefulSet");
  if (set === undefined) throw new Error("there is no StatefulSet");
  const spec = set.spec as {
    serviceName: string;
    replicas: number;
    volumeClaimTemplates: { metadata: { name: string } }[];
    template: {
      spec: {
        securityContext: { runAsUser: number; fsGroup: number };
        initContainers: ContainerSpec[];
        containers: [ContainerSpec];
        volumes: VolumeSpec[];
      };
    };
  };
  const pod = spec.template.spec;
  return {
    name: set.metadata.name,
    namespace: set.metadata.namespace as string,
    serviceName: spec.serviceName,
    replicas: spec.replicas,
    user: pod.securityContext.runAsUser,
    group: pod.securityContext.fsGroup,
    initContainers: pod.initContainers,
    container: pod.containers[0],
    volumes: pod.volumes,
    claims: spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
  };
}

/** The files of a volume, as the kubelet would write them; undefined for one that starts empty. */
export function filesOf(volume: VolumeSpec, manifests: CapturedManifest[]): Map<string, string> | undefined {
  const { projected, secret, configMap } = volume;
  const sources = [
    ...(projected?.sources ?? []),
    ...(secret === undefined ? [] : [{ secret: { name: secret.secretName, items: secret.items } }]),
    ...(configMap === undefined ? [] : [{ configMap }]),
  ];
  if (sources.length === 0) return undefined;
  const files = new Map<string, string>();
  for (const source of sources) {
    const [kind, { name, items }] =
      source.secret === undefined
        ? (["ConfigMap", source.configMap as { name: string; items?: Items }] as const)
        : (["Secret", source.secret] as const);
    const object = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
    if (object === undefined) throw new Error(`there is no ${kind} ${name}`);
    const data = { ...(object.data as object), ...(object.stringData as object) } as Record<string, string>;
    for (const { key, path } of items ?? Object.keys(data).map((key) => ({ key, path: key }))) {
      if (data[key] === undefined) throw new Error(`${kind} ${name} has no ${key}`);
      files.set(path, data[key]);
    }
  }
  return files;
}

/** A container's variables in a pod, including those taken from the pod's own fields. */
export function environmentOf({ env = [] }: ContainerSpec, pod: string, namespace: string): Record<string, string> {
  const fields: Record<string, string> = { "metadata.name": pod, "metadata.namespace": namespace };
  const values: Record<string, string> = {};
  for (const { name, value, valueFrom } of env) {
    const text = value ?? fields[valueFrom?.fieldRef?.fieldPath ?? ""] ?? "";
    values[name] = text.replace(/\$\(([A-Z_]+)\)/g, (whole, key: string) => values[key] ?? whole);
  }
  return values;
}
