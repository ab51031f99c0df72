import type { DeliveryProperties } from "@rabbitmq-delay/publish/parts";

/**
 * Writes AMQP properties as JSON that can be read back without loss: bytes, numbers that JSON lacks, and text that a database refuses are
 * written as `{"!": kind, "value": …}`, the form in which amqplib itself writes timestamps and decimals.
 */
export function propertiesToJson(properties: DeliveryProperties): string {
  return JSON.stringify(wrap(properties));
}

/** Reads them back; takes the text, or the object that a database has already parsed. */
export function propertiesFromJson(json: unknown): DeliveryProperties {
  return unwrap(typeof json === "string" ? (JSON.parse(json) as unknown) : json) as DeliveryProperties;
}

/** Name of the field with the kind of a value. */
export const TAG = "!";
const OWN = "rabbitmq-delay.";
const own = { bytes: `${OWN}bytes`, text: `${OWN}text`, number: `${OWN}number`, entries: `${OWN}entries` };

/** Whether a kind is one of those that only this package writes. */
export function isOwnTag(kind: unknown): boolean {
  return String(kind).startsWith(OWN);
}

/** Whether PostgreSQL's jsonb accepts a text: no NUL, no unpaired surrogate. */
function isPlain(text: string): boolean {
  return !text.includes("\0") && !/\p{Surrogate}/u.test(text);
}

function wrap(value: unknown): unknown {
  if (typeof value === "string") {
    return isPlain(value) ? value : tag(own.text, Buffer.from(value, "utf16le").toString("base64"));
  }
  if (typeof value === "number") {
    if (Object.is(value, -0)) return tag(own.number, "-0");
    return Number.isFinite(value) ? value : tag(own.number, String(value));
  }
  if (typeof value === "bigint") return tag(own.number, `${value}n`);
  if (Buffer.isBuffer(value)) return tag(own.bytes, value.toString("base64"));
  if (Array.isArray(value)) return value.map(wrap);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  // A publisher's table that looks like one of these must not be mistaken for it.
  const isOdd = isOwnTag((value as Record<string, unknown>)[TAG]) || entries.some(([key]) => isOddName(key));
  const isApart = ([key]: [string, unknown]): boolean => isOdd && (isOddName(key) || [TAG, own.entries].includes(key));
  const wrapped = Object.fromEntries(
    entries.filter((entry) => !isApart(entry)).map(([key, part]) => [key, wrap(part)]),
  );
  if (!isOdd) return wrapped;
  // Filters look for the other fields by their names.
  const apart = entries.filter(isApart).map(([key, part]) => [wrap(key), wrap(part)]);
  return { ...wrapped, [TAG]: own.entries, [own.entries]: apart };
}

function isOddName(name: string): boolean {
  return !isPlain(name) || name === "__proto__";
}

function tag(kind: string, value: unknown): Record<string, unknown> {
  return { [TAG]: kind, value };
}

function unwrap(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrap);
  if (typeof value !== "object" || value === null) return value;
  const { [TAG]: kind, value: inner } = value as Record<string, unknown>;
  switch (kind) {
    case own.bytes:
      return Buffer.from(inner as string, "base64");
    case own.text:
      return Buffer.from(inner as string, "base64").toString("utf16le");
    case own.number:
      return (inner as string).endsWith("n") ? BigInt((inner as string).slice(0, -1)) : Number(inner);
    case own.entries: {
      const { [own.entries]: apart, ...others } = value as Record<string, unknown>;
      const fields = Object.entries(others).filter(([key]) => key !== TAG);
      // Earlier releases wrote all fields as the value.
      const entries = apart === undefined ? inner : [...fields, ...(apart as [unknown, unknown][])];
      return Object.fromEntries((entries as [unknown, unknown][]).map(([key, part]) => [unwrap(key), unwrap(part)]));
    }
    default:
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unwrap(part)]));
  }
}
