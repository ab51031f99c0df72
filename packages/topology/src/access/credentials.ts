import type { z } from "zod";
import { DelayTopologyError } from "../errors";
import { anyText, object, secretBy, textLike } from "../schema/fields";
import { byHand, readOptions } from "../schema/options";
import { lazily } from "../schema/zod";

/** Shortest password that is taken. */
const SHORTEST_PASSWORD = 12;

/** The provider separates the parts of its ids by `@` and `/`. */
const USER_NAME = /^[^@/\s]{1,200}$/;
const USER_NAME_RULE = "the name must have 1 to 200 characters, without spaces, @ and /";

/** The name of a user. */
export function userName(): z.ZodString {
  return textLike(USER_NAME, USER_NAME_RULE);
}

/** Checks the name of a user. @throws DelayTopologyError for one that the broker or the provider would mangle */
export function checkUserName(property: string, name: unknown): string {
  if (typeof name === "string" && USER_NAME.test(name)) return name;
  throw new DelayTopologyError(property, name, USER_NAME_RULE);
}

/** One login of a service. */
export const credentialSchema = lazily(() =>
  object({
    suffix: anyText()
      .optional()
      .describe(
        "What tells it from the other, e.g. `a` and `b`, or a year in quotes. The user is `NAME-SUFFIX`; left out, it is the name.",
      ),
    password: secretBy(checkUserPassword)
      .optional()
      .describe(`At least ${SHORTEST_PASSWORD} characters; default: one is generated, once.`),
  }),
);

/** What a login is made from; {@link credentialSchema} describes each property. */
export type CredentialOptions = z.input<ReturnType<typeof credentialSchema>>;

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

/** Checks the password of a user, which is in no message. @throws DelayTopologyError for one that is missing or too short */
export function checkUserPassword(property: string, password: unknown): string {
  if (typeof password === "string" && password.length >= SHORTEST_PASSWORD) return password;
  if (password === "" || typeof password !== "string")
    throw new DelayTopologyError(property, password, "it must be a secret, or left out for a generated one", true);
  const allowed = `it must have at least ${SHORTEST_PASSWORD} characters`;
  throw new DelayTopologyError(property, `${password.length} characters`, allowed);
}
