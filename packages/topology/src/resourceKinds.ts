/** What a resource is to messages. A review has a rule for each, and does not compile without. */
export type ResourceKind =
  /* on the broker */
  | "queue"
  | "exchange"
  | "binding"
  | "policy"
  | "vhost"
  | "user"
  | "permissions"
  | "provider"
  /* what a broker or a store is made of */
  | "namespace"
  | "cluster"
  | "nodes"
  | "volume"
  | "secret"
  | "password"
  | "definition"
  | "surroundings";

/** What is known of one type of resources. */
export interface ResourceRule {
  kind: ResourceKind;
  /**
   * What goes with it when it is deleted, and nobody keeps it: the messages in it, the way of those that are elsewhere, access, or
   * nothing.
   */
  holds: "messages" | "ways" | "access" | "nothing";
  /** What its loss means, a sentence. */
  loss: string;
}

/** A part of a cluster or of a store's process that holds nothing. */
const surroundings = {
  kind: "surroundings",
  holds: "nothing",
  loss: "Nothing that waits is lost; what it does is not done while it is gone.",
} as const;

/** All types of resources that the components and the program make, by their type tokens; and volumes, which are made for them. */
export const resourceKinds = {
  "rabbitmq:index/queue:Queue": {
    kind: "queue",
    holds: "messages",
    loss: "All messages that wait in it are lost.",
  },
  "rabbitmq:index/exchange:Exchange": {
    kind: "exchange",
    holds: "ways",
    loss: "Who publishes to it is refused, and what is dead-lettered to it is held back or lost.",
  },
  "rabbitmq:index/binding:Binding": {
    kind: "binding",
    holds: "ways",
    loss: "What comes by it is parked, held back or lost.",
  },
  "rabbitmq:index/policy:Policy": {
    kind: "policy",
    holds: "ways",
    loss: "What it kept from being dropped (parking, delivery limits, dead letters) is dropped from then on.",
  },
  "rabbitmq:index/operatorPolicy:OperatorPolicy": {
    kind: "policy",
    holds: "ways",
    loss: "What it kept from being dropped (parking, delivery limits, dead letters) is dropped from then on.",
  },
  "rabbitmq:index/vHost:VHost": {
    kind: "vhost",
    holds: "messages",
    loss: "All its queues go with all messages in them.",
  },
  "rabbitmq:index/user:User": { kind: "user", holds: "access", loss: "Who connects as this user is refused." },
  "rabbitmq:index/permissions:Permissions": {
    kind: "permissions",
    holds: "access",
    loss: "The user may no longer do what they allow.",
  },
  "rabbitmq:index/topicPermissions:TopicPermissions": {
    kind: "permissions",
    holds: "access",
    loss: "The user may no longer do what they allow.",
  },
  "pulumi:providers:rabbitmq": {
    kind: "provider",
    holds: "nothing",
    loss: "No resource of the broker can be changed any more.",
  },
  "random:index/randomPassword:RandomPassword": {
    kind: "password",
    holds: "access",
    loss: "Another password is made, which the broker does not know yet.",
  },
  "random:index/randomUuid:RandomUuid": surroundings,
  "kubernetes:core/v1:Namespace": {
    kind: "namespace",
    holds: "messages",
    loss: "Everything in it goes: the nodes, their Secrets, and the claims of their volumes with all messages on them.",
  },
  "kubernetes:rabbitmq.com/v1beta1:RabbitmqCluster": {
    kind: "cluster",
    holds: "messages",
    loss: "Its operator deletes the nodes with their volumes, and all messages on them.",
  },
  "kubernetes:apps/v1:StatefulSet": {
    kind: "nodes",
    holds: "messages",
    loss: "The broker stops. The volumes stay with their messages, unless the StatefulSet says otherwise or has none.",
  },
  "kubernetes:core/v1:PersistentVolumeClaim": {
    kind: "volume",
    holds: "messages",
    loss: "The volume goes with all messages on it, unless its class keeps it.",
  },
  "kubernetes:core/v1:PersistentVolume": {
    kind: "volume",
    holds: "messages",
    loss: "The volume goes with all messages on it, unless its class keeps it.",
  },
  "kubernetes:core/v1:Secret": {
    kind: "secret",
    holds: "access",
    loss: "Nodes that restart find neither their administrator nor the cookie by which they know each other, and a generated one is gone for good.",
  },
  "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": {
    kind: "definition",
    holds: "messages",
    loss: "Kubernetes deletes every object of that kind with it: of `rabbitmqclusters.rabbitmq.com`, all clusters.",
  },
  "kubernetes:core/v1:ConfigMap": surroundings,
  "kubernetes:core/v1:Service": surroundings,
  "kubernetes:core/v1:ServiceAccount": surroundings,
  "kubernetes:policy/v1:PodDisruptionBudget": surroundings,
  "kubernetes:networking.k8s.io/v1:NetworkPolicy": surroundings,
  "kubernetes:networking.k8s.io/v1:Ingress": surroundings,
  "kubernetes:cert-manager.io/v1:Certificate": surroundings,
  "kubernetes:monitoring.coreos.com/v1:ServiceMonitor": surroundings,
  "kubernetes:apps/v1:Deployment": surroundings,
} as const satisfies Record<string, ResourceRule>;

/** The type token of a resource that this project knows. */
export type ResourceToken = keyof typeof resourceKinds;

/** What a component is made of. */
export interface ComponentRule {
  /** What it is called in a report. */
  subject: string;
  /** Types of the resources that it can make. */
  makes: readonly ResourceToken[];
}

const [exchange, queue, binding, policy] = [
  "rabbitmq:index/exchange:Exchange",
  "rabbitmq:index/queue:Queue",
  "rabbitmq:index/binding:Binding",
  "rabbitmq:index/policy:Policy",
] as const;
const login = [
  "rabbitmq:index/user:User",
  "rabbitmq:index/permissions:Permissions",
  "rabbitmq:index/topicPermissions:TopicPermissions",
  "random:index/randomPassword:RandomPassword",
] as const;

const deployment = [
  "random:index/randomUuid:RandomUuid",
  "kubernetes:core/v1:Secret",
  "kubernetes:core/v1:ConfigMap",
  "kubernetes:apps/v1:Deployment",
  "kubernetes:policy/v1:PodDisruptionBudget",
] as const;

/** Every component, by its class. */
export const componentKinds = {
  DelayLevelTopology: { subject: "network", makes: [exchange, queue, binding, policy] },
  EndpointDelayBinding: { subject: "endpoint", makes: [exchange, queue, binding, policy] },
  RetryIntervalQueues: { subject: "interval queues", makes: [exchange, queue, binding, policy] },
  WorkRetryQueues: { subject: "work queue", makes: [exchange, queue, binding, policy] },
  HoldQueues: { subject: "hold queues", makes: [exchange, queue, binding, policy] },
  DelayedRetryQueue: { subject: "delayed retry queue", makes: [exchange, queue, binding, policy] },
  DelayedExchange: { subject: "delayed exchange", makes: [exchange, queue, binding, policy] },
  ErrorQueues: { subject: "error queues", makes: [exchange, queue, binding, policy] },
  DelayedMessageStore: {
    subject: "external store",
    makes: [exchange, queue, binding, policy, ...login, ...deployment],
  },
  DelayGateway: { subject: "gateway", makes: [exchange, queue, binding, policy, ...login, ...deployment] },
  EndpointUser: { subject: "service's user", makes: [exchange, queue, binding, policy, ...login] },
  RabbitMqCluster: {
    subject: "cluster",
    makes: [
      "pulumi:providers:rabbitmq",
      "random:index/randomPassword:RandomPassword",
      "kubernetes:core/v1:Namespace",
      "kubernetes:rabbitmq.com/v1beta1:RabbitmqCluster",
      "kubernetes:apps/v1:StatefulSet",
      "kubernetes:core/v1:Secret",
      "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
      "kubernetes:core/v1:ConfigMap",
      "kubernetes:core/v1:Service",
      "kubernetes:core/v1:ServiceAccount",
      "kubernetes:policy/v1:PodDisruptionBudget",
      "kubernetes:networking.k8s.io/v1:NetworkPolicy",
      "kubernetes:networking.k8s.io/v1:Ingress",
      "kubernetes:cert-manager.io/v1:Certificate",
      "kubernetes:monitoring.coreos.com/v1:ServiceMonitor",
    ],
  },
} as const satisfies Record<string, ComponentRule>;

/** The class of a component. */
export type ComponentName = keyof typeof componentKinds;

/** What is known of a type of resources; undefined for one that this project does not make. */
export function resourceRule(token: string): ResourceRule | undefined {
  return Object.hasOwn(resourceKinds, token) ? resourceKinds[token as ResourceToken] : undefined;
}

/** The component that a type token names; undefined for another one. */
export function componentOf(token: string): ComponentName | undefined {
  const name = /^rabbitmq-delay:index:(\w+)$/.exec(token)?.[1];
  return name !== undefined && Object.hasOwn(componentKinds, name) ? (name as ComponentName) : undefined;
}
