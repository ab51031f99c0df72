import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { VHOST_RULE } from "@rabbitmq-delay/topology/stack";

/** True or false, or undefined where it is not given. @throws DelayTopologyError naming the property */
export function checkFlag(property: string, value: boolean | undefined): void {
  if (value === undefined || typeof value === "boolean") return;
  throw new DelayTopologyError(property, value, "it must be true or false");
}

/** A text. @throws DelayTopologyError naming the property */
export function checkText(property: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw new DelayTopologyError(property, value, "it must be a text");
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
