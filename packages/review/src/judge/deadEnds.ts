import { EntityChange, mayBeBinding } from "../preview/entityChange";
import { SECRET, withoutSecrets } from "../redact";
import { Dependencies } from "./dependencies";
import { EarlyBinding, earlyBindings } from "./earlyBindings";
import { takesBindingsAlong } from "./bindingsLeftOut";
import { sampleKeys } from "./sampleKeys";
import { selfDeleting } from "./selfDeleting";
import { surelyTakes } from "./taking";
import { Place, Places, End as WayEnd, Ways } from "./ways";

/** A way of messages that ended in a queue before the update, and ends nowhere after it. */
export interface DeadEnd {
  /** The change by which it does. */
  change: EntityChange;
  /** The way, in words. */
  detail: string;
  /** Whether it is known that the way ends nowhere. */
  isSure: boolean;
}

/** Answers of other findings about a change, and whether somebody lets its dangers pass. */
export interface Told {
  isTold: (change: EntityChange) => boolean;
  isLost: (change: EntityChange) => boolean;
  isAccepted: (change: EntityChange) => boolean;
}

/** A place where messages come from. */
interface Start extends Place {
  /** Queues that pass the messages on; none for messages that are published. */
  queues: ReadonlySet<string>;
  /** Whether messages are published there too. */
  isPublished: boolean;
  /**
   * The exchange to which a queue that is declared anew leads the messages from then on, and the queue's change; without an exchange if it drops
   * what expires.
   */
  later?: { place?: Place; change: EntityChange };
}

/** End, after the update, of messages that came to a queue before it. */
interface End extends Pick<DeadEnd, "detail" | "isSure"> {
  /** All changes along the way. */
  along: EntityChange[];
}

/**
 * Follows messages before and after the update: what queues dead-letter, and what is published to exchanges with an alternate exchange.
 * Queues of this project's networks, which pass each message on by its own key, have findings of their own.
 * @param asked vhosts that the broker was asked about, so that `changes` has all that is there
 * @param told which changes have a finding that tells a loss by itself, and which changes somebody lets pass
 */
export function deadEnds(
  changes: readonly EntityChange[],
  asked: ReadonlySet<string>,
  told: Told,
): { ends: DeadEnd[]; early: EarlyBinding[] } {
  const own = changes.filter(({ kind }) => KINDS.includes(kind));
  if (own.every(({ action }) => action === "same")) return { ends: [], early: [] };
  const [before, after] = [new Ways(own, "before", asked), new Ways(own, "after", asked)];
  const starts = startsOf(before, after);
  const secrets = secretPatterns(own);
  const all = starts.flatMap((start) => endOf(start, before, after, secrets) ?? []);
  const found = new Map<EntityChange, DeadEnd>();
  for (const isSure of [true, false])
    for (const { along, ...end } of all) {
      if (end.isSure !== isSure) continue;
      // A doubt adds nothing to what is told of the same way.
      if (!isSure && along.some((one) => found.has(one) || told.isTold(one))) continue;
      const change = toTell(along, told);
      if (change !== undefined && !found.has(change)) found.set(change, { change, ...end });
    }
  for (const end of selfDeleting(own))
    if (!told.isLost(end.change) && !found.has(end.change)) found.set(end.change, end);
  const early = earlyBindings(starts, before, after, new Dependencies(changes));
  return { ends: [...found.values()], early: early.filter(({ change }) => !found.has(change)) };
}

/** End of messages on one side of the update, and the queues that get them. */
interface Followed {
  end: WayEnd;
  queues: ReadonlySet<string>;
}

/**
 * Returns how messages from one place end: undefined if they came to no queue, or still come to one.
 * @param secrets patterns of which no key may be shown
 */
function endOf(start: Start, before: Ways, after: Ways, secrets: string[]): End | undefined {
  const { later } = start;
  if (later !== undefined && later.place === undefined) {
    const detail = `queue ${[...start.queues].join(", ")}, which is declared anew, has no dead-letter exchange any more: it drops what expires.`;
    return before.endAt(start) === "queue" ? { along: [later.change], isSure: true, detail } : undefined;
  }
  const changes = new Set<EntityChange>(later === undefined ? [] : [later.change]);
  const doubts: string[] = [];
  const follow = (ways: Ways, place: Place, met = changes): Followed => {
    const queues = new Set<string>();
    return { end: ways.follow(place, { changes: met, queues, doubts }), queues };
  };
  // Nothing comes by the old way of a queue that leads messages elsewhere from then on.
  const [is, was] = [follow(after, later?.place ?? start), follow(before, start, later && new Set())];
  const along = [...changes].filter(({ action }) => action !== "same");
  const { queues, isPublished } = start;
  const { exchange, key } = later?.place ?? start;
  const back = wayBack(after, later?.place ?? start, is, queues);
  const cameElsewhere = (name: string): boolean => was.queues.size !== 1 || !was.queues.has(name);
  const feeder = back?.queue ?? firstOf(queues, cameElsewhere);
  const isCycle =
    back === undefined ? feeder === undefined && !isPublished : wayBack(before, start, was, queues) !== undefined;
  const [from, to] = [isCycle ? "nowhere" : was.end, back === undefined ? is.end : "nowhere"];
  if (along.length === 0 || from === "nowhere" || to === "queue" || (from === "unknown" && to === "unknown"))
    return undefined;
  const way = `to ${nameOf(exchange)} by ${shown(key, secrets)}`;
  const words =
    feeder === undefined
      ? `What is published ${way}`
      : `queue ${feeder}, which ${later === undefined ? "stays" : "is declared anew"}, passes messages on ${way}`;
  if (from !== "queue" || to !== "nowhere")
    return {
      along,
      isSure: false,
      detail: `${words}: nobody can tell whether a queue still gets it, because ${doubts[0]}.`,
    };
  if (back !== undefined) {
    if (back.queue === undefined)
      return { along, isSure: true, detail: `${words}: what expires in ${back.by.join(", ")} comes to no queue.` };
    const others =
      back.by.length === 0 ? "none but that queue gets them" : `by ${back.by.join(", ")} they come back to it`;
    return {
      along,
      isSure: true,
      detail: `${words}: ${others}, and the broker drops those that expired on the whole way.`,
    };
  }
  const detail =
    feeder === undefined
      ? `${words} came to a queue, and comes to none any more.`
      : `${words}: no queue gets them any more.`;
  return { along, isSure: true, detail };
}

/**
 * Returns the queue to which messages that expired come back, and the queues between, where they expire too; without a queue if they come to none
 * from there. The broker drops such messages.
 * @param first the end of the messages from a place
 * @param queues from which the messages come
 */
function wayBack(
  ways: Ways,
  { vhost, key }: Place,
  first: Followed,
  queues: ReadonlySet<string>,
): { queue?: string; by: string[] } | undefined {
  const by: string[] = [];
  let reached = first;
  let carried = key;
  while (reached.end === "queue" && reached.queues.size === 1) {
    const [queue = ""] = reached.queues;
    if (queues.has(queue)) return by.length === 0 || ways.expire(vhost, queue) ? { queue, by } : undefined;
    if (by.includes(queue)) return { by };
    const next = ways.expire(vhost, queue) ? ways.deadLettersFrom(vhost, queue) : undefined;
    if (next === undefined) return undefined;
    by.push(queue);
    carried = next.key ?? carried;
    const met = new Set<string>();
    const place = { vhost, exchange: next.exchange, key: carried };
    reached = { end: ways.follow(place, { changes: new Set(), queues: met, doubts: [] }), queues: met };
  }
  return by.length > 0 && reached.end === "nowhere" ? { by } : undefined;
}

function firstOf(names: ReadonlySet<string>, isWanted: (name: string) => boolean): string | undefined {
  for (const name of names) if (isWanted(name)) return name;
  return undefined;
}

/** Kinds of what ways consist of; by those first, a way most often ends. */
const KINDS: readonly EntityChange["kind"][] = ["binding", "queue", "exchange", "policy"];

/**
 * Returns the change at which a dead end is told: undefined if another finding tells the loss. An accepted loss does not speak for the other
 * changes along the way.
 */
function toTell(along: EntityChange[], { isLost, isAccepted }: Told): EntityChange | undefined {
  const open = along.filter((change) => !isAccepted(change));
  const left = open.length > 0 ? open : along;
  if (left.some(isLost)) return undefined;
  return [false, true]
    .flatMap((isRetained) =>
      KINDS.flatMap((kind) => left.filter((one) => one.kind === kind && one.isRetained === isRetained)),
    )
    .at(0);
}

/** Returns where messages come from before the update, and still come from after it. */
function startsOf(before: Ways, after: Ways): Start[] {
  const samples = new Map<string, string[]>();
  const samplesAt = (vhost: string, exchanges: string[], change?: EntityChange): string[] => {
    const id = JSON.stringify([vhost, exchanges, change?.urn]);
    const known = samples.get(id);
    if (known !== undefined) return known;
    const places: Places = { bindings: [], changes: new Set(change && [change]) };
    for (const ways of [before, after]) for (const exchange of exchanges) ways.addPlaces(vhost, exchange, places);
    const found = sampleKeys(places);
    samples.set(id, found);
    return found;
  };
  const starts = new Map<string, Start>();
  const add = (place: Place, queues?: ReadonlySet<string>, later?: Start["later"]): void => {
    const id = JSON.stringify([place.vhost, place.exchange, place.key, later?.place, later?.change.urn]);
    const same = starts.get(id);
    starts.set(id, {
      ...place,
      ...(later === undefined ? {} : { later }),
      queues: same === undefined ? (queues ?? new Set()) : new Set([...same.queues, ...(queues ?? [])]),
      isPublished: queues === undefined || same?.isPublished === true,
    });
  };
  /** Queues that pass each message on by its own key, by the exchange. */
  const passing = new Map<string, Set<string>>();
  for (const there of before.queues.values()) {
    const { change, values } = there;
    const still = after.stillOf(there);
    const target = still === undefined ? undefined : before.deadLettersOf(values);
    if (still === undefined || target === undefined) continue;
    const { exchange, key } = target;
    const vhost = String(values.vhost);
    const name = String(values.name);
    const now = takesBindingsAlong(change) ? after.deadLettersOf(still.values) : target;
    if (now === undefined && after.expire(vhost, name) && after.hasNoDeadLetters(still.values)) {
      for (const sample of key === undefined ? samplesAt(vhost, [exchange], change) : [key])
        add({ vhost, exchange, key: sample }, new Set([name]), { change });
      continue;
    }
    if (now === undefined || (key === undefined && change.partOf !== undefined)) continue;
    if (now.exchange !== exchange || now.key !== key) {
      const isByKey = key !== undefined && now.key !== undefined;
      for (const sample of isByKey ? [key] : samplesAt(vhost, [exchange, now.exchange], change)) {
        const place = { vhost, exchange: now.exchange, key: now.key ?? sample };
        add({ vhost, exchange, key: key ?? sample }, new Set([name]), { place, change });
      }
    } else if (key !== undefined) add({ vhost, exchange, key }, new Set([name]));
    else {
      const id = JSON.stringify([vhost, exchange]);
      passing.set(id, (passing.get(id) ?? new Set()).add(name));
    }
  }
  for (const [id, queues] of passing) {
    const [vhost, exchange] = JSON.parse(id) as [string, string];
    for (const key of samplesAt(vhost, [exchange])) add({ vhost, exchange, key }, queues);
  }
  for (const there of before.exchanges.values()) {
    const { name, vhost } = there.values;
    if (after.stillOf(there) === undefined || before.alternatesOf(there.values).length === 0) continue;
    for (const key of samplesAt(String(vhost), [String(name)]))
      add({ vhost: String(vhost), exchange: String(name), key });
  }
  return [...starts.values()];
}

function nameOf(exchange: string): string {
  return exchange === "" ? "the default exchange" : `exchange ${exchange}`;
}

/** Returns the patterns of the broker's bindings that may be those whose keys the plan has as secrets. */
function secretPatterns(changes: readonly EntityChange[]): string[] {
  const bindings = changes.filter(({ kind }) => kind === "binding");
  const unread = bindings.filter(({ urn }) => urn !== "");
  return bindings
    .filter(({ urn, before = {} }) => urn === "" && unread.some((one) => mayBeBinding(one.before, before)))
    .map(({ before }) => String(before?.routingKey ?? ""));
}

function shown(key: string, secrets: string[]): string {
  const isSecret = secrets.some((pattern) => pattern === key || surelyTakes("topic", pattern, key));
  return JSON.stringify(isSecret ? SECRET : withoutSecrets(key));
}
