import { byHand } from "../optionReading";
import type { UserOptions } from "../options.generated";
import { readOptions } from "../schema/options";
import { userSchema } from "./userSchema";

/**
 * Reads what a user is made from.
 * @param unchecked properties whose values are known later, or that are read elsewhere
 * @throws DelayTopologyError that names the refused property, its value and what is allowed
 */
export function readUser(given: unknown, unchecked: readonly string[] = []): UserOptions {
  return readOptions(userSchema(), given, "user", { ...byHand, unchecked });
}
