import * as pulumi from "@pulumi/pulumi";

/** The running stack, e.g. `billing/prod`. Its organization is not known to a component that another language uses. */
export function thisStack(): string {
  return `${pulumi.getProject()}/${pulumi.getStack()}`;
}
