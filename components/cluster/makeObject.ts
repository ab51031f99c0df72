import type * as pulumi from "@pulumi/pulumi";
import type * as kubernetes from "@pulumi/kubernetes";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import type { KubernetesObject } from "./manifest";

/** Makes an object on Kubernetes, by the class that the library @pulumi/kubernetes has for its kind. */
export function makeObject(
  name: string,
  object: KubernetesObject,
  options: pulumi.CustomResourceOptions,
): pulumi.CustomResource {
  const { apiextensions, apps, core, networking, policy } = library();
  switch (object.kind) {
    case "ConfigMap":
      return new core.v1.ConfigMap(name, object, options);
    case "Deployment":
      return new apps.v1.Deployment(name, object, options);
    case "Ingress":
      return new networking.v1.Ingress(name, object, options);
    case "Namespace":
      return new core.v1.Namespace(name, object, options);
    case "NetworkPolicy":
      return new networking.v1.NetworkPolicy(name, object, options);
    case "PodDisruptionBudget":
      return new policy.v1.PodDisruptionBudget(name, object, options);
    case "Secret":
      return new core.v1.Secret(name, object, options);
    case "Service":
      return new core.v1.Service(name, object, options);
    case "ServiceAccount":
      return new core.v1.ServiceAccount(name, object, options);
    case "StatefulSet":
      return new apps.v1.StatefulSet(name, object, options);
    case "Certificate":
    case "RabbitmqCluster":
    case "ServiceMonitor":
      return new apiextensions.CustomResource(name, { ...object }, options);
  }
}

/** Looks up the definition of a kind; where Kubernetes does not have it, the preview fails. */
export function lookUpDefinition(
  name: string,
  definition: string,
  options: pulumi.CustomResourceOptions,
): pulumi.CustomResource {
  return library().apiextensions.v1.CustomResourceDefinition.get(name, definition, options);
}

/**
 * Loaded when a program has something on Kubernetes. No other program needs it installed: the engine would fetch its plugin for
 * each of them.
 * @throws DelayTopologyError that says how to install it
 */
function library(): typeof kubernetes {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would load it at once
    return require("@pulumi/kubernetes") as typeof kubernetes;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND" || !message.includes("'@pulumi/kubernetes'")) throw error;
    const allowed = `it is not installed, and what is made on Kubernetes needs it: npm install @pulumi/kubernetes@${RELEASE}`;
    throw new DelayTopologyError("@pulumi/kubernetes", undefined, allowed);
  }
}

/** The release whose classes these objects are made by; as in package.json. */
export const RELEASE = "^4.34.2";
