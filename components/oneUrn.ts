import * as pulumi from "@pulumi/pulumi";
import { BrokerCheckError } from "@rabbitmq-delay/broker";
import { valueOf } from "./providerAddress";
import { hasEngine, stackState } from "./stackState";
import { servesOtherLanguages } from "./otherLanguages";
import { warn } from "./warn";

/** What a resource is on the broker, e.g. a binding's vhost, source, destination and key; undefined where a preview doesn't know it. */
type Identity = Promise<string | undefined>;

/** What a program has declared so far. */
interface Program {
  /** By type and name; two components under different parents may have one name. */
  identities: Map<string, { place: Promise<string>; identity: Identity }[]>;
  /** Who is declared as an identity; two brokers may have the same thing. */
  owners: Map<string, { name: string; provider: object | undefined }[]>;
  /** The state's URNs by identity, for each type. */
  states: Map<string, Promise<Map<string, string[]>>>;
}

// By the connection to the engine, as the state.
const programs = new WeakMap<object, Program>();

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
  const place = placeOf(one);
  const key = `${one.type} ${one.name}`;
  program.identities.set(key, [...(program.identities.get(key) ?? []), { place, identity }]);
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
  const allowed = await allowedPlaces(one);
  if (one.isShared && urns.some((urn) => allowed.includes(tailOf(urn)))) return;
  for (const urn of urns) {
    if (allowed.includes(tailOf(urn))) continue;
    // Still declared, on another broker. Who doesn't see the whole program can't tell, where there are several.
    if (await isStillDeclared(one.type, urn, wanted, program)) continue;
    if (servesOtherLanguages() && (await countBrokers()) > 1) continue;
    await refuse(describeMove(one, urn));
  }
}

/** Where the engine looks for a resource in the state: under its component's own URN, and under those that its aliases name. */
async function allowedPlaces(one: OnlyOne): Promise<string[]> {
  const names = [one.name, ...(one.formerNames ?? [])];
  const aliases = await aliasUrns(one.component);
  const component = nameOf(one.component);
  const own = tailOf((await valueOf(one.component.urn)) ?? "");
  const homes = [own, ...aliases.map(tailOf)];
  return homes.flatMap((home) => names.map((name) => childOf(home, one.type, renamed(name, component, lastOf(home)))));
}

async function placeOf({ component, type, name }: OnlyOne): Promise<string> {
  return childOf(tailOf((await valueOf(component.urn)) ?? ""), type, name);
}

async function isStillDeclared(type: string, urn: string, wanted: string, { identities }: Program): Promise<boolean> {
  for (const { place, identity } of identities.get(`${type} ${lastOf(urn)}`) ?? []) {
    if ((await place) === tailOf(urn) && (await settled(identity)) === wanted) return true;
  }
  return false;
}

function describeMove({ what, name }: OnlyOne, urn: string): string {
  const before = lastOf(urn);
  const start = `${what} is in this stack's state as ${before}`;
  const end = "the engine would make it once more, and then delete it under its old URN, so that it is gone.";
  if (before === name) {
    return (
      `${start} under another parent: ${end} Leave the component under the parent that it had, or name that in its options: ` +
      `aliases: [{ parent: OLD_PARENT }], or [{ parent: pulumi.rootStackResource }] where it had none`
    );
  }
  return (
    `${start}, and this program declares it as ${name}: ${end} Leave it where it was in the program (a network that an endpoint ` +
    "joined as network, or among furtherNetworks, stays there until the endpoint leaves it; so does a pattern in its component), " +
    `rename a component by aliases, or give it its new name in the state first: pulumi state rename '${urn}' '${name}'`
  );
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
    await warn(
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
  await warn(`${message}. An update refuses it`);
}

/** Undefined also where it can't be told: the program fails by that, and then nothing is deleted. */
async function settled(identity: Identity | undefined): Identity {
  return identity?.catch(() => undefined);
}

/** The names that a component had before. */
export async function aliasNames(component: pulumi.Resource): Promise<string[]> {
  return (await aliasUrns(component)).map(lastOf);
}

async function aliasUrns(component: pulumi.Resource): Promise<string[]> {
  const { __aliases: aliases = [] } = component as unknown as { __aliases?: pulumi.Input<string>[] };
  const urns = await Promise.all(aliases.map((alias) => valueOf(pulumi.output(alias))));
  return urns.filter((urn) => urn !== undefined);
}

/** A URN without its stack and its project: the types of its parents, its own type, and its name. */
function tailOf(urn: string): string {
  return urn.split("::").slice(2).join("::");
}

/** The same for a child. */
function childOf(parent: string, type: string, name: string): string {
  return `${parent.slice(0, parent.lastIndexOf("::"))}$${type}::${name}`;
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
