import type { DelayNetworkOptions, QueueType } from "@rabbitmq-delay/topology";

/** The brokers that a round can run on. */
export const brokerLines = ["3.10", "4.3"] as const;
/** See {@link brokerLines}. */
export type BrokerLine = (typeof brokerLines)[number];

/** What is used in a round. */
export const mechanisms = ["network", "retry", "hold", "store", "gateway", "command"] as const;
/** See {@link mechanisms}. */
export type Mechanism = (typeof mechanisms)[number];

/** One round as plain data: all that is drawn, and nothing that running it finds out. */
export interface Plan {
  seed: number;
  broker: BrokerLine;
  /** Each in a vhost of its own, all at once. */
  parts: Part[];
  faults: PlannedFault[];
}

/** What is used, by whom, and with which messages. */
export type Part = NetworkPart | RetryPart | HoldPart | StorePart | CommandPart;

/** By what a message gets to the broker. */
export const publishers = ["amqplib", "rabbitmq-client", "by-hand"] as const;
/** Our helper over one of the two client libraries, or bare amqplib with a key of `encodeDelay`. */
export type Publisher = (typeof publishers)[number];

/** Whether entities follow from the components, or from the plans that services declare themselves. */
export type DeclaredBy = "components" | "plans";

/** What all messages have. */
export interface PlannedMessage {
  /** What the message is known by in the history; it is its body. */
  n: string;
  /** When it is published, in milliseconds from the start of the workload. */
  atMs: number;
  /** Its AMQP message id; several messages may share one. Without it, the publisher makes one up, or there is none. */
  messageId?: string;
}

/** A message with a delay, for a destination. */
export interface DelayedPlannedMessage extends PlannedMessage {
  delayMs: number;
  destination: string;
  publisher: Publisher;
}

/** A message through a network. */
export interface NetworkMessage extends DelayedPlannedMessage {
  /** How often the one who receives it publishes it again, with the headers that it came with. */
  again?: number;
}

/** A queue or exchange of a service at a network. */
export interface PlannedEndpoint {
  name: string;
  type: "queue" | "exchange";
  patterns?: string[];
  queueType: QueueType;
}

/** A delay network with endpoints. */
export interface NetworkPart {
  mechanism: "network";
  name: string;
  declaredBy: DeclaredBy;
  network: DelayNetworkOptions;
  endpoints: PlannedEndpoint[];
  messages: NetworkMessage[];
}

/** By what a failed message comes back. */
export const retryWays = ["intervals", "work", "network", "holds", "holds-on-demand", "delayed-retry"] as const;
/** See {@link retryWays}. */
export type RetryWay = (typeof retryWays)[number];

/**
 * What a consumer does with one delivery of a message: succeeds, throws, does not end in time, keeps the process from doing anything
 * else meanwhile, kills the process, or breaks the connection.
 */
export type Behaviour = "ok" | "fail" | "hang" | "block" | "crash" | "drop";

/** A message for a consumer that retries. */
export interface RetryMessage extends PlannedMessage {
  /** How long a handler works on it before that, in milliseconds. */
  workMs: number;
  /** What happens at each delivery, in order; after the last one, it succeeds. */
  behaviour: Behaviour[];
}

/** A queue whose consumer retries. */
export interface RetryPart {
  mechanism: "retry";
  name: string;
  way: RetryWay;
  declaredBy: DeclaredBy;
  queueType: QueueType;
  /** What publishers call the endpoint. */
  endpoint: string;
  /** The queue that is consumed; another name than the endpoint's where the service calls it so. */
  queue: string;
  patterns?: string[];
  delaysMs: number[];
  immediate: number;
  handlerTimeoutMs: number;
  /** How long a handler that blocks does so. */
  blockMs: number;
  confirmTimeoutMs: number;
  leaseMs: number;
  concurrency: number;
  messages: RetryMessage[];
}

/** Messages that are held for a queue. */
export interface HoldPart {
  mechanism: "hold";
  name: string;
  declaredBy: DeclaredBy;
  /** Whether a stack declares the hold queues; else they are made on demand. */
  isDeclared: boolean;
  queueType: QueueType;
  leaseMs?: number;
  confirmTimeoutMs: number;
  delaysMs: number[];
  destinations: string[];
  messages: DelayedPlannedMessage[];
}

/** A message for the external store. */
export interface StoreMessage extends PlannedMessage {
  delayMs: number;
  destination: string;
  /** The header that says when. */
  by: "x-delay" | "x-deliver-at";
  /** Whether it takes the exchange that stands for a delayed one. */
  forwarded: boolean;
}

/** What somebody asks of the store, by message id. */
export interface StoreRequest {
  atMs: number;
  operation: "cancel" | "reschedule";
  messageId: string;
  /** From then on, for `reschedule`. */
  delayMs: number;
}

/** An external store, run by the command; or a gateway, whose messages wait in a delay network. */
export interface StorePart {
  mechanism: "store";
  name: string;
  declaredBy: DeclaredBy;
  database: "postgres" | "sqlite" | "network";
  numberOfRetries: number;
  batchSize: number;
  instances: number;
  destinations: string[];
  messages: StoreMessage[];
  requests: StoreRequest[];
}

/** Mistakes with the command, each of which has a secret at hand. */
export const mistakes = [
  "unknown-setting",
  "wrong-setting",
  "mistyped-database",
  "mistyped-broker",
  "refused-login",
  "database-away",
  "broken-config",
  "missing-network",
] as const;
/** See {@link mistakes}. */
export type Mistake = (typeof mistakes)[number];

/** Runs of the command that go wrong. */
export interface CommandPart {
  mechanism: "command";
  name: string;
  mistakes: { atMs: number; mistake: Mistake }[];
}

/** Faults of the whole node. */
export const nodeFaults = ["broker-killed", "broker-stopped", "power-cut", "memory-alarm", "disk-alarm"] as const;
/** Faults of one part's surroundings. */
export const partFaults = [
  "consumer-killed",
  "consumer-stopped",
  "consumer-paused",
  "dispatcher-killed",
  "dispatcher-stopped",
  "dispatcher-paused",
  "clock-jump",
  "database-killed",
  "database-stopped",
  "database-paused",
  "database-answer-lost",
  "connections-closed",
  "channel-error",
  "early-policy",
  "short-policy",
  "unbound",
  "purged",
] as const;
/** What can go wrong. */
export const faultKinds = [...nodeFaults, ...partFaults] as const;
/** See {@link faultKinds}. */
export type FaultKind = (typeof faultKinds)[number];

/** What goes wrong, and when. */
export interface PlannedFault {
  kind: FaultKind;
  /** In milliseconds from the start of the workload. */
  atMs: number;
  /** The part that it hits; all of them without. */
  part?: string;
  /** How long it lasts; what starts anew by itself has none. */
  forMs?: number;
  /** How often it comes, one right after the other. Default once. */
  times?: number;
  /** Which of the part's endpoints, queues or processes is meant. */
  index?: number;
  /** By how much a clock jumps ahead, in milliseconds; back where it is below 0. */
  byMs?: number;
}
