import type * as pulumi from "@pulumi/pulumi";
import type { input } from "@pulumi/kubernetes/types";
import type { ResourceToken } from "@rabbitmq-delay/topology/stack";
import type { ClusterShape } from "./shape";

/** A kind of which a review knows what its loss means; another one does not compile. */
type Kind<Token = ResourceToken> = Token extends `kubernetes:${string}:${infer Name}` ? Name : never;

/**
 * An object of a kind that Kubernetes defines, as the library @pulumi/kubernetes takes it. Its kind and its metadata are known at
 * once; the values in the rest may be known later, or be secret.
 */
type Manifest<Name extends Kind, Type> = Omit<Type, "apiVersion" | "kind" | "metadata" | "status"> & {
  kind: Name;
  metadata: Metadata;
};

export type ConfigMap = Manifest<"ConfigMap", input.core.v1.ConfigMap>;
export type Deployment = Manifest<"Deployment", input.apps.v1.Deployment>;
export type Ingress = Manifest<"Ingress", input.networking.v1.Ingress>;
export type Namespace = Manifest<"Namespace", input.core.v1.Namespace>;
export type NetworkPolicy = Manifest<"NetworkPolicy", input.networking.v1.NetworkPolicy>;
export type PodDisruptionBudget = Manifest<"PodDisruptionBudget", input.policy.v1.PodDisruptionBudget>;
export type Secret = Manifest<"Secret", input.core.v1.Secret>;
export type Service = Manifest<"Service", input.core.v1.Service>;
export type ServiceAccount = Manifest<"ServiceAccount", input.core.v1.ServiceAccount>;
export type StatefulSet = Manifest<"StatefulSet", input.apps.v1.StatefulSet>;

/** An object of a kind that an operator defines. */
export interface ForeignObject {
  apiVersion: string;
  kind: ForeignKind;
  metadata: Metadata;
  spec: Record<string, unknown>;
}

/** Kinds that others than Kubernetes define. */
export type ForeignKind = Extract<Kind, "RabbitmqCluster" | "Certificate" | "ServiceMonitor">;

/** All that is made on Kubernetes; the kind tells which it is. */
export type KubernetesObject =
  | ConfigMap
  | Deployment
  | ForeignObject
  | Ingress
  | Namespace
  | NetworkPolicy
  | PodDisruptionBudget
  | Secret
  | Service
  | ServiceAccount
  | StatefulSet;

/** What every object says of itself. */
export interface Metadata {
  name: string;
  namespace?: string;
  labels?: Record<string, pulumi.Input<string>>;
  annotations?: Record<string, pulumi.Input<string>>;
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
