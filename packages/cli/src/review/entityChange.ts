import { openedJson } from "../readJson";
import { Cause, causesOf } from "./cause";
import { Preview, PreviewState, PreviewStep, isStack } from "./preview";
import { nameOf, typeOf } from "./urn";

/** What happens to one resource. */
export type Action = "create" | "delete" | "replace" | "update" | "same";

/** Kinds of resources that a broker has, by their types; others are `other`. */
const kinds: Record<string, EntityKind> = {
  "rabbitmq:index/queue:Queue": "queue",
  "rabbitmq:index/exchange:Exchange": "exchange",
  "rabbitmq:index/binding:Binding": "binding",
  "rabbitmq:index/policy:Policy": "policy",
  "rabbitmq:index/operatorPolicy:OperatorPolicy": "policy",
  "rabbitmq:index/vHost:VHost": "vhost",
  "rabbitmq:index/user:User": "user",
  "rabbitmq:index/permissions:Permissions": "permissions",
  "rabbitmq:index/topicPermissions:TopicPermissions": "permissions",
  "pulumi:providers:rabbitmq": "provider",
};
export type EntityKind =
  "queue" | "exchange" | "binding" | "policy" | "vhost" | "user" | "permissions" | "provider" | "component" | "other";

/** The steps of one resource, taken together. */
export interface EntityChange {
  urn: string;
  type: string;
  /** Logical name. */
  name: string;
  kind: EntityKind;
  action: Action;
  /** URN of the component that it belongs to. */
  parent?: string;
  /** Whether the broker keeps the old one when the program lets it go. */
  isRetained: boolean;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  causes: Cause[];
  /** URNs that the old one depended on. */
  dependencies: string[];
}

/** Which action a step is part of; steps that change nothing on the broker are none. */
const actions: Record<string, Action> = {
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
  const byUrn = new Map<string, PreviewStep[]>();
  for (const step of steps) {
    if (actions[step.op] === undefined || isStack(step.urn)) continue;
    const same = byUrn.get(step.urn);
    if (same === undefined) byUrn.set(step.urn, [step]);
    else same.push(step);
  }
  return [...byUrn].map(([urn, own]) => toChange(urn, own));
}

function toChange(urn: string, steps: PreviewStep[]): EntityChange {
  const action = actionOf(steps.map(({ op }) => actions[op] as Action));
  const oldState = steps.find((step) => step.oldState !== undefined)?.oldState;
  const newState = steps.find((step) => step.newState !== undefined)?.newState;
  const type = oldState?.type ?? newState?.type ?? typeOf(urn);
  const isCustom = (newState ?? oldState)?.custom !== false;
  return {
    urn,
    type,
    name: nameOf(urn),
    kind: isCustom ? (kinds[type] ?? "other") : "component",
    action,
    parent: (newState ?? oldState)?.parent,
    isRetained: oldState?.retainOnDelete === true,
    before: oldState?.inputs,
    after: newState?.inputs,
    dependencies: oldState?.dependencies ?? [],
    causes: action === "replace" || action === "update" ? differences(oldState, newState) : [],
  };
}

/**
 * Steps of one URN are of one entity on the broker: what is deleted beside anything else (an earlier replacement that was
 * interrupted leaves that) goes although it seems to stay.
 */
function actionOf(found: Action[]): Action {
  if (found.includes("replace") || (found.includes("delete") && found.some((action) => action !== "delete")))
    return "replace";
  return found.find((action) => action !== "same") ?? "same";
}

/** Where the program did not change, the broker did: then what it had is compared with what the program says. */
function differences(oldState: PreviewState | undefined, newState: PreviewState | undefined): Cause[] {
  const causes = causesOf(oldState?.inputs, newState?.inputs);
  if (causes.length > 0 || newState?.inputs === undefined) return causes;
  return causesOf(projected(oldState?.outputs, newState.inputs), newState.inputs);
}

/** What of the outputs the inputs speak of. */
function projected(outputs: Record<string, unknown> = {}, inputs: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(inputs).map((key) => {
      const [output, input] = [outputs[key], inputs[key]];
      const isNested = typeof output === "object" && typeof input === "object" && output !== null && input !== null;
      return [key, isNested ? projected(output as Record<string, unknown>, input as Record<string, unknown>) : output];
    }),
  );
}

/** The broker's own name of an entity, before and after. */
export function brokerName(change: EntityChange): string {
  const values = change.before ?? change.after ?? {};
  if (change.kind === "binding") {
    return `${text(values.source)} → ${text(values.destination)}`;
  }
  return typeof values.name === "string" ? values.name : change.name;
}

/** What makes two resources the same entity on the broker; undefined for what the broker doesn't have. */
export function brokerIdentity(change: EntityChange, side: "before" | "after"): string | undefined {
  const values = change[side];
  if (values === undefined) return undefined;
  const vhost = text(values.vhost);
  switch (change.kind) {
    case "queue":
    case "exchange":
    case "policy":
    case "vhost":
    case "user":
      return JSON.stringify([change.kind, vhost, text(values.name)]);
    case "permissions":
      return JSON.stringify([change.type, vhost, text(values.user)]);
    case "binding":
      return JSON.stringify([
        change.kind,
        vhost,
        text(values.source),
        text(values.destination),
        text(values.destinationType),
        text(values.routingKey),
      ]);
    default:
      return undefined;
  }
}

/** A queue's arguments. */
export function queueArguments(values: Record<string, unknown> | undefined): Record<string, unknown> {
  const settings = values?.settings as { argumentsJson?: unknown } | undefined;
  const opened = openedJson(settings?.argumentsJson);
  return typeof opened === "object" && opened !== null ? (opened as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
