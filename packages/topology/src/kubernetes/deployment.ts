import { DelayTopologyError } from "../errors";
import { byHand } from "../optionReading";
import type { GatewayDeploymentSettings, StoreDeploymentSettings } from "../options.generated";
import { readOptions } from "../schema/options";
import { gatewayDeploymentSchema, storeDeploymentSchema } from "./deploymentSchema";

/**
 * Reads what a store's process is made from.
 * @param unchecked properties whose values are known later
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function readStoreDeployment(given: unknown, unchecked: readonly string[] = []): StoreDeploymentSettings {
  return readOptions(storeDeploymentSchema(), given, "deployment", { ...inDeployment, unchecked });
}

/** Reads what a gateway's process is made from, as {@link readStoreDeployment} does. @throws DelayTopologyError */
export function readGatewayDeployment(given: unknown, unchecked: readonly string[] = []): GatewayDeploymentSettings {
  return readOptions(gatewayDeploymentSchema(), given, "deployment", { ...inDeployment, unchecked });
}

const inDeployment = { ...byHand, at: (property: string): string => `deployment.${property}` };

/** Checks that a process on Kubernetes has a user to log in as. @throws DelayTopologyError */
export function checkDeployedUser(process: "store" | "gateway", hasUser: boolean): void {
  if (hasUser) return;
  throw new DelayTopologyError("user", undefined, `a deployment needs the ${process}'s user, so that it can log in`);
}
