import type { Faulted, HistoryEvent } from "../history";
import type { Plan } from "../plan/types";
import { Lifetime, lifetimesOf } from "./lifetimes";
import { mayBeStoredTwice, mayHaveLostAcknowledgement } from "./receipts";
import type { Violation } from "./violation";

/** A store has one row of a message by the time that it is due: what was before that explains no copy of it. */
const BEFORE_DUE_MS = 200;

/** Copies come only where a fault explains them, and under the same id. */
export function checkCopies(plan: Plan, events: readonly HistoryEvent[]): Violation[] {
  return lifetimesOf(plan, events).flatMap((lifetime) => [...unexplained(lifetime), ...otherIds(lifetime)]);
}

function unexplained(lifetime: Lifetime): Violation[] {
  const { part, n, arrivals, publications } = lifetime;
  const violations: Violation[] = [];
  for (const place of new Set(arrivals.map((arrival) => arrival.place))) {
    const here = arrivals.filter((arrival) => arrival.place === place);
    const surplus = here.length - Math.max(1, publications.length);
    if (surplus <= 0) continue;
    // What the broker delivers again because an acknowledgement was lost is a copy of the consumer's own making.
    const fresh = here.filter(({ redelivered }) => !redelivered).length;
    const explaining = explanations(lifetime);
    if (explaining.length === 0) {
      violations.push({
        invariant: "copy-without-fault",
        part: part.name,
        n,
        detail: `it arrived ${here.length} times at ${place} (${fresh} of them not redelivered), published ${publications.length} times`,
      });
    }
  }
  return violations;
}

/** Faults that make no copy by themselves, as docs/reliability.md says. */
const WITHOUT_COPIES = new Set<Faulted["fault"]>(["clock-jump", "unbound", "purged", "early-policy", "short-policy"]);

/** Faults by which a second copy can come. */
function explanations(lifetime: Lifetime): Faulted[] {
  const { part, publications, arrivals } = lifetime;
  const faults = lifetime.faults.filter(({ fault }) => !WITHOUT_COPIES.has(fault));
  if (part.mechanism !== "store" || part.database === "network") return faults;
  if (mayBeStoredTwice(lifetime) || mayHaveLostAcknowledgement(lifetime)) return faults;
  const dueAt = Math.min(...publications.map(({ at, delayMs }) => at + delayMs));
  const firstAt = Math.min(...arrivals.map(({ at }) => at));
  const since = Math.min(dueAt, firstAt) - BEFORE_DUE_MS;
  return faults.filter(({ until }) => until >= since);
}

function otherIds(lifetime: Lifetime): Violation[] {
  const { part, n, arrivals, publications } = lifetime;
  // What several endpoints got, and publish again, has an id of each.
  const given = new Set(publications.flatMap(({ messageId }) => messageId ?? []));
  const ids = [...new Set(arrivals.map(({ messageId }) => messageId ?? "none"))];
  if (given.size > 0) {
    if (ids.every((id) => given.has(id))) return [];
    const detail = `published as ${[...given].join(", ")}, it arrived as ${ids.join(", ")}`;
    return [{ invariant: "id-changed", part: part.name, n, detail }];
  }
  // Each publication may have an id made up for it.
  if (ids.length <= Math.max(1, publications.length) || mayBeStoredTwice(lifetime)) return [];
  return [{ invariant: "copy-under-another-id", part: part.name, n, detail: `it arrived as ${ids.join(", ")}` }];
}
