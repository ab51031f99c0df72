import * as pulumi from "@pulumi/pulumi";
import { lookUpDefinition, makeObject } from "./makeObject";
import type { ForeignObject, KubernetesObject } from "./manifest";
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
  const logical = ({ kind, metadata }: Pick<KubernetesObject, "kind" | "metadata">): string =>
    `${name}-${kind}-${metadata.name}`;
  // With its namespace, the volumes would go, too.
  const place = namespace && makeObject(logical(namespace), namespace, { ...options, retainOnDelete: true });
  const inPlace = { ...options, dependsOn: [...needed, ...(place === undefined ? [] : [place])] };

  const { password, erlangCookie } = secrets;
  const kept = [
    defaultUserManifest(shape, password),
    ...(erlangCookie === undefined ? [] : [erlangCookieManifest(shape, erlangCookie)]),
  ];
  const around = [...kept, ...surroundings].map((object) => makeObject(logical(object), object, inPlace));
  const nodes = makeObject(logical(workload), workload, {
    ...inPlace,
    dependsOn: [...inPlace.dependsOn, ...around],
  });
  return [...around, nodes].map(({ id }) => id);
}

/** Looks whether Kubernetes knows the kinds that operators define; where it does not, the preview says which one is missing. */
function requireDefinitions(
  name: string,
  objects: KubernetesObject[],
  { parent, provider }: pulumi.CustomResourceOptions,
): pulumi.CustomResource[] {
  return objects.filter(isForeign).map(({ kind }) => {
    const { owner, definition } = foreignKinds[kind];
    return lookUpDefinition(`${name}-needs-${owner}`, definition, { parent, provider });
  });
}

function isForeign(object: KubernetesObject): object is ForeignObject {
  return Object.hasOwn(foreignKinds, object.kind);
}
