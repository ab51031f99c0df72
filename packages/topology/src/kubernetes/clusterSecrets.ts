import { DelayTopologyError } from "../errors";

/** What the administrator's password has to be, so that neither rabbitmq.conf nor a URL changes it. @throws DelayTopologyError */
export function checkClusterPassword(property: string, value: unknown): string {
  return checkSecret(
    property,
    value,
    /^[A-Za-z0-9._~-]{16,200}$/,
    "it must have 16 to 200 letters, digits and . _ ~ -",
  );
}

/** What a cookie has to be, so that Erlang takes it. @throws DelayTopologyError */
export function checkErlangCookie(property: string, value: unknown): string {
  return checkSecret(property, value, /^[A-Za-z0-9]{20,200}$/, "it must have 20 to 200 letters and digits");
}

/** A secret itself is in no message. */
function checkSecret(property: string, value: unknown, rule: RegExp, allowed: string): string {
  if (typeof value === "string" && rule.test(value)) return value;
  const length = typeof value === "string" ? value.length : 0;
  throw new DelayTopologyError(property, `${length} characters`, allowed);
}
