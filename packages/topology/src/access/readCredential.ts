import { DelayTopologyError } from "../errors";
import { byHand } from "../optionReading";
import { readOptions } from "../schema/options";
import { credentialSchema } from "./credentialSchema";
import { USER_NAME, USER_NAME_RULE } from "./credentials";

/**
 * Reads one of the logins of a user.
 * @param place what the error calls it, e.g. `credentials[0]`
 * @param unchecked properties whose values are known later
 * @returns the name of the login
 * @throws DelayTopologyError for a name or a password that the broker or the provider would mangle
 */
export function readCredential(user: string, given: unknown, place: string, unchecked: readonly string[] = []): string {
  const at = (property: string): string => `${place}.${property}`;
  const { suffix } = readOptions(credentialSchema(), given, place, { ...byHand, at, unchecked });
  const login = suffix === undefined ? user : `${user}-${suffix}`;
  if (USER_NAME.test(login)) return login;
  // A password that stands in the wrong place.
  throw new DelayTopologyError(at("suffix"), `${String(suffix).length} characters`, USER_NAME_RULE);
}
