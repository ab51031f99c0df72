import { brokerLimits, utf8Length } from "@rabbitmq-delay/topology/descriptors";
import type { ClientLibrary } from "./clientLibrary";
import { MessageRefusedError } from "./errors";
import { FieldCopy } from "./headerFields";
import { copyHeader } from "./headers";
import type { MessageProperties } from "./options";
import { isShortString, shortStringProperties } from "./shortStrings";

/** Properties as a sender takes them: a delayed message may have no `expiration`, others may. */
export type SendableProperties = MessageProperties & { expiration?: string };

/**
 * Copies a message's properties, deep enough that the caller may change the originals afterwards, without the broker's own headers, and
 * checks them: a value that the library can't encode would close the caller's channel under all other messages.
 * @throws MessageRefusedError naming the property and what is allowed; header values are not shown, because they may be secret
 */
export function toSendable(given: SendableProperties, library: ClientLibrary): SendableProperties {
  const properties: SendableProperties = {};
  let bytes = 0;
  for (const name of shortStringProperties) {
    const value: unknown = given[name];
    if (value === undefined || value === null) continue;
    properties[name] = checkShortText(name, value);
    bytes += 1 + utf8Length(properties[name]);
  }
  if (properties.expiration !== undefined) checkExpiration(properties.expiration);
  const { priority, timestamp, headers } = given;
  if (priority !== undefined && priority !== null) {
    properties.priority = checkWhole("priority", priority, 255, "it must be a whole number from 0 to 255");
  }
  if (timestamp !== undefined && timestamp !== null) {
    const allowed = "it must be whole seconds since 1970, e.g. Math.floor(Date.now() / 1000)";
    properties.timestamp = checkWhole("timestamp", timestamp, Number.MAX_SAFE_INTEGER, allowed);
    bytes += 8;
  }
  if (headers !== undefined && headers !== null) {
    const copy = new FieldCopy(library);
    properties.headers = copy.headers(headers);
    // Only the sender sets it: the number of an earlier message, of whatever type, would keep a return from being recognized.
    delete properties.headers[copyHeader];
    bytes += copy.bytes;
  }
  checkSize(bytes, library);
  return properties;
}

function checkShortText(name: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new MessageRefusedError(name, `a value of type ${typeof value} is not allowed; it must be a text`);
  }
  if (isShortString(value)) return value;
  throw new MessageRefusedError(
    name,
    `it has ${utf8Length(value)} bytes, at most ${brokerLimits.shortStringBytes} bytes are allowed`,
  );
}

function checkExpiration(expiration: string): void {
  if (/^\d{1,15}$/.test(expiration) && Number(expiration) <= brokerLimits.messageTtlMs) return;
  const allowed = `it must be whole milliseconds up to ${brokerLimits.messageTtlMs}, as text`;
  throw new MessageRefusedError("expiration", `${JSON.stringify(expiration)} is not allowed; ${allowed}`);
}

function checkWhole(name: string, value: unknown, maximum: number, allowed: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maximum) return value as number;
  const shown = typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
  throw new MessageRefusedError(name, `${shown} is not allowed; ${allowed}`);
}

function checkSize(bytes: number, { name, maximumPropertiesBytes }: ClientLibrary): void {
  if (bytes <= maximumPropertiesBytes) return;
  const way = name === "rabbitmq-client" ? "; its connection's frameMax allows more" : "";
  throw new MessageRefusedError(
    "headers",
    `with all properties they have ${bytes} bytes, and ${name} can send at most ${maximumPropertiesBytes}${way}; ` +
      `put what is long into the body`,
  );
}
