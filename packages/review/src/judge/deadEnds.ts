import type { EntityChange } from "../preview/entityChange";
import { withoutSecrets } from "../redact";
import { takesBindingsAlong } from "./bindingsLeftOut";
import { sampleKeys } from "./sampleKeys";
import { Place, Places, Ways } from "./ways";

/** A way of messages that ended in a queue before the update, and ends nowhere after it. */
export interface DeadEnd {
  /** The change by which it does. */
  change: EntityChange;
  /** The way, in words. */
  detail: string;
}

/** Whether a change is known as a loss already, and whether somebody lets its dangers pass. */
export interface Told {
  isLost: (change: EntityChange) => boolean;
  isAccepted: (change: EntityChange) => boolean;
}

/** A place where messages come from. */
interface Start extends Place {
  /** The messages, in words. */
  words: string;
}

/**
 * Follows messages before and after the update: what queues dead-letter, and what is published to exchanges with an alternate exchange.
 * Queues of this project's networks, which pass each message on by its own key, have findings of their own.
 * @param asked vhosts that the broker was asked about, so that `changes` has all that is there
 * @param told which changes have a finding that tells a loss by itself, and which changes somebody lets pass
 */
export function deadEnds(changes: readonly EntityChange[], asked: ReadonlySet<string>, told: Told): DeadEnd[] {
  const own = changes.filter(({ kind }) => KINDS.includes(kind));
  if (own.every(({ action }) => action === "same")) return [];
  const [before, after] = [new Ways(own, "before", asked), new Ways(own, "after", asked)];
  const found = new Map<EntityChange, DeadEnd>();
  for (const start of startsOf(before, after)) {
    const touched = new Set<EntityChange>();
    if (before.follow(start, touched) !== "queue" || after.follow(start, touched) !== "nowhere") continue;
    const along = [...touched].filter(({ action }) => action !== "same");
    const change = toTell(along, told);
    if (change !== undefined && !found.has(change)) found.set(change, { change, detail: start.words });
  }
  return [...found.values()];
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
  const samplesAt = (vhost: string, exchange: string): string[] => {
    const id = JSON.stringify([vhost, exchange]);
    const known = samples.get(id);
    if (known !== undefined) return known;
    const places: Places = { bindings: [], changes: new Set() };
    for (const ways of [before, after]) ways.addPlaces(vhost, exchange, places);
    const found = sampleKeys(places);
    samples.set(id, found);
    return found;
  };
  const starts = new Map<string, Start>();
  const add = (start: Start): void => {
    const id = JSON.stringify([start.vhost, start.exchange, start.key]);
    if (!starts.has(id)) starts.set(id, start);
  };
  for (const there of before.queues.values()) {
    const { change, values } = there;
    const target = after.hasStill(there) && !takesBindingsAlong(change) ? before.deadLettersOf(values) : undefined;
    if (target === undefined) continue;
    const { exchange, key } = target;
    const vhost = String(values.vhost);
    const keys = key === undefined ? (change.partOf === undefined ? samplesAt(vhost, exchange) : []) : [key];
    for (const one of keys) {
      const words = `queue ${String(values.name)}, which stays, passes messages on to ${nameOf(exchange)} by ${shown(one)}: no queue gets them any more.`;
      add({ vhost, exchange, key: one, words });
    }
  }
  for (const there of before.exchanges.values()) {
    const { name, vhost } = there.values;
    if (!after.hasStill(there) || before.alternatesOf(there.values).length === 0) continue;
    for (const key of samplesAt(String(vhost), String(name))) {
      const words = `What is published to ${nameOf(String(name))} by ${shown(key)} came to a queue, and comes to none any more.`;
      add({ vhost: String(vhost), exchange: String(name), key, words });
    }
  }
  return [...starts.values()];
}

function nameOf(exchange: string): string {
  return exchange === "" ? "the default exchange" : `exchange ${exchange}`;
}

function shown(key: string): string {
  return JSON.stringify(withoutSecrets(key));
}
