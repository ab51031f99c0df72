import { types } from "node:util";
import { MessageRefusedError } from "./errors";
import type { MessageProperties } from "./options";

/**
 * Turns a body into bytes: bytes as they are, text as UTF-8, other values as JSON; the content type then says so. The bytes always belong
 * to the message: changing the caller's buffer or object afterwards changes nothing.
 * @throws MessageRefusedError for a value without a JSON form, or whose JSON form would leave its content out
 */
export function toBuffer(body: unknown, properties: MessageProperties): Buffer {
  if (typeof body === "string") return Buffer.from(body);
  const bytes = bytesIn(body);
  if (bytes !== undefined) return Buffer.from(bytes);
  const emptied = explainEmptyJson(body);
  const json = emptied === undefined ? jsonOf(body) : undefined;
  if (json === undefined) {
    const why = emptied === undefined ? "" : `${emptied}; `;
    throw new MessageRefusedError("body", `${why}it must be bytes, text, or a value with a JSON form`);
  }
  properties.contentType ??= "application/json";
  return Buffer.from(json);
}

/** The bytes of a buffer or view, even from another realm (test runners have one), where `instanceof` is false. */
function bytesIn(body: unknown): Uint8Array | undefined {
  if (types.isAnyArrayBuffer(body)) return new Uint8Array(body);
  if (!ArrayBuffer.isView(body)) return undefined;
  const { BYTES_PER_ELEMENT = 1 } = body as { BYTES_PER_ELEMENT?: number };
  return BYTES_PER_ELEMENT === 1 ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength) : undefined;
}

/** Names of the kinds of objects that JSON writes completely. */
const WRITTEN = ["Object", "Array", "String", "Number", "Boolean"];

/** Why JSON would lose a value's content, e.g. `{}` for a promise that nobody awaited; undefined if JSON keeps it. */
function explainEmptyJson(body: unknown): string | undefined {
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
