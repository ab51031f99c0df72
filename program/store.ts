import * as pulumi from "@pulumi/pulumi";
import { DelayedMessageStore, DelayedMessageStoreArgs } from "rabbitmq-delay";
import type { ProgramConfig } from "./config";

/**
 * Declares the broker's side of an external store.
 * @returns the stack's outputs
 */
export function declareStore(
  { delayedStore: given, storePassword, removal }: ProgramConfig,
  vhost: pulumi.Input<string>,
  opts: pulumi.ComponentResourceOptions,
): Record<string, unknown> {
  if (given === undefined) return {};
  const credentials = given.user === undefined ? undefined : [{ password: pulumi.secret(storePassword as string) }];
  const args = { ...(given as DelayedMessageStoreArgs), credentials, vhost, removal };
  const store = new DelayedMessageStore("store", args, opts);
  return { delayedStore: store.delayedStore, ...(given.user === undefined ? {} : { storeUsers: store.users }) };
}
