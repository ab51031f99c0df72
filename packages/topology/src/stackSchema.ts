import type { z } from "zod";
import { userName } from "./access/credentialSchema";
import { delayedExchangeSchema } from "./exchange/delayedExchangeSchema";
import { clusterSchema } from "./kubernetes/clusterSchema";
import { checkBrokerAddress } from "./kubernetes/brokerAddress";
import { gatewayDeploymentSchema, storeDeploymentSchema } from "./kubernetes/deploymentSchema";
import { checkNetworkName } from "./names";
import { endpointSchema } from "./network/endpointSchema";
import { networkSchema } from "./network/networkSchema";
import { removals } from "./removal";
import { delayedRetrySchema } from "./retry/delayedRetrySchema";
import { holdQueuesSchema } from "./retry/holdQueuesSchema";
import { retryIntervalsSchema } from "./retry/retryIntervalsSchema";
import { checkErrorQueueNames } from "./retry/rules";
import { workQueueSchema } from "./retry/workQueueSchema";
import { adopt } from "./schema/adopt";
import { filePath, flag, listBy, object, oneOf, text, textBy } from "./schema/fields";
import { secret } from "./schema/secret";
import { lazily, zod } from "./schema/zod";
import { delayGatewaySchema } from "./store/delayGatewaySchema";
import { delayedStoreSchema } from "./store/delayedStoreSchema";
import { checkStackVhost } from "./vhost";

/** Where the broker of a stack is. */
export const brokerSchema = lazily(() =>
  object({
    managementUrl: zod()
      .url({ protocol: /^https?$/, error: "it must be an http or https address" })
      .optional()
      .describe("The management API; default `RABBITMQ_MANAGEMENT_URL`, else `http://127.0.0.1:15672`."),
    username: text().optional().describe("Who declares; default `RABBITMQ_USERNAME`, else `guest`."),
    vhost: textBy(checkStackVhost).optional().describe("The vhost that all of the stack is in; default `/`."),
    caCertFile: filePath()
      .optional()
      .describe("File with the certificate authority of an https address, in PEM; default `RABBITMQ_CACERT`."),
    insecure: flag().optional().describe("Whether any certificate is taken for the broker's; default false."),
  }),
);

/** An external store as a stack's config has it. */
export const storeSchema = lazily(() => {
  const { name: storeName, ...brokerSide } = delayedStoreSchema().shape;
  return object({
    storeName,
    ...brokerSide,
    user: userName()
      .optional()
      .describe("User of the process that runs the store, made with the least rights; default: none."),
    adopt: flag().optional().describe("Whether a user that is on the broker already is taken over; default false."),
    deployment: object({ ...storeDeploymentSchema().shape, amqpUrl: amqpUrlInStack() })
      .optional()
      .describe("Its process on Kubernetes, beside its database; needs `user`. Default: none."),
  });
});

function amqpUrlInStack(): z.ZodOptional<z.ZodString> {
  return textBy(checkBrokerAddress)
    .optional()
    .describe(
      "The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`; default that of the stack's own cluster, and needed without one.",
    );
}

/** A gateway as a stack's config has it. */
export const gatewayInStack = lazily(() => {
  const { name: gatewayName, ...brokerSide } = delayGatewaySchema().shape;
  return object({
    gatewayName,
    network: text()
      .optional()
      .describe("Name of the network that messages wait in, one of the stack's; default: `current`."),
    ...brokerSide,
    user: userName()
      .optional()
      .describe("User of the process that runs the gateway, made with the least rights; default: none."),
    adopt: flag().optional().describe("Whether a user that is on the broker already is taken over; default false."),
    deployment: object({ ...gatewayDeploymentSchema().shape, amqpUrl: amqpUrlInStack() })
      .optional()
      .describe("Its process on Kubernetes; needs `user`. Default: none."),
  });
});

/** A network of a stack, which is in the stack's vhost. */
export const networkInStack = lazily(() =>
  object({
    ...networkSchema().shape,
    adopt: adopt("network"),
    vhost: zod().never({ error: "give it as broker.vhost" }).optional().describe("Given as `broker.vhost`."),
  }),
);

/** A cluster that a stack makes; what the stack says for all of itself is not said here once more. */
const clusterInStack = lazily(() =>
  object({
    // First, so that a secret in its place is what is spoken of.
    password: zod()
      .never({ error: "give it as brokerPassword, a secret" })
      .optional()
      .describe("Given as `brokerPassword`."),
    removal: zod()
      .never({ error: "give it as removal, for all of the stack" })
      .optional()
      .describe("Given as `removal`, for all of the stack."),
    ...clusterSchema().omit({ password: true, removal: true }).shape,
  }),
);

/** A work queue of a stack. */
const workQueueInStack = lazily(() => object({ ...workQueueSchema().shape, adopt: adopt("exchange and queues") }));

/** What a secret is in a config: the text once the engine has decrypted it, which is JSON where the secret was given parts. */
function secretText(): z.ZodString {
  const error = "it must be a text without parts, and no JSON of an object or a list";
  return secret(
    zod()
      .string({ error: "it must be a text" })
      .refine((text) => !hasParts(text), { error }),
  );
}

function hasParts(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

/** All that a stack's config may have; the last three are secrets. */
export const stackConfigSchema = lazily(() =>
  object({
    broker: brokerSchema().optional().describe("Where the broker is; not for a stack that makes its own cluster."),
    cluster: clusterInStack()
      .optional()
      .describe("A cluster on Kubernetes that this stack makes, as `RabbitMqClusterArgs`, but for its secrets."),
    createVhost: flag().optional().describe("Whether to make the vhost, too; default false."),
    network: networkInStack()
      .optional()
      .describe(
        "The delay network; needed in each stack, here or among `networks`, which is for several. What stands here is called by its prefix.",
      ),
    networks: zod()
      .record(textBy(checkNetworkName), networkInStack(), { error: "it must be an object with a network by each name" })
      .optional()
      .describe(
        "Further delay networks by name, each as `network`, e.g. the one that takes its place. The names stand on no broker.",
      ),
    current: text()
      .optional()
      .describe("Name of the network that publishers use, the output `delayNetwork`; needed where there are several."),
    retryIntervals: retryIntervalsSchema().optional().describe("Interval queues; default: none."),
    workQueues: zod()
      .array(workQueueInStack(), { error: "it must be a list" })
      .optional()
      .describe("Work queues with their retry queues; default: none."),
    holdQueues: holdQueuesSchema().optional().describe("Hold queues; default: none."),
    delayedRetryQueues: zod()
      .array(delayedRetrySchema(), { error: "it must be a list" })
      .optional()
      .describe("Queues with the broker's own delayed retry, from RabbitMQ 4.3.0; default: none."),
    delayedExchanges: zod()
      .array(delayedExchangeSchema(), { error: "it must be a list" })
      .optional()
      .describe(
        "Exchanges that delay what is published to them with the header `x-delay`, as those of the delayed-message plugin did; default: none.",
      ),
    errorQueues: listBy(text(), checkErrorQueueNames)
      .optional()
      .describe(
        "Names of queues that many services share, as NServiceBus's `error` and `audit`: each is declared once, as a quorum queue behind a fanout exchange of its name; default: none.",
      ),
    delayedStore: storeSchema().optional().describe("The broker's side of an external store; default: none."),
    delayGateway: gatewayInStack()
      .optional()
      .describe(
        "The broker's side of a gateway, which lets messages with any `x-delay` wait in a network; default: none.",
      ),
    removal: oneOf(removals)
      .optional()
      .describe(
        "What happens on the broker to what leaves the config: `retain` (default) leaves it there with its messages, `delete` deletes it with them.",
      ),
    production: flag()
      .optional()
      .describe("Whether to refuse what no production broker should have, unless `allow` names it; default false."),
    allow: zod()
      .array(text(), { error: "it must be a list" })
      .optional()
      .describe(
        "Checks of `production` to waive, by the word that the refusal names; pairs of endpoint names that a vendor's clients may mix up (`Sales with Europe.Sales`); and faults of the broker whose warnings to silence (docs/check.md).",
      ),
    endpoints: zod()
      .array(endpointSchema(), { error: "it must be a list" })
      .optional()
      .describe("Queues and exchanges that receive delayed messages."),
    formerOwners: zod()
      .array(text(), { error: "it must be a list" })
      .optional()
      .describe("What this stack was called before, e.g. `orders/prod`: claims of that name are its own."),
    brokerPassword: secretText()
      .optional()
      .describe("Password of `broker.username`, a secret; default `RABBITMQ_PASSWORD`."),
    storePassword: secretText()
      .optional()
      .describe("Password of `delayedStore.user`, a secret; default `RABBITMQ_STORE_PASSWORD`."),
    gatewayPassword: secretText()
      .optional()
      .describe("Password of `delayGateway.user`, a secret; default `RABBITMQ_GATEWAY_PASSWORD`."),
  }),
);
