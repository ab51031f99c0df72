import * as pulumi from "@pulumi/pulumi";
import { BrokerCheckError } from "@rabbitmq-delay/broker";
import { valueOf } from "./providerAddress";
import { hasEngine, stackState } from "./stackState";

/** What a resource is on the broker, e.g. a binding's vhost, source, destination and key; undefined where a preview doesn't know it. */
type Identity = Promise<string | undefined>;

/** What a program has declared so far. */
interface Program {
  /** By type and name. */
  identities: Map<string, Identity>;
  /** Who is declared as an identity; two brokers may have the same thing. */
  owners: Map<string, { name: string; provider: object | undefined }[]>;
  /** The state's URNs by identity, for each type. */
  states: Map<string, Promise<Map<string, string[]>>>;
}

// By the connection to the engine, as the state.
const programs = new WeakMap<object, Program>();
let isProvider = false;

/** Notes that this process makes single components for programs in other languages, and doesn't see what else they declare. */
export function serveOtherLanguages(): void {
  isProvider = true;
}

/** A resource that must not be on the broker under two URNs, and the names under which the engine takes it for the same one. */
export interface OnlyOne {
  component: pulumi.Resource;
  type: string;
  name: string;
  /** Names that the engine takes for this resource's, beside its own and what the component's aliases make of it. */
  formerNames?: string[];
  /** What it is on the broker, by the names of its outputs; as planned, so that it is known before anything is made. */
  outputs: Record<string, pulumi.Input<unknown>>;
  /** Whether several components may have it; then it is refused only where it passes from one to another. */
  isShared?: boolean;
  /** What it is called in a refusal. */
  what: string;
}

/**
 * Refuses a resource that the state has under another URN which this program does not declare for it. The engine would make it once more,
 * which changes nothing on the broker, and then delete it under its old URN: it is gone, and no later preview shows that.
 * @returns resolves when nothing speaks against it
 * @throws rejects with a BrokerCheckError that says what to do, in an update; a preview warns
 */
export async function checkOneUrn(one: OnlyOne): Promise<void> {
  const monitor = pulumi.runtime.getMonitor();
  if (monitor === undefined || !hasEngine()) return;
  const program = programs.get(monitor) ?? { identities: new Map(), owners: new Map(), states: new Map() };
  programs.set(monitor, program);
  const identity = identityOf(one);
  program.identities.set(`${one.type} ${one.name}`, identity);
  const wanted = await identity;
  if (wanted === undefined) return;
  if (!one.isShared) await checkDeclaredOnce(one, wanted, program);
  await checkState(one, wanted, program);
}

async function checkDeclaredOnce(one: OnlyOne, wanted: string, { owners }: Program): Promise<void> {
  const provider = one.component.getProvider(one.type);
  const others = owners.get(wanted) ?? [];
  owners.set(wanted, [...others, { name: one.name, provider }]);
  const twin = others.find((other) => other.provider === provider && other.name !== one.name);
  if (twin === undefined) return;
  await refuse(
    `${one.what} is declared twice by this program, as ${twin.name} and ${one.name}: the first that leaves would take it along. ` +
      "Declare it once, e.g. give each network of an endpoint once",
  );
}

async function checkState(one: OnlyOne, wanted: string, program: Program): Promise<void> {
  const state = program.states.get(one.type) ?? stateByIdentity(one);
  program.states.set(one.type, state);
  const urns = (await state).get(wanted) ?? [];
  if (urns.length === 0) return;
  const own = [one.name, ...(one.formerNames ?? [])];
  const aliases = await aliasNames(one.component);
  const component = nameOf(one.component);
  const allowed = [...own, ...own.flatMap((name) => aliases.map((alias) => renamed(name, component, alias)))];
  if (one.isShared && urns.some((urn) => allowed.includes(lastOf(urn)))) return;
  for (const urn of urns) {
    const name = lastOf(urn);
    if (allowed.includes(name)) continue;
    // Still declared, on another broker. Who doesn't see the whole program can't tell, where there are several.
    if ((await settled(program.identities.get(`${one.type} ${name}`))) === wanted) continue;
    if (isProvider && (await countBrokers()) > 1) continue;
    await refuse(
      `${one.what} is in this stack's state as ${name}, and this program declares it as ${one.name}: the engine would make it once more, ` +
        "and then delete it under its old name, so that it is gone. Leave it where it was in the program (a network that an endpoint " +
        "joined as network, or among furtherNetworks, stays there until the endpoint leaves it; so does a pattern in its component), " +
        `rename a component by aliases, or give it its new name in the state first: pulumi state rename '${urn}' '${one.name}'`,
    );
  }
}

/** How many brokers the state's providers are for. */
async function countBrokers(): Promise<number> {
  const providers = ((await stackState.resources()) ?? []).filter(({ type }) => type === "pulumi:providers:rabbitmq");
  return new Set(providers.map(({ urn, outputs }) => (typeof outputs.endpoint === "string" ? outputs.endpoint : urn)))
    .size;
}

async function stateByIdentity({ type: wantedType, outputs: parts }: OnlyOne): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const resources = await stackState.resources();
  if (resources === undefined)
    await pulumi.log.warn(
      "the engine does not give this stack's state, so nobody looks whether a binding would pass from one resource to another, " +
        "which would end with none; see that the stack's backend can be read",
    );
  for (const { urn, type, outputs } of resources ?? []) {
    if (type !== wantedType) continue;
    const identity = JSON.stringify(Object.keys(parts).map((part) => outputs[part]));
    found.set(identity, [...(found.get(identity) ?? []), urn]);
  }
  return found;
}

async function identityOf({ outputs }: OnlyOne): Identity {
  const values = await Promise.all(Object.values(outputs).map((value) => valueOf(pulumi.output(value))));
  return values.some((value) => value === undefined) ? undefined : JSON.stringify(values);
}

/** A preview shows the whole plan, which a review judges, and warns. */
async function refuse(message: string): Promise<void> {
  if (!pulumi.runtime.isDryRun()) throw new BrokerCheckError(message);
  await pulumi.log.warn(`${message}. An update refuses it`);
}

/** Undefined also where it can't be told: the program fails by that, and then nothing is deleted. */
async function settled(identity: Identity | undefined): Identity {
  return identity?.catch(() => undefined);
}

/** The names that a component had before. */
export async function aliasNames(component: pulumi.Resource): Promise<string[]> {
  const { __aliases: aliases = [] } = component as unknown as { __aliases?: pulumi.Input<string>[] };
  const urns = await Promise.all(aliases.map((alias) => valueOf(pulumi.output(alias))));
  return urns.filter((urn) => urn !== undefined).map(lastOf);
}

function lastOf(urn: string): string {
  return urn.slice(urn.lastIndexOf("::") + 2);
}

/** The logical name of a component. */
export function nameOf(component: pulumi.Resource): string {
  return (component as unknown as { __name: string }).__name;
}

/** How the engine renames a child along with its component. */
export function renamed(name: string, component: string, alias: string): string {
  return name.startsWith(component) ? alias + name.slice(component.length) : name;
}
