import type { ClusterShape } from "./shape";

/** An object of Kubernetes, as `kubectl apply` takes it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [property: string]: unknown;
}

/** What every object says of itself. */
export interface Metadata {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** By which Services, policies and budgets know the pods; the operator gives its pods the same two. */
export function selectorLabels({ name }: Pick<ClusterShape, "name">): Record<string, string> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/component": "rabbitmq" };
}

/** What every object of a cluster is labelled with. */
export function allLabels(shape: Pick<ClusterShape, "name">): Record<string, string> {
  return { ...selectorLabels(shape), "app.kubernetes.io/part-of": "rabbitmq-delay" };
}

/** Metadata of one of a cluster's objects. */
export function metadata(
  shape: Pick<ClusterShape, "name" | "namespace">,
  name: string,
  more: Partial<Metadata> = {},
): Metadata {
  const { labels, ...others } = more;
  return { name, namespace: shape.namespace, labels: { ...allLabels(shape), ...labels }, ...others };
}

/** An object that the compiler has checked against Kubernetes' own type. */
export function manifestOf<T extends object>(object: T): Manifest {
  return object as unknown as Manifest;
}
