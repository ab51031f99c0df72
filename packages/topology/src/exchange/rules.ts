import { checkEntityName } from "../names";

/** Checks the name of an exchange of others, or of the broker's own. @throws DelayTopologyError */
export function checkExchangeOfOthers(property: string, name: unknown): void {
  checkEntityName(property, typeof name === "string" ? name.replace(/^amq\.(?=.)/, "amq-") : name);
}
