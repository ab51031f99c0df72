import type { ChannelModel } from "amqplib";
import { deepestTable } from "@rabbitmq-delay/publish/parts";

/** Replacement character (U+FFFD) that amqplib's decoder writes for bytes which are not UTF-8. */
export const REPLACEMENT = "\uFFFD";

/** Parts of amqplib's connection that its types lack. */
interface FrameReader {
  /** Received bytes that are not decoded yet. */
  rest: Buffer;
  recvFrame(): unknown;
}

/**
 * Hides headers that amqplib can't decode: a table in too many levels ends its connection before the message is delivered, and a field
 * named `__proto__` sets the prototype or nothing. Such headers come as a single one named {@link REPLACEMENT}.
 */
export function hideHeaders({ connection }: ChannelModel): void {
  const reader = connection as unknown as FrameReader;
  const receive = reader.recvFrame.bind(reader);
  // amqplib's function calls this one once more after each read, so the frame to decode is the first one here.
  reader.recvFrame = () => {
    hideIn(reader.rest);
    return receive();
  };
}

const PROPERTIES_FRAME = 2;
const FRAME_HEAD_BYTES = 7;
/** Class, weight and body size, in front of the flags that tell which properties follow. */
const PROPERTIES_HEAD_BYTES = 12;
/** Flags of the content type and the content encoding, which precede the headers. */
const BEFORE_HEADERS = [0x8000, 0x4000];
const HAS_HEADERS = 0x2000;
const LENGTH_BYTES = 4;

/** Overwrites the headers in the first frame if amqplib can't decode them. */
function hideIn(received: Buffer): void {
  if (received.length < FRAME_HEAD_BYTES || received[0] !== PROPERTIES_FRAME) return;
  if (received.length <= FRAME_HEAD_BYTES + received.readUInt32BE(3)) return;
  let at = FRAME_HEAD_BYTES + PROPERTIES_HEAD_BYTES;
  const flags = received.readUInt16BE(at);
  if ((flags & HAS_HEADERS) === 0) return;
  at += 2;
  for (const flag of BEFORE_HEADERS) if ((flags & flag) !== 0) at += 1 + received.readUInt8(at);
  const table = received.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + received.readUInt32BE(at));
  if (!isDecodable(table)) overwrite(table);
}

/** Writes a table of one field, with as many bytes as its value as there is room for. */
function overwrite(table: Buffer): void {
  const head = Buffer.concat([Buffer.of(REPLACEMENT_BYTES.length), REPLACEMENT_BYTES, Buffer.from("x")]);
  head.copy(table);
  table.writeUInt32BE(table.length - head.length - LENGTH_BYTES, head.length);
}

const REPLACEMENT_BYTES = Buffer.from(REPLACEMENT);
/** The field name with its length in front. */
const PROTOTYPE_NAME = Buffer.from("\t__proto__");
/** More than any message has that can be sent, in an envelope or not. */
const DEEPEST = 2 * deepestTable;
/** Bytes of the values whose length is fixed, by the tag of their type. */
const FIXED_BYTES = new Map(
  Object.entries({ b: 1, B: 1, t: 1, s: 2, u: 2, I: 4, i: 4, f: 4, D: 5, d: 8, l: 8, T: 8, V: 0 }),
);

/** @param isList whether the fields are those of a list, and so without names */
function isDecodable(fields: Buffer, isList = false, depth = 1): boolean {
  for (let at = 0; at < fields.length;) {
    if (!isList) {
      const end = at + 1 + fields.readUInt8(at);
      if (end - at === PROTOTYPE_NAME.length && PROTOTYPE_NAME.equals(fields.subarray(at, end))) return false;
      at = end;
    }
    const tag = String.fromCharCode(fields.readUInt8(at));
    at++;
    const fixedBytes = FIXED_BYTES.get(tag);
    const bytes = fixedBytes ?? LENGTH_BYTES + fields.readUInt32BE(at);
    const isNested = tag === "A" || tag === "F";
    if (fixedBytes === undefined && !isNested && tag !== "S" && tag !== "x") return false;
    if (isNested && depth === DEEPEST) return false;
    if (isNested && !isDecodable(fields.subarray(at + LENGTH_BYTES, at + bytes), tag === "A", depth + 1)) return false;
    at += bytes;
  }
  return true;
}
