import type { z } from "zod";
import { object, textBy, wholeNumber } from "../schema/fields";
import { lazily } from "../schema/zod";
import { checkBrokerAddress } from "./brokerAddress";
import { namespaceName, objectName, secretKey, taggedImage } from "./nameSchema";

const MOST_MEMORY_MIB = 65_536;

const MEMORY =
  "Memory of each in MiB. A 32nd of it is for the bodies of each queue in hand; further ones wait in files.";

/** A store's process on Kubernetes, beside its database. */
export const storeDeploymentSchema = lazily(() =>
  object({
    ...whereAndWhat(),
    databaseSecret: objectName().describe(
      "Name of the Secret with the address of the database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.",
    ),
    databaseSecretKey: secretKey()
      .default("url")
      .describe(
        "Its key. Pods that run go on with what the Secret held when they started (`kubectl rollout restart`).",
      ),
    replicas: replicas().describe("Instances side by side. PostgreSQL keeps them from delivering twice."),
    // The store takes 270 MiB with a million messages pending (measured, bench/storeLateness.ts), so 256 is for small ones.
    memoryMiB: wholeNumber(256, MOST_MEMORY_MIB).default(512).describe(MEMORY),
    caSecret: caSecret(),
  }),
);

/** A gateway's process on Kubernetes. */
export const gatewayDeploymentSchema = lazily(() =>
  object({
    ...whereAndWhat(),
    replicas: replicas().describe("Instances side by side."),
    memoryMiB: wholeNumber(128, MOST_MEMORY_MIB).default(256).describe(MEMORY),
    caSecret: caSecret(),
  }),
);

function whereAndWhat(): { namespace: z.ZodString; image: z.ZodString; amqpUrl: z.ZodString } {
  return {
    namespace: namespaceName().describe("Namespace, which exists."),
    image: taggedImage().describe(
      "Image in which `rabbitmq-delay` is on PATH: Node 20 with the npm package `rabbitmq-delay`.",
    ),
    amqpUrl: textBy(checkBrokerAddress).describe(
      "The broker without a user, e.g. `amqps://rabbitmq.messaging.svc:5671`, the output `amqpUrl` of a `RabbitMqCluster`.",
    ),
  };
}

function replicas(): z.ZodDefault<z.ZodInt> {
  return wholeNumber(1, 10).default(2);
}

function caSecret(): z.ZodOptional<z.ZodString> {
  return objectName()
    .optional()
    .describe("Secret with the broker's certificate authority as `ca.crt`, where it is a private one; default: none.");
}
