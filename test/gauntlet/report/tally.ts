import { HistoryEvent, eventsOf } from "../history";
import { invariants } from "../invariants/violation";
import type { BrokerLine, Plan } from "../plan/types";

/** What rounds did, in numbers. */
export class Tally {
  passed = 0;
  failed = 0;
  readonly seeds: number[] = [];
  readonly faults = new Map<string, number>();
  readonly leftOut = new Map<string, number>();
  readonly messages = new Map<string, number>();
  readonly versions = new Map<BrokerLine, string>();
  published = 0;
  confirmed = 0;
  arrived = 0;

  add(plan: Plan, events: readonly HistoryEvent[], isPassed: boolean): void {
    this.seeds.push(plan.seed);
    if (isPassed) this.passed++;
    else this.failed++;
    for (const { kind } of eventsOf(events, "try-crashes")) {
      if (kind === "try-crashes") increase(this.faults, "consumer-crashed");
    }
    for (const { fault, subject } of eventsOf(events, "fault")) {
      if (fault === "left-out") increase(this.leftOut, subject ?? "");
      else increase(this.faults, fault);
    }
    const mechanismOf = new Map(plan.parts.map(({ name, mechanism }) => [name, mechanism]));
    const published = eventsOf(events, "published");
    for (const { part } of published) increase(this.messages, mechanismOf.get(part) ?? "");
    this.published += published.length;
    this.confirmed += eventsOf(events, "confirmed").length;
    this.arrived += eventsOf(events, "arrived").length;
  }

  /** The summary's lines. */
  summary(): string[] {
    const [first, last] = [this.seeds[0], this.seeds.at(-1)];
    return [
      `seeds ${first ?? "none"}${last === first ? "" : ` to ${last}`}; ${this.published} messages published, ${this.confirmed} confirmed, ${this.arrived} received`,
      `messages: ${said(this.messages)}`,
      `faults: ${said(this.faults)}`,
      ...(this.leftOut.size === 0 ? [] : [`left out: ${said(this.leftOut)}`]),
      `invariants checked in each round: ${Object.keys(invariants).join(", ")}`,
    ];
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Counts in one line, the most frequent first. */
function said(counts: Map<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${count} ${name}`).join(", ") || "none";
}
