import { setTimeout } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import type { OwnResource, StackState } from "@rabbitmq-delay/broker";
import { isSameAddress } from "@rabbitmq-delay/topology/stack";
import { Run, thisRun } from "./thisRun";

type Answer = { outputs?: Record<string, { type: string; outputs?: Record<string, unknown> }> };

/** What the engine says why it does not give the state, after the state was asked for. */
export function whyUnread(): string {
  return thisRun().whyUnread ?? "no engine runs the program";
}

/** The running stack's state, as it was when this was first asked. */
export const stackState: StackState = {
  async resources() {
    if (pulumi.runtime.getMonitor() === undefined) return undefined;
    const run = thisRun();
    run.state ??= readState(run);
    return run.state;
  },

  async names(type, vhost) {
    const own = await this.resources();
    if (own === undefined) return undefined;
    const isWanted = (one: OwnResource): boolean =>
      one.type === type && (vhost === undefined || one.outputs.vhost === vhost);
    return new Set(own.filter(isWanted).map(({ outputs }) => String(outputs.name)));
  },

  async isOf(managementUrl) {
    const providers = ((await this.resources()) ?? []).filter(({ type }) => type === "pulumi:providers:rabbitmq");
    return providers.every(({ outputs: { endpoint } }) => {
      const isReadable = typeof endpoint === "string" && URL.canParse(endpoint);
      return !isReadable || isSameAddress(endpoint, managementUrl);
    });
  },
};

/** For how long the state is asked for again where the engine does not give it: a backend may fail for a moment, as while it writes the state. */
const RETRY_DELAYS_MS = [250, 500, 1_000, 2_000];

/**
 * A stack's whole name first: the short one is of the user's default organization. A state of the old layout without projects knows the
 * short one alone, and an engine that makes components for another language may not tell the organization.
 */
async function readState(run: Run): Promise<OwnResource[] | undefined> {
  const names = stackNames();
  const reasons: string[] = [];
  for (const delayMs of [0, ...RETRY_DELAYS_MS]) {
    if (delayMs > 0) await setTimeout(delayMs);
    for (const name of names) {
      const state = await readStack(name).catch(
        (error: unknown) => void reasons.push(error instanceof Error ? error.message : String(error)),
      );
      if (state !== undefined) return state;
    }
    if (!hasEngine()) return undefined;
  }
  run.whyUnread = reasons.at(-1) ?? "it answers without the stack's resources";
  return undefined;
}

function stackNames(): string[] {
  const short = pulumi.getStack();
  try {
    return [`${pulumi.getOrganization()}/${pulumi.getProject()}/${short}`, short];
  } catch {
    return [short];
  }
}

/** The call by which the SDK's own queries read a stack. */
async function readStack(stackName: string): Promise<OwnResource[] | undefined> {
  const answer = (await pulumi.runtime.invoke("pulumi:pulumi:readStackResourceOutputs", { stackName })) as
    Answer | undefined;
  if (answer?.outputs === undefined) return undefined;
  return Object.entries(answer.outputs).map(([urn, { type, outputs }]) => ({ urn, type, outputs: outputs ?? {} }));
}

/** Whether an engine runs the program; under the SDK's mocks, which are no client of one, there is no state either. */
export function hasEngine(): boolean {
  const monitor: object | undefined = pulumi.runtime.getMonitor();
  return monitor !== undefined && "getChannel" in monitor;
}
