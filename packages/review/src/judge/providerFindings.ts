import type { EntityChange } from "../preview/entityChange";
import type { RuleName } from "./rules";

/** Properties of a provider that decide which broker it reaches. */
const PLACES = ["endpoint", "proxy"];

/**
 * What a provider's change means: another address is another broker. If the address is secret, or nothing says what changes, it may be
 * another broker.
 */
export function judgeProvider({
  action,
  causes,
  reasons,
  before,
  after,
  isRetained,
}: EntityChange): RuleName | undefined {
  if (action === "create" || action === "same") return undefined;
  if (action === "delete") return isRetained ? undefined : "provider-gone";
  const isPlace = (property: string): boolean => PLACES.includes(property.split(".")[0] as string);
  if (causes.some(({ property }) => isPlace(property)) || reasons?.some(isPlace)) return "broker-changed";
  const isKnown = typeof before?.endpoint === "string" && typeof after?.endpoint === "string";
  const isSecret = [before?.endpoint, after?.endpoint].some((value) => String(value).includes("[secret]"));
  // The difference is known: the engine names it, even for a secret; or it shows.
  if (reasons !== undefined || (isKnown && !isSecret && causes.length > 0)) return undefined;
  return isKnown && !isSecret ? undefined : "broker-changed";
}
