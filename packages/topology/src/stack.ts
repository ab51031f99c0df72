// What declares, checks and reviews stacks shares: components, the program, questions to brokers, review and the command.

// A stack's config and its plan.
export {
  checkAllowed,
  checkStackConfigKeys,
  emptiedParts,
  openConfigValue,
  readStackConfig,
  secretKeys,
  withoutConfigSecrets,
} from "./stackConfig";
export { VHOST_RULE } from "./vhost";
export { readBeside, shownName } from "./errors";
export { inPlainWords } from "./plainWords";
export { withNameAs } from "./store/intake";
export { showPath } from "./shownPath";
export { ConfiguredNetwork, ConfiguredNetworks } from "./network/configuredNetworks";
export { retryDescriptorOf } from "./retry/retryConfig";
export { delayGatewayOf, delayedStoreOf } from "./store/storeConfig";
export {
  StackPart,
  StackPlan,
  deadQueuesOf,
  errorQueuesOf,
  ownErrorQueue,
  planEndpoints,
  planStack,
} from "./stackPlan";
export { checkEntityName } from "./names";

// What components take, read by its schema.
export {
  ClusterOptions,
  ClusterSettings,
  CredentialOptions,
  EndpointBindingOptions,
  EndpointConfig,
  GatewayDeploymentOptions,
  StackConfig,
  StoreDeploymentOptions,
  UserOptions,
} from "./options.generated";
export { readEndpointBinding } from "./network/readEndpoint";
export { readUser } from "./access/readUser";
export { checkUserName, checkUserPassword } from "./access/credentials";
export { readCredential } from "./access/readCredential";
export { readCluster } from "./kubernetes/readCluster";
export { checkClusterPassword, checkErlangCookie } from "./kubernetes/clusterSecrets";
export { DEFAULT_IMAGE, imageVersion } from "./kubernetes/image";
export { MemoryPlan, memoryPlan } from "./kubernetes/memory";
export { isHostName } from "./kubernetes/hostName";
export { checkBrokerAddress } from "./kubernetes/brokerAddress";
export { checkDeployedUser, readGatewayDeployment, readStoreDeployment } from "./kubernetes/deployment";

// What components make, and who may have and declare it.
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
export { OwnedKind, OwnershipPlan, ownedNames, planEndpointOwnership, planOwnership } from "./access/ownership";
export {
  ALL_FAULTS,
  AccessOptions,
  AccessPlan,
  CONVENTIONAL_BASES,
  coveredNames,
  faultExchange,
  messageTypeOf,
  planAccess,
} from "./access/access";
export { planStoreAccess } from "./store/delayedStore";
export { GatewayQueues, gatewayQueues, planGatewayAccess, planGatewayQueues } from "./store/delayGateway";
export { narrowedWays } from "./store/narrowed";
export { DeclareRights, DeclaredEntities, planDeclareRights } from "./access/declareRights";

// Policies: those that a plan needs, and which one of a broker's applies.
export {
  DeliveryLimitOptions,
  deliveryLimitPolicies,
  describeQueueKey,
  describeUnlimited,
  endpointLimitPolicies,
  hasDeliveryLimit,
  isLiftedLimit,
  isUnlimited,
  limitingPreset,
  networkLimitPolicies,
} from "./policies/deliveryLimit";
export { isDetourPolicy } from "./policies/detourPolicy";
export { FoundPolicy, PolicyFinding, PolicySubject, judgePolicies } from "./policies/judgePolicies";
export { effectiveSetting } from "./policies/policyEffects";
export { appliesTo, certainlyAppliesTo, isTakenWith, ownAppliesTo } from "./policies/policyScope";
export { bindingIdentity, escapeRegex } from "./entities";
export { internalQueueName, longestInternalName } from "./internalNames";
export { shortcutsOf } from "./network/shortcuts";
export { isAtLeast } from "./version";
export { waitMsOf } from "./queueKind";

// What a broker or a preview has, beside what is planned.
export { AuditFinding, AuditSeverity, FoundOnBroker, auditBroker, auditNetwork, auditQueue } from "./audit";
export { DeclaredExchange, DeclaredQueue, compareExchange, compareQueue, compareUntyped } from "./differences";
export {
  AdoptableFound,
  AdoptedPart,
  adoptedEndpoint,
  adoptedNetwork,
  adoptedWorkQueue,
  compareAdopted,
} from "./adoption";
export {
  BoundPattern,
  BoundPatterns,
  NAME_PAIR,
  checkEndpointsApart,
  namePair,
  patternsOverlap,
  topicMatches,
} from "./network/topic";
export { networkOfDelivery, remainingMs } from "./network/recognize";
export {
  EndpointClient,
  OwnEndpoint,
  RoutingTopology,
  boundType,
  checkClientNetwork,
  endpointClients,
  planOwnEntities,
  routingTopologies,
} from "./network/clientEndpoint";
export { describeEnforced, matchingChangeOf } from "./network/enforced";
export { bindingName, canEnforce } from "./network/vendors";

// Addresses, answers and secrets that were read.
export { BrokerAnswerError } from "./brokerAnswerError";
export { isSameAddress, managementWayOut } from "./address";
export { holdsCredentials, shownAddress } from "./secrets";
export { SECRET, formsOf, replaceable, textsIn, withoutKnown } from "./knownSecrets";
export { markWarning, ownWarning } from "./warningMark";
