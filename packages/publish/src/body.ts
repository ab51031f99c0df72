import { types } from "node:util";
import { MessageRefusedError } from "./errors";
import type { MessageProperties } from "./options";

/**
 * The bytes of a body: bytes as they are, text as UTF-8, other values as JSON, which the content type then says. Always the message's
 * own: what the caller does to his buffer or object afterwards changes nothing.
 * @throws MessageRefusedError for a value without a JSON form, or whose JSON form would leave its content out
 */
export function toBuffer(body: unknown, properties: MessageProperties): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  const bytes = bytesIn(body);
  if (bytes !== undefined) return Buffer.from(bytes);
  const emptied = whyEmptied(body);
  const json = emptied === undefined ? jsonOf(body) : undefined;
  if (json === undefined) {
    const why = emptied === undefined ? "" : `${emptied}; `;
    throw new MessageRefusedError("body", `${why}it must be bytes, text, or a value with a JSON form`);
  }
  properties.contentType ??= "application/json";
  return Buffer.from(json);
}

/** What holds bytes, also where another realm made it, as test runners have one: there `instanceof` says no. */
function bytesIn(body: unknown): Uint8Array | undefined {
  if (types.isAnyArrayBuffer(body)) return new Uint8Array(body);
  if (!ArrayBuffer.isView(body)) return undefined;
  const { BYTES_PER_ELEMENT = 1 } = body as { BYTES_PER_ELEMENT?: number };
  return BYTES_PER_ELEMENT === 1 ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength) : undefined;
}

/** Kinds of objects that JSON writes with all that is in them, by their own name. */
const WRITTEN = ["Object", "Array", "String", "Number", "Boolean"];

/** Why JSON would say nothing of a value, e.g. `{}` of a promise that nobody awaited; undefined where it says what it is. */
function whyEmptied(body: unknown): string | undefined {
  if (typeof body === "number" && !Number.isFinite(body)) return `JSON has no ${body}`;
  if (typeof body !== "object" || body === null) return undefined;
  const { then, toJSON } = body as { then?: unknown; toJSON?: unknown };
  if (typeof toJSON === "function") return undefined;
  if (typeof then === "function") return "a promise has nothing in it yet, await it";
  const kind = Object.prototype.toString.call(body).slice("[object ".length, -1);
  const isLeftOut = ArrayBuffer.isView(body) || types.isNativeError(body) || Object.keys(body).length === 0;
  return isLeftOut && !WRITTEN.includes(kind) ? `JSON leaves out what is in an object of type ${kind}` : undefined;
}

function jsonOf(body: unknown): string | undefined {
  try {
    return JSON.stringify(body) as string | undefined;
  } catch (error) {
    throw new MessageRefusedError("body", `it has no JSON form (${(error as Error).message.split("\n")[0]})`);
  }
}
