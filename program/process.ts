import * as pulumi from "@pulumi/pulumi";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";

/** A process of a stack's config: a store, or a gateway. */
type ConfiguredProcess = NonNullable<ProgramConfig["delayedStore"] | ProgramConfig["delayGateway"]>;

/** The arguments that the components of processes share. */
export interface ProcessArguments {
  deployment: object | undefined;
  credentials: { password: pulumi.Output<string> }[] | undefined;
  formerOwners: string[];
  vhost: pulumi.Input<string>;
  removal: ProgramConfig["removal"];
  brokerVersion: string | undefined;
}

/**
 * The arguments of a process's component that follow from the rest of the stack.
 * @param password of its user, which has one wherever there is a user
 */
export function processArguments(
  { user, deployment }: Pick<ConfiguredProcess, "user" | "deployment">,
  password: string | undefined,
  { removal, formerOwners }: Pick<ProgramConfig, "removal" | "formerOwners">,
  { vhost, brokerVersion, outputs: ways }: Pick<StackBroker, "vhost" | "brokerVersion" | "outputs">,
): ProcessArguments {
  return {
    // Beside a cluster of this stack's own, the process finds the broker by itself.
    deployment: deployment && { amqpUrl: ways.amqpUrl, ...deployment },
    credentials: user === undefined ? undefined : [{ password: pulumi.secret(password as string) }],
    formerOwners,
    vhost,
    removal,
    brokerVersion,
  };
}
