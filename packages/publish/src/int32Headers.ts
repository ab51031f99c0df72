import { isInt32 } from "./headerFields";

/** The part of the inside of rabbitmq-client's channel that is used; read in version 5.0.8, lib/Channel.js and lib/util.js. */
interface FrameStream {
  writeAsync(frames: Iterator<Buffer>): Promise<void>;
}

/**
 * rabbitmq-client writes a number with as few bytes as it needs, and can't be told otherwise, but some readers accept only a 32-bit
 * integer. So its frames are rewritten on their way to the socket, only for messages with such a header.
 */
export class Int32Headers {
  private constructor(private readonly stream: FrameStream) {}

  /** Undefined if the library's inside is not as expected; such headers have to be left out then. */
  static of(channel: object): Int32Headers | undefined {
    const { stream } = (channel as { _state?: { stream?: Partial<FrameStream> } })._state ?? {};
    return typeof stream?.writeAsync === "function" ? new Int32Headers(stream as FrameStream) : undefined;
  }

  /** Calls `publish` with headers that the library can write, and turns the marked ones into 32-bit integers in its frame of properties. */
  publish<T>(headers: Record<string, unknown>, publish: (headers: Map<string, unknown>) => Promise<T>): Promise<T> {
    const entries = Object.entries(headers);
    const whole = entries.flatMap(([name, value]): [string, number][] => (isInt32(value) ? [[name, value.value]] : []));
    const rest = entries.filter(([, value]) => !isInt32(value));
    const { stream } = this;
    const { writeAsync } = stream;
    stream.writeAsync = (frames) => writeAsync.call(stream, rewritten(frames, whole.length));
    try {
      // The library keeps a map's order, and calls `writeAsync` before it returns.
      return publish(new Map<string, unknown>([...whole, ...rest]));
    } finally {
      stream.writeAsync = writeAsync;
    }
  }
}

function* rewritten(frames: Iterator<Buffer>, count: number): Generator<Buffer> {
  for (let next = frames.next(); next.done !== true; next = frames.next()) {
    yield next.value[0] === PROPERTIES_FRAME ? withInt32(next.value, count) : next.value;
  }
}

const PROPERTIES_FRAME = 2;
/** The offsets of the flags in a properties frame, and of the properties after them; source: AMQP 0-9-1, 4.2.6.1. */
const FLAGS_AT = 19;
const PROPERTIES_AT = 21;
const CONTENT_TYPE = 0x8000;
const CONTENT_ENCODING = 0x4000;

/** Turns the first `count` headers into 32-bit integers. */
function withInt32(frame: Buffer, count: number): Buffer {
  const flags = frame.readUInt16BE(FLAGS_AT);
  let tableAt = PROPERTIES_AT;
  for (const flag of [CONTENT_TYPE, CONTENT_ENCODING]) {
    if ((flags & flag) !== 0) tableAt += 1 + frame.readUInt8(tableAt);
  }
  const fields: Buffer[] = [];
  let at = tableAt + 4;
  for (let index = 0; index < count; index++) {
    const typeAt = at + 1 + frame.readUInt8(at);
    const [value, bytes] = readWhole(frame, typeAt);
    const field = Buffer.alloc(5);
    field.write("I");
    field.writeInt32BE(value, 1);
    fields.push(frame.subarray(at, typeAt), field);
    at = typeAt + 1 + bytes;
  }
  const result = Buffer.concat([frame.subarray(0, tableAt + 4), ...fields, frame.subarray(at)]);
  const grown = result.length - frame.length;
  result.writeUInt32BE(frame.readUInt32BE(3) + grown, 3);
  result.writeUInt32BE(frame.readUInt32BE(tableAt) + grown, tableAt);
  return result;
}

function readWhole(frame: Buffer, typeAt: number): [value: number, bytes: number] {
  switch (String.fromCharCode(frame.readUInt8(typeAt))) {
    case "b":
      return [frame.readInt8(typeAt + 1), 1];
    case "s":
      return [frame.readInt16BE(typeAt + 1), 2];
    case "I":
      return [frame.readInt32BE(typeAt + 1), 4];
    default:
      throw new Error("a 32-bit integer was not written as a whole number");
  }
}
