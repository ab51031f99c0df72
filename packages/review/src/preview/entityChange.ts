import { ComponentName, ResourceKind, componentOf, resourceRule } from "@rabbitmq-delay/topology/stack";
import { openedJson } from "@rabbitmq-delay/topology";
import { Cause, Place, causesOf } from "./cause";
import { SECRET } from "../redact";
import { ChangingStep, Preview, PreviewState, PreviewStep, isChangingStep, isStack } from "./preview";
import { nameOf, parseUrn, typeOf } from "./urn";

/** What happens to one resource. */
export type Action = "create" | "delete" | "replace" | "update" | "same";

/** What a resource is to a review: a kind that has a rule, a component, or something unknown. */
export type EntityKind = ResourceKind | "component" | "other";

/** The steps of one resource, taken together. */
export interface EntityChange {
  urn: string;
  type: string;
  /** Logical name. */
  name: string;
  kind: EntityKind;
  action: Action;
  /** Whether the engine takes in what the broker has, and creates nothing. */
  isImport: boolean;
  /** Whether the engine refuses to replace it, because its option `import` names what the stack has already. */
  isImportRefused?: boolean;
  /**
   * Whether the old one is deleted before the new one is created; undefined if the preview does not list these steps
   * (`--show-replacement-steps` does).
   */
  isDeletedFirst?: boolean;
  /** URN of the component that it belongs to. */
  parent?: string;
  /** The component of this project that it is a part of, however deep. */
  partOf?: ComponentName;
  /** Whether the broker keeps the old one when it leaves the program. */
  isRetained: boolean;
  /** Whether the broker keeps the old one, and no longer keeps it after this update. */
  isReleased: boolean;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  /** Values that the broker has instead of `before`, undefined for none; only if they differ. */
  live?: { values?: Record<string, unknown> };
  causes: Cause[];
  /** URNs that the old one depended on. */
  dependencies: string[];
  /** URNs on which the new one depends, so that the engine comes to them first. */
  laterDependencies?: string[];
  /** Properties that differ, according to the engine; undefined if it says nothing. */
  reasons?: string[];
  /** URN of the provider that declares it. */
  provider?: string;
  /** URNs of the providers that declare it, before and after, if they differ. */
  otherProvider?: { before: string; after: string };
}

/** The action to which a step belongs. */
const actions: Record<ChangingStep, Action> = {
  create: "create",
  import: "create",
  delete: "delete",
  update: "update",
  same: "same",
  replace: "replace",
  "create-replacement": "replace",
  "delete-replaced": "replace",
  "import-replacement": "replace",
};

/** One entry for each resource, in the order of the preview. */
export function entityChanges({ steps }: Preview): EntityChange[] {
  const byUrn = new Map<string, (PreviewStep & { op: ChangingStep })[]>();
  // The engine deletes the old side of a resource with an alias under its former URN.
  const renamed = new Map(
    steps.flatMap(({ oldState, newState }) =>
      oldState?.urn === undefined || newState?.urn === undefined ? [] : [[oldState.urn, newState.urn] as const],
    ),
  );
  for (const step of steps) {
    const { op } = step;
    // Steps that change nothing are skipped; an unknown step makes the preview incomplete.
    if (!isChangingStep(op) || isStack(step.urn)) continue;
    const urn = op === "delete-replaced" ? (renamed.get(step.urn) ?? step.urn) : step.urn;
    const same = byUrn.get(urn);
    if (same === undefined) byUrn.set(urn, [{ ...step, op }]);
    else same.push({ ...step, op });
  }
  // A vhost that is kept takes nothing along.
  const vhosts = new Set(
    steps
      .filter(({ urn, oldState }) => kindOf(typeOf(urn), true) === "vhost" && oldState?.retainOnDelete !== true)
      .map(({ urn }) => urn),
  );
  const goesAlone = (urn: string): boolean =>
    !vhosts.has(urn) && byUrn.get(urn)?.every(({ op }) => op === "delete") === true;
  const changes = [...byUrn].flatMap(([urn, own]) => {
    const isPending = ({ op }: PreviewStep): boolean => op === "delete";
    const [pending, current] = [own.filter(isPending), own.filter((step) => !isPending(step))];
    if (pending.length === 0 || current.length === 0) return [toChange(urn, own, goesAlone)];
    // What an interrupted replacement has left to be deleted may have another name on the broker than the resource of now.
    const now = toChange(urn, current, goesAlone);
    const others = pending
      .map((step) => [step, toChange(urn, [step], goesAlone)] as const)
      .filter(([, left]) => brokerIdentity(left, "before") !== brokerIdentity(now, now.after ? "after" : "before"));
    const same = own.filter((step) => !others.some(([other]) => other === step));
    return [toChange(urn, same, goesAlone), ...others.map(([, left]) => left)];
  });
  const ends = new Map(
    steps.flatMap(({ urn, newState }) => {
      const given = newState?.propertyDependencies?.destination;
      return Array.isArray(given) ? [[urn, new Set(given)] as const] : [];
    }),
  );
  const made = new Map(changes.filter(({ after }) => after !== undefined).map((change) => [change.urn, change]));
  return changes.map((change) => withDestination(change, ends.get(change.urn), made));
}

/**
 * Names a destination that the engine does not know yet: a binding of this project's component leads to the component's own queue or
 * exchange, if its destination comes from one alone.
 */
function withDestination(
  change: EntityChange,
  ends: ReadonlySet<string> = new Set(),
  made: ReadonlyMap<string, EntityChange>,
): EntityChange {
  const { kind, parent, partOf, after } = change;
  if (kind !== "binding" || after?.destination !== NOT_KNOWN || partOf === undefined) return change;
  const own = [...ends].flatMap((urn) => made.get(urn) ?? []);
  const [end, ...others] = own.filter((one) => one.parent === parent && one.kind === after.destinationType);
  const name = end?.after?.name;
  if (others.length > 0 || !isReadable(name)) return change;
  return { ...change, after: { ...after, destination: name } };
}

/** @param goesAlone whether a resource of that URN is deleted, and what the broker has of others stays */
function toChange(
  urn: string,
  steps: (PreviewStep & { op: ChangingStep })[],
  goesAlone: (urn: string) => boolean,
): EntityChange {
  const action = actionOf(steps.map(({ op }) => actions[op]));
  const oldState = steps.find((step) => step.oldState !== undefined)?.oldState;
  const newState = steps.find((step) => step.newState !== undefined)?.newState;
  const type = oldState?.type ?? newState?.type ?? typeOf(urn);
  const parent = (newState ?? oldState)?.parent;
  const kind = kindOf(type, (newState ?? oldState)?.custom !== false);
  // A resource that is deleted before its successor is made goes before the engine knows what leaves the program.
  const isLate = action === "delete" || isDeletedFirst(steps) === false;
  const isSkipped = isLate && oldState?.deletedWith !== undefined && goesAlone(oldState.deletedWith);
  const [before, after] = [oldState?.provider, newState?.provider].map((provider) => provider?.replace(/::[^:]*$/, ""));
  const isImportRefused = refusesImport(steps);
  return {
    urn,
    type,
    name: nameOf(urn),
    kind,
    action,
    isImport: steps.some(({ op }) => op === "import" || op === "import-replacement"),
    isImportRefused,
    isDeletedFirst: isDeletedFirst(steps),
    parent,
    partOf: partOf(urn, parent),
    // The engine deletes nothing that the state says to keep, that it only reads or refuses to replace, or that goes with another resource.
    isRetained: oldState?.retainOnDelete === true || oldState?.external === true || isSkipped || isImportRefused,
    isReleased: oldState?.retainOnDelete === true && newState !== undefined && newState.retainOnDelete !== true,
    before: oldState?.inputs,
    after: newState?.inputs,
    dependencies: oldState?.dependencies ?? [],
    laterDependencies: newState?.dependencies ?? [],
    causes: action === "replace" || action === "update" ? differences(oldState, newState, placeOf(kind)) : [],
    reasons: reasonsOf(steps),
    provider: before ?? after,
    ...(before !== undefined && after !== undefined && before !== after ? { otherProvider: { before, after } } : {}),
  };
}

/** A replacement without a difference follows another resource's deletion, which the engine does not refuse. */
function refusesImport(steps: PreviewStep[]): boolean {
  const known = new Set(steps.flatMap(({ oldState }) => [oldState?.id, oldState?.importID]));
  return (
    reasonsOf(steps) !== undefined &&
    steps.some(({ op }) => op === "replace") &&
    !steps.some(({ op }) => op === "delete" || op === "import-replacement") &&
    steps.some(({ newState }) => Boolean(newState?.importID) && known.has(newState?.importID))
  );
}

function isDeletedFirst(steps: PreviewStep[]): boolean | undefined {
  const at = (...ops: string[]): number => steps.findIndex(({ op }) => ops.includes(op));
  const [deleted, created] = [at("delete-replaced"), at("create-replacement", "import-replacement")];
  return deleted === -1 || created === -1 ? undefined : deleted < created;
}

function kindOf(type: string, isCustom: boolean): EntityKind {
  return resourceRule(type)?.kind ?? (isCustom ? "other" : "component");
}

const onBroker: EntityKind[] = ["queue", "exchange", "binding", "policy", "vhost", "permissions"];

function placeOf(kind: EntityKind): Place {
  return onBroker.includes(kind) ? "broker" : "elsewhere";
}

/** The nearest component of this project among the parents: those that the URN names, and the one in the state. */
function partOf(urn: string, parent: string | undefined): ComponentName | undefined {
  const types = (text: string): string[] => parseUrn(text)?.types ?? text.split(/\$|::/);
  return [...types(urn).slice(0, -1), ...types(parent ?? "")]
    .map(componentOf)
    .filter((name) => name !== undefined)
    .at(-1);
}

function reasonsOf(steps: PreviewStep[]): string[] | undefined {
  const reasons = steps.flatMap(({ diffReasons, detailedDiff }) => [
    ...(diffReasons ?? []),
    ...Object.keys(detailedDiff ?? {}),
  ]);
  return reasons.length === 0 ? undefined : [...new Set(reasons)];
}

/**
 * Steps of one URN concern one entity on the broker. If it is deleted beside anything else (which an interrupted replacement leaves
 * behind), it is gone although it seems to stay.
 */
function actionOf(found: Action[]): Action {
  if (found.includes("replace") || (found.includes("delete") && found.some((action) => action !== "delete")))
    return "replace";
  return found.find((action) => action !== "same") ?? "same";
}

/** If the program did not change, the broker did: then its former values are compared with the program's. */
function differences(oldState: PreviewState | undefined, newState: PreviewState | undefined, place: Place): Cause[] {
  const causes = causesOf(oldState?.inputs, newState?.inputs, place);
  if (causes.length > 0 || newState?.inputs === undefined || oldState?.outputs === undefined) return causes;
  const projected = causesOf(projectOutputs(oldState.outputs, newState.inputs), newState.inputs, place);
  return projected.length > 0 || place !== "broker" ? projected : typeReadBack(oldState.outputs, newState.inputs);
}

/** The type that the broker has given a queue of which the program leaves it out. */
function typeReadBack(outputs: Record<string, unknown>, inputs: Record<string, unknown>): Cause[] {
  const [there, wanted] = [outputs, inputs].map((values) => queueArguments(values)["x-queue-type"]);
  return typeof there === "string" && wanted === undefined
    ? [{ property: "x-queue-type", before: there, after: "nothing" }]
    : [];
}

/** The part of the outputs for which there are inputs. */
function projectOutputs(
  outputs: Record<string, unknown> = {},
  inputs: Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(inputs).map((key) => {
      const [output, input] = [outputs[key], inputs[key]];
      const isNested = typeof output === "object" && typeof input === "object" && output !== null && input !== null;
      return [
        key,
        isNested ? projectOutputs(output as Record<string, unknown>, input as Record<string, unknown>) : output,
      ];
    }),
  );
}

/** The broker's own name of an entity, before and after. */
export function brokerName(change: EntityChange): string {
  const values = change.before ?? change.after ?? {};
  if (change.kind === "binding") {
    return `${showName(values.source)} → ${showName(values.destination)}`;
  }
  // In anything else, a property of that name may contain whatever it wants.
  const isNamed = [...onBroker, "user"].includes(change.kind);
  return isNamed && typeof values.name === "string" ? values.name : change.name;
}

/**
 * The identity that two resources of one entity on the broker share; undefined for a resource that is not on the broker, or can't be read.
 */
export function brokerIdentity(change: EntityChange, side: "before" | "after"): string | undefined {
  const values = change[side];
  if (values === undefined) return undefined;
  const { name, user, vhost: place, source, destination } = values;
  // Two secret names are not the same name.
  if ([name, user, place, source, destination].some((value) => value !== undefined && !isReadable(value)))
    return undefined;
  const vhost = text(values.vhost);
  switch (change.kind) {
    case "queue":
    case "exchange":
    case "vhost":
    case "user":
      return JSON.stringify([change.kind, vhost, text(values.name)]);
    // An operator policy differs from a policy of the same name.
    case "policy":
      return JSON.stringify([change.type, vhost, text(values.name)]);
    case "permissions":
      return JSON.stringify([change.type, vhost, text(values.user)]);
    case "binding":
      return (
        bindingIdentity(values) ?? JSON.stringify([vhost, source, destination, values.routingKey, values.argumentsJson])
      );
    default:
      return change.type.startsWith("rabbitmq:") && name !== undefined
        ? JSON.stringify([change.type, vhost, text(name)])
        : undefined;
  }
}

/** Whether the update changes a resource. */
export function isChanged({ action }: EntityChange): boolean {
  return action !== "same";
}

/** Whether the broker lacks an entity of the state, and the update leaves it so. */
export function isMissing({ action, live }: EntityChange): boolean {
  return (action === "same" || action === "update") && live !== undefined && live.values === undefined;
}

/** Whether the new side of a replacement is another entity on the broker than the old side. */
export function isRenamed(change: EntityChange): boolean {
  return change.action === "replace" && brokerIdentity(change, "before") !== brokerIdentity(change, "after");
}

/** Whether the update creates an entity of another identity: a new resource, or the new side of a renamed one. */
export function isMadeAnew(change: EntityChange): boolean {
  return change.action === "create" || isRenamed(change);
}

/** A queue's or an exchange's arguments, in whichever of the two forms the program gives them. */
export function queueArguments(values: Record<string, unknown> | undefined): Record<string, unknown> {
  const settings = values?.settings as { arguments?: unknown; argumentsJson?: unknown } | undefined;
  const [plain, opened] = [settings?.arguments, openedJson(settings?.argumentsJson)].map((found) =>
    typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {},
  );
  return { ...plain, ...opened };
}

/** Whether an exchange deletes itself with its last binding. */
export function isAutoDelete(values: Record<string, unknown> | undefined): boolean {
  return (values?.settings as { autoDelete?: unknown } | undefined)?.autoDelete === true;
}

/** What a binding binds, in one form for a state's and the broker's; undefined if a part of it can't be read. */
export function bindingIdentity(values: Record<string, unknown> | undefined): string | undefined {
  const { vhost, source, destination, destinationType, routingKey = "" } = values ?? {};
  if (![vhost, source, destination, destinationType].every(isReadable)) return undefined;
  if (routingKey !== "" && !isReadable(routingKey)) return undefined;
  const given = bindingArguments(values);
  // Two secrets may differ.
  if (given === undefined || JSON.stringify(given).includes(SECRET)) return undefined;
  const sorted = Object.entries(given).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([vhost, source, destination, destinationType, routingKey, sorted]);
}

const ENDS = ["vhost", "source", "destination", "destinationType"] as const;

/** Whether a state's binding, a part of which can't be read, may be one that the broker has. */
export function mayBeBinding(
  unread: Record<string, unknown> | undefined,
  there: { [End in (typeof ENDS)[number]]?: unknown },
): boolean {
  if (unread === undefined || bindingIdentity(unread) !== undefined) return false;
  return ENDS.every((end) => !isReadable(unread[end]) || unread[end] === there[end]);
}

/** A binding's arguments as the broker has them, in whichever of the two forms the program gives them; undefined if they can't be read. */
export function bindingArguments(values: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const opened = openedJson(values?.argumentsJson) ?? textsOf(values?.arguments ?? {});
  return typeof opened === "object" && opened !== null ? (opened as Record<string, unknown>) : undefined;
}

/**
 * A plain table as the provider declares it: a number without its fraction, 1.5 as "1". Undefined with a number beyond 2^53, of which the
 * provider makes another one (measured with 1e20 and 1e300).
 */
function textsOf(table: unknown): unknown {
  if (typeof table !== "object" || table === null) return table;
  const whole = Object.entries(table).map(([key, value]) => [
    key,
    typeof value === "number" ? Math.trunc(value) : value,
  ]);
  if (whole.some(([, value]) => typeof value === "number" && !Number.isSafeInteger(value))) return undefined;
  return Object.fromEntries(whole.map(([key, value]) => [key, typeof value === "object" ? value : String(value)]));
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text that the engine writes if a value is known only once the program runs. */
export const NOT_KNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Whether a name or a pattern can be read: it is not secret, known already, and not empty. */
export function isReadable(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes(SECRET) && value !== NOT_KNOWN;
}

/** A name in the form that a report shows. */
export function showName(value: unknown): string {
  return value === NOT_KNOWN ? "[not known]" : text(value);
}
