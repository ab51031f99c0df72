// Enums as constants: a program may write the plain text, and other languages get a real enum out of the schema.

/** Whose names and arguments a network has. */
export const Preset = {
  NServiceBus: "nservicebus",
  NServiceBusV1: "nservicebus-v1",
  Celery: "celery",
  Custom: "custom",
} as const;
export type Preset = (typeof Preset)[keyof typeof Preset];

/** Kind of queue. */
export const QueueType = { Quorum: "quorum", Classic: "classic" } as const;
export type QueueType = (typeof QueueType)[keyof typeof QueueType];

/**
 * Rule that tells endpoints apart: `exact`; the vendors' `suffix`, which also catches `OTHER.ENDPOINT`; or `enforced`, exact even though
 * NServiceBus's senders bind by suffix.
 */
export const Matching = { Exact: "exact", Suffix: "suffix", Enforced: "enforced" } as const;
export type Matching = (typeof Matching)[keyof typeof Matching];

/** Whose client consumes an endpoint's queue. */
export const EndpointClient = { NServiceBus: "nservicebus", MassTransit: "masstransit", Celery: "celery" } as const;
export type EndpointClient = (typeof EndpointClient)[keyof typeof EndpointClient];

/** How NServiceBus routes: by a fanout exchange in front of each queue (`conventional`), or to the queues themselves (`direct`). */
export const RoutingTopology = { Conventional: "conventional", Direct: "direct" } as const;
export type RoutingTopology = (typeof RoutingTopology)[keyof typeof RoutingTopology];

/** What an endpoint is on the broker. */
export const EndpointType = { Queue: "queue", Exchange: "exchange" } as const;
export type EndpointType = (typeof EndpointType)[keyof typeof EndpointType];

/** What happens on the broker when something leaves the program: `retain` leaves it there with its messages. */
export const Removal = { Retain: "retain", Delete: "delete" } as const;
export type Removal = (typeof Removal)[keyof typeof Removal];

/** Where a work queue sends what is rejected: to the dead queue, or to the shortest retry delay. */
export const Rejection = { Dead: "dead", Retry: "retry" } as const;
export type Rejection = (typeof Rejection)[keyof typeof Rejection];

/** Which returned messages RabbitMQ 4.3 delays: failed ones, those given back without a failure, or all. */
export const DelayedRetryType = { Failed: "failed", Returned: "returned", All: "all" } as const;
export type DelayedRetryType = (typeof DelayedRetryType)[keyof typeof DelayedRetryType];

/** Where a delayed retry's settings stand: in the queue's arguments, or in a policy, which can be changed later. */
export const DelayedRetrySettings = { Arguments: "arguments", Policy: "policy" } as const;
export type DelayedRetrySettings = (typeof DelayedRetrySettings)[keyof typeof DelayedRetrySettings];

/** Type of an exchange behind an external store. */
export const DeliveryType = { Topic: "topic", Direct: "direct", Fanout: "fanout", Headers: "headers" } as const;
export type DeliveryType = (typeof DeliveryType)[keyof typeof DeliveryType];

/** Who makes a cluster's pods: this package itself, or the RabbitMQ cluster operator. */
export const ClusterMode = { StatefulSet: "statefulset", Operator: "operator" } as const;
export type ClusterMode = (typeof ClusterMode)[keyof typeof ClusterMode];

/** Kind of a cert-manager issuer: of the cluster's namespace, or of all namespaces. */
export const IssuerKind = { Issuer: "Issuer", ClusterIssuer: "ClusterIssuer" } as const;
export type IssuerKind = (typeof IssuerKind)[keyof typeof IssuerKind];
