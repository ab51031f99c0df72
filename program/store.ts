import * as pulumi from "@pulumi/pulumi";
import { DelayedMessageStore, StoreDeploymentArgs } from "pulumi-rabbitmq-delay";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";
import { processArguments } from "./process";

/** Declares the broker's side of an external store. */
export function declareStore(
  config: ProgramConfig,
  broker: Pick<StackBroker, "vhost" | "brokerVersion" | "outputs">,
  opts: pulumi.ComponentResourceOptions,
): { store?: DelayedMessageStore; outputs: Record<string, unknown> } {
  const { delayedStore: given, storePassword } = config;
  if (given === undefined) return { outputs: {} };
  const { deployment, ...shared } = processArguments(given, storePassword, config, broker);
  const args = { ...given, ...shared, deployment: deployment as StoreDeploymentArgs | undefined };
  const store = new DelayedMessageStore("store", args, opts);
  const users = given.user === undefined ? {} : { storeUsers: store.users };
  return { store, outputs: { delayedStore: store.delayedStore, ...users } };
}
