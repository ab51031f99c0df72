import * as pulumi from "@pulumi/pulumi";
import type { OwnResource, StackState } from "@rabbitmq-delay/broker";
import { isSameAddress } from "@rabbitmq-delay/topology/stack";

type Answer = { outputs?: Record<string, { type: string; outputs?: Record<string, unknown> }> };

// By the connection to the engine: a process may run several programs, or one several times, each with a state of its own.
const asked = new WeakMap<object, Promise<OwnResource[] | undefined>>();

/** The running stack's state, as it was when this was first asked. */
export const stackState: StackState = {
  async resources() {
    const monitor = pulumi.runtime.getMonitor();
    if (monitor === undefined) return undefined;
    const answer = asked.get(monitor) ?? readState();
    asked.set(monitor, answer);
    return answer;
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

/** Whether an engine runs the program; under the SDK's mocks, which are no client of one, there is no state either. */
export function hasEngine(): boolean {
  const monitor: object | undefined = pulumi.runtime.getMonitor();
  return monitor !== undefined && "getChannel" in monitor;
}
