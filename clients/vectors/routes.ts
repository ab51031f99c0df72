import { RetryIntervals, intervalExchange } from "@rabbitmq-delay/topology";
import type { Reason } from "./reason";
import { refusedProperty } from "./refused";

/** A delay and the fanout exchange of its interval queue, to which a message goes with its destination as the key; nothing is rounded. */
export interface IntervalRoute {
  delayMs: number;
  exchange?: string;
  refused?: string;
  reason?: Reason;
}

/** Each interval, and delays of which there is none. */
export function routes(intervals: RetryIntervals): IntervalRoute[] {
  const route =
    (delayMs: number): (() => string) =>
    () =>
      intervalExchange(intervals, delayMs);
  return [
    ...intervals.intervalsMs.map((delayMs) => ({ delayMs, exchange: route(delayMs)() })),
    ...[0, -1, 2, 2999, 3000.5, 4000, 9e14].map((delayMs) => ({
      delayMs,
      refused: refusedProperty(route(delayMs)),
      reason: "choice" as const,
    })),
  ];
}
