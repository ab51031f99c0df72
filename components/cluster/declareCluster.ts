import * as pulumi from "@pulumi/pulumi";
import { KubernetesResource } from "./kubernetesResource";
import type { Manifest } from "./manifest";
import { clusterManifests, foreignKinds } from "./manifests";
import { ClusterSecrets, defaultUserManifest, erlangCookieManifest } from "./secrets";
import type { ClusterShape } from "./shape";

/**
 * Makes a cluster's objects, as children of a component; each with its kind in its logical name.
 * @returns ids, known once the objects are there
 */
export function declareCluster(
  name: string,
  shape: ClusterShape,
  secrets: ClusterSecrets,
  options: pulumi.CustomResourceOptions,
): pulumi.Output<string>[] {
  const { namespace, surroundings, workload } = clusterManifests(shape);
  const needed = requireDefinitions(name, [...surroundings, workload], options);
  const logical = ({ kind, metadata }: Pick<Manifest, "kind" | "metadata">): string =>
    `${name}-${kind}-${metadata.name}`;
  // With its namespace, the volumes would go, too.
  const place =
    namespace && new KubernetesResource(logical(namespace), namespace, { ...options, retainOnDelete: true });
  const inPlace = { ...options, dependsOn: [...needed, ...(place === undefined ? [] : [place])] };

  const { password, erlangCookie } = secrets;
  const kept = [
    defaultUserManifest(shape, password),
    ...(erlangCookie === undefined ? [] : [erlangCookieManifest(shape, erlangCookie)]),
  ];
  const around = [...kept, ...surroundings].map(
    (manifest) => new KubernetesResource(logical(manifest), manifest, inPlace),
  );
  const nodes = new KubernetesResource(logical(workload), workload, {
    ...inPlace,
    dependsOn: [...inPlace.dependsOn, ...around],
  });
  return [...around, nodes].map(({ id }) => id);
}

/** Looks whether Kubernetes knows the kinds that operators define; where it does not, the preview says which one is missing. */
function requireDefinitions(
  name: string,
  manifests: Manifest[],
  { parent, provider }: pulumi.CustomResourceOptions,
): KubernetesResource[] {
  return manifests.flatMap(({ kind }) => {
    const foreign = foreignKinds[kind];
    if (foreign === undefined) return [];
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: foreign.definition },
    };
    const options = { parent, provider, id: foreign.definition };
    return [new KubernetesResource(`${name}-needs-${foreign.owner}`, definition, options)];
  });
}
