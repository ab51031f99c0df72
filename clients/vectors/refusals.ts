import {
  DelayNetwork,
  RetryIntervals,
  delayNetwork,
  parseDelayNetwork,
  parseRetryIntervals,
} from "@rabbitmq-delay/topology";
import type { Reason } from "./reason";
import { refusedProperty } from "./refused";

/** A descriptor with one fault. */
export interface RefusedDescriptor {
  kind: "delay-network" | "retry-intervals";
  json: string;
  /** The property that is refused, with the descriptor's own name before it: `network.radix`, `retryIntervals.intervalsMs[0]`. */
  refused: string;
  reason: Reason;
}

type Fault = Record<string, unknown>;
type Faults = Partial<Record<Reason, Fault[]>>;

/** Faults of a custom network with radix 16, 7 levels and a unit of 100 ms. */
function faultsOfNetwork({ entryExchanges, maximumDelayMs }: DelayNetwork): Faults {
  return {
    missing: without(
      ...["kind", "version", "preset", "prefix", "radix", "levels", "unitMs", "queueType", "matching"],
      ...["entryExchanges", "deliveryExchange", "maximumDelayMs", "vhost", "bindingExchange", "parkingQueue"],
    ),
    type: [
      ...[{ version: "1" }, { preset: 1 }, { prefix: null }, { radix: "16" }, { levels: "7" }, { unitMs: "100" }],
      ...[{ entryExchanges: "x" }, { parkingExchange: null }, { maximumDelayMs: String(maximumDelayMs) }, { vhost: 7 }],
    ],
    choice: [
      ...[{ kind: "delay" }, { version: 0 }, { version: 3 }, { preset: "nsb" }, { radix: 3 }, { radix: 10 }],
      ...[{ queueType: "stream" }, { matching: "any" }],
    ],
    range: [
      ...[{ levels: 0 }, { levels: 1.5 }, { levels: 128 }, { levels: 40 }],
      ...[{ unitMs: 0 }, { unitMs: -1 }, { unitMs: 0.5 }, { unitMs: 1e15 }],
    ],
    empty: [{ prefix: "" }, { deliveryExchange: "" }, { parkingQueue: "" }, { vhost: "" }],
    character: [{ prefix: "a/b" }, { deliveryExchange: "a@b" }],
    reserved: [{ prefix: "amq.x" }],
    contradiction: [
      ...[[], entryExchanges.slice(1), entryExchanges.map((name) => `${name}x`)].map((names) => ({
        entryExchanges: names,
      })),
      ...[{ parkingExchange: undefined }, { maximumDelayMs: 1 }, { matching: "enforced" }],
      ...[{ bindingExchange: "x" }, { bindingExchange: "delay.r16x7u100-exact" }],
    ],
    fixed: [
      ...[{ deliveryExchange: "x" }, { parkingExchange: "x" }, { parkingQueue: "x" }],
      { prefix: "delay", entryExchanges: entryExchanges.map((name) => name.replace(".r16x7u100", "")) },
    ],
    unknown: [{ bindigExchange: "x" }],
  };
}

/** Faults of NServiceBus's network whose matching is enforced. */
function faultsOfEnforced({ deliveryExchange }: DelayNetwork): Faults {
  return {
    contradiction: [{ version: 1 }, { bindingExchange: deliveryExchange }, { matching: "exact" }],
    fixed: [{ queueType: "classic" }],
  };
}

const faultsOfIntervals: Faults = {
  missing: [
    ...without("kind", "version", "returnExchange", "queueType", "intervalsMs"),
    { prefix: undefined, returnExchange: "undefined-return" },
  ],
  type: [{ atLeastOnce: "no" }, { intervalsMs: 5 }, { version: "1" }],
  choice: [{ kind: "delay-network" }, { version: 3 }, { queueType: "x" }],
  range: [{ intervalsMs: [0] }, { intervalsMs: [1.5] }, { intervalsMs: [1e15] }],
  empty: [{ prefix: "", returnExchange: "-return" }, { intervalsMs: [] }],
  contradiction: [{ returnExchange: "x" }, { atLeastOnce: true }, { intervalsMs: [5, 5] }],
  fixed: [{ parkingQueue: "x" }],
  unknown: [{ returnExchang: "x" }],
};

/** Descriptors with one fault each. */
export function refusals(intervals: RetryIntervals): RefusedDescriptor[] {
  const network = delayNetwork({ preset: "custom", prefix: "delay", radix: 16, levels: 7, unitMs: 100 });
  const enforced = delayNetwork({ preset: "nservicebus", matching: "enforced" });
  return [
    ...refusalsOf(network, faultsOfNetwork(network), parseDelayNetwork),
    ...refusalsOf(enforced, faultsOfEnforced(enforced), parseDelayNetwork),
    ...refusalsOf(intervals, faultsOfIntervals, parseRetryIntervals),
  ];
}

function refusalsOf<T extends DelayNetwork | RetryIntervals>(
  descriptor: T,
  faults: Faults,
  parse: (value: unknown) => T,
): RefusedDescriptor[] {
  return (Object.entries(faults) as [Reason, Fault[]][]).flatMap(([reason, list]) =>
    list.map((fault) => {
      const json = JSON.stringify({ ...descriptor, ...fault });
      return { kind: descriptor.kind, json, refused: refusedProperty(() => parse(JSON.parse(json))), reason };
    }),
  );
}

function without(...properties: string[]): Fault[] {
  return properties.map((property) => ({ [property]: undefined }));
}
