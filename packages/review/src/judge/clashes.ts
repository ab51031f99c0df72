import { BoundPatterns, networkOfDelivery } from "@rabbitmq-delay/topology/stack";
import { EntityChange, isReadable, queueArguments, text } from "../preview/entityChange";

/** A new binding that also takes another destination's messages, or might do so. */
export interface Clash {
  change: EntityChange;
  /** Which messages it takes, and by which binding. */
  found: string;
  unsure?: Unsure;
}

/** Why a clash is not certain: the preview does not list existing bindings, or the new binding's key can't be read. */
export type Unsure = "unlisted" | "unreadable";

/** The bindings at one delivery exchange. */
interface Bound {
  patterns: BoundPatterns;
  /** Destinations that existed before, bound with a key that can't be read. */
  unreadable: string[];
}

const UNLISTED =
  "it may get what is for another one as well: this preview does not list what is bound there already (`--show-sames` does).";

/** Whether a binding is added by this update. */
export function isNew({ action }: EntityChange): boolean {
  return action === "create" || action === "replace";
}

/**
 * Finds new bindings at a network's delivery exchange, or at a work queue's exchange, by which a message would arrive at two destinations, with
 * the rule that keeps the endpoints of one topology apart. A key that can't be read could be any key.
 * @param isWhole whether the preview lists all unchanged resources
 */
export function clashesOf(changes: EntityChange[], isWhole: boolean): Clash[] {
  const bound = new Map<string, Bound>();
  const workExchanges = workExchangesOf(changes);
  const boundAt = (values: Record<string, unknown>): Bound | undefined => {
    if (networkOfDelivery(String(values.source)) === undefined && !workExchanges.has(placeOf(values, values.source)))
      return undefined;
    const key = JSON.stringify([values.vhost, values.source]);
    const there = bound.get(key) ?? { patterns: new BoundPatterns(), unreadable: [] };
    bound.set(key, there);
    return there;
  };
  const bindings = changes.filter(({ kind, after }) => kind === "binding" && after !== undefined);
  const clashes: Clash[] = [];
  // Existing bindings come first, so that a clash is reported for the new one.
  const kept = changes.filter(({ kind, isRetained }) => kind === "binding" && isRetained).map(({ before }) => before);
  const existing = bindings.filter((binding) => !isNew(binding)).map(({ after }) => after);
  for (const one of [...existing, ...kept]) {
    const { destination, routingKey, ...values } = one as Record<string, unknown>;
    const there = boundAt(values);
    if (isReadable(routingKey)) there?.patterns.remember(candidateOf(destination, routingKey));
    else there?.unreadable.push(String(destination));
  }
  // A work queue's own bindings come before those of others at its exchange.
  const isOwn = ({ after }: EntityChange): boolean => after?.source === after?.destination;
  const added = bindings.filter(isNew);
  for (const change of [...added.filter(isOwn), ...added.filter((binding) => !isOwn(binding))]) {
    const clash = clashOf(change, boundAt(change.after as Record<string, unknown>), isWhole);
    if (clash !== undefined) clashes.push({ change, ...clash });
  }
  return clashes;
}

/** Exchanges of work queues: what waited in a retry queue comes back by them, to all that is bound there. */
function workExchangesOf(changes: EntityChange[]): Set<string> {
  const found = changes.flatMap(({ kind, after }) => {
    const exchange = kind === "queue" ? queueArguments(after)["x-dead-letter-exchange"] : undefined;
    const name = text(after?.name);
    const isRetry = typeof exchange === "string" && name.startsWith(`${exchange}.retry-`);
    return isRetry && /^\d+$/.test(name.slice(`${exchange}.retry-`.length)) ? [placeOf(after, exchange)] : [];
  });
  return new Set(found);
}

function placeOf(values: Record<string, unknown> | undefined, exchange: unknown): string {
  return JSON.stringify([values?.vhost, exchange]);
}

function clashOf(
  { after }: EntityChange,
  there: Bound | undefined,
  isWhole: boolean,
): Omit<Clash, "change"> | undefined {
  const { source, destination, routingKey } = after as Record<string, unknown>;
  if (!isReadable(source)) {
    return {
      found:
        "Bound to an exchange whose name can't be read: where that is a network's, it may get what is for another one as well.",
    };
  }
  if (there === undefined) return undefined;
  if (!isReadable(routingKey) && routingKey !== "" && routingKey !== undefined) {
    return {
      found: "Bound by a key that can't be read, it may get what is for another one as well.",
      unsure: "unreadable",
    };
  }
  const key = String(routingKey ?? "");
  const candidate = candidateOf(destination, key);
  // Two destinations that can't be read need not be the same.
  const isSame = (endpoint: string): boolean => endpoint === candidate.endpoint && isReadable(destination);
  // Another key of the same destination must not hide another destination's.
  const clash = there.patterns.clashOf(candidate, ({ endpoint }) => isSame(endpoint));
  there.patterns.remember(candidate);
  if (clash !== undefined && !isSame(clash.endpoint)) {
    return { found: `Bound by ${key}, it gets what is for ${nameOf(clash.endpoint)} as well.` };
  }
  const other = there.unreadable.find((endpoint) => !isSame(endpoint));
  if (other !== undefined) {
    return { found: `Bound by ${key}, it may get what is for ${nameOf(other)} as well, whose key can't be read.` };
  }
  return isWhole ? undefined : { found: `Bound by ${key}, ${UNLISTED}`, unsure: "unlisted" };
}

function nameOf(endpoint: string): string {
  return isReadable(endpoint) ? endpoint : "a destination whose name can't be read";
}

function candidateOf(endpoint: unknown, pattern: string): { endpoint: string; pattern: string; bindingKey: string } {
  return { endpoint: String(endpoint), pattern, bindingKey: pattern };
}
