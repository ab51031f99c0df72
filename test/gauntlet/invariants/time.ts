import { delayNetwork, encodeDelay } from "@rabbitmq-delay/topology";
import { Faulted, HistoryEvent, Tried, eventsOf } from "../history";
import type { NetworkPart, Plan, RetryPart } from "../plan/types";
import { earlyByClocksMs } from "./clocks";
import { plannedMessage } from "./expectation";
import { Lifetime, allFaults, lifetimesOf } from "./lifetimes";
import type { Violation } from "./violation";

/** Clocks of the broker and the store count whole milliseconds, so each wait may be short by less than one. */
const MILLISECOND = 1;

/** Nothing is received before its publisher's call and its delay. */
export function checkDelays(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  return lifetimesOf(plan, events).flatMap((lifetime) => {
    const { part, n, publications, arrivals, faults } = lifetime;
    if (part.mechanism === "retry" || publications.length === 0) return [];
    if (faults.some(isPolicy) || hasPolicy(events, lifetime)) return [];
    const dueAt = Math.min(...publications.map(({ at, delayMs }) => at + delayMs), rescheduledTo(lifetime, events));
    const firstAt = Math.min(
      ...arrivals.filter(({ place }) => place !== "error" || part.mechanism !== "store").map(({ at }) => at),
    );
    const earlyMs = dueAt - firstAt - waitsOf(lifetime) * MILLISECOND;
    const explainedMs = earlyMs > 0 ? earlyByClocksMs(lifetime, firstAt, events) : 0;
    if (!(earlyMs > explainedMs)) return [];
    const explained = explainedMs > 0 ? `, and clocks that jumped explain ${explainedMs} ms` : "";
    const detail = `it was ${earlyMs.toFixed(1)} ms early${explained}`;
    return [{ invariant: "early" as const, part: part.name, n, detail }];
  });
}

/** Policies that lead messages on to the next level at once: by somebody's TTL, or for want of room in a level queue. */
function isPolicy({ fault }: Faulted): boolean {
  return fault === "early-policy" || fault === "short-policy";
}

/** A policy may come while it waits, whenever it arrives. */
function hasPolicy(events: readonly HistoryEvent[], { part, from, to }: Lifetime): boolean {
  return eventsOf(events, "fault").some(
    (found) => isPolicy(found) && found.part === part.name && found.at <= to && found.until >= from,
  );
}

function waitsOf({ part, n }: Lifetime): number {
  if (part.mechanism !== "network") return 2;
  const { delayMs, destination } = plannedMessage(part, n) as NetworkPart["messages"][number];
  return encodeDelay(delayNetwork(part.network), delayMs, destination).hops + 1;
}

/** Somebody may have asked for an earlier time. */
function rescheduledTo({ part, publications }: Lifetime, events: readonly HistoryEvent[]): number {
  const id = publications[0]?.messageId;
  if (part.mechanism !== "store" || id === undefined) return Infinity;
  const asked = eventsOf(events, "rescheduled").filter(
    ({ part: name, messageId, count }) => name === part.name && messageId === id && count !== 0,
  );
  return Math.min(Infinity, ...asked.map(({ since, delayMs }) => since + delayMs));
}

/** A try after a delay begins no earlier than a failure of the try before it, and that delay. */
export function checkRetryDelays(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  const disturbed = new Set(allFaults(events).map(({ part }) => part));
  // The broker's own count rises with whatever takes the consumer away, and its delay with the count.
  const parts = plan.parts.filter(
    (part): part is RetryPart =>
      part.mechanism === "retry" && !(part.way === "delayed-retry" && (disturbed.has(part.name) || disturbed.has(""))),
  );
  const tries = eventsOf(events, "try-begins", "try-fails", "try-crashes");
  const byMessage = new Map<string, Tried[]>();
  for (const one of tries) {
    const key = `${one.part} ${one.n}`;
    byMessage.set(key, [...(byMessage.get(key) ?? []), one]);
  }
  return parts.flatMap((part) =>
    part.messages.flatMap(({ n }) => checkTries(part, n, byMessage.get(`${part.name} ${n}`) ?? [])),
  );
}

function checkTries(part: RetryPart, n: string, tries: Tried[]): Violation[] {
  const begins = tries.filter(({ kind }) => kind === "try-begins");
  const ends = tries.filter(({ kind }) => kind !== "try-begins");
  return begins.flatMap(({ at, redeliveries }) => {
    if (redeliveries === 0) return [];
    const delayMs = part.delaysMs[redeliveries - 1] ?? 0;
    const before = ends.filter((end) => end.redeliveries < redeliveries && end.at < at).map((end) => end.at);
    const earlyMs = Math.min(...before) + delayMs - 2 * MILLISECOND - at;
    if (before.length > 0 && earlyMs <= 0) return [];
    const said = before.length === 0 ? "nothing had failed before" : `it was ${earlyMs.toFixed(1)} ms early`;
    return [{ invariant: "early" as const, part: part.name, n, detail: `redelivery ${redeliveries}: ${said}` }];
  });
}
