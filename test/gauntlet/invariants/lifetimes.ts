import { Answered, Arrived, Faulted, HistoryEvent, Published, eventsOf } from "../history";
import { Part, Plan, nodeFaults } from "../plan/types";

/** What happened to one message. */
export interface Lifetime {
  part: Part;
  n: string;
  publications: Published[];
  confirmed: Answered[];
  returned: Answered[];
  arrivals: Arrived[];
  /** From its first publication to its last arrival, or without an end. */
  from: number;
  to: number;
  /** Faults of that time which hit its part, those of its own consumer among them. */
  faults: Faulted[];
}

/** After a fault, its consequences still come for a while: heartbeats, connections that are opened again. */
const AFTERMATH_MS = 1500;

/** Puts together what the history says of each message. */
export function lifetimesOf(plan: Plan, events: readonly HistoryEvent[]): Lifetime[] {
  const parts = new Map(plan.parts.map((part) => [part.name, part]));
  const lifetimes = new Map<string, Lifetime>();
  const of = (event: { part: string; n: string }): Lifetime | undefined => {
    const key = `${event.part} ${event.n}`;
    const part = parts.get(event.part);
    if (part === undefined) return undefined;
    let found = lifetimes.get(key);
    if (found === undefined) {
      const empty = { publications: [], confirmed: [], returned: [], arrivals: [], faults: [] };
      found = { part, n: event.n, ...empty, from: Infinity, to: Infinity };
      lifetimes.set(key, found);
    }
    return found;
  };
  for (const event of events) {
    if (event.kind === "published") of(event)?.publications.push(event);
    else if (event.kind === "confirmed") of(event)?.confirmed.push(event);
    else if (event.kind === "returned") of(event)?.returned.push(event);
    else if (event.kind === "arrived") of(event)?.arrivals.push(event);
  }
  const faults = allFaults(events);
  for (const lifetime of lifetimes.values()) {
    const { publications, arrivals, part } = lifetime;
    lifetime.from = Math.min(...publications.map(({ at }) => at));
    if (arrivals.length > 0) lifetime.to = Math.max(...arrivals.map(({ at }) => at));
    lifetime.faults = faultsOf(faults, part.name, lifetime.from, lifetime.to);
  }
  return [...lifetimes.values()];
}

/** What the plan made go wrong, and what messages did to their own consumer. */
export function allFaults(events: readonly HistoryEvent[]): Faulted[] {
  const planned = eventsOf(events, "fault").filter(({ fault }) => fault !== "left-out");
  const crashes = eventsOf(events, "try-crashes")
    .filter(({ kind }) => kind === "try-crashes")
    .map(({ at, part }): Faulted => ({ kind: "fault", at, until: at, part, fault: "consumer-crashed" }));
  return [...planned, ...crashes];
}

/** Faults that can have an effect on a part between two times. */
export function faultsOf(faults: readonly Faulted[], part: string, from: number, to: number): Faulted[] {
  return faults.filter(
    (fault) => (isOfNode(fault) || fault.part === part) && fault.at <= to && fault.until + AFTERMATH_MS >= from,
  );
}

/** Whether it hits all parts. */
export function isOfNode({ fault }: Faulted): boolean {
  return (nodeFaults as readonly string[]).includes(fault);
}

/** Whether the broker itself went down. */
export function isBrokerDown({ fault }: Faulted): boolean {
  return fault === "broker-killed" || fault === "broker-stopped" || fault === "power-cut";
}
