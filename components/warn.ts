import * as pulumi from "@pulumi/pulumi";
import { markWarning } from "@rabbitmq-delay/topology/stack";

/** Warns in the program's output, with the mark by which a review knows whose warning it is. */
export function warn(text: string): Promise<void> {
  return pulumi.log.warn(markWarning(text));
}
