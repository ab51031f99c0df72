// What publishers, consumers and tools need of a network, of ways to retry and of a store that are declared; what declares, checks and
// reviews them takes more from ./stack.

// A network: its descriptor, its options, and what it consists of.
export { DelayTopologyError } from "./errors";
export {
  DelayNetwork,
  DelayNetworkJson,
  Preset,
  QueueType,
  Matching,
  Radix,
  matchings,
  presets,
  queueTypes,
} from "./network/delayNetwork";
export { openedJson } from "./openedJson";
export { parseDelayNetwork } from "./network/descriptor";
export { delayNetwork } from "./network/options";
export {
  digitName,
  levelExchangeName,
  levelQueueName,
  maximumDelayMs,
  maximumDestinationBytes,
  queueTtlMs,
} from "./network/levels";
export { BindingPlan, EntityPlan, ExchangePlan, PolicyPlan, QueuePlan, parkingPolicy, planEntities } from "./entities";
export { Endpoint, EndpointPlan, bindingKey, planBinding } from "./network/endpoint";

// Options that descriptors are made from.
export {
  DelayNetworkOptions,
  DelayedExchangeOptions,
  DelayedRetryOptions,
  DelayedStoreOptions,
  ErrorQueuesOptions,
  HoldQueuesOptions,
  HoldSettingsOptions,
  RetryIntervalsOptions,
  WorkRetryOptions,
} from "./options.generated";

// Keys and delays, for publishers.
export { EncodedDelay, EncodeOptions, encodeDelay } from "./network/encode";
export { DecodedKey, decodeRoutingKey } from "./network/decode";
export { describeDelay, formatDelay, parseDelay, readableDelay } from "./duration";
export { brokerLimits, utf8Length } from "./names";

// Ways to retry and to hold, for consumers.
export * from "./retry";

// A delayed exchange, for whoever publishes to it.
export * from "./exchange";

// A store, for its process.
export * from "./store";
