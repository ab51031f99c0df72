import type { FaultKind, Mistake } from "./plan/types";

/** Something that happened, at a time of the clock that all processes of this machine share. */
interface Happened {
  /** {@link nowMs} when it was seen. */
  at: number;
  part: string;
}

/** A message is handed to a publisher. */
export interface Published extends Happened {
  kind: "published";
  n: string;
  /** What tells this publication from others of the same message. */
  attempt: string;
  /** The delay that was asked for. */
  delayMs: number;
  /** The message id that was given; undefined: none. */
  messageId?: string;
}

/** What a publisher said of a publication. */
export interface Answered extends Happened {
  kind: "confirmed" | "returned" | "refused" | "unknown";
  n: string;
  attempt: string;
  error?: string;
}

/** A message was received, or handled with success where a consumer retries. */
export interface Arrived extends Happened {
  kind: "arrived";
  n: string;
  /** `queue:NAME`, `parking`, `error`, or `handled`. */
  place: string;
  messageId?: string;
  redelivered: boolean;
}

/** A consumer that retries begins or ends a try. */
export interface Tried extends Happened {
  kind: "try-begins" | "try-fails" | "try-crashes";
  n: string;
  redeliveries: number;
  /** The delay that follows, where one does. */
  delayMs?: number;
}

/** Something went wrong because the plan says so. */
export interface Faulted extends Happened {
  kind: "fault";
  fault: FaultKind | "consumer-crashed" | "consumer-blocked" | "left-out";
  /** When all was as before. */
  until: number;
  /** What it hit: a queue, an endpoint. */
  subject?: string;
  /** Messages that it took away, as the broker said. */
  taken?: number;
  /** By how much it put a clock ahead, in milliseconds; back where it is below 0. */
  byMs?: number;
}

/** The store was asked. */
export interface Asked extends Happened {
  kind: "cancelled" | "rescheduled";
  messageId: string;
  /** When it was asked. */
  since: number;
  /** What it said; undefined where no answer came. */
  count?: number;
  delayMs: number;
}

/** A secret stands where it should not. */
export interface Leaked extends Happened {
  kind: "leaked";
  /** Which secret. */
  secret: string;
  /** Where. */
  place: string;
}

/** The command ran to its end. */
export interface Ran extends Happened {
  kind: "ran";
  mistake: Mistake;
  code: number | null;
}

/** Something is there that should be gone. */
export interface Left extends Happened {
  kind: "left";
  what: string;
}

/** A call of the packages left a failure that its caller can't catch. */
export interface Uncaught extends Happened {
  kind: "uncaught";
  error: string;
}

/** A consumer did not start with what was declared for it. */
export interface NotStarted extends Happened {
  kind: "not-started";
  error: string;
}

/** The end: nothing moves any more, or the bound is over. */
export interface Ended extends Happened {
  kind: "ended";
  /** Whether everything was through by then. */
  isThrough: boolean;
  /** Messages that are still in queues, by queue. */
  remaining: Record<string, number>;
}

/** Something that happened in a round. */
export type HistoryEvent =
  Published | Answered | Arrived | Tried | Faulted | Asked | Leaked | Ran | Left | Uncaught | NotStarted | Ended;

/** Milliseconds of the machine's steady clock, the same in all its processes. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

type WithoutTime<E> = E extends HistoryEvent ? Omit<E, "at"> & { at?: number } : never;

/** What happened so far. */
export class History {
  readonly events: HistoryEvent[] = [];

  record(event: WithoutTime<HistoryEvent>): void {
    this.events.push({ at: nowMs(), ...event } as HistoryEvent);
  }

  /** In the order in which it happened, whoever told of it first. */
  sorted(): HistoryEvent[] {
    return [...this.events].sort((a, b) => a.at - b.at);
  }
}

type OfKind<E, K> = E extends { kind: infer EK } ? (EK & K extends never ? never : E) : never;

/** Events of some kinds. */
export function eventsOf<K extends HistoryEvent["kind"]>(
  events: readonly HistoryEvent[],
  ...kinds: K[]
): OfKind<HistoryEvent, K>[] {
  return events.filter((event) => kinds.includes(event.kind as K)) as OfKind<HistoryEvent, K>[];
}
