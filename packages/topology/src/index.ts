export { DelayTopologyError, checkInteger, checkKnown, checkOneOf } from "./errors";
export { brokerLimits, checkEntityName, checkEndpointName, utf8Length } from "./names";
export { DelayNetwork, Preset, QueueType, Matching, Radix, parseDelayNetwork, presets, queueTypes } from "./network";
export { DelayNetworkOptions, delayNetwork } from "./options";
export { digitName, levelExchangeName, levelQueueName, queueTtlMs, maximumDelayMs, keyPrefixBytes } from "./shape";
export { EncodedDelay, EncodeOptions, encodeDelay, maximumDestinationBytes } from "./encode";
export { DecodedKey, decodeRoutingKey, isNetworkKey } from "./decode";
export { RemainingDelay, RemainingDelayInput, remainingDelay } from "./remaining";
export { BindingPlan, EntityPlan, ExchangePlan, PolicyPlan, QueuePlan, parkingPolicy, planEntities } from "./entities";
export { Endpoint, EndpointPlan, bindingKey, planBinding } from "./endpoint";
export {
  BoundPattern,
  BoundPatterns,
  NAME_PAIR,
  checkEndpointsApart,
  namePair,
  patternsOverlap,
  topicMatches,
} from "./topic";
export { describeDelay, formatDelay, parseDelay, readableDelay } from "./duration";
export {
  BrokerConfigKey,
  EndpointConfigKey,
  StackConfigKey,
  checkStackConfig,
  checkStackConfigKeys,
} from "./stackConfig";
export { OwnedKind, OwnershipPlan, ownedNames, planOwnership } from "./ownership";
export { AccessOptions, AccessPlan, planAccess } from "./access";
export * from "./retry";
export * from "./store";
export { AuditFinding, AuditSeverity, FoundOnBroker, auditBroker, auditNetwork, auditQueue } from "./audit";
export { networkOfDelivery, remainingMs } from "./recognize";
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
export { FoundPolicy, PolicyFinding, PolicySubject, judgePolicies } from "./policies";
export { BrokerFault, BrokerFaultId, brokerFaultIds, brokerFaults, describeFault, faultsOf } from "./brokerFaults";
export { holdsCredentials, shownAddress } from "./secrets";
export { isSameAddress } from "./address";
export { QueueOnBroker, VhostOnBroker, auditLeftovers, auditUncounted, networksOn } from "./brokerFindings";
export { auditCollisions } from "./bindingCollisions";
export { auditDelayQueues } from "./delayQueueFindings";
export { auditStalled } from "./stalledLevels";
export { escapeRegex } from "./entities";
export {
  DeliveryLimitOptions,
  deliveryLimitPolicies,
  endpointLimitPolicies,
  networkLimitPolicies,
  nserviceBusLimitPolicy,
} from "./deliveryLimit";
export { isAtLeast } from "./version";
export { appliesTo, certainlyAppliesTo } from "./policyScope";
export { DeclareRights, DeclaredEntities, planDeclareRights } from "./declareRights";
export { DeclaredExchange, DeclaredQueue, compareExchange, compareQueue } from "./differences";
export { PartsOnBroker, PlannedPart, auditPart, auditShortcuts, isPartThere } from "./auditPlan";
export { appliesTo as policyAppliesTo } from "./policyScope";
