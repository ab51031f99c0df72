import { credentialSchema } from "./access/credentialSchema";
import { userSchema } from "./access/userSchema";
import { delayedExchangeSchema } from "./exchange/delayedExchangeSchema";
import { clusterSchema } from "./kubernetes/clusterSchema";
import { gatewayDeploymentSchema, storeDeploymentSchema } from "./kubernetes/deploymentSchema";
import { endpointBindingSchema, endpointSchema } from "./network/endpointSchema";
import { networkSchema } from "./network/networkSchema";
import { delayedRetrySchema } from "./retry/delayedRetrySchema";
import { errorQueuesSchema } from "./retry/errorQueuesSchema";
import { destinationSchema, holdQueuesSchema, holdSettingsSchema } from "./retry/holdQueuesSchema";
import { retryIntervalsSchema } from "./retry/retryIntervalsSchema";
import { workQueueSchema } from "./retry/workQueueSchema";
import { stackConfigSchema as configSchema } from "./stackSchema";
import { delayGatewaySchema } from "./store/delayGatewaySchema";
import { delayedStoreSchema } from "./store/delayedStoreSchema";

// The zod schemas, for the generator of reference, types and readers. Nothing that a program imports reaches this file.

/** A schema, and what is generated from it. */
export interface GeneratedOptions {
  /** A `z.ZodObject`; published declarations name no type of zod. */
  schema: object;
  /** Subject of the types' comments. */
  subject: string;
  /** Name of the type of options as a person writes them. */
  options?: string;
  /** Name of the type of options with all defaults; none if there is no default. */
  settings?: string;
  /** Name of the reader without its `read…Options`; none if the options are read by zod. */
  reader?: string;
  /** Whether the options are those of retries, which services read. */
  isOfRetries?: boolean;
}

/** The schema of a stack's config, a `z.ZodObject`. */
export const stackConfigSchema: () => object = configSchema;

/** Returns all schemas of which types or readers are generated. */
export function generatedOptions(): GeneratedOptions[] {
  const read = (reader: string, schema: object, subject: string): GeneratedOptions => ({
    schema,
    subject,
    options: `${reader}Options`,
    settings: `Filled${reader}Options`,
    reader,
  });
  const ofRetries = (...given: Parameters<typeof read>): GeneratedOptions => ({ ...read(...given), isOfRetries: true });
  return [
    read("DelayNetwork", networkSchema(), "a delay network"),
    ofRetries("RetryIntervals", retryIntervalsSchema(), "interval queues"),
    ofRetries("WorkRetry", workQueueSchema(), "a work queue with retries"),
    ofRetries("HoldSettings", holdSettingsSchema(), "hold queues that are declared on demand"),
    { ...ofRetries("HoldDestination", destinationSchema(), "a destination of held messages"), settings: undefined },
    ofRetries("HoldQueues", holdQueuesSchema(), "hold queues"),
    ofRetries("DelayedRetry", delayedRetrySchema(), "a queue with delayed retry"),
    read("ErrorQueues", errorQueuesSchema(), "error queues"),
    read("DelayedExchange", delayedExchangeSchema(), "a delayed exchange"),
    read("DelayedStore", delayedStoreSchema(), "the broker's side of a store"),
    read("GatewayQueues", delayGatewaySchema(), "the broker's side of a gateway, without its network"),
    { schema: endpointSchema(), subject: "an endpoint of a stack", settings: "EndpointConfig" },
    { schema: endpointBindingSchema(), subject: "the binding of an endpoint", options: "EndpointBindingOptions" },
    { schema: userSchema(), subject: "a user", options: "UserOptions" },
    { schema: credentialSchema(), subject: "a login", options: "CredentialOptions" },
    { schema: clusterSchema(), subject: "a cluster", options: "ClusterOptions", settings: "ClusterSettings" },
    {
      schema: storeDeploymentSchema(),
      subject: "a store's process",
      options: "StoreDeploymentOptions",
      settings: "StoreDeploymentSettings",
    },
    {
      schema: gatewayDeploymentSchema(),
      subject: "a gateway's process",
      options: "GatewayDeploymentOptions",
      settings: "GatewayDeploymentSettings",
    },
    { schema: configSchema(), subject: "a stack's config", settings: "StackConfig" },
  ];
}
