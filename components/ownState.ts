import * as pulumi from "@pulumi/pulumi";
import { isSameAddress } from "rabbitmq-delay-topology";

/** A resource that the running stack made before this run. */
export interface OwnResource {
  urn: string;
  type: string;
  outputs: Record<string, unknown>;
}

type Answer = { outputs?: Record<string, { type: string; outputs?: Record<string, unknown> }> };

let asked: Promise<OwnResource[] | undefined> | undefined;

/**
 * What the running stack has in its state, as it was when this was first asked. What is there on a broker and not in here is somebody
 * else's, or left over of an update that was killed: a program knows nothing else that tells the two from what is its own.
 * @returns undefined where the engine does not say
 */
export function ownResources(): Promise<OwnResource[] | undefined> {
  return (asked ??= readState());
}

/** Names of own resources of a type, in a vhost where they are in one; undefined where the engine does not say. */
export async function ownNames(type: string, vhost?: string): Promise<ReadonlySet<string> | undefined> {
  const own = await ownResources();
  if (own === undefined) return undefined;
  const isOf = (one: OwnResource): boolean => one.type === type && (vhost === undefined || one.outputs.vhost === vhost);
  return new Set(own.filter(isOf).map(({ outputs }) => String(outputs.name)));
}

/**
 * Whether all that the state has may be on the broker at an address: a name that it has elsewhere is somebody else's there. The state
 * does not say which provider declared what, so that each of them counts; one that doesn't say where it declares speaks against nothing.
 */
export async function isStateOf(managementUrl: string): Promise<boolean> {
  const providers = ((await ownResources()) ?? []).filter(({ type }) => type === "pulumi:providers:rabbitmq");
  return providers.every(({ outputs: { endpoint } }) => {
    const isReadable = typeof endpoint === "string" && URL.canParse(endpoint);
    return !isReadable || isSameAddress(endpoint, managementUrl);
  });
}

/**
 * A stack's whole name first: the short one is of the user's default organization. A state of the old layout without projects knows the
 * short one alone.
 */
async function readState(): Promise<OwnResource[] | undefined> {
  const whole = (): string => `${pulumi.getOrganization()}/${pulumi.getProject()}/${pulumi.getStack()}`;
  return (await readStack(whole)) ?? (await readStack(() => pulumi.getStack()));
}

/** The call by which the SDK's own queries read a stack. */
async function readStack(nameOf: () => string): Promise<OwnResource[] | undefined> {
  try {
    const args = { stackName: nameOf() };
    const answer = (await pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", args)) as Answer | undefined;
    if (answer?.outputs === undefined) return undefined;
    return Object.entries(answer.outputs).map(([urn, { type, outputs }]) => ({ urn, type, outputs: outputs ?? {} }));
  } catch {
    return undefined;
  }
}
