import { EntityChange, isReadable, queueArguments, showName } from "../preview/entityChange";
import { viewOn } from "./policiesInForce";

/** A new or changed queue, exchange or policy that leads messages to an exchange which is not known. */
export interface MissingTarget {
  change: EntityChange;
  /** The setting and the exchange, in words. */
  detail: string;
  /** Whether the exchange is nowhere; false if nobody looked on the broker. */
  isSure: boolean;
}

/** Entities that only the broker has, and the vhosts that were read. */
export interface OnBroker {
  entities: readonly EntityChange[];
  vhosts: ReadonlySet<string>;
  /** The broker's version; undefined if it was not asked. */
  version?: string;
  /** Whether a resource is, or may be, on another broker than the one that was asked. */
  isElsewhere?: (urn: string) => boolean;
  /** Whether all was read to which a policy applies, and all policies beside it. */
  isKnown?: (policy: EntityChange) => boolean;
  /** The type of a queue; undefined if the broker does not list the queue. */
  typeOf?: (queue: EntityChange["before"]) => string | undefined;
}

/**
 * Finds dead-letter exchanges and alternate exchanges that exist neither in the plan nor on the broker: the broker drops what is led to them.
 */
export function missingTargets(changes: readonly EntityChange[], { entities, vhosts }: OnBroker): MissingTarget[] {
  const isThere = exchangeFinder([...changes, ...entities]);
  const isNewVhost = (vhost: unknown): boolean =>
    changes.some(({ kind, action, after }) => kind === "vhost" && action === "create" && after?.name === vhost);
  return changes.flatMap((change): MissingTarget[] => {
    // A component declares what its parts lead to, or its preflight looks for it.
    if (change.action === "same" || change.partOf !== undefined || change.after === undefined) return [];
    const { vhost } = change.after;
    const [from, to] = [targetsOf(change, "before"), targetsOf(change, "after")];
    const isRead = isReadable(vhost) && (vhosts.has(vhost) || isNewVhost(vhost));
    const missing = Object.entries(to)
      .filter(([key, name]) => from[key] !== name && !isThere(vhost, name))
      .map(([key, name]) => ({ key, name, isSure: isRead && isReadable(name) }))
      // The effect of a policy's dead-letter exchange on live queues is judged with the policy.
      .find(({ key, isSure }) => isSure || key !== "dead-letter-exchange");
    if (missing === undefined) return [];
    const { key, name, isSure } = missing;
    const detail = `Its ${key} is ${showName(name)}${isSure ? "" : ", which this plan does not declare"}.`;
    return [{ change, detail, isSure }];
  });
}

/** Returns a function that tells whether an exchange is there after the update, as far as some entities show. */
export function exchangeFinder(entities: readonly EntityChange[]): (vhost: unknown, name: unknown) => boolean {
  const known = new Set(
    entities.flatMap(({ kind, action, isRetained, before, after }) => {
      const values = after ?? (action === "delete" && isRetained ? before : undefined);
      return kind === "exchange" && values !== undefined ? [keyOf(values.vhost, values.name)] : [];
    }),
  );
  return (vhost, name) => isPredeclared(name) || known.has(keyOf(vhost, name));
}

const TARGETS = ["x-dead-letter-exchange", "dead-letter-exchange", "alternate-exchange"];

/** The exchanges to which an entity leads messages, by the name of the setting. */
function targetsOf(change: EntityChange, side: "before" | "after"): Record<string, unknown> {
  const values = change[side];
  const given =
    change.kind === "policy"
      ? (viewOn(change, side)?.definition ?? {})
      : change.kind === "queue" || change.kind === "exchange"
        ? queueArguments(values)
        : {};
  return Object.fromEntries(
    Object.entries(given).filter(([key, value]) => value !== undefined && TARGETS.includes(key)),
  );
}

/** Whether each vhost has the exchange. */
function isPredeclared(name: unknown): boolean {
  return name === "" || /^amq\.(direct|fanout|headers|match|topic)$/.test(String(name));
}

function keyOf(vhost: unknown, name: unknown): string {
  return JSON.stringify([vhost, name]);
}
