import type {
  DelayNetwork,
  DelayNetworkOptions,
  DelayedRetry,
  DelayedRetryOptions,
  DelayedStore,
  DelayedStoreOptions,
  ErrorQueuesOptions,
  HoldQueues,
  HoldQueuesOptions,
  RetryIntervals,
  RetryIntervalsOptions,
  WorkRetry,
  WorkRetryOptions,
} from "@rabbitmq-delay/topology";
import type {
  ClusterOptions,
  CredentialOptions,
  EndpointBindingOptions,
  GatewayDeploymentOptions,
  StoreDeploymentOptions,
  UserOptions,
} from "@rabbitmq-delay/topology/stack";
import type {
  ClusterAccessArgs,
  ClusterIngressArgs,
  ClusterMonitoringArgs,
  ClusterStorageArgs,
  ClusterTlsArgs,
  RabbitMqClusterArgs,
} from "./cluster/args";
import type { DelayLevelTopologyArgs } from "./delayLevelTopology";
import type { DelayNetworkDescriptor } from "./descriptor";
import type { DelayedMessageStoreArgs, DelayedStoreDescriptor } from "./delayedMessageStore";
import type { DelayedRetryDescriptor, DelayedRetryQueueArgs } from "./delayedRetryQueue";
import type { EndpointDelayBindingArgs } from "./endpointDelayBinding";
import type { EndpointUserArgs } from "./endpointUser";
import type { ErrorQueuesArgs } from "./errorQueues";
import type { HoldQueuesArgs, HoldQueuesDescriptor } from "./holdQueues";
import type { EndpointCredential } from "./logins";
import type { GatewayDeploymentArgs } from "./process/gatewayDeployment";
import type { StoreDeploymentArgs } from "./process/storeDeployment";
import type { RetryIntervalQueuesArgs, RetryIntervalsDescriptor } from "./retryIntervalQueues";
import type { WorkRetryDescriptor, WorkRetryQueuesArgs } from "./workRetryQueues";

/** What a part of a cluster's options is, where it is given. */
type ClusterPart<Part extends keyof ClusterOptions> = NonNullable<ClusterOptions[Part]>;

/** What a component knows of where and how it declares, beside what it declares. */
type Place = "vhost" | "removal" | "brokerVersion";

/** The properties that a descriptor has here and in the pure core: all of the one stand in the other. */
type SameDescriptor<Here, Core> = Same<Here, Core, never>;

/** The properties that one of two types has and the other has not: none, or the build fails where `true` is expected. */
type Difference<A, B> = Exclude<keyof A, keyof B> | Exclude<keyof B, keyof A>;
type Same<Arguments, Options, Own extends keyof Arguments> = [Difference<Omit<Arguments, Own>, Options>] extends [never]
  ? true
  : Difference<Omit<Arguments, Own>, Options>;

/**
 * Pulumi's schema is read from interfaces, so the arguments of components stand a second time beside their schemas, and descriptors beside
 * those of the pure core. This compares them: a property in one and not in the other does not compile, and the error names it.
 */
export const sameProperties: {
  network: Same<DelayLevelTopologyArgs, Omit<DelayNetworkOptions, "vhost">, Place | "adopt">;
  retryIntervals: Same<RetryIntervalQueuesArgs, RetryIntervalsOptions, Place>;
  workQueue: Same<WorkRetryQueuesArgs, WorkRetryOptions, Place | "adopt">;
  holdQueues: Same<HoldQueuesArgs, HoldQueuesOptions, Place>;
  delayedRetry: Same<DelayedRetryQueueArgs, DelayedRetryOptions, "vhost" | "removal" | "broker">;
  delayedStore: Same<
    Omit<DelayedMessageStoreArgs, "storeName">,
    Omit<DelayedStoreOptions, "name">,
    Place | "user" | "credentials" | "formerOwners" | "adopt" | "deployment"
  >;
  endpoint: Same<EndpointDelayBindingArgs, EndpointBindingOptions, never>;
  user: Same<EndpointUserArgs, UserOptions, never>;
  credential: Same<EndpointCredential, CredentialOptions, never>;
  errorQueues: Same<ErrorQueuesArgs, ErrorQueuesOptions, Place>;
  storeDeployment: Same<StoreDeploymentArgs, StoreDeploymentOptions, never>;
  gatewayDeployment: Same<GatewayDeploymentArgs, GatewayDeploymentOptions, never>;
  cluster: Same<RabbitMqClusterArgs, ClusterOptions, never>;
  clusterStorage: Same<ClusterStorageArgs, ClusterPart<"storage">, never>;
  clusterTls: Same<ClusterTlsArgs, ClusterPart<"tls">, never>;
  clusterAccess: Same<ClusterAccessArgs, ClusterPart<"access">, never>;
  clusterMonitoring: Same<ClusterMonitoringArgs, ClusterPart<"monitoring">, never>;
  clusterIngress: Same<ClusterIngressArgs, ClusterPart<"ingress">, never>;
  networkDescriptor: SameDescriptor<DelayNetworkDescriptor, DelayNetwork>;
  retryIntervalsDescriptor: SameDescriptor<RetryIntervalsDescriptor, RetryIntervals>;
  workQueueDescriptor: SameDescriptor<WorkRetryDescriptor, WorkRetry>;
  holdQueuesDescriptor: SameDescriptor<HoldQueuesDescriptor, HoldQueues>;
  delayedRetryDescriptor: SameDescriptor<DelayedRetryDescriptor, DelayedRetry>;
  delayedStoreDescriptor: SameDescriptor<DelayedStoreDescriptor, DelayedStore>;
} = {
  network: true,
  retryIntervals: true,
  workQueue: true,
  holdQueues: true,
  delayedRetry: true,
  delayedStore: true,
  endpoint: true,
  user: true,
  credential: true,
  errorQueues: true,
  storeDeployment: true,
  gatewayDeployment: true,
  cluster: true,
  clusterStorage: true,
  clusterTls: true,
  clusterAccess: true,
  clusterMonitoring: true,
  clusterIngress: true,
  networkDescriptor: true,
  retryIntervalsDescriptor: true,
  workQueueDescriptor: true,
  holdQueuesDescriptor: true,
  delayedRetryDescriptor: true,
  delayedStoreDescriptor: true,
};
