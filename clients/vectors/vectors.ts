import {
  DelayNetwork,
  DelayNetworkJson,
  RetryIntervals,
  delayNetwork,
  parseDelayNetwork,
  retryIntervals,
} from "@rabbitmq-delay/topology";
import { Encoding, encodings } from "./encodings";
import { HeaderVector, headers } from "./headers";
import { RefusedDescriptor, refusals } from "./refusals";
import { IntervalRoute, routes } from "./routes";
import { DeclaredTopology, topologies } from "./topologies";

/** What the TypeScript packages answer, which every client of another language must answer alike: the content of `clients/vectors.json`. */
export interface Vectors {
  /** Descriptors as stacks export them; `encodings` and `headers` name one by its index. The last one is of version 1. */
  networks: DelayNetworkJson[];
  /** The interval queues that `routes` are about. */
  intervals: RetryIntervals;
  encodings: Encoding[];
  routes: IntervalRoute[];
  headers: HeaderVector[];
  refusals: RefusedDescriptor[];
  /** Small topologies for tests on a broker. */
  topologies: Record<string, DeclaredTopology>;
}

/** Makes all vectors; they are the same each time. */
export function makeVectors(): Vectors {
  const networks = [...current(), ofVersion1(delayNetwork({ preset: "custom", prefix: "first", radix: 2, levels: 8 }))];
  const parsed = networks.map((network) => parseDelayNetwork(network));
  const intervals = retryIntervals({ intervals: ["3s", "5s", "15m", 1] });
  return {
    networks,
    intervals,
    encodings: encodings(parsed),
    routes: routes(intervals),
    headers: headers(parsed),
    refusals: refusals(intervals),
    topologies: topologies(),
  };
}

/** Each preset, radix, queue type and way to match, with few and many levels. Tests of clients name some of them by their place. */
function current(): DelayNetwork[] {
  return [
    delayNetwork({ preset: "nservicebus" }),
    delayNetwork({ preset: "nservicebus-v1" }),
    delayNetwork({ preset: "celery" }),
    delayNetwork({ preset: "celery", prefix: "orders", queueType: "classic" }),
    delayNetwork({ preset: "custom", prefix: "orders" }),
    delayNetwork({ preset: "custom", prefix: "delay", radix: 16, levels: 7, unitMs: 100 }),
    delayNetwork({ preset: "custom", prefix: "öl", radix: 2, levels: 1, unitMs: 1, parking: false }),
    delayNetwork({ preset: "custom", prefix: "deep", radix: 2, levels: 38, unitMs: 1, matching: "suffix" }),
    delayNetwork({ preset: "custom", prefix: "a.b", radix: 8, levels: 9, unitMs: 250, queueType: "classic" }),
    delayNetwork({ preset: "custom", prefix: "odd", radix: 4, levels: 5, unitMs: 777 }),
    delayNetwork({ preset: "nservicebus", matching: "enforced", vhost: "orders" }),
    delayNetwork({ preset: "nservicebus-v1", matching: "enforced", parking: false }),
  ];
}

/** As the release before wrote it; in JSON, what is undefined is not there. */
function ofVersion1(network: DelayNetwork): DelayNetworkJson {
  return { ...network, version: 1, vhost: undefined, bindingExchange: undefined };
}
