import type { z } from "zod";
import { DelayTopologyError } from "../errors";
import { object, textBy, wholeNumber } from "../schema/fields";
import { byHand, readOptions } from "../schema/options";
import { lazily } from "../schema/zod";
import { namespaceName, objectName, secretKey, taggedImage } from "./names";

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

/** What a store's process is made from; {@link storeDeploymentSchema} describes each property. */
export type StoreDeploymentOptions = z.input<ReturnType<typeof storeDeploymentSchema>>;
/** The same with its defaults. */
export type StoreDeploymentSettings = z.output<ReturnType<typeof storeDeploymentSchema>>;
/** What a gateway's process is made from; {@link gatewayDeploymentSchema} describes each property. */
export type GatewayDeploymentOptions = z.input<ReturnType<typeof gatewayDeploymentSchema>>;
/** The same with its defaults. */
export type GatewayDeploymentSettings = z.output<ReturnType<typeof gatewayDeploymentSchema>>;

/**
 * Reads what a store's process is made from.
 * @param unchecked properties whose values are known later
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function readStoreDeployment(given: unknown, unchecked: readonly string[] = []): StoreDeploymentSettings {
  return readOptions(storeDeploymentSchema(), given, "deployment", { ...inDeployment, unchecked });
}

/** Reads what a gateway's process is made from, as {@link readStoreDeployment} does. @throws DelayTopologyError */
export function readGatewayDeployment(given: unknown, unchecked: readonly string[] = []): GatewayDeploymentSettings {
  return readOptions(gatewayDeploymentSchema(), given, "deployment", { ...inDeployment, unchecked });
}

const inDeployment = { ...byHand, at: (property: string): string => `deployment.${property}` };

/**
 * Checks the address of a broker, in which the login of a process has its place.
 * @throws DelayTopologyError, without the address where it might hold a password
 */
export function checkBrokerAddress(property: string, address: unknown): URL {
  const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && /^amqps?:$/.test(url.protocol) && url.username === "" && url.password === "") return url;
  throw new DelayTopologyError(property, address, ADDRESS_RULE);
}

const ADDRESS_RULE = "it must be like amqps://host:5671, without a user";

/** Checks that a process on Kubernetes has a user to log in as. @throws DelayTopologyError */
export function checkDeployedUser(process: "store" | "gateway", hasUser: boolean): void {
  if (hasUser) return;
  throw new DelayTopologyError("user", undefined, `a deployment needs the ${process}'s user, so that it can log in`);
}

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
