import { isDeepStrictEqual } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { BrokerCheckError } from "@rabbitmq-delay/broker";
import { openedJson } from "@rabbitmq-delay/topology";
import { servesOtherLanguages } from "./otherLanguages";
import { valueOf } from "./providerAddress";
import { hasEngine } from "./stackState";

/** The code of gRPC for a call that the other side does not know. */
const UNIMPLEMENTED = 12;

/** Resource of a component, as the component declares it. */
interface Declared {
  inputs: pulumi.Inputs;
  options: pulumi.CustomResourceOptions;
}

/** Resources by type and logical name; two components under different parents may share both. */
type DeclaredResources = Map<string, Declared[]>;

interface Watch {
  declared: DeclaredResources;
  /** Resolves when the engine calls the watching transform after those that the program has registered before. */
  ready: Promise<void>;
}

// Watches are kept by the connection to the engine, as the state.
const watches = new WeakMap<object, Watch>();

/**
 * Watches that the program's `transforms` leave exchanges, queues, bindings and policies of components as they are: the preflight has compared
 * them with the broker, and a change behind the preflight would end half-way, without the endpoint's binding. Only a transform sees what other
 * transforms make of a resource. The engine calls transforms of the stack last, in the order of their registration. So this watch does not see:
 *
 * - a transform of the stack that is registered after the first component; whether its changes are seen depends on when the engine hears of it;
 * - other options than `provider`, `retainOnDelete` and `deleteBeforeReplace`;
 * - users and permissions of components, and programs in other languages.
 */
export async function watchTransforms(): Promise<void> {
  await watchOfProgram()?.ready;
}

function watchOfProgram(): Watch | undefined {
  const monitor = pulumi.runtime.getMonitor();
  if (monitor === undefined || !hasEngine() || servesOtherLanguages()) return undefined;
  const known = watches.get(monitor);
  if (known !== undefined) return known;
  const declared: DeclaredResources = new Map();
  const watch = { declared, ready: register((resource) => refuseTransformed(resource, declared)) };
  watches.set(monitor, watch);
  return watch;
}

/**
 * An old host for Node.js does not know the call: no transform of the stack can be registered with it, and what those of
 * components change is not seen.
 */
async function register(transform: pulumi.ResourceTransform): Promise<void> {
  await pulumi.runtime.awaitStackRegistrations();
  const monitor = pulumi.runtime.getMonitor();
  const callback = await pulumi.runtime.getCallbacks()?.registerTransform(transform);
  if (monitor === undefined || callback === undefined) return;
  await new Promise<void>((resolve, reject) => {
    monitor.registerStackTransform(callback, (error) =>
      error === null || error.code === UNIMPLEMENTED ? resolve() : reject(error),
    );
  });
}

/**
 * Remembers a resource as a component declares it, see {@link watchTransforms}.
 * @returns its inputs
 */
export function untransformed<T extends pulumi.Inputs>(
  type: string,
  name: string,
  inputs: T,
  options: pulumi.CustomResourceOptions,
): T {
  const monitor = pulumi.runtime.getMonitor();
  const declared = monitor === undefined ? undefined : watches.get(monitor)?.declared;
  const key = `${type} ${name}`;
  declared?.set(key, [...(declared.get(key) ?? []), { inputs, options }]);
  return inputs;
}

/** @throws BrokerCheckError for a resource of a component that is not as the component declares it */
async function refuseTransformed(
  { type, name, props, opts }: pulumi.ResourceTransformArgs,
  declared: DeclaredResources,
): Promise<undefined> {
  const named = declared.get(`${type} ${name}`) ?? [];
  const parent = await urnOf(opts.parent);
  const parents = await Promise.all(named.map(({ options }) => urnOf(options.parent)));
  const candidates = named.filter((_, index) => parents[index] === parent);
  const differences = await Promise.all(candidates.map((one) => differencesOf(one, type, props, opts)));
  const [first] = differences;
  if (first === undefined || differences.some(({ length }) => length === 0)) return undefined;
  throw new BrokerCheckError(
    `a transform of the program changes ${type.split(":").at(-1)} ${name} (${first.join(", ")}), which a component has compared with the broker as it was; ` +
      "the resource was not touched. Leave resources of this component out of the transform, and use the component's own arguments",
  );
}

async function urnOf(resource: pulumi.Resource | undefined): Promise<string | undefined> {
  return resource === undefined ? undefined : valueOf(resource.urn);
}

async function differencesOf(
  { inputs, options }: Declared,
  type: string,
  props: pulumi.Inputs,
  opts: pulumi.CustomResourceOptions,
): Promise<string[]> {
  const [before, after] = await Promise.all([inputs, props].map((values) => valueOf(pulumi.output(values))));
  // A preview may not know a value yet; the update does.
  if (before === undefined || after === undefined) return [];
  const flags = (["retainOnDelete", "deleteBeforeReplace"] as const).filter(
    (flag) => (options[flag] ?? false) !== (opts[flag] ?? false),
  );
  const isOther = await isOtherProvider(options.parent?.getProvider(type), opts.provider);
  return [...changedKeys(opened(before), opened(after)), ...flags, ...(isOther ? ["provider"] : [])];
}

/** Whether a resource has another provider than its component; the engine gives a component without one its default. */
async function isOtherProvider(
  own: pulumi.ProviderResource | undefined,
  given: pulumi.ProviderResource | undefined,
): Promise<boolean> {
  const [before, after] = await Promise.all([own, given].map(urnOf));
  if (before === after || after === undefined) return false;
  return before !== undefined || !/::default(_[\w.]*)?$/.test(after);
}

/** Names of the innermost properties that differ. */
function changedKeys(before: unknown, after: unknown, name = ""): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isTable(before) || !isTable(after)) return [name];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changedKeys(before[key], after[key], key));
}

/** The values as they are sent, with arguments in JSON opened. */
function opened(values: unknown): unknown {
  if (!isTable(values)) return values;
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key === "argumentsJson" ? (openedJson(value) ?? value) : opened(value)]),
  );
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
