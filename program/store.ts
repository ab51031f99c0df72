import * as pulumi from "@pulumi/pulumi";
import { DelayedMessageStore, StoreDeploymentArgs } from "pulumi-rabbitmq-delay";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";

/** Declares the broker's side of an external store. */
export function declareStore(
  { delayedStore: given, storePassword, removal, formerOwners }: ProgramConfig,
  { vhost, brokerVersion, outputs: ways }: Pick<StackBroker, "vhost" | "brokerVersion" | "outputs">,
  opts: pulumi.ComponentResourceOptions,
): { store?: DelayedMessageStore; outputs: Record<string, unknown> } {
  if (given === undefined) return { outputs: {} };
  const credentials = given.user === undefined ? undefined : [{ password: pulumi.secret(storePassword as string) }];
  // Beside a cluster of this stack's own, the process finds the broker by itself.
  const deployment = given.deployment && ({ amqpUrl: ways.amqpUrl, ...given.deployment } as StoreDeploymentArgs);
  const args = {
    ...given,
    deployment,
    credentials,
    formerOwners,
    vhost,
    removal,
    brokerVersion,
  };
  const store = new DelayedMessageStore("store", args, opts);
  const users = given.user === undefined ? {} : { storeUsers: store.users };
  return { store, outputs: { delayedStore: store.delayedStore, ...users } };
}
