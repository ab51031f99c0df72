import * as pulumi from "@pulumi/pulumi";
import {
  BrokerAddress,
  BrokerCheckError,
  FoundParts,
  WantedParts,
  checkWanted,
  compareInProgram,
  findParts,
} from "@rabbitmq-delay/broker";
import type { BindingPlan, EndpointPlan, PolicyPlan } from "@rabbitmq-delay/topology";
import { checkVhost } from "./checks";
import { stackState } from "./stackState";
import { addressOf, valueOf } from "./providerAddress";

/** What a component is going to make, as far as the broker could refuse it half-way; what a preview does not know is not looked at. */
export interface Wanted extends Omit<WantedParts, "bindings" | "policies" | "endpoint"> {
  bindings?: pulumi.Input<BindingPlan>[];
  policies?: pulumi.Input<PolicyPlan[]>;
  /** What an endpoint takes of a network that this program does not make; what it makes is compared before. */
  endpoint?: pulumi.Input<EndpointPlan>;
}

/** The same, with what was awaited. */
type Known = WantedParts & { policies: PolicyPlan[]; bindings: BindingPlan[]; component: string };

// By the provider, as the broker is before this program makes anything; components share it.
const looks = new WeakMap<object, Map<string, Promise<FoundParts | undefined>>>();
const lookedBefore = new WeakSet<object>();
/** Where no provider is given: the default one, which is the same for all. */
const DEFAULT_PROVIDER = {};
const asking = new Set<Promise<void>>();
/** Queues and exchanges of all components of this program, whether they were looked at or not. */
const planned = new Set<string>();

/** Notes that a program looked at a provider's broker itself, for all that it declares there. */
export function rememberLook(provider: object): void {
  lookedBefore.add(provider);
}

/**
 * Looks at the broker of a component's provider: whether it can be reached and is new enough, whether the deployer may make all
 * that is wanted, and whether a name is somebody else's.
 * A provider that can't be asked (of a program in another language, behind a proxy, or unknown in a preview) is not asked.
 * @returns the vhost, once nothing speaks against; it fails with a BrokerCheckError else, in previews too
 */
export function vhostOnceLooked(
  component: pulumi.Resource,
  vhost: pulumi.Input<string> | undefined,
  wanted: Wanted,
): pulumi.Output<string> {
  return lookFirst(component, vhost, wanted).vhost;
}

/** The same; `ready` is for what is made without a vhost. */
export function lookFirst(
  component: pulumi.Resource,
  vhost: pulumi.Input<string> | undefined,
  wanted: Wanted,
): { vhost: pulumi.Output<string>; ready: pulumi.Output<void> } {
  if (typeof vhost === "string") checkVhost(vhost);
  const place = pulumi.output(vhost ?? "/").apply(checkVhost);
  for (const { name } of [...(wanted.queues ?? []), ...(wanted.exchanges ?? [])]) planned.add(name);
  const provider = component.getProvider("rabbitmq:index/exchange:Exchange");
  const hasLooked = provider !== undefined && lookedBefore.has(provider);
  const ready = pulumi.output(hasLooked ? undefined : look(provider, place, wanted, component.constructor.name));
  return { vhost: pulumi.all([place, ready]).apply(([known]) => known), ready };
}

async function look(
  provider: pulumi.ProviderResource | undefined,
  place: pulumi.Output<string>,
  wanted: Wanted,
  component: string,
): Promise<void> {
  const broker = await addressOf(provider);
  const vhost = await valueOf(place);
  if (vhost === undefined) return;
  const [policies, endpoint, given] = await Promise.all([
    valueOf(pulumi.output(wanted.policies ?? [])),
    valueOf(pulumi.output(wanted.endpoint)),
    Promise.all((wanted.bindings ?? []).map((binding) => valueOf(pulumi.output(binding)))),
  ]);
  const bindings = given.filter((binding) => binding !== undefined);
  const answer = lookAt(provider, broker, vhost, {
    ...wanted,
    component,
    endpoint: endpoint as EndpointPlan | undefined,
    policies: policies ?? [],
    bindings,
  });
  asking.add(answer);
  try {
    await answer;
  } finally {
    // Another component of the program that was refused meanwhile refuses this one too, so that nothing is made at all. Those that
    // don't ask yet are not waited for: what they need may come of this one.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(asking);
}

async function lookAt(
  provider: pulumi.ProviderResource | undefined,
  broker: BrokerAddress | undefined,
  vhost: string,
  wanted: Known,
): Promise<void> {
  // A process may run several programs, each with a stack of its own, and the default provider is the same for all of them.
  const run = provider ?? pulumi.runtime.getStackResource();
  const warnings = run === undefined ? [] : compareInProgram(run, vhost, wanted);
  await Promise.all(warnings.map((warning) => pulumi.log.warn(warning)));
  const found = broker === undefined ? undefined : await foundOn(provider ?? DEFAULT_PROVIDER, broker, vhost);
  if (found === undefined) {
    if (wanted.adopted !== undefined) await refuseUnseen(wanted.adopted.title);
    return;
  }
  const spoken = await checkWanted(stackState, found, vhost, wanted, planned);
  await Promise.all(spoken.map((warning) => pulumi.log.warn(warning)));
}

/** What nobody has compared is not adopted; a preview may not know the broker yet. */
async function refuseUnseen(title: string): Promise<void> {
  const what = `adopt: ${title} can't be compared with the broker`;
  if (pulumi.runtime.isDryRun()) {
    await pulumi.log.warn(`${what} in this preview. The update compares it, or is refused where it can't ask, either`);
    return;
  }
  throw new BrokerCheckError(
    `${what}, because this program can't ask it (docs/services.md says when); see what is there by rabbitmq-delay adopt, and leave ` +
      "adopt out: an equal declaration changes nothing. Nothing was made",
  );
}

function foundOn(provider: object, broker: BrokerAddress, vhost: string): Promise<FoundParts | undefined> {
  const ofProvider = looks.get(provider) ?? new Map<string, Promise<FoundParts | undefined>>();
  looks.set(provider, ofProvider);
  const before = ofProvider.get(vhost);
  if (before !== undefined) return before;
  const asked = findParts(broker, vhost).catch(async (error: Error) => {
    if (!(error instanceof BrokerCheckError) || !error.isOutOfReach || !pulumi.runtime.isDryRun()) throw error;
    await pulumi.log.warn(`${error.message}; this preview does not know what is on it`);
    return undefined;
  });
  ofProvider.set(vhost, asked);
  return asked;
}
