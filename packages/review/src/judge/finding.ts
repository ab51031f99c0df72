import { Cause, showArguments } from "../preview/cause";
import { EntityChange, brokerName, isReadable, queueArguments, text } from "../preview/entityChange";
import type { Unsure } from "./clashes";
import { RuleName, Severity, rules } from "./rules";

/** A danger, or something worth knowing, about one entity. */
export interface Finding {
  rule: RuleName;
  severity: Severity;
  /** The resource's URN, with which a danger can be accepted. Empty if the finding is not about a resource. */
  urn: string;
  /** The entity in the terms of the field, e.g. `queue orders.r4x2u1000.level-00-1`. */
  entity: string;
  /** The component that it belongs to. */
  parent?: string;
  causes: Cause[];
  /** Further words about this case, after the rule's own sentence. */
  detail?: string;
  /** The vhost of an entity on the broker. */
  vhost?: string;
  /** The queue whose messages are in question. */
  queue?: { vhost: string; name: string; arguments: Record<string, unknown> };
  /** The alias by which the engine would know a renamed resource, as it stands in a program. */
  alias?: string;
  /** Why it is not certain, and the broker may know: the preview does not list existing bindings, or a key can't be read. */
  unsure?: Unsure;
  /** Whether it is only because of the network's parking that nothing is lost. */
  isParked?: boolean;
  /** Why somebody lets it pass. */
  accepted?: string;
  /** The broker's answer about it now. */
  found?: string;
}

/** Returns a finding of a rule about one change, with what the rule alone does not say. */
export function find(rule: RuleName, change: EntityChange, detail?: string): Finding {
  const { urn, kind, parent, causes, before, after } = change;
  const vhost = (before ?? after)?.vhost;
  return {
    rule,
    severity: rules[rule].severity,
    urn,
    entity: `${labelOf(change)} ${brokerName(change)}`,
    parent,
    causes,
    ...(detail === undefined ? {} : { detail }),
    ...(isReadable(vhost) ? { vhost } : {}),
    ...(kind === "queue" && before !== undefined && rule !== "queue-kept-and-replaced"
      ? { queue: queueOf(before) }
      : {}),
  };
}

/** The broker's term for an entity; for resources elsewhere, the name of their type, in full if it is not this project's. */
function labelOf({ kind, type, partOf }: EntityChange): string {
  const isOnBroker = type.startsWith("rabbitmq:") || kind === "provider";
  if (isOnBroker && kind !== "other") return kind;
  return partOf === undefined || kind === "other" ? type : (type.split(":").at(-1) ?? type);
}

function queueOf(values: Record<string, unknown> = {}): Finding["queue"] {
  return { vhost: text(values.vhost), name: text(values.name), arguments: showArguments(queueArguments(values)) };
}
