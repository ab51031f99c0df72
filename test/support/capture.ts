import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";

/** An object that a program would make in Kubernetes. */
export interface CapturedManifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [property: string]: unknown;
}

/**
 * Runs a program under the SDK's mocks, and returns the inputs of everything it makes in Kubernetes: these are the manifests. Resources
 * that it only reads are left out.
 */
export async function captureManifests(program: () => unknown): Promise<CapturedManifest[]> {
  const made: CapturedManifest[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, id }) => {
        const isRead = id !== undefined && id !== "";
        if (type.startsWith("kubernetes:") && !isRead) made.push(plain(inputs) as CapturedManifest);
        const state = type.startsWith("random:") ? { ...inputs, result: randomOf(inputs) } : inputs;
        return { id: id || `${name}-id`, state: state as Record<string, unknown> };
      },
      call: () => ({}),
    },
    "project",
    "stack",
    true,
  );
  program();
  await pulumi.runtime.disconnect();
  return made;
}

/** Always the same value, except for resources that are meant to make another one for each of their keepers. */
function randomOf({ keepers }: { keepers?: unknown }): string {
  if (keepers === undefined) return "a".repeat(48);
  return createHash("sha256")
    .update(JSON.stringify(plain(keepers)))
    .digest("hex");
}

/** The SDK passes secrets to mocks in a wrapping of its own. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if (SECRET_SIGNATURE in value) return plain((value as unknown as { value: unknown }).value);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

/** Source: pulumi/sdk/nodejs/runtime/rpc.ts. */
const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";
