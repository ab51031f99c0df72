import { DelayTopologyError } from "./errors";

/** What the Pulumi provider can't tell apart later: it could make what is in such a vhost, and neither read nor delete it. */
export const VHOST_RULE = "it must have no @, at which the provider's ids end the name of what is in a vhost";

/** @throws DelayTopologyError for a vhost that a stack could never be rid of */
export function checkStackVhost(property: string, vhost: unknown): void {
  if (typeof vhost !== "string" || vhost === "")
    throw new DelayTopologyError(property, vhost, "it must be a non-empty text");
  if (vhost.includes("@")) throw new DelayTopologyError(property, vhost, VHOST_RULE);
}
