import { DelayTopologyError } from "./errors";

/** Limits of the broker that a topology must keep to. */
export const brokerLimits = {
  /** Longest AMQP 0-9-1 short string (names, routing keys, binding keys), in bytes of UTF-8. Source: AMQP 0-9-1, 4.2.5.3. */
  shortStringBytes: 255,
  /** Largest `x-message-ttl`, ten years in milliseconds. Measured on RabbitMQ 3.10.8 and 4.3.6: one more is refused. */
  messageTtlMs: 315_360_000_000,
} as const;

/** Bytes of `text` in UTF-8, the unit in which the broker counts. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/**
 * Checks the name of an exchange, queue or policy.
 * @throws DelayTopologyError for an empty name, one over 255 bytes, with `@`, `/` or control characters (the Pulumi provider
 * separates the parts of its ids by `@` and `/`), or with the reserved start `amq.`
 */
export function checkEntityName(property: string, name: unknown): string {
  if (typeof name !== "string" || name === "")
    throw new DelayTopologyError(property, name, "it must be a non-empty text");
  if (/[@/]/.test(name)) throw new DelayTopologyError(property, name, "it must not contain @ or /");
  if (!isClean(name))
    throw new DelayTopologyError(property, name, "it must not contain control characters or lone surrogates");
  if (name.startsWith("amq."))
    throw new DelayTopologyError(property, name, "names that start with amq. belong to the broker");
  checkShortString(property, name);
  return name;
}

/**
 * Checks an endpoint's name: an entity name that is also part of a routing key, so no word of it may be a wildcard.
 * @throws DelayTopologyError
 */
export function checkEndpointName(property: string, name: unknown): string {
  const checked = checkEntityName(property, name);
  if (checked.split(".").some((word) => word === "*" || word === "#")) {
    throw new DelayTopologyError(
      property,
      name,
      "no word between dots may be * or #, which are wildcards in a binding",
    );
  }
  return checked;
}

/** Checks the name of a vhost. @throws DelayTopologyError */
export function checkVhostName(property: string, name: unknown): string {
  if (typeof name !== "string" || name === "" || !isClean(name)) {
    throw new DelayTopologyError(property, name, "it must be a non-empty text without control characters");
  }
  checkShortString(property, name);
  return name;
}

/** Throws a DelayTopologyError when `text` has more bytes than an AMQP short string may have. */
export function checkShortString(
  property: string,
  text: string,
  maximumBytes: number = brokerLimits.shortStringBytes,
): void {
  const bytes = utf8Length(text);
  if (bytes > maximumBytes) {
    throw new DelayTopologyError(property, text, `it has ${bytes} bytes, at most ${maximumBytes} bytes are allowed`);
  }
}

/** Whether a text has no control characters and no half of a character, which the management API or the broker would change. */
export function isClean(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return !/[\u0000-\u001f\u007f]/.test(text) && !/\p{Surrogate}/u.test(text);
}

/** Checks the name of a network in a config; no broker has it. @throws DelayTopologyError */
export function checkNetworkName(property: string, name: unknown): void {
  if (typeof name === "string" && /^[A-Za-z][A-Za-z0-9._-]{0,99}$/.test(name)) return;
  const allowed = "a letter, and up to 99 letters, digits, dots, _ and -";
  throw new DelayTopologyError(property, name, `a network's name must be ${allowed}`);
}
