import { HistoryEvent, eventsOf } from "../history";
import type { Part, Plan } from "../plan/types";
import { placesOf } from "./expectation";
import { Lifetime, isBrokerDown, lifetimesOf } from "./lifetimes";
import type { Violation } from "./violation";

/** Messages that were confirmed and are nowhere yet where they should be, without an excuse. */
export function missing(plan: Plan, events: readonly HistoryEvent[]): Lifetime[] {
  return lifetimesOf(plan, events).filter((lifetime) => isMissing(lifetime, events));
}

function isMissing(lifetime: Lifetime, events: readonly HistoryEvent[]): boolean {
  const { confirmed, part, n } = lifetime;
  if (confirmed.length === 0 || isCancelled(lifetime, events)) return false;
  const places = placesOf(part, n, lifetime.faults);
  const seen = new Set(lifetime.arrivals.map(({ place }) => place));
  return !places.some((all) => all.every((place) => seen.has(place)));
}

/** Whether somebody took it out of the store, or may have without an answer. */
function isCancelled({ part, publications }: Lifetime, events: readonly HistoryEvent[]): boolean {
  const id = publications[0]?.messageId;
  if (part.mechanism !== "store" || id === undefined) return false;
  return eventsOf(events, "cancelled").some(
    ({ part: name, messageId, count }) => name === part.name && messageId === id && count !== 0,
  );
}

/** Why a message may be lost, where it may. */
export function excuseOf(lifetime: Lifetime): "at most once" | "young queue" | "policy" | "purge" | undefined {
  const { part, faults } = lifetime;
  if (faults.some(({ fault }) => fault === "short-policy")) return "policy";
  if (faults.some(({ fault }) => fault === "purged")) return "purge";
  if (isAtMostOnce(part) && faults.some(isBrokerDown)) return "at most once";
  return isOfYoungQueue(lifetime) ? "young queue" : undefined;
}

/** How long a quorum queue may take to be registered on disk after its declare; the broker says nowhere. */
const YOUNG_QUEUE_MS = 5000;

/** Whether the broker went down without an end in order soon after the first message on demand had its hold queue declared. */
function isOfYoungQueue({ part, n, from, faults }: Lifetime): boolean {
  if (part.mechanism !== "hold" || part.isDeclared) return false;
  const own = part.messages.find((message) => message.n === n);
  if (own === undefined) return false;
  const sharing = part.messages.filter(
    ({ delayMs, destination }) => delayMs === own.delayMs && destination === own.destination,
  );
  const declaredAt = from - (own.atMs - Math.min(...sharing.map(({ atMs }) => atMs)));
  return faults.some((fault) => isBrokerDown(fault) && fault.at - declaredAt < YOUNG_QUEUE_MS);
}

/** Classic queues send on what has expired without asking for a confirm: a broker that goes down in between loses it. */
function isAtMostOnce(part: Part): boolean {
  switch (part.mechanism) {
    case "network":
      return (
        part.network.preset === "nservicebus-v1" ||
        part.network.queueType === "classic" ||
        part.endpoints.some(({ queueType }) => queueType === "classic")
      );
    case "retry":
      return part.queueType === "classic" || part.way === "holds-on-demand";
    case "hold":
      return part.queueType === "classic";
    default:
      return false;
  }
}

/** Confirmed means arrived, but for what a purge, a policy or a classic queue's broker took, and no more than that. */
export function checkArrivals(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  const lost = missing(plan, events);
  const purgedIn = new Map<string, number>();
  const violations: Violation[] = [];
  for (const lifetime of lost) {
    const excuse = excuseOf(lifetime);
    if (excuse === "purge") purgedIn.set(lifetime.part.name, (purgedIn.get(lifetime.part.name) ?? 0) + 1);
    else if (excuse === undefined)
      violations.push({
        invariant: "lost",
        part: lifetime.part.name,
        n: lifetime.n,
        detail: detailOf(lifetime, events),
      });
  }
  for (const [part, count] of purgedIn) {
    const taken = eventsOf(events, "fault")
      .filter((fault) => fault.fault === "purged" && fault.part === part)
      .reduce((sum, fault) => sum + (fault.taken ?? 0), 0);
    if (count > taken) {
      violations.push({ invariant: "purged-too-many", part, detail: `${count} are gone, the broker said ${taken}` });
    }
  }
  return violations;
}

function detailOf({ part, n, arrivals, faults }: Lifetime, events: readonly HistoryEvent[]): string {
  const expected = placesOf(part, n, faults)
    .map((all) => all.join(" and ") || "nowhere")
    .join(", or ");
  const seen = arrivals.map(({ place }) => place).join(", ") || "nowhere";
  const [end] = eventsOf(events, "ended");
  const held = Object.entries(end?.remaining ?? {}).map(([queue, count]) => `${count} in ${queue}`);
  return `confirmed, expected at ${expected}, seen ${seen}${held.length === 0 ? "; no queue holds a message" : `; still held: ${held.slice(0, 5).join(", ")}`}`;
}

/** It arrives nowhere else. */
export function checkPlaces(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  return lifetimesOf(plan, events).flatMap((lifetime) => {
    const { part, n, faults, arrivals } = lifetime;
    const allowed = new Set(placesOf(part, n, faults).flat());
    const wrong = [...new Set(arrivals.map(({ place }) => place).filter((place) => !allowed.has(place)))];
    return wrong.map((place) => ({
      invariant: "elsewhere" as const,
      part: part.name,
      n,
      detail: `it arrived at ${place}; allowed: ${[...allowed].join(", ") || "nowhere"}`,
    }));
  });
}

/** What came back to its publisher is in no queue. */
export function checkReturns(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  return lifetimesOf(plan, events)
    .filter(({ returned, publications, arrivals }) => returned.length === publications.length && arrivals.length > 0)
    .filter(({ publications }) => publications.length > 0)
    .map(({ part, n, arrivals }) => ({
      invariant: "returned-but-arrived" as const,
      part: part.name,
      n,
      detail: `its publisher was told that no queue takes it; it arrived at ${arrivals[0]?.place}`,
    }));
}
