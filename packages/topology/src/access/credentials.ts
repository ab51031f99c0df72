import { DelayTopologyError } from "../errors";

/** Shortest password that is taken. */
export const SHORTEST_PASSWORD = 12;

/** The provider separates the parts of its ids by `@` and `/`. */
export const USER_NAME = /^[^@/\s]{1,200}$/;

export const USER_NAME_RULE = "the name must have 1 to 200 characters, without spaces, @ and /";

/** Checks the name of a user. @throws DelayTopologyError for one that the broker or the provider would mangle */
export function checkUserName(property: string, name: unknown): string {
  if (typeof name === "string" && USER_NAME.test(name)) return name;
  throw new DelayTopologyError(property, name, USER_NAME_RULE);
}

/** Checks the password of a user, which is in no message. @throws DelayTopologyError for one that is missing or too short */
export function checkUserPassword(property: string, password: unknown): string {
  if (typeof password === "string" && password.length >= SHORTEST_PASSWORD) return password;
  if (password === "" || typeof password !== "string")
    throw new DelayTopologyError(property, password, "it must be a secret, or left out for a generated one", true);
  const allowed = `it must have at least ${SHORTEST_PASSWORD} characters`;
  throw new DelayTopologyError(property, `${password.length} characters`, allowed);
}
