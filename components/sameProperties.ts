import type {
  DelayNetworkOptions,
  DelayedRetryOptions,
  DelayedStoreOptions,
  HoldQueuesOptions,
  RetryIntervalsOptions,
  WorkRetryOptions,
} from "@rabbitmq-delay/topology";
import type { DelayLevelTopologyArgs } from "./delayLevelTopology";
import type { DelayedMessageStoreArgs } from "./delayedMessageStore";
import type { DelayedRetryQueueArgs } from "./delayedRetryQueue";
import type { HoldQueuesArgs } from "./holdQueues";
import type { RetryIntervalQueuesArgs } from "./retryIntervalQueues";
import type { WorkRetryQueuesArgs } from "./workRetryQueues";

/** What a component knows of where and how it declares, beside what it declares. */
type Place = "vhost" | "removal" | "brokerVersion";

/** The properties that one of two types has and the other has not: none, or the build fails where `true` is expected. */
type Difference<A, B> = Exclude<keyof A, keyof B> | Exclude<keyof B, keyof A>;
type Same<Arguments, Options, Own extends keyof Arguments> = [Difference<Omit<Arguments, Own>, Options>] extends [never]
  ? true
  : Difference<Omit<Arguments, Own>, Options>;

/**
 * Pulumi's schema is read from interfaces, so the arguments of components stand a second time beside their schemas. This
 * compares them: a property in one and not in the other does not compile.
 */
export const sameProperties: {
  network: Same<DelayLevelTopologyArgs, Omit<DelayNetworkOptions, "vhost">, Place>;
  retryIntervals: Same<RetryIntervalQueuesArgs, RetryIntervalsOptions, Place>;
  workQueue: Same<WorkRetryQueuesArgs, WorkRetryOptions, Place>;
  holdQueues: Same<HoldQueuesArgs, HoldQueuesOptions, Place>;
  delayedRetry: Same<DelayedRetryQueueArgs, DelayedRetryOptions, "vhost" | "removal" | "broker">;
  delayedStore: Same<
    Omit<DelayedMessageStoreArgs, "storeName">,
    Omit<DelayedStoreOptions, "name">,
    Place | "user" | "credentials" | "formerOwners" | "adopt" | "deployment"
  >;
} = {
  network: true,
  retryIntervals: true,
  workQueue: true,
  holdQueues: true,
  delayedRetry: true,
  delayedStore: true,
};
