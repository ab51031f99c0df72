// Written by `make reference` from the zod schemas; edit those.

/** Options of a delay network. */
export interface DelayNetworkOptions {
  /** Names and arguments of a vendor: `nservicebus`, `nservicebus-v1` or `celery`, byte for byte, or `custom`. */
  preset: "nservicebus" | "nservicebus-v1" | "celery" | "custom";
  /** Start of all names; needed for `custom`, optional for `celery` (put before its names with `_`), fixed for the others. */
  prefix?: string;
  /** Digits per level; `custom` only, default 4. A higher radix means fewer hops and less lateness. */
  radix?: 2 | 4 | 8 | 16;
  /** Number of levels; `custom` only, default as many as a year needs, or as the broker takes if those are fewer. */
  levels?: number;
  /** Smallest delay in milliseconds; `custom` only, default 1000. */
  unitMs?: number;
  /** Type of the level queues; `custom` and `celery` only, default `quorum`. */
  queueType?: "quorum" | "classic";
  /**
   * Rule that tells endpoints apart: `exact`, the vendors' `suffix`, which also catches `OTHER.ENDPOINT`, or `enforced`: exact even though NServiceBus's senders bind by suffix; for its presets only.
   * @default "exact"
   */
  matching?: "exact" | "suffix" | "enforced";
  /**
   * Whether what no binding takes is kept in a parking queue. Without it such a message stalls its level.
   * @default true
   */
  parking?: boolean;
  /**
   * The vhost that it is declared in.
   * @default "/"
   */
  vhost?: string;
}

/** {@link DelayNetworkOptions} with all defaults. */
export interface FilledDelayNetworkOptions {
  /** Names and arguments of a vendor: `nservicebus`, `nservicebus-v1` or `celery`, byte for byte, or `custom`. */
  preset: "nservicebus" | "nservicebus-v1" | "celery" | "custom";
  /** Start of all names; needed for `custom`, optional for `celery` (put before its names with `_`), fixed for the others. */
  prefix?: string;
  /** Digits per level; `custom` only, default 4. A higher radix means fewer hops and less lateness. */
  radix?: 2 | 4 | 8 | 16;
  /** Number of levels; `custom` only, default as many as a year needs, or as the broker takes if those are fewer. */
  levels?: number;
  /** Smallest delay in milliseconds; `custom` only, default 1000. */
  unitMs?: number;
  /** Type of the level queues; `custom` and `celery` only, default `quorum`. */
  queueType?: "quorum" | "classic";
  /**
   * Rule that tells endpoints apart: `exact`, the vendors' `suffix`, which also catches `OTHER.ENDPOINT`, or `enforced`: exact even though NServiceBus's senders bind by suffix; for its presets only.
   * @default "exact"
   */
  matching: "exact" | "suffix" | "enforced";
  /**
   * Whether what no binding takes is kept in a parking queue. Without it such a message stalls its level.
   * @default true
   */
  parking: boolean;
  /**
   * The vhost that it is declared in.
   * @default "/"
   */
  vhost: string;
}

/** Options of interval queues. */
export interface RetryIntervalsOptions {
  /** Texts like `5m` or `PT5M`, or milliseconds; each once, in any order. */
  intervals: (number | string)[];
  /**
   * Start of all names; the default is MassTransit's.
   * @default "mt-delay"
   */
  prefix?: string;
  /**
   * Type of the interval queues; the default is what MassTransit declares, take `quorum` with a prefix that no MassTransit has.
   * @default "classic"
   */
  queueType?: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * Whether messages that come back to no queue are kept in a parking queue, `PREFIX-parking`.
   * @default true
   */
  parking?: boolean;
}

/** {@link RetryIntervalsOptions} with all defaults. */
export interface FilledRetryIntervalsOptions {
  /** Texts like `5m` or `PT5M`, or milliseconds; each once, in any order. */
  intervals: (number | string)[];
  /**
   * Start of all names; the default is MassTransit's.
   * @default "mt-delay"
   */
  prefix: string;
  /**
   * Type of the interval queues; the default is what MassTransit declares, take `quorum` with a prefix that no MassTransit has.
   * @default "classic"
   */
  queueType: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * Whether messages that come back to no queue are kept in a parking queue, `PREFIX-parking`.
   * @default true
   */
  parking: boolean;
}

/** Options of a work queue with retries. */
export interface WorkRetryOptions {
  /** Name of the work queue and of its topic exchange; retry queues are `NAME.retry-MS`, the dead queue is `NAME.dead`. */
  queue: string;
  /** Retry delays: texts like `5m` or `PT5M`, or milliseconds; each once, in any order. Each retry waits for the next longer one, and further ones for the longest. */
  delays: (number | string)[];
  /** Most returns of a message before it goes to the dead queue; without effect on what a consumer rejects under `rejected: retry`; default: once for each delay. */
  maxRetries?: number;
  /**
   * Binding keys of the work queue at its exchange; the default is every message.
   * @default ["#"]
   */
  patterns?: string[];
  /**
   * Type of the queues that messages wait in.
   * @default "quorum"
   */
  queueType?: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * Destination of what a consumer of the work queue rejects: `dead`, to the dead queue, or `retry`, to the shortest retry delay, for consumers that count their tries themselves.
   * @default "dead"
   */
  rejected?: "dead" | "retry";
}

/** {@link WorkRetryOptions} with all defaults. */
export interface FilledWorkRetryOptions {
  /** Name of the work queue and of its topic exchange; retry queues are `NAME.retry-MS`, the dead queue is `NAME.dead`. */
  queue: string;
  /** Retry delays: texts like `5m` or `PT5M`, or milliseconds; each once, in any order. Each retry waits for the next longer one, and further ones for the longest. */
  delays: (number | string)[];
  /** Most returns of a message before it goes to the dead queue; without effect on what a consumer rejects under `rejected: retry`; default: once for each delay. */
  maxRetries?: number;
  /**
   * Binding keys of the work queue at its exchange; the default is every message.
   * @default ["#"]
   */
  patterns: string[];
  /**
   * Type of the queues that messages wait in.
   * @default "quorum"
   */
  queueType: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /**
   * Destination of what a consumer of the work queue rejects: `dead`, to the dead queue, or `retry`, to the shortest retry delay, for consumers that count their tries themselves.
   * @default "dead"
   */
  rejected: "dead" | "retry";
}

/** Options of hold queues that are declared on demand. */
export interface HoldSettingsOptions {
  /**
   * Start of all names: 1 to 100 letters, digits, dots, `_` and `-`, not starting with a dot or with `amq.`.
   * @default "hold"
   */
  prefix?: string;
  /**
   * Type of the hold queues; `quorum` goes without a lease, because no declare renews a quorum queue's.
   * @default "classic"
   */
  queueType?: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /** How long a queue stays after its last declare beyond its delay, in milliseconds; default: for ever. The broker then deletes it **with the messages in it**, so a lease is only for publishers that declare the queue before each message, as `holdFor` does. */
  leaseMs?: number;
}

/** {@link HoldSettingsOptions} with all defaults. */
export interface FilledHoldSettingsOptions {
  /**
   * Start of all names: 1 to 100 letters, digits, dots, `_` and `-`, not starting with a dot or with `amq.`.
   * @default "hold"
   */
  prefix: string;
  /**
   * Type of the hold queues; `quorum` goes without a lease, because no declare renews a quorum queue's.
   * @default "classic"
   */
  queueType: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /** How long a queue stays after its last declare beyond its delay, in milliseconds; default: for ever. The broker then deletes it **with the messages in it**, so a lease is only for publishers that declare the queue before each message, as `holdFor` does. */
  leaseMs?: number;
}

/** Options of a destination of held messages. */
export interface HoldDestinationOptions {
  /** An exchange, or an empty text for the broker's default exchange. It has to exist when the first message is due. */
  exchange: string;
  /** The routing key that messages get; on the default exchange, a queue's name. */
  routingKey: string;
}

/** Options of hold queues. */
export interface HoldQueuesOptions {
  /** Durations: texts like `5m` or `PT5M`, or milliseconds; each once, in any order. */
  delays: (number | string)[];
  /** Where messages go when their time is over; there is a queue for each destination with each delay. */
  destinations: HoldDestinationOptions[];
  /**
   * Start of all names: 1 to 100 letters, digits, dots, `_` and `-`, not starting with a dot or with `amq.`.
   * @default "hold"
   */
  prefix?: string;
  /**
   * Type of the hold queues; `quorum` goes without a lease, because no declare renews a quorum queue's.
   * @default "classic"
   */
  queueType?: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /** How long a queue stays after its last declare beyond its delay, in milliseconds; default: for ever. The broker then deletes it **with the messages in it**, so a lease is only for publishers that declare the queue before each message, as `holdFor` does. */
  leaseMs?: number;
}

/** {@link HoldQueuesOptions} with all defaults. */
export interface FilledHoldQueuesOptions {
  /** Durations: texts like `5m` or `PT5M`, or milliseconds; each once, in any order. */
  delays: (number | string)[];
  /** Where messages go when their time is over; there is a queue for each destination with each delay. */
  destinations: {
    /** An exchange, or an empty text for the broker's default exchange. It has to exist when the first message is due. */
    exchange: string;
    /** The routing key that messages get; on the default exchange, a queue's name. */
    routingKey: string;
  }[];
  /**
   * Start of all names: 1 to 100 letters, digits, dots, `_` and `-`, not starting with a dot or with `amq.`.
   * @default "hold"
   */
  prefix: string;
  /**
   * Type of the hold queues; `quorum` goes without a lease, because no declare renews a quorum queue's.
   * @default "classic"
   */
  queueType: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /** How long a queue stays after its last declare beyond its delay, in milliseconds; default: for ever. The broker then deletes it **with the messages in it**, so a lease is only for publishers that declare the queue before each message, as `holdFor` does. */
  leaseMs?: number;
}

/** Options of a queue with delayed retry. */
export interface DelayedRetryOptions {
  /** Name of the queue. */
  queue: string;
  /**
   * Which returned messages the broker delays: `failed`, rejected ones and those of a lost consumer, which it counts; `returned`, those given back without a failure, which it does not count; `all`, both.
   * @default "failed"
   */
  type?: "failed" | "returned" | "all";
  /** Delay of the first redelivery, in milliseconds; the nth is n times as long. */
  minMs: number;
  /** Longest delay, in milliseconds; default: `minMs` times `deliveryLimit`, so that no delay is cut. */
  maxMs?: number;
  /**
   * Failures before a message is dead-lettered; the default is RabbitMQ 4's own.
   * @default 20
   */
  deliveryLimit?: number;
  /** Where messages over the limit go; default: a queue `QUEUE.dead`, which is declared along. */
  deadLetterExchange?: string;
  /** The key that they get there, with `deadLetterExchange`; default: the one they have. */
  deadLetterRoutingKey?: string;
  /**
   * Where the settings stand: in the queue's arguments, or in a policy, which can be changed without a new queue, from 4.3.1.
   * @default "arguments"
   */
  settings?: "arguments" | "policy";
}

/** {@link DelayedRetryOptions} with all defaults. */
export interface FilledDelayedRetryOptions {
  /** Name of the queue. */
  queue: string;
  /**
   * Which returned messages the broker delays: `failed`, rejected ones and those of a lost consumer, which it counts; `returned`, those given back without a failure, which it does not count; `all`, both.
   * @default "failed"
   */
  type: "failed" | "returned" | "all";
  /** Delay of the first redelivery, in milliseconds; the nth is n times as long. */
  minMs: number;
  /** Longest delay, in milliseconds; default: `minMs` times `deliveryLimit`, so that no delay is cut. */
  maxMs?: number;
  /**
   * Failures before a message is dead-lettered; the default is RabbitMQ 4's own.
   * @default 20
   */
  deliveryLimit: number;
  /** Where messages over the limit go; default: a queue `QUEUE.dead`, which is declared along. */
  deadLetterExchange?: string;
  /** The key that they get there, with `deadLetterExchange`; default: the one they have. */
  deadLetterRoutingKey?: string;
  /**
   * Where the settings stand: in the queue's arguments, or in a policy, which can be changed without a new queue, from 4.3.1.
   * @default "arguments"
   */
  settings: "arguments" | "policy";
}

/** Options of error queues. */
export interface ErrorQueuesOptions {
  /** Names of the queues and of their exchanges, each once. */
  names: string[];
  /**
   * Type of the queues that messages wait in.
   * @default "quorum"
   */
  queueType?: "quorum" | "classic";
}

/** {@link ErrorQueuesOptions} with all defaults. */
export interface FilledErrorQueuesOptions {
  /** Names of the queues and of their exchanges, each once. */
  names: string[];
  /**
   * Type of the queues that messages wait in.
   * @default "quorum"
   */
  queueType: "quorum" | "classic";
}

/** Options of a delayed exchange. */
export interface DelayedExchangeOptions {
  /** What publishers publish to, with the header `x-delay` in milliseconds; start of all other names. */
  exchange: string;
  /** The delays that messages may ask for: texts like `5m` or `PT5M`, or milliseconds; each once, in any order, at most 300. */
  delays: (number | string)[];
  /** Where messages go when their time is over, under their own routing key; queues are bound here, never to `exchange`. Default: `EXCHANGE.delivery`. */
  delivery?: string;
  /** Type of the delivery exchange, as `x-delayed-type` was; default `topic`. Left out where `declareDelivery` is false. */
  type?: "direct" | "topic" | "fanout" | "headers";
  /**
   * Whether the delivery exchange is declared along, default true; false where it belongs to others. What it takes to no queue is then not parked.
   * @default true
   */
  declareDelivery?: boolean;
  /**
   * Type of the queues that messages wait in.
   * @default "quorum"
   */
  queueType?: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /** An exchange that gets what has another delay, or none, as the intake of a store. Default: a parking queue, `EXCHANGE.parking`. */
  otherwise?: string;
}

/** {@link DelayedExchangeOptions} with all defaults. */
export interface FilledDelayedExchangeOptions {
  /** What publishers publish to, with the header `x-delay` in milliseconds; start of all other names. */
  exchange: string;
  /** The delays that messages may ask for: texts like `5m` or `PT5M`, or milliseconds; each once, in any order, at most 300. */
  delays: (number | string)[];
  /** Where messages go when their time is over, under their own routing key; queues are bound here, never to `exchange`. Default: `EXCHANGE.delivery`. */
  delivery?: string;
  /** Type of the delivery exchange, as `x-delayed-type` was; default `topic`. Left out where `declareDelivery` is false. */
  type?: "direct" | "topic" | "fanout" | "headers";
  /**
   * Whether the delivery exchange is declared along, default true; false where it belongs to others. What it takes to no queue is then not parked.
   * @default true
   */
  declareDelivery: boolean;
  /**
   * Type of the queues that messages wait in.
   * @default "quorum"
   */
  queueType: "quorum" | "classic";
  /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
  atLeastOnce?: boolean;
  /** An exchange that gets what has another delay, or none, as the intake of a store. Default: a parking queue, `EXCHANGE.parking`. */
  otherwise?: string;
}

/** Options of the broker's side of a store. */
export interface DelayedStoreOptions {
  /**
   * Its name, and that of its intake exchange; start of all other names.
   * @default "delayed"
   */
  name?: string;
  /**
   * Exchanges that stand for a delayed exchange each, as the archived plugin's did.
   * @default []
   */
  forwards?: {
    /** What publishers publish to; it leads into the intake. */
    exchange: string;
    /** Where due messages go, under the routing key that they were published with; queues are bound here. */
    delivery: string;
    /**
     * Type of the delivery exchange.
     * @default "topic"
     */
    type?: "direct" | "topic" | "fanout" | "headers";
    /** Whether both exchanges are declared here; default true. False for those of a delayed exchange whose `otherwise` is this intake exchange. */
    declare?: boolean;
  }[];
  /**
   * Whether messages may go to queues by the default exchange, which reaches all queues of the vhost; without it, a message needs a header or a forward that says where it goes.
   * @default true
   */
  toQueues?: boolean;
  /**
   * Exchanges of others that messages may name in their headers.
   * @default []
   */
  exchanges?: string[];
}

/** {@link DelayedStoreOptions} with all defaults. */
export interface FilledDelayedStoreOptions {
  /**
   * Its name, and that of its intake exchange; start of all other names.
   * @default "delayed"
   */
  name: string;
  /**
   * Exchanges that stand for a delayed exchange each, as the archived plugin's did.
   * @default []
   */
  forwards: {
    /** What publishers publish to; it leads into the intake. */
    exchange: string;
    /** Where due messages go, under the routing key that they were published with; queues are bound here. */
    delivery: string;
    /**
     * Type of the delivery exchange.
     * @default "topic"
     */
    type: "direct" | "topic" | "fanout" | "headers";
    /** Whether both exchanges are declared here; default true. False for those of a delayed exchange whose `otherwise` is this intake exchange. */
    declare?: boolean;
  }[];
  /**
   * Whether messages may go to queues by the default exchange, which reaches all queues of the vhost; without it, a message needs a header or a forward that says where it goes.
   * @default true
   */
  toQueues: boolean;
  /**
   * Exchanges of others that messages may name in their headers.
   * @default []
   */
  exchanges: string[];
}

/** Options of the broker's side of a gateway, without its network. */
export interface GatewayQueuesOptions {
  /**
   * Its name, and that of its intake exchange; start of all other names.
   * @default "gateway"
   */
  name?: string;
  /**
   * Exchanges that stand for a delayed exchange each, as the archived plugin's did.
   * @default []
   */
  forwards?: {
    /** What publishers publish to; it leads into the intake. */
    exchange: string;
    /** Where due messages go, under the routing key that they were published with; queues are bound here. */
    delivery: string;
    /**
     * Type of the delivery exchange.
     * @default "topic"
     */
    type?: "direct" | "topic" | "fanout" | "headers";
    /** Whether both exchanges are declared here; default true. False for those of a delayed exchange whose `otherwise` is this intake exchange. */
    declare?: boolean;
  }[];
  /**
   * Whether messages may go to queues by the default exchange, which reaches all queues of the vhost; without it, a message needs a header or a forward that says where it goes.
   * @default true
   */
  toQueues?: boolean;
  /**
   * Exchanges of others that messages may name in their headers.
   * @default []
   */
  exchanges?: string[];
  /**
   * Whether one process at a time takes messages, and the others stand by, so that messages of one delay, up to the network's longest, keep their order. A change needs new queues.
   * @default false
   */
  singleActiveConsumer?: boolean;
}

/** {@link GatewayQueuesOptions} with all defaults. */
export interface FilledGatewayQueuesOptions {
  /**
   * Its name, and that of its intake exchange; start of all other names.
   * @default "gateway"
   */
  name: string;
  /**
   * Exchanges that stand for a delayed exchange each, as the archived plugin's did.
   * @default []
   */
  forwards: {
    /** What publishers publish to; it leads into the intake. */
    exchange: string;
    /** Where due messages go, under the routing key that they were published with; queues are bound here. */
    delivery: string;
    /**
     * Type of the delivery exchange.
     * @default "topic"
     */
    type: "direct" | "topic" | "fanout" | "headers";
    /** Whether both exchanges are declared here; default true. False for those of a delayed exchange whose `otherwise` is this intake exchange. */
    declare?: boolean;
  }[];
  /**
   * Whether messages may go to queues by the default exchange, which reaches all queues of the vhost; without it, a message needs a header or a forward that says where it goes.
   * @default true
   */
  toQueues: boolean;
  /**
   * Exchanges of others that messages may name in their headers.
   * @default []
   */
  exchanges: string[];
  /**
   * Whether one process at a time takes messages, and the others stand by, so that messages of one delay, up to the network's longest, keep their order. A change needs new queues.
   * @default false
   */
  singleActiveConsumer: boolean;
}

/** Properties of an endpoint of a stack. */
export interface EndpointConfig {
  /** Name of the queue or exchange, and the destination that publishers give. */
  name: string;
  /** What the endpoint is on the broker; default `queue`. */
  type?: "queue" | "exchange";
  /** Destinations that reach the endpoint, `*` for any one word; default: its name. */
  patterns?: string[];
  /** Whether this stack declares the queue; default false: it exists. */
  createQueue?: boolean;
  /** Whose client consumes the queue: `nservicebus`, `masstransit` or `celery`; its queue and exchange are then declared as that client would. Default: none that expects anything. */
  client?: "nservicebus" | "masstransit" | "celery";
  /** How NServiceBus routes: `conventional` (default), by an exchange for each queue, or `direct`. */
  routingTopology?: "conventional" | "direct";
  /** Type of the declared queue; default `quorum`. */
  queueType?: "quorum" | "classic";
  /** Whether the queue gets its failed messages back from the interval queues; default false. */
  retries?: boolean;
  /** Name of the error queue, which is declared along, behind an exchange of the same name, unless `errorQueues` has it; default: none. */
  errorQueue?: string;
  /** Names of the networks that the endpoint joins; default: all of the stack. */
  networks?: string[];
  /** Whether its queue and exchange may be there already, declared by others, and come under the stack with what waits there; default false. */
  adopt?: boolean;
  /** Further keys of the policy that the stack sets for the declared queue, in the broker's words, e.g. `{ max-length: 5000, overflow: reject-publish }`. Only one policy applies to a queue, so that a team's own would have no effect there. Default: none. */
  queuePolicy?: Record<string, unknown>;
}

/** Options of the binding of an endpoint. */
export interface EndpointBindingOptions {
  /** Name of the queue or exchange, and the destination that publishers give. */
  endpoint: string;
  /** The network that the endpoint joins. */
  network?: unknown;
  /** Further networks that the endpoint joins. */
  furtherNetworks?: unknown[];
  /** Interval queues that bring failed messages back. */
  retryIntervals?: unknown;
  /** What the endpoint is on the broker; default `queue`. */
  endpointType?: "queue" | "exchange";
  /** Destinations that reach the endpoint, `*` for any one word; default: its name. */
  patterns?: string[];
  /** Whether this stack declares the queue; default false: it exists. */
  createQueue?: boolean;
  /** Whose client consumes the queue: `nservicebus`, `masstransit` or `celery`; its queue and exchange are then declared as that client would. Default: none that expects anything. */
  client?: "nservicebus" | "masstransit" | "celery";
  /** How NServiceBus routes: `conventional` (default), by an exchange for each queue, or `direct`. */
  routingTopology?: "conventional" | "direct";
  /** Type of the declared queue; default `quorum`. */
  queueType?: "quorum" | "classic";
  /** Name of the error queue, which is declared along, behind an exchange of the same name, unless `errorQueues` has it; default: none. */
  errorQueue?: string;
  /** Whether its queue and exchange may be there already, declared by others, and come under the stack with what waits there; default false. */
  adopt?: boolean;
  /** Further keys of the policy that the stack sets for the declared queue, in the broker's words, e.g. `{ max-length: 5000, overflow: reject-publish }`. Only one policy applies to a queue, so that a team's own would have no effect there. Default: none. */
  queuePolicy?: Record<string, unknown>;
  /** Name of the queue or exchange to bind; default `endpoint`. */
  destination?: string;
  /** Further arguments of the declared queue, in the broker's words. */
  queueArguments?: Record<string, unknown>;
  /** What happens to the declared queue when it leaves the program; default that of the network. */
  removal?: "retain" | "delete";
  /** Whose the endpoint is; default: this stack. */
  owner?: string;
  /** What this stack, or its `owner`, was called before. */
  formerOwners?: string[];
  /** Pairs of names that a vendor's clients mix up and that are meant all the same. */
  allow?: string[];
  /** The vhost; default the network's, and `/`. */
  vhost?: string;
  /** The broker's version where the program knows it, e.g. `4.3.6`. */
  brokerVersion?: string;
}

/** Options of a user. */
export interface UserOptions {
  /** Name of the user, or start of it where credentials have suffixes. */
  user: string;
  /** One login, or two while a password changes. */
  credentials: CredentialOptions[];
  /** Queues that it consumes. */
  consumes?: string[];
  /** The network that it publishes delayed messages into. */
  network?: unknown;
  /** Endpoints that it may send delayed messages to, beside its own queues; default: any of the network. */
  destinations?: string[];
  /** Descriptors of what its failed messages come back by. */
  retries?: unknown[];
  /** Further exchanges that it publishes to. */
  publishes?: string[];
  /** Its error queue, an exchange and a queue of this name; default: none. */
  errorQueue?: string;
  /** Whose client the service uses; default: none that asks for more than publishing and consuming. */
  client?: "nservicebus" | "masstransit" | "celery";
  /** With a client: the exchanges of the message types, or events, that it publishes or subscribes to, and of their base classes and interfaces; those that the client declares for each of them are granted besides. */
  messageTypes?: string[];
  /** How NServiceBus routes: `conventional` (default) or `direct`. */
  routingTopology?: "conventional" | "direct";
  /** Whose the user is; default: this stack. */
  owner?: string;
  /** What this stack, or its `owner`, was called before, e.g. `billing/prod`. */
  formerOwners?: string[];
  /** Whether a user that is on the broker already is taken over; default false: it is refused. */
  adopt?: boolean;
  /** The vhost; default the network's, and `/` without one. */
  vhost?: string;
}

/** Options of a login. */
export interface CredentialOptions {
  /** What tells it from the other, e.g. `a` and `b`, or a year in quotes. The user is `NAME-SUFFIX`; left out, it is the name. */
  suffix?: string;
  /** At least 12 characters; default: one is generated, once. */
  password?: string;
}

/** Options of a cluster. */
export interface ClusterOptions {
  /** The Kubernetes namespace, e.g. `messaging`. */
  namespace: string;
  /**
   * Whether to make the namespace, too, with pod security `restricted`; without, it exists.
   * @default false
   */
  createNamespace?: boolean;
  /** Name of the cluster and of its objects; default the component's name, in a stack's config `rabbitmq`. */
  clusterName?: string;
  /**
   * `statefulset`: all objects are made here; `operator`: the RabbitMQ cluster operator makes them of one resource.
   * @default "statefulset"
   */
  mode?: "statefulset" | "operator";
  /**
   * Number of nodes. Quorum queues need an odd number, and outlive the loss of the lesser half.
   * @default 3
   */
  replicas?: 1 | 3 | 5;
  /**
   * The broker's image with a tag of its version, 4.1 or newer.
   * @default "rabbitmq:4.3.6"
   */
  image?: string;
  /** The volume of each node. */
  storage: {
    /** Name of the StorageClass. Take one that can grow volumes, and whose reclaim policy is `Retain`. */
    className: string;
    /**
     * Size of each node's volume in GiB.
     * @default 20
     */
    sizeGiB?: number;
  };
  /**
   * Memory of each node in MiB, requested and limit; at least 747 with the default watermark.
   * @default 2048
   */
  memoryMiB?: number;
  /**
   * The part of its memory at which a node stops taking messages; the default is RabbitMQ's own.
   * @default 0.6
   */
  memoryWatermark?: number;
  /**
   * Requested processors of each node, as a text, in YAML e.g. `"2"` or `500m`. There is no limit: throttling a node costs heartbeats.
   * @default "1"
   */
  cpu?: string;
  /** Encryption towards clients; default none, plain text. */
  tls?: {
    /** Secret of type `kubernetes.io/tls`, with `ca.crt` where a ServiceMonitor is made; with `issuer` the one to make, by default `NAME-tls`. */
    secretName?: string;
    /** A cert-manager issuer; default: none, and the Secret exists. */
    issuer?: string;
    /** Kind of the issuer; default `ClusterIssuer`. */
    issuerKind?: "ClusterIssuer" | "Issuer";
    /**
     * Names in the certificate beside those of the Services, `localhost`, and the host of `managementUrl`.
     * @default []
     */
    dnsNames?: string[];
  };
  /**
   * Plugins beside management, Prometheus and peer discovery, e.g. `rabbitmq_shovel`.
   * @default []
   */
  plugins?: string[];
  /**
   * Further settings of rabbitmq.conf, e.g. `{"log.console.level": "warning"}`; not those that other properties make.
   * @default {}
   */
  config?: Record<string, string>;
  /**
   * How many messages the dead-letter worker of a level queue has on the way at once. RabbitMQ's own 32 is for queues where a dead letter is the exception. Each is in memory on its way.
   * @default 256
   */
  deadLetterPrefetch?: number;
  /** Who may connect, by namespaces; default the cluster's own namespace. */
  access?: {
    /**
     * Namespaces of services.
     * @default []
     */
    clientNamespaces?: string[];
    /**
     * Namespaces of what uses the management API: an ingress controller, a CI runner.
     * @default []
     */
    managementNamespaces?: string[];
    /**
     * Namespaces of what reads the metrics.
     * @default []
     */
    monitoringNamespaces?: string[];
  };
  /** What of it is measured, by the Prometheus operator and Grafana; default nothing, though the metrics are there. */
  monitoring?: {
    /**
     * Whether to make a ServiceMonitor for the Prometheus operator.
     * @default false
     */
    serviceMonitor?: boolean;
    /**
     * Whether to make a ConfigMap with the dashboard of delay networks, as Grafana's sidecar finds it.
     * @default false
     */
    dashboard?: boolean;
    /**
     * Labels of both, where Prometheus or Grafana select by them; a dashboard has `grafana_dashboard: "1"` anyhow.
     * @default {}
     */
    labels?: Record<string, string>;
  };
  /** Way in to the management API from outside; default none. */
  ingress?: {
    /** Host name, e.g. `rabbitmq.example.com`. */
    host: string;
    /** Name of the IngressClass. */
    className: string;
    /** Secret with the host's certificate. */
    tlsSecretName: string;
    /**
     * Annotations, e.g. that the controller shall speak TLS to the Service.
     * @default {}
     */
    annotations?: Record<string, string>;
  };
  /** Where the program reaches the management API: the address of an ingress (default where `ingress` is given), that of a port-forward (`https://localhost:15671`), or the Service's own (default), which only pods reach. */
  managementUrl?: string;
  /** File with the certificate authority in PEM, for the program's own connections; default the system's authorities. */
  caCertFile?: string;
  /**
   * Name of the administrator that the cluster is born with.
   * @default "administrator"
   */
  username?: string;
  /** Its password, a secret of 16 to 200 letters, digits and `. _ ~ -`; default: one is generated, once. */
  password?: string;
  /** What the nodes know each other by, a secret of 20 to 200 letters and digits; default: one is generated, once. */
  erlangCookie?: string;
  /**
   * How long to wait for the nodes after an update, in seconds.
   * @default 600
   */
  readyTimeoutSeconds?: number;
  /**
   * How long a pod that ends waits for queues to be safe without it, in seconds.
   * @default 3600
   */
  shutdownLimitSeconds?: number;
  /**
   * What happens to the cluster when it leaves the program. A StatefulSet's volumes stay in any case; the operator's go with its resource, whoever deletes that.
   * @default "retain"
   */
  removal?: "retain" | "delete";
}

/** {@link ClusterOptions} with all defaults. */
export interface ClusterSettings {
  /** The Kubernetes namespace, e.g. `messaging`. */
  namespace: string;
  /**
   * Whether to make the namespace, too, with pod security `restricted`; without, it exists.
   * @default false
   */
  createNamespace: boolean;
  /** Name of the cluster and of its objects; default the component's name, in a stack's config `rabbitmq`. */
  clusterName?: string;
  /**
   * `statefulset`: all objects are made here; `operator`: the RabbitMQ cluster operator makes them of one resource.
   * @default "statefulset"
   */
  mode: "statefulset" | "operator";
  /**
   * Number of nodes. Quorum queues need an odd number, and outlive the loss of the lesser half.
   * @default 3
   */
  replicas: 1 | 3 | 5;
  /**
   * The broker's image with a tag of its version, 4.1 or newer.
   * @default "rabbitmq:4.3.6"
   */
  image: string;
  /** The volume of each node. */
  storage: {
    /** Name of the StorageClass. Take one that can grow volumes, and whose reclaim policy is `Retain`. */
    className: string;
    /**
     * Size of each node's volume in GiB.
     * @default 20
     */
    sizeGiB: number;
  };
  /**
   * Memory of each node in MiB, requested and limit; at least 747 with the default watermark.
   * @default 2048
   */
  memoryMiB: number;
  /**
   * The part of its memory at which a node stops taking messages; the default is RabbitMQ's own.
   * @default 0.6
   */
  memoryWatermark: number;
  /**
   * Requested processors of each node, as a text, in YAML e.g. `"2"` or `500m`. There is no limit: throttling a node costs heartbeats.
   * @default "1"
   */
  cpu: string;
  /** Encryption towards clients; default none, plain text. */
  tls?: {
    /** Secret of type `kubernetes.io/tls`, with `ca.crt` where a ServiceMonitor is made; with `issuer` the one to make, by default `NAME-tls`. */
    secretName?: string;
    /** A cert-manager issuer; default: none, and the Secret exists. */
    issuer?: string;
    /** Kind of the issuer; default `ClusterIssuer`. */
    issuerKind?: "ClusterIssuer" | "Issuer";
    /**
     * Names in the certificate beside those of the Services, `localhost`, and the host of `managementUrl`.
     * @default []
     */
    dnsNames: string[];
  };
  /**
   * Plugins beside management, Prometheus and peer discovery, e.g. `rabbitmq_shovel`.
   * @default []
   */
  plugins: string[];
  /**
   * Further settings of rabbitmq.conf, e.g. `{"log.console.level": "warning"}`; not those that other properties make.
   * @default {}
   */
  config: Record<string, string>;
  /**
   * How many messages the dead-letter worker of a level queue has on the way at once. RabbitMQ's own 32 is for queues where a dead letter is the exception. Each is in memory on its way.
   * @default 256
   */
  deadLetterPrefetch: number;
  /** Who may connect, by namespaces; default the cluster's own namespace. */
  access?: {
    /**
     * Namespaces of services.
     * @default []
     */
    clientNamespaces: string[];
    /**
     * Namespaces of what uses the management API: an ingress controller, a CI runner.
     * @default []
     */
    managementNamespaces: string[];
    /**
     * Namespaces of what reads the metrics.
     * @default []
     */
    monitoringNamespaces: string[];
  };
  /** What of it is measured, by the Prometheus operator and Grafana; default nothing, though the metrics are there. */
  monitoring?: {
    /**
     * Whether to make a ServiceMonitor for the Prometheus operator.
     * @default false
     */
    serviceMonitor: boolean;
    /**
     * Whether to make a ConfigMap with the dashboard of delay networks, as Grafana's sidecar finds it.
     * @default false
     */
    dashboard: boolean;
    /**
     * Labels of both, where Prometheus or Grafana select by them; a dashboard has `grafana_dashboard: "1"` anyhow.
     * @default {}
     */
    labels: Record<string, string>;
  };
  /** Way in to the management API from outside; default none. */
  ingress?: {
    /** Host name, e.g. `rabbitmq.example.com`. */
    host: string;
    /** Name of the IngressClass. */
    className: string;
    /** Secret with the host's certificate. */
    tlsSecretName: string;
    /**
     * Annotations, e.g. that the controller shall speak TLS to the Service.
     * @default {}
     */
    annotations: Record<string, string>;
  };
  /** Where the program reaches the management API: the address of an ingress (default where `ingress` is given), that of a port-forward (`https://localhost:15671`), or the Service's own (default), which only pods reach. */
  managementUrl?: string;
  /** File with the certificate authority in PEM, for the program's own connections; default the system's authorities. */
  caCertFile?: string;
  /**
   * Name of the administrator that the cluster is born with.
   * @default "administrator"
   */
  username: string;
  /** Its password, a secret of 16 to 200 letters, digits and `. _ ~ -`; default: one is generated, once. */
  password?: string;
  /** What the nodes know each other by, a secret of 20 to 200 letters and digits; default: one is generated, once. */
  erlangCookie?: string;
  /**
   * How long to wait for the nodes after an update, in seconds.
   * @default 600
   */
  readyTimeoutSeconds: number;
  /**
   * How long a pod that ends waits for queues to be safe without it, in seconds.
   * @default 3600
   */
  shutdownLimitSeconds: number;
  /**
   * What happens to the cluster when it leaves the program. A StatefulSet's volumes stay in any case; the operator's go with its resource, whoever deletes that.
   * @default "retain"
   */
  removal: "retain" | "delete";
}

/** Options of a store's process. */
export interface StoreDeploymentOptions {
  /** Namespace, which exists. */
  namespace: string;
  /** Image in which `rabbitmq-delay` is on PATH: Node 20 with the npm package `rabbitmq-delay`. */
  image: string;
  /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`, the output `amqpUrl` of a `RabbitMqCluster`. */
  amqpUrl: string;
  /** Name of the Secret with the address of the database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
  databaseSecret: string;
  /**
   * Its key. Pods that run go on with what the Secret held when they started (`kubectl rollout restart`).
   * @default "url"
   */
  databaseSecretKey?: string;
  /**
   * Instances side by side. PostgreSQL keeps them from delivering twice.
   * @default 2
   */
  replicas?: number;
  /**
   * Memory of each in MiB. A 32nd of it is for the bodies of each queue in hand; further ones wait in files.
   * @default 512
   */
  memoryMiB?: number;
  /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
  caSecret?: string;
}

/** {@link StoreDeploymentOptions} with all defaults. */
export interface StoreDeploymentSettings {
  /** Namespace, which exists. */
  namespace: string;
  /** Image in which `rabbitmq-delay` is on PATH: Node 20 with the npm package `rabbitmq-delay`. */
  image: string;
  /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`, the output `amqpUrl` of a `RabbitMqCluster`. */
  amqpUrl: string;
  /** Name of the Secret with the address of the database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
  databaseSecret: string;
  /**
   * Its key. Pods that run go on with what the Secret held when they started (`kubectl rollout restart`).
   * @default "url"
   */
  databaseSecretKey: string;
  /**
   * Instances side by side. PostgreSQL keeps them from delivering twice.
   * @default 2
   */
  replicas: number;
  /**
   * Memory of each in MiB. A 32nd of it is for the bodies of each queue in hand; further ones wait in files.
   * @default 512
   */
  memoryMiB: number;
  /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
  caSecret?: string;
}

/** Options of a gateway's process. */
export interface GatewayDeploymentOptions {
  /** Namespace, which exists. */
  namespace: string;
  /** Image in which `rabbitmq-delay` is on PATH: Node 20 with the npm package `rabbitmq-delay`. */
  image: string;
  /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`, the output `amqpUrl` of a `RabbitMqCluster`. */
  amqpUrl: string;
  /**
   * Instances side by side.
   * @default 2
   */
  replicas?: number;
  /**
   * Memory of each in MiB. A 32nd of it is for the bodies of each queue in hand; further ones wait in files.
   * @default 256
   */
  memoryMiB?: number;
  /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
  caSecret?: string;
}

/** {@link GatewayDeploymentOptions} with all defaults. */
export interface GatewayDeploymentSettings {
  /** Namespace, which exists. */
  namespace: string;
  /** Image in which `rabbitmq-delay` is on PATH: Node 20 with the npm package `rabbitmq-delay`. */
  image: string;
  /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`, the output `amqpUrl` of a `RabbitMqCluster`. */
  amqpUrl: string;
  /**
   * Instances side by side.
   * @default 2
   */
  replicas: number;
  /**
   * Memory of each in MiB. A 32nd of it is for the bodies of each queue in hand; further ones wait in files.
   * @default 256
   */
  memoryMiB: number;
  /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
  caSecret?: string;
}

/** Properties of a stack's config. */
export interface StackConfig {
  /** Where the broker is; not for a stack that makes its own cluster. */
  broker?: {
    /** The management API; default `RABBITMQ_MANAGEMENT_URL`, else `http://127.0.0.1:15672`. */
    managementUrl?: string;
    /** Who declares; default `RABBITMQ_USERNAME`, else `guest`. */
    username?: string;
    /** The vhost that all of the stack is in; default `/`. */
    vhost?: string;
    /** File with the certificate authority of an https address, in PEM; default `RABBITMQ_CACERT`. */
    caCertFile?: string;
    /** Whether any certificate is taken for the broker's; default false. */
    insecure?: boolean;
  };
  /** A cluster on Kubernetes that this stack makes, as `RabbitMqClusterArgs`, but for its secrets. */
  cluster?: {
    /** Given as `brokerPassword`. */
    password?: undefined;
    /** Given as `removal`, for all of the stack. */
    removal?: undefined;
    /** The Kubernetes namespace, e.g. `messaging`. */
    namespace: string;
    /**
     * Whether to make the namespace, too, with pod security `restricted`; without, it exists.
     * @default false
     */
    createNamespace: boolean;
    /** Name of the cluster and of its objects; default the component's name, in a stack's config `rabbitmq`. */
    clusterName?: string;
    /**
     * `statefulset`: all objects are made here; `operator`: the RabbitMQ cluster operator makes them of one resource.
     * @default "statefulset"
     */
    mode: "statefulset" | "operator";
    /**
     * Number of nodes. Quorum queues need an odd number, and outlive the loss of the lesser half.
     * @default 3
     */
    replicas: 1 | 3 | 5;
    /**
     * The broker's image with a tag of its version, 4.1 or newer.
     * @default "rabbitmq:4.3.6"
     */
    image: string;
    /** The volume of each node. */
    storage: {
      /** Name of the StorageClass. Take one that can grow volumes, and whose reclaim policy is `Retain`. */
      className: string;
      /**
       * Size of each node's volume in GiB.
       * @default 20
       */
      sizeGiB: number;
    };
    /**
     * Memory of each node in MiB, requested and limit; at least 747 with the default watermark.
     * @default 2048
     */
    memoryMiB: number;
    /**
     * The part of its memory at which a node stops taking messages; the default is RabbitMQ's own.
     * @default 0.6
     */
    memoryWatermark: number;
    /**
     * Requested processors of each node, as a text, in YAML e.g. `"2"` or `500m`. There is no limit: throttling a node costs heartbeats.
     * @default "1"
     */
    cpu: string;
    /** Encryption towards clients; default none, plain text. */
    tls?: {
      /** Secret of type `kubernetes.io/tls`, with `ca.crt` where a ServiceMonitor is made; with `issuer` the one to make, by default `NAME-tls`. */
      secretName?: string;
      /** A cert-manager issuer; default: none, and the Secret exists. */
      issuer?: string;
      /** Kind of the issuer; default `ClusterIssuer`. */
      issuerKind?: "ClusterIssuer" | "Issuer";
      /**
       * Names in the certificate beside those of the Services, `localhost`, and the host of `managementUrl`.
       * @default []
       */
      dnsNames: string[];
    };
    /**
     * Plugins beside management, Prometheus and peer discovery, e.g. `rabbitmq_shovel`.
     * @default []
     */
    plugins: string[];
    /**
     * Further settings of rabbitmq.conf, e.g. `{"log.console.level": "warning"}`; not those that other properties make.
     * @default {}
     */
    config: Record<string, string>;
    /**
     * How many messages the dead-letter worker of a level queue has on the way at once. RabbitMQ's own 32 is for queues where a dead letter is the exception. Each is in memory on its way.
     * @default 256
     */
    deadLetterPrefetch: number;
    /** Who may connect, by namespaces; default the cluster's own namespace. */
    access?: {
      /**
       * Namespaces of services.
       * @default []
       */
      clientNamespaces: string[];
      /**
       * Namespaces of what uses the management API: an ingress controller, a CI runner.
       * @default []
       */
      managementNamespaces: string[];
      /**
       * Namespaces of what reads the metrics.
       * @default []
       */
      monitoringNamespaces: string[];
    };
    /** What of it is measured, by the Prometheus operator and Grafana; default nothing, though the metrics are there. */
    monitoring?: {
      /**
       * Whether to make a ServiceMonitor for the Prometheus operator.
       * @default false
       */
      serviceMonitor: boolean;
      /**
       * Whether to make a ConfigMap with the dashboard of delay networks, as Grafana's sidecar finds it.
       * @default false
       */
      dashboard: boolean;
      /**
       * Labels of both, where Prometheus or Grafana select by them; a dashboard has `grafana_dashboard: "1"` anyhow.
       * @default {}
       */
      labels: Record<string, string>;
    };
    /** Way in to the management API from outside; default none. */
    ingress?: {
      /** Host name, e.g. `rabbitmq.example.com`. */
      host: string;
      /** Name of the IngressClass. */
      className: string;
      /** Secret with the host's certificate. */
      tlsSecretName: string;
      /**
       * Annotations, e.g. that the controller shall speak TLS to the Service.
       * @default {}
       */
      annotations: Record<string, string>;
    };
    /** Where the program reaches the management API: the address of an ingress (default where `ingress` is given), that of a port-forward (`https://localhost:15671`), or the Service's own (default), which only pods reach. */
    managementUrl?: string;
    /** File with the certificate authority in PEM, for the program's own connections; default the system's authorities. */
    caCertFile?: string;
    /**
     * Name of the administrator that the cluster is born with.
     * @default "administrator"
     */
    username: string;
    /** What the nodes know each other by, a secret of 20 to 200 letters and digits; default: one is generated, once. */
    erlangCookie?: string;
    /**
     * How long to wait for the nodes after an update, in seconds.
     * @default 600
     */
    readyTimeoutSeconds: number;
    /**
     * How long a pod that ends waits for queues to be safe without it, in seconds.
     * @default 3600
     */
    shutdownLimitSeconds: number;
  };
  /** Whether to make the vhost, too; default false. */
  createVhost?: boolean;
  /** The delay network; needed in each stack, here or among `networks`, which is for several. What stands here is called by its prefix. */
  network?: {
    /** Names and arguments of a vendor: `nservicebus`, `nservicebus-v1` or `celery`, byte for byte, or `custom`. */
    preset: "nservicebus" | "nservicebus-v1" | "celery" | "custom";
    /** Start of all names; needed for `custom`, optional for `celery` (put before its names with `_`), fixed for the others. */
    prefix?: string;
    /** Digits per level; `custom` only, default 4. A higher radix means fewer hops and less lateness. */
    radix?: 2 | 4 | 8 | 16;
    /** Number of levels; `custom` only, default as many as a year needs, or as the broker takes if those are fewer. */
    levels?: number;
    /** Smallest delay in milliseconds; `custom` only, default 1000. */
    unitMs?: number;
    /** Type of the level queues; `custom` and `celery` only, default `quorum`. */
    queueType?: "quorum" | "classic";
    /**
     * Rule that tells endpoints apart: `exact`, the vendors' `suffix`, which also catches `OTHER.ENDPOINT`, or `enforced`: exact even though NServiceBus's senders bind by suffix; for its presets only.
     * @default "exact"
     */
    matching: "exact" | "suffix" | "enforced";
    /**
     * Whether what no binding takes is kept in a parking queue. Without it such a message stalls its level.
     * @default true
     */
    parking: boolean;
    /** Given as `broker.vhost`. */
    vhost?: undefined;
    /** Whether its network may be there already, declared by others, and come under the stack with what waits there; default false. */
    adopt?: boolean;
  };
  /** Further delay networks by name, each as `network`, e.g. the one that takes its place. The names stand on no broker. */
  networks?: Record<
    string,
    {
      /** Names and arguments of a vendor: `nservicebus`, `nservicebus-v1` or `celery`, byte for byte, or `custom`. */
      preset: "nservicebus" | "nservicebus-v1" | "celery" | "custom";
      /** Start of all names; needed for `custom`, optional for `celery` (put before its names with `_`), fixed for the others. */
      prefix?: string;
      /** Digits per level; `custom` only, default 4. A higher radix means fewer hops and less lateness. */
      radix?: 2 | 4 | 8 | 16;
      /** Number of levels; `custom` only, default as many as a year needs, or as the broker takes if those are fewer. */
      levels?: number;
      /** Smallest delay in milliseconds; `custom` only, default 1000. */
      unitMs?: number;
      /** Type of the level queues; `custom` and `celery` only, default `quorum`. */
      queueType?: "quorum" | "classic";
      /**
       * Rule that tells endpoints apart: `exact`, the vendors' `suffix`, which also catches `OTHER.ENDPOINT`, or `enforced`: exact even though NServiceBus's senders bind by suffix; for its presets only.
       * @default "exact"
       */
      matching: "exact" | "suffix" | "enforced";
      /**
       * Whether what no binding takes is kept in a parking queue. Without it such a message stalls its level.
       * @default true
       */
      parking: boolean;
      /** Given as `broker.vhost`. */
      vhost?: undefined;
      /** Whether its network may be there already, declared by others, and come under the stack with what waits there; default false. */
      adopt?: boolean;
    }
  >;
  /** Name of the network that publishers use, the output `delayNetwork`; needed where there are several. */
  current?: string;
  /** Interval queues; default: none. */
  retryIntervals?: FilledRetryIntervalsOptions;
  /** Work queues with their retry queues; default: none. */
  workQueues?: {
    /** Name of the work queue and of its topic exchange; retry queues are `NAME.retry-MS`, the dead queue is `NAME.dead`. */
    queue: string;
    /** Retry delays: texts like `5m` or `PT5M`, or milliseconds; each once, in any order. Each retry waits for the next longer one, and further ones for the longest. */
    delays: (number | string)[];
    /** Most returns of a message before it goes to the dead queue; without effect on what a consumer rejects under `rejected: retry`; default: once for each delay. */
    maxRetries?: number;
    /**
     * Binding keys of the work queue at its exchange; the default is every message.
     * @default ["#"]
     */
    patterns: string[];
    /**
     * Type of the queues that messages wait in.
     * @default "quorum"
     */
    queueType: "quorum" | "classic";
    /** Whether a message leaves a queue only when the next one has confirmed it; default true for `quorum`, `classic` can't. */
    atLeastOnce?: boolean;
    /**
     * Destination of what a consumer of the work queue rejects: `dead`, to the dead queue, or `retry`, to the shortest retry delay, for consumers that count their tries themselves.
     * @default "dead"
     */
    rejected: "dead" | "retry";
    /** Whether its exchange and queues may be there already, declared by others, and come under the stack with what waits there; default false. */
    adopt?: boolean;
  }[];
  /** Hold queues; default: none. */
  holdQueues?: FilledHoldQueuesOptions;
  /** Queues with the broker's own delayed retry, from RabbitMQ 4.3.0; default: none. */
  delayedRetryQueues?: FilledDelayedRetryOptions[];
  /** Exchanges that delay what is published to them with the header `x-delay`, as those of the delayed-message plugin did; default: none. */
  delayedExchanges?: FilledDelayedExchangeOptions[];
  /** Names of queues that many services share, as NServiceBus's `error` and `audit`: each is declared once, as a quorum queue behind a fanout exchange of its name; default: none. */
  errorQueues?: string[];
  /** The broker's side of an external store; default: none. */
  delayedStore?: {
    /**
     * Its name, and that of its intake exchange; start of all other names.
     * @default "delayed"
     */
    storeName: string;
    /**
     * Exchanges that stand for a delayed exchange each, as the archived plugin's did.
     * @default []
     */
    forwards: {
      /** What publishers publish to; it leads into the intake. */
      exchange: string;
      /** Where due messages go, under the routing key that they were published with; queues are bound here. */
      delivery: string;
      /**
       * Type of the delivery exchange.
       * @default "topic"
       */
      type: "direct" | "topic" | "fanout" | "headers";
      /** Whether both exchanges are declared here; default true. False for those of a delayed exchange whose `otherwise` is this intake exchange. */
      declare?: boolean;
    }[];
    /**
     * Whether messages may go to queues by the default exchange, which reaches all queues of the vhost; without it, a message needs a header or a forward that says where it goes.
     * @default true
     */
    toQueues: boolean;
    /**
     * Exchanges of others that messages may name in their headers.
     * @default []
     */
    exchanges: string[];
    /** User of the process that runs the store, made with the least rights; default: none. */
    user?: string;
    /** Whether a user that is on the broker already is taken over; default false. */
    adopt?: boolean;
    /** Its process on Kubernetes, beside its database; needs `user`. Default: none. */
    deployment?: {
      /** Namespace, which exists. */
      namespace: string;
      /** Image in which `rabbitmq-delay` is on PATH: Node 20 with the npm package `rabbitmq-delay`. */
      image: string;
      /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`; default that of the stack's own cluster, and needed without one. */
      amqpUrl?: string;
      /** Name of the Secret with the address of the database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. */
      databaseSecret: string;
      /**
       * Its key. Pods that run go on with what the Secret held when they started (`kubectl rollout restart`).
       * @default "url"
       */
      databaseSecretKey: string;
      /**
       * Instances side by side. PostgreSQL keeps them from delivering twice.
       * @default 2
       */
      replicas: number;
      /**
       * Memory of each in MiB. A 32nd of it is for the bodies of each queue in hand; further ones wait in files.
       * @default 512
       */
      memoryMiB: number;
      /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
      caSecret?: string;
    };
  };
  /** The broker's side of a gateway, which lets messages with any `x-delay` wait in a network; default: none. */
  delayGateway?: {
    /**
     * Its name, and that of its intake exchange; start of all other names.
     * @default "gateway"
     */
    gatewayName: string;
    /** Name of the network that messages wait in, one of the stack's; default: `current`. */
    network?: string;
    /**
     * Exchanges that stand for a delayed exchange each, as the archived plugin's did.
     * @default []
     */
    forwards: {
      /** What publishers publish to; it leads into the intake. */
      exchange: string;
      /** Where due messages go, under the routing key that they were published with; queues are bound here. */
      delivery: string;
      /**
       * Type of the delivery exchange.
       * @default "topic"
       */
      type: "direct" | "topic" | "fanout" | "headers";
      /** Whether both exchanges are declared here; default true. False for those of a delayed exchange whose `otherwise` is this intake exchange. */
      declare?: boolean;
    }[];
    /**
     * Whether messages may go to queues by the default exchange, which reaches all queues of the vhost; without it, a message needs a header or a forward that says where it goes.
     * @default true
     */
    toQueues: boolean;
    /**
     * Exchanges of others that messages may name in their headers.
     * @default []
     */
    exchanges: string[];
    /**
     * Whether one process at a time takes messages, and the others stand by, so that messages of one delay, up to the network's longest, keep their order. A change needs new queues.
     * @default false
     */
    singleActiveConsumer: boolean;
    /** User of the process that runs the gateway, made with the least rights; default: none. */
    user?: string;
    /** Whether a user that is on the broker already is taken over; default false. */
    adopt?: boolean;
    /** Its process on Kubernetes; needs `user`. Default: none. */
    deployment?: {
      /** Namespace, which exists. */
      namespace: string;
      /** Image in which `rabbitmq-delay` is on PATH: Node 20 with the npm package `rabbitmq-delay`. */
      image: string;
      /** The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`; default that of the stack's own cluster, and needed without one. */
      amqpUrl?: string;
      /**
       * Instances side by side.
       * @default 2
       */
      replicas: number;
      /**
       * Memory of each in MiB. A 32nd of it is for the bodies of each queue in hand; further ones wait in files.
       * @default 256
       */
      memoryMiB: number;
      /** Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none. */
      caSecret?: string;
    };
  };
  /** What happens on the broker to what leaves the config: `retain` (default) leaves it there with its messages, `delete` deletes it with them. */
  removal?: "retain" | "delete";
  /** Whether to refuse what no production broker should have, unless `allow` names it; default false. */
  production?: boolean;
  /** Checks of `production` to waive, by the word that the refusal names; pairs of endpoint names that a vendor's clients may mix up (`Sales with Europe.Sales`); and faults of the broker whose warnings to silence (docs/check.md). */
  allow?: string[];
  /** Queues and exchanges that receive delayed messages. */
  endpoints?: EndpointConfig[];
  /** What this stack was called before, e.g. `orders/prod`: claims of that name are its own. */
  formerOwners?: string[];
  /** Password of `broker.username`, a secret; default `RABBITMQ_PASSWORD`. */
  brokerPassword?: string;
  /** Password of `delayedStore.user`, a secret; default `RABBITMQ_STORE_PASSWORD`. */
  storePassword?: string;
  /** Password of `delayGateway.user`, a secret; default `RABBITMQ_GATEWAY_PASSWORD`. */
  gatewayPassword?: string;
}
