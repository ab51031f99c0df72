export { DelayTopologyError, checkInteger, checkKnown, checkOneOf } from "./errors";
export { brokerLimits, checkEntityName, utf8Length } from "./names";
export { parseDelayNetwork } from "./network/descriptor";
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
export { ConfiguredNetwork, ConfiguredNetworks } from "./network/configuredNetworks";
export { DelayNetworkOptions, delayNetwork } from "./network/options";
export {
  digitName,
  levelExchangeName,
  levelQueueName,
  maximumDelayMs,
  maximumDestinationBytes,
  queueTtlMs,
} from "./network/levels";
export { EncodedDelay, EncodeOptions, encodeDelay } from "./network/encode";
export { DecodedKey, decodeRoutingKey } from "./network/decode";
export { BrokerAnswerError } from "./brokerAnswerError";
export { openedJson } from "./openedJson";
export { BindingPlan, EntityPlan, ExchangePlan, PolicyPlan, QueuePlan, parkingPolicy, planEntities } from "./entities";
export { Endpoint, EndpointPlan, bindingKey, planBinding } from "./network/endpoint";
export {
  BoundPattern,
  BoundPatterns,
  NAME_PAIR,
  checkEndpointsApart,
  namePair,
  patternsOverlap,
  topicMatches,
} from "./network/topic";
export { StackPart, StackPlan, planEndpoints, planStack } from "./stackPlan";
export { describeDelay, formatDelay, parseDelay, readableDelay } from "./duration";
export {
  EndpointConfig,
  StackConfig,
  checkAllowed,
  checkStackConfigKeys,
  VHOST_RULE,
  emptiedParts,
  openConfigValue,
  readStackConfig,
  secretKeys,
  stackConfigSchema,
} from "./stackConfig";
export { OwnedKind, OwnershipPlan, ownedNames, planOwnership } from "./access/ownership";
export { AccessOptions, AccessPlan, planAccess } from "./access/access";
export * from "./retry";
export * from "./store";
export { AuditFinding, AuditSeverity, FoundOnBroker, auditBroker, auditNetwork, auditQueue } from "./audit";
export { networkOfDelivery, remainingMs } from "./network/recognize";
export {
  ComponentName,
  ComponentRule,
  ResourceKind,
  ResourceRule,
  ResourceToken,
  componentKinds,
  componentOf,
  resourceKinds,
  resourceRule,
} from "./resourceKinds";
export { FoundPolicy, PolicyFinding, PolicySubject, judgePolicies } from "./policies/judgePolicies";
export { holdsCredentials, shownAddress } from "./secrets";
export { isSameAddress } from "./address";
export { escapeRegex } from "./entities";
export {
  DeliveryLimitOptions,
  deliveryLimitPolicies,
  endpointLimitPolicies,
  limitingPreset,
  networkLimitPolicies,
} from "./policies/deliveryLimit";
export { isAtLeast } from "./version";
export { appliesTo, certainlyAppliesTo, ownAppliesTo } from "./policies/policyScope";
export { DeclareRights, DeclaredEntities, planDeclareRights } from "./access/declareRights";
export { DeclaredExchange, DeclaredQueue, compareExchange, compareQueue } from "./differences";
