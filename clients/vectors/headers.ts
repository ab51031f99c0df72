import { DelayNetwork, encodeDelay } from "@rabbitmq-delay/topology";
import { delayHeaders, isBrokerHeader } from "@rabbitmq-delay/publish/parts";

/** The headers that a delayed message gets, whatever it had before. */
export interface HeaderVector {
  /** Index into `networks`. */
  network: number;
  delayMs: number;
  /** When the message is sent: the delay, rounded up, counts from then. */
  sentAt: string;
  expected: Record<string, TypedValue>;
  /** Headers that an earlier publish may have left. None of them travels on: those that `expected` has too get its value. */
  removed: string[];
}

/** A header's value in AMQP 0-9-1: `text` is a long string (`S`), `int32` a 32-bit integer (`I`). */
export type TypedValue = { type: "text"; value: string } | { type: "int32"; value: number };

const DELAYS_MS = [0, 1, 999.5, 1000, 61_001];
/** A time with leading zeros, one without milliseconds, and one before a new year. */
const SENT_AT = ["2026-03-04T05:06:07.008Z", "2027-11-12T13:14:15.000Z", "2027-12-31T23:59:59.999Z"];

/** What a message may bring that was received before; it stands in the first vector of each network alone, because the file is large. */
const RECEIVED = [
  "x-death",
  ...["exchange", "queue", "reason"].flatMap((what) => [`x-first-death-${what}`, `x-last-death-${what}`]),
  "x-delivery-count",
  "x-acquired-count",
];

/** Each delay and time on each network that keeps such a delay. */
export function headers(networks: DelayNetwork[]): HeaderVector[] {
  return networks.flatMap((network, index) =>
    DELAYS_MS.filter((delayMs) => delayMs <= network.maximumDelayMs).flatMap((delayMs) =>
      SENT_AT.map((sentAt) => ({ network: index, delayMs, sentAt, ...headersOf(network, delayMs, sentAt) })),
    ),
  );
}

function headersOf(network: DelayNetwork, givenMs: number, sentAt: string): Pick<HeaderVector, "expected" | "removed"> {
  const { delayMs } = encodeDelay(network, givenMs, "Sales");
  const dueAt = new Date(Date.parse(sentAt) + delayMs);
  const entries = Object.entries(delayHeaders(network, delayMs, dueAt));
  const isFirst = givenMs === DELAYS_MS[0] && sentAt === SENT_AT[0];
  const kept = entries.filter(([, value]) => value !== undefined);
  const left = isFirst ? [...RECEIVED.filter(isBrokerHeader), ...kept.map(([name]) => name)] : [];
  return {
    expected: Object.fromEntries(kept.map(([name, value]) => [name, typed(value)])),
    removed: [...left, ...entries.filter(([, value]) => value === undefined).map(([name]) => name)],
  };
}

function typed(value: unknown): TypedValue {
  if (typeof value === "string") return { type: "text", value };
  return { type: "int32", value: (value as { value: number }).value };
}
