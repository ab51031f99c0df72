import { EntityChange, isAutoDelete, isChanged, isMissing, isReadable, queueArguments } from "../preview/entityChange";
import { takesBindingsAlong } from "./bindingsLeftOut";
import { InForce, PolicyTarget, Side, policiesFor, policiesInForce, viewOn } from "./policiesInForce";
import { waitsForConfirm } from "./confirms";
import { mayTake, surelyTakes } from "./taking";

/** A message at an exchange. */
export interface Place {
  vhost: string;
  exchange: string;
  key: string;
}

/** The end of a message: a queue gets it, none does, or nobody can tell. */
export type End = "queue" | "nowhere" | "unknown";

/** Settings by which it is decided what becomes of a queue's dead letters. */
const DEAD_LETTERS = ["dead-letter-exchange", "dead-letter-routing-key", "dead-letter-strategy", "overflow"];

/** An entity as it is on one side of the update. */
export interface There {
  change: EntityChange;
  values: Record<string, unknown>;
}

/** Changes, queues and doubts that one message meets on its way. */
export interface Met {
  changes: Set<EntityChange>;
  /** Queues that get the message, or may get it. */
  queues: Set<string>;
  /** Reasons why nobody can tell its end, in words. */
  doubts: string[];
}

/** Everything that messages may meet on their ways. */
export interface Places {
  /** Each with whether the update changes the binding, its exchange, or something behind it. */
  bindings: { pattern: unknown; type: unknown; leadsToChange: boolean }[];
  changes: Set<EntityChange>;
}

/** The ways of messages on one side of the update. */
export class Ways {
  readonly queues: Map<string, There>;
  readonly exchanges: Map<string, There>;
  /** Bindings by their sources. */
  private readonly bindings = new Map<string, Bindings>();
  private readonly policies: EntityChange[];
  /** Policies that have one of some keys. */
  private readonly saying = new Map<string, EntityChange[]>();
  /** Queues and exchanges that the plan has on either side. */
  private readonly planned: ReadonlySet<string>;

  constructor(
    changes: EntityChange[],
    private readonly side: Side,
    private readonly asked: ReadonlySet<string>,
  ) {
    const of = (kind: EntityChange["kind"]): EntityChange[] => changes.filter((change) => change.kind === kind);
    const named = (kind: "queue" | "exchange"): Map<string, There> =>
      new Map(of(kind).flatMap((change) => thereOn(side, change).map((there) => [keyOf(kind, there.values), there])));
    this.policies = of("policy");
    this.queues = named("queue");
    this.exchanges = named("exchange");
    this.planned = new Set(
      [...of("queue"), ...of("exchange")].flatMap(({ kind, before, after }) => [
        keyOf(kind, before),
        keyOf(kind, after),
      ]),
    );
    const ending = new Set(
      side === "after" ? changes.filter(takesBindingsAlong).map(({ kind, before }) => keyOf(kind, before)) : [],
    );
    const bound = of("binding")
      .flatMap((change) => thereOn(side, change))
      .filter((there) => this.isBound(there, ending));
    for (const there of side === "after" ? this.withoutUnused(bound, of("binding")) : bound) this.bind(there);
  }

  /** Returns a queue or an exchange of the other side as this side has it; undefined if it is gone. */
  stillOf({ change, values }: There): There | undefined {
    return (change.kind === "queue" ? this.queues : this.exchanges).get(keyOf(change.kind, values));
  }

  exchangeAt({ vhost, exchange }: Place): There | undefined {
    return this.exchanges.get(keyOf("exchange", { vhost, name: exchange }));
  }

  /** Returns the bindings of an exchange that take a message, or may take it. */
  takers({ vhost, exchange, key }: Place): There[] {
    const there = this.exchangeAt({ vhost, exchange, key });
    if (there === undefined) return [];
    return this.bindings.get(keyOf("exchange", { vhost, name: exchange }))?.takers(typeOf(there), key) ?? [];
  }

  endAt(place: Place): End {
    return this.follow(place, { changes: new Set(), queues: new Set(), doubts: [] });
  }

  /** Returns where a queue's dead letters go; undefined if that is not sure, or if they wait in it for a queue that takes them. */
  deadLettersOf(values: Record<string, unknown>): { exchange: string; key?: string } | undefined {
    const given = queueArguments(values);
    const target = { vhost: values.vhost, name: values.name, queueArguments: given };
    const { found, isSure } = this.inForce(target, DEAD_LETTERS);
    const definition = isSure && found.length === 1 ? (found[0]?.view.definition ?? {}) : {};
    const exchange = given["x-dead-letter-exchange"] ?? definition["dead-letter-exchange"];
    const key = given["x-dead-letter-routing-key"] ?? definition["dead-letter-routing-key"];
    if (exchange !== "" && !isReadable(exchange)) return undefined;
    if (key !== undefined && key !== "" && !isReadable(key)) return undefined;
    const operators = policiesFor(this.policies, target, this.side, true).map(({ view }) => view.definition);
    return waitsForConfirm(given, definition, operators)
      ? undefined
      : { exchange, ...(key === undefined ? {} : { key }) };
  }

  /** Whether a queue surely has no dead-letter exchange. */
  hasNoDeadLetters({ vhost, name, ...values }: Record<string, unknown>): boolean {
    const given = queueArguments(values);
    if (given["x-dead-letter-exchange"] !== undefined) return false;
    const { found } = this.inForce({ vhost, name, queueArguments: given }, ["dead-letter-exchange"]);
    return found.every(({ view }) => view.definition["dead-letter-exchange"] === undefined);
  }

  /** Returns where the dead letters of a queue go, like {@link deadLettersOf}, by its name. */
  deadLettersFrom(vhost: string, name: string): { exchange: string; key?: string } | undefined {
    const there = this.queues.get(keyOf("queue", { vhost, name }));
    return there === undefined ? undefined : this.deadLettersOf(there.values);
  }

  /** Whether each message of a queue surely expires by the queue's own settings. */
  expire(vhost: string, name: string): boolean {
    const there = this.queues.get(keyOf("queue", { vhost, name }));
    if (there === undefined) return false;
    const given = queueArguments(there.values);
    if (given["x-message-ttl"] !== undefined) return true;
    const { found, isSure } = this.inForce({ vhost, name, queueArguments: given }, ["message-ttl"]);
    return isSure && found.length > 0 && found.every(({ view }) => view.definition["message-ttl"] !== undefined);
  }

  /** The alternate exchanges that an exchange may have, each with the policy that gives it; none if it surely has none. */
  alternatesOf(values: Record<string, unknown>): { name: unknown; policy?: EntityChange }[] {
    const own = queueArguments(values)["alternate-exchange"];
    if (own !== undefined) return [{ name: own }];
    const { found, isSure } = this.inForce({ vhost: values.vhost, name: values.name }, ["alternate-exchange"]);
    const given = found.map(({ change, view }) => ({ name: view.definition["alternate-exchange"], policy: change }));
    if (given.every(({ name }) => name === undefined)) return [];
    return isSure ? given : [...given, { name: undefined }];
  }

  /**
   * Adds everything that messages may meet from an exchange on.
   * @param known exchanges that were added, and whether the update changes something from there on; an exchange in progress counts as changed
   * @returns whether the update changes something from the exchange on
   */
  addPlaces(vhost: string, exchange: string, places: Places, known = new Map<string, boolean>()): boolean {
    const id = keyOf("exchange", { vhost, name: exchange });
    const there = this.exchanges.get(id);
    const seen = known.get(id);
    if (there === undefined || seen !== undefined) return seen ?? false;
    known.set(id, true);
    places.changes.add(there.change);
    const type = typeOf(there);
    const isOwn = isChanged(there.change);
    let found = isOwn;
    for (const { change, values } of this.bindings.get(id)?.all ?? []) {
      const { destination, destinationType, routingKey: pattern = "" } = values;
      places.changes.add(change);
      const queue =
        destinationType === "queue" ? this.queues.get(keyOf("queue", { vhost, name: destination })) : undefined;
      if (queue !== undefined) places.changes.add(queue.change);
      const isEnd = destinationType === "exchange" && isReadable(destination);
      const isBehind = isEnd && this.addPlaces(vhost, destination, places, known);
      const leadsToChange = isOwn || isBehind || isChanged(change) || (queue !== undefined && isChanged(queue.change));
      places.bindings.push({ pattern, type, leadsToChange });
      found ||= leadsToChange;
    }
    for (const { name, policy } of this.alternatesOf(there.values)) {
      if (policy !== undefined) {
        places.changes.add(policy);
        found ||= isChanged(policy);
      }
      if (isReadable(name)) found = this.addPlaces(vhost, name, places, known) || found;
    }
    known.set(id, found);
    return found;
  }

  /** @param met gets what the message meets */
  follow({ vhost, exchange, key }: Place, met: Met, known = new Map<string, End>()): End {
    if (exchange === "") return this.endOf(vhost, key, met);
    const id = keyOf("exchange", { vhost, name: exchange });
    // A cycle adds nothing to the other ways of the exchange at which it began.
    const end = known.get(id);
    if (end !== undefined) return end;
    known.set(id, "nowhere");
    const found = this.followFrom({ vhost, exchange, key }, met, known);
    known.set(id, found);
    return found;
  }

  private followFrom({ vhost, exchange, key }: Place, met: Met, known: Map<string, End>): End {
    const there = this.exchangeAt({ vhost, exchange, key });
    if (there === undefined) return this.missing("exchange", vhost, exchange, met);
    met.changes.add(there.change);
    const type = typeOf(there);
    const [sure, possible]: [End[], End[]] = [[], []];
    for (const { change, values } of this.takers({ vhost, exchange, key })) {
      const { destination, destinationType, routingKey } = values;
      met.changes.add(change);
      const isQueue = destinationType === "queue";
      const end = !isReadable(destination)
        ? doubt(met, `an end of a binding of exchange ${exchange} can't be read`)
        : isQueue
          ? this.endOf(vhost, destination, met, true)
          : this.follow({ vhost, exchange: destination, key }, met, known);
      (surelyTakes(type, routingKey, key) ? sure : possible).push(end);
    }
    if (sure.includes("queue")) return "queue";
    const rest =
      sure.length > 0 ? oneOf(sure) : this.followUnrouted({ vhost, exchange, key }, there.values, met, known);
    const all = oneOf([...possible, rest]);
    return possible.length > 0 && all === "unknown"
      ? doubt(met, `it can't be read which messages exchange ${exchange} routes by its bindings`)
      : all;
  }

  /** Follows a message for which an exchange has no binding. */
  private followUnrouted(
    { vhost, exchange, key }: Place,
    values: Record<string, unknown>,
    met: Met,
    known: Map<string, End>,
  ): End {
    const ends = this.alternatesOf(values).map(({ name, policy }): End => {
      if (policy !== undefined) met.changes.add(policy);
      if (name === undefined) return "nowhere";
      return isReadable(name) ? this.follow({ vhost, exchange: name, key }, met, known) : "unknown";
    });
    const end = oneOf(ends);
    return end === "unknown" ? doubt(met, `the alternate exchange of exchange ${exchange} is not sure`) : end;
  }

  /** @param isBound whether a binding leads there, which is only there with its queue, e.g. one that a service declares */
  private endOf(vhost: string, name: string, met: Met, isBound = false): End {
    const there = this.queues.get(keyOf("queue", { vhost, name }));
    const isElsewhere = !this.asked.has(vhost) && !this.planned.has(keyOf("queue", { vhost, name }));
    if (there === undefined && !(isBound && isElsewhere)) return this.missing("queue", vhost, name, met);
    if (there !== undefined) met.changes.add(there.change);
    met.queues.add(name);
    return "queue";
  }

  /** Returns the end at something that is not there: in no plan, it may be somebody else's, unless the broker was asked. */
  private missing(kind: "queue" | "exchange", vhost: string, name: string, met: Met): End {
    if (this.asked.has(vhost) || this.planned.has(keyOf(kind, { vhost, name }))) return "nowhere";
    return doubt(met, `${kind} ${name} is not in this plan`);
  }

  /** Policies of which one applies to a target; empty unless one that may apply has one of the keys. */
  private inForce(target: PolicyTarget, keys: string[]): InForce {
    const id = keys.join();
    const saying =
      this.saying.get(id) ??
      this.policies.filter((policy) => keys.some((key) => key in (viewOn(policy, this.side)?.definition ?? {})));
    this.saying.set(id, saying);
    if (policiesFor(saying, target, this.side).length === 0) return { found: [], isSure: true };
    return policiesInForce(this.policies, target, this.side);
  }

  /** Whether a binding is there: it goes with its ends, and is not back with them unless it is made anew. */
  private isBound({ change, values }: There, ending: ReadonlySet<string>): boolean {
    const { vhost, source, destination, destinationType } = values;
    const isMade = (change.action === "create" || change.action === "replace") && values === change.after;
    return [
      keyOf("exchange", { vhost, name: source }),
      keyOf(String(destinationType), { vhost, name: destination }),
    ].every(
      (end) =>
        (this.queues.has(end) || this.exchanges.has(end) || !this.planned.has(end)) && (isMade || !ending.has(end)),
    );
  }

  private bind(there: There): void {
    const { vhost, source } = there.values;
    const id = keyOf("exchange", { vhost, name: source });
    const same = this.bindings.get(id) ?? new Bindings();
    same.add(there);
    this.bindings.set(id, same);
  }

  /** An exchange that deletes itself goes with its last binding, and bindings to it go with it. */
  private withoutUnused(bound: There[], bindings: EntityChange[]): There[] {
    const isFrom = (binding: Record<string, unknown> | undefined, { vhost, name }: Record<string, unknown>): boolean =>
      binding?.vhost === vhost && binding?.source === name;
    const unused = [...this.exchanges].find(
      ([, { values }]) =>
        isAutoDelete(values) &&
        !bound.some((binding) => isFrom(binding.values, values)) &&
        bindings.some(({ before }) => isFrom(before, values)),
    );
    if (unused === undefined) return bound;
    const [id, { values }] = unused;
    this.exchanges.delete(id);
    const isTo = ({ vhost, destination, destinationType }: Record<string, unknown>): boolean =>
      vhost === values.vhost && destinationType === "exchange" && destination === values.name;
    return this.withoutUnused(
      bound.filter((binding) => !isTo(binding.values)),
      bindings,
    );
  }
}

/** The bindings of an exchange, of which there may be thousands. */
class Bindings {
  readonly all: There[] = [];
  /** Those whose last word is none of the wildcards, by that word. */
  private readonly byLastWord = new Map<string, There[]>();
  private readonly others: There[] = [];
  private readonly byKey = new Map<string, There[]>();

  add(there: There): void {
    this.all.push(there);
    const { routingKey } = there.values;
    const word = isReadable(routingKey) ? lastWordOf(routingKey) : undefined;
    if (word === undefined || word === "#" || word === "*") this.others.push(there);
    else this.byLastWord.set(word, [...(this.byLastWord.get(word) ?? []), there]);
  }

  /** Those that take a key, or may take it, once all are added. */
  takers(type: unknown, key: string): There[] {
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    const found = this.near(type, key).filter(({ values }) => mayTake(type, values.routingKey, key));
    this.byKey.set(key, found);
    return found;
  }

  /** Those that may take a key, and others. */
  private near(type: unknown, key: string): There[] {
    if (type !== "topic" && type !== "direct") return this.all;
    return [...(this.byLastWord.get(lastWordOf(key)) ?? []), ...this.others];
  }
}

function lastWordOf(key: string): string {
  return key.slice(key.lastIndexOf(".") + 1);
}

/** The end of a message with several possible ends. */
function oneOf(ends: End[]): End {
  const [first = "nowhere"] = ends;
  return ends.every((end) => end === first) ? first : "unknown";
}

function doubt({ doubts }: Met, why: string): End {
  doubts.push(why);
  return "unknown";
}

export function typeOf({ values }: There): unknown {
  return (values.settings as { type?: unknown } | undefined)?.type;
}

/** An entity's values on one side of the update: after it, a kept one has those of before, too. */
function thereOn(side: Side, change: EntityChange): There[] {
  const { after, action, isRetained, live } = change;
  const before = live === undefined ? change.before : live.values;
  const kept = isRetained && (action === "delete" || action === "replace") ? before : undefined;
  return (side === "before" ? [before] : [kept, isMissing(change) ? undefined : after])
    .filter((values) => values !== undefined)
    .map((values) => ({ change, values }));
}

function keyOf(kind: string, values: { vhost?: unknown; name?: unknown } = {}): string {
  return JSON.stringify([kind, values.vhost, values.name]);
}
