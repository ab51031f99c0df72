import { HistoryEvent, eventsOf } from "../history";
import type { Plan } from "../plan/types";
import { excuseOf } from "./arrival";
import { allowedTries } from "./expectation";
import { lifetimesOf } from "./lifetimes";
import type { Violation } from "./violation";

/** What a cancel counted does not arrive, unless it was on its way when it was asked. */
export function checkCancels(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  const cancels = eventsOf(events, "cancelled").filter(({ count }) => (count ?? 0) > 0);
  return lifetimesOf(plan, events).flatMap(({ part, n, publications, arrivals }) => {
    const id = publications[0]?.messageId;
    const cancel = cancels.find(({ part: name, messageId }) => name === part.name && messageId === id);
    if (id === undefined || cancel === undefined || arrivals.length === 0) return [];
    const detail = `the store said that ${cancel.count} was cancelled; it arrived ${(Math.min(...arrivals.map(({ at }) => at)) - cancel.at).toFixed(0)} ms later`;
    return [{ invariant: "cancelled-but-arrived" as const, part: part.name, n, detail }];
  });
}

/** A message is in the error queue only after as many failures as it may have. */
export function checkGivenUp(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  const failures = new Map<string, number>();
  for (const { part, n, kind } of eventsOf(events, "try-fails", "try-crashes")) {
    const isCounted =
      kind === "try-fails" ||
      plan.parts.some((one) => one.name === part && one.mechanism === "retry" && one.way === "delayed-retry");
    if (isCounted) failures.set(`${part} ${n}`, (failures.get(`${part} ${n}`) ?? 0) + 1);
  }
  return lifetimesOf(plan, events).flatMap(({ part, n, arrivals, faults }) => {
    if (part.mechanism !== "retry" || !arrivals.some(({ place }) => place === "error")) return [];
    const count = failures.get(`${part.name} ${n}`) ?? 0;
    // The broker's own count takes a consumer that went away for a failure, whichever way it went.
    if (part.way === "delayed-retry" && faults.length > 0) return [];
    if (count >= allowedTries(part)) return [];
    const detail = `it is in the error queue after ${count} failures of ${allowedTries(part)}`;
    return [{ invariant: "elsewhere" as const, part: part.name, n, detail }];
  });
}

/** Nothing is left: in queues, of secrets, of processes, connections, files and mounts. */
export function checkLeftovers(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  const inQueues = eventsOf(events, "ended").flatMap(({ isThrough, remaining }) =>
    isThrough ? Object.entries(remaining).map(([queue, count]) => ({ queue, count })) : [],
  );
  return [
    ...inQueues
      .filter(({ queue, count }) => count > inYoungQueues(plan, events, queue))
      .map(({ queue, count }) => ({
        invariant: "left-in-queue" as const,
        part: "",
        detail: `${count} messages in ${queue}`,
      })),
    ...eventsOf(events, "leaked").map(({ part, secret, place }) => ({
      invariant: "secret" as const,
      part,
      detail: `${secret} in ${place}`,
    })),
    ...eventsOf(events, "uncaught").map(({ part, error }) => ({
      invariant: "uncaught" as const,
      part,
      detail: error,
    })),
    ...eventsOf(events, "not-started").map(({ part, error }) => ({
      invariant: "not-started" as const,
      part,
      detail: error,
    })),
    ...eventsOf(events, "left").map(({ part, what }) => ({ invariant: "left-behind" as const, part, detail: what })),
    ...eventsOf(events, "ran")
      .filter(({ code }) => code === 0 || code === null)
      .map(({ part, mistake, code }) => ({
        invariant: "exit-code" as const,
        part,
        detail: `${mistake} ended with ${code}`,
      })),
  ];
}

/**
 * How many messages of a queue's part may stay in it, because the broker was killed before it had written the queue down whole: it
 * confirms nothing then, and sends on nothing.
 */
function inYoungQueues(plan: Plan, events: readonly HistoryEvent[], queue: string): number {
  return lifetimesOf(plan, events)
    .filter(({ part, arrivals }) => queue.startsWith(`${part.name}: `) && arrivals.length === 0)
    .filter((lifetime) => excuseOf(lifetime) === "young queue")
    .reduce((sum, { publications }) => sum + publications.length, 0);
}
