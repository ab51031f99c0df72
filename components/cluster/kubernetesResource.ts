import * as pulumi from "@pulumi/pulumi";
import { ResourceToken, resourceRule } from "@rabbitmq-delay/topology";
import type { Metadata } from "./manifest";

/**
 * Version of the plugin that applies the objects, `kubernetes`. Its npm package, which would only make the call below for each
 * kind, takes a second to load and 23 MB, also for stacks without Kubernetes.
 */
export const KUBERNETES_PLUGIN_VERSION = "4.34.2";

/** A manifest whose leaves may be known later, or be secret. */
export interface ManifestInput {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [property: string]: pulumi.Input<unknown>;
}

/** An object of Kubernetes, under the token that the npm package would give it. */
export class KubernetesResource extends pulumi.CustomResource {
  constructor(name: string, manifest: ManifestInput, opts: pulumi.CustomResourceOptions) {
    const secrets = manifest.kind === "Secret" ? { additionalSecretOutputs: ["data", "stringData"] } : {};
    super(tokenOf(manifest), name, manifest, { version: KUBERNETES_PLUGIN_VERSION, ...secrets, ...opts });
  }
}

/**
 * The core group has no name in a manifest, and has one in a token.
 * @throws Error for a kind of which no review would know what its loss means
 */
function tokenOf({ apiVersion, kind }: ManifestInput): ResourceToken {
  const token = `kubernetes:${apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`}:${kind}`;
  if (resourceRule(token) === undefined)
    throw new Error(`${token} has no rule in resourceKinds of the topology package`);
  return token as ResourceToken;
}
