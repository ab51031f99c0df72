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
import { withoutKnown } from "@rabbitmq-delay/topology/stack";
import { checkVhost } from "./checks";
import { checkedLater, secretTexts, withoutTexts } from "./laterValues";
import { nameOf } from "./oneUrn";
import { stackState } from "./stackState";
import { addressOf, settingsOf, valueOf } from "./providerAddress";
import { errorInProviderNames, inProviderNames } from "./settingNames";
import { Run, thisRun } from "./thisRun";
import { watchTransforms } from "./transforms";
import { warn } from "./warn";

/** What a component is going to make, as far as the broker could refuse it half-way; what a preview does not know is not looked at. */
export interface Wanted extends Omit<WantedParts, "bindings" | "policies" | "endpoint"> {
  bindings?: pulumi.Input<BindingPlan>[];
  policies?: pulumi.Input<PolicyPlan[]>;
  /** What an endpoint takes of a network that this program does not make; what it makes is compared before. */
  endpoint?: pulumi.Input<EndpointPlan>;
}

/** The same, with what was awaited. */
type Known = WantedParts & { policies: PolicyPlan[]; bindings: BindingPlan[]; component: string; name: string };

/** What no message of a look may have in it: texts that the program made secret. */
type Hidden = readonly string[];

const lookedBefore = new WeakSet<object>();

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
  const place = checkedLater(vhost ?? "/", checkVhost);
  const run = thisRun();
  for (const { name } of [...(wanted.queues ?? []), ...(wanted.exchanges ?? [])]) run.planned.add(name);
  const provider = component.getProvider("rabbitmq:index/exchange:Exchange");
  const hasLooked = provider !== undefined && lookedBefore.has(provider);
  // From now on, each resource that the component declares is remembered.
  const watched = hasLooked ? Promise.resolve() : watchTransforms();
  const ready = pulumi.output(hasLooked ? undefined : look(run, provider, place, wanted, component, watched));
  return { vhost: pulumi.all([place, ready]).apply(([known]) => known), ready };
}

async function look(
  run: Run,
  provider: pulumi.ProviderResource | undefined,
  place: pulumi.Output<string>,
  wanted: Wanted,
  component: pulumi.Resource,
  watched: Promise<void>,
): Promise<void> {
  await watched;
  const broker = await addressOf(provider);
  const vhost = await valueOf(place);
  if (vhost === undefined) return;
  const [policies, endpoint, given] = await Promise.all([
    valueOf(pulumi.output(wanted.policies ?? [])),
    valueOf(pulumi.output(wanted.endpoint)),
    Promise.all((wanted.bindings ?? []).map((binding) => valueOf(pulumi.output(binding)))),
  ]);
  const bindings = given.filter((binding) => binding !== undefined);
  const ofBindings = (wanted.bindings ?? []).flatMap((binding) => [binding, ...Object.values(binding)]);
  const settings = Object.values(settingsOf(provider));
  const hidden = await secretTexts([...settings, place, wanted.policies, wanted.endpoint, ...ofBindings]);
  const known = {
    ...wanted,
    component: component.constructor.name,
    name: nameOf(component),
    endpoint: endpoint as EndpointPlan | undefined,
    policies: policies ?? [],
    bindings,
  };
  const answer = lookAt(run, provider, { broker, vhost, hidden }, known).catch((error: unknown) => {
    throw withoutTexts(errorInProviderNames(error), hidden);
  });
  run.asking.add(answer);
  try {
    await answer;
  } finally {
    // Another component of the program that was refused meanwhile refuses this one too, so that nothing is made at all. Those that
    // don't ask yet are not waited for: what they need may come of this one.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(run.asking);
  if (run.refusal !== undefined) throw run.refusal;
}

async function lookAt(
  run: Run,
  provider: pulumi.ProviderResource | undefined,
  { broker, vhost, hidden }: { broker: BrokerAddress | undefined; vhost: string; hidden: Hidden },
  wanted: Known,
): Promise<void> {
  const tell = (text: string): Promise<void> => warn(withoutKnown(inProviderNames(text), hidden));
  // A test with Pulumi's mocks has no stack, and makes components of many programs.
  const isProgram = provider !== undefined || pulumi.runtime.getStackResource() !== undefined;
  const warnings = isProgram ? compareInProgram(provider ?? run.defaultProvider, vhost, wanted) : [];
  await Promise.all(warnings.map(tell));
  const found =
    broker === undefined ? undefined : await foundOn(run, provider ?? run.defaultProvider, broker, vhost, tell);
  if (found === undefined) {
    if (wanted.adopted !== undefined) await refuseUnseen(wanted.adopted.title);
    return;
  }
  const spoken = await checkWanted(stackState, found, vhost, wanted, run.planned);
  await Promise.all(spoken.map(tell));
}

/** What nobody has compared is not adopted; a preview may not know the broker yet. */
async function refuseUnseen(title: string): Promise<void> {
  const what = `adopt: ${title} can't be compared with the broker`;
  if (pulumi.runtime.isDryRun()) {
    await warn(`${what} in this preview. The update compares it, or is refused where it can't ask, either`);
    return;
  }
  throw new BrokerCheckError(
    `${what}, because this program can't ask it (docs/preflight.md says when); see what is there by rabbitmq-delay adopt, and leave ` +
      "adopt out: an equal declaration changes nothing. Nothing was made",
  );
}

function foundOn(
  { looks }: Run,
  provider: object,
  broker: BrokerAddress,
  vhost: string,
  tell: (text: string) => Promise<void>,
): Promise<FoundParts | undefined> {
  const ofProvider = looks.get(provider) ?? new Map<string, Promise<FoundParts | undefined>>();
  looks.set(provider, ofProvider);
  const before = ofProvider.get(vhost);
  if (before !== undefined) return before;
  const asked = findParts(broker, vhost).catch(async (error: Error) => {
    if (!(error instanceof BrokerCheckError) || !error.isOutOfReach || !pulumi.runtime.isDryRun()) throw error;
    await tell(`${error.message}; this preview does not know what is on it`);
    return undefined;
  });
  ofProvider.set(vhost, asked);
  return asked;
}
