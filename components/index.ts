export { DelayLevelTopology, DelayLevelTopologyArgs } from "./delayLevelTopology";
export { EndpointDelayBinding, EndpointDelayBindingArgs } from "./endpointDelayBinding";
export { RetryIntervalQueues, RetryIntervalQueuesArgs, RetryIntervalsDescriptor } from "./retryIntervalQueues";
export { WorkRetryQueues, WorkRetryQueuesArgs, WorkRetryDescriptor } from "./workRetryQueues";
export { DelayedExchange, DelayedExchangeArgs, DelayedExchangeDescriptor } from "./delayedExchange";
export { ErrorQueues, ErrorQueuesArgs } from "./errorQueues";
export { HoldDestinationArgs, HoldQueues, HoldQueuesArgs, HoldQueuesDescriptor } from "./holdQueues";
export { DelayedRetryDescriptor, DelayedRetryQueue, DelayedRetryQueueArgs } from "./delayedRetryQueue";
export { EndpointUser, EndpointUserArgs } from "./endpointUser";
export { EndpointCredential } from "./logins";
export { RabbitMqCluster } from "./rabbitMqCluster";
export {
  ClusterAccessArgs,
  ClusterIngressArgs,
  ClusterMonitoringArgs,
  ClusterStorageArgs,
  ClusterTlsArgs,
  RabbitMqClusterArgs,
} from "./cluster/args";
export {
  DelayedMessageStore,
  DelayedMessageStoreArgs,
  DelayedStoreDescriptor,
  StoreForwardArgs,
  StoreForwardDescriptor,
} from "./delayedMessageStore";
export { StoreDeploymentArgs } from "./process/storeDeployment";
export { DelayGateway, DelayGatewayArgs, DelayGatewayDescriptor } from "./delayGateway";
export { GatewayDeploymentArgs } from "./process/gatewayDeployment";
export { DelayNetworkDescriptor, DelayNetworkSource, JoinedNetwork } from "./descriptor";
export {
  ClusterMode,
  DelayedRetrySettings,
  DelayedRetryType,
  DeliveryType,
  EndpointClient,
  EndpointType,
  IssuerKind,
  Matching,
  Preset,
  QueueType,
  Rejection,
  Removal,
  RoutingTopology,
} from "./enums";
export { BrokerAddressArgs } from "./brokerAddress";
