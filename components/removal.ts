import * as pulumi from "@pulumi/pulumi";
import { DelayTopologyError } from "@rabbitmq-delay/topology";
import { Removal } from "./enums";

/**
 * Options for children under a removal rule: with `retain` the engine forgets them and the broker keeps them.
 * @throws DelayTopologyError for another value
 */
export function removalOptions(removal: Removal | undefined): pulumi.CustomResourceOptions {
  const value = removal ?? Removal.Retain;
  if (!Object.values(Removal).includes(value)) {
    throw new DelayTopologyError("removal", value, `it must be one of ${Object.values(Removal).join(", ")}`);
  }
  return { retainOnDelete: value === Removal.Retain };
}

/** Whether the engine deletes what it replaces, so that what this stack declared may differ from what it declares now. */
export function isReplaced(removal: Removal | undefined): boolean {
  return removal === Removal.Delete;
}
