import * as pulumi from "@pulumi/pulumi";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { VHOST_RULE } from "@rabbitmq-delay/topology/stack";

/** A text that fits a rule. @throws DelayTopologyError naming the property */
export function checkText(property: string, value: unknown, rule: RegExp, allowed: string): string {
  if (typeof value === "string" && rule.test(value)) return value;
  if (pulumi.Output.isInstance(value)) {
    throw new DelayTopologyError(property, "an output", `${allowed}, known before anything is made`);
  }
  throw new DelayTopologyError(property, value, allowed);
}

/** True or false, false where it is not given. @throws DelayTopologyError naming the property */
export function checkFlag(property: string, value: boolean | undefined): boolean {
  if (value === undefined || typeof value === "boolean") return value ?? false;
  throw new DelayTopologyError(property, value, "it must be true or false");
}

/** A list, or undefined where it is not given. @throws DelayTopologyError naming the property */
export function checkList(property: string, value: unknown): void {
  if (value === undefined || Array.isArray(value)) return;
  throw new DelayTopologyError(property, value, "it must be a list");
}

/** @throws DelayTopologyError for a vhost that a stack could never be rid of */
export function checkVhost(vhost: string): string {
  if (typeof vhost === "string" && vhost.includes("@")) throw new DelayTopologyError("vhost", vhost, VHOST_RULE);
  return vhost;
}
