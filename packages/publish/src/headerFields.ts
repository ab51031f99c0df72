import { brokerLimits, utf8Length } from "@rabbitmq-delay/topology/descriptors";
import { isBrokerHeader } from "./brokerHeaders";
import { MessageRefusedError } from "./errors";
import type { ClientLibrary } from "./clientLibrary";

/** A value with an explicit AMQP type, in amqplib's notation. */
export interface TypedValue {
  "!": string;
  value: unknown;
}

/** The most levels of tables and lists, counting from `headers`; anything deeper is circular or useless. */
export const deepestTable = 50;

/** Both libraries write larger numbers as 64-bit integers, so a fraction above this can't be written. */
const LARGEST_FRACTION = 2 ** 50;

/** The range of each type that amqplib writes as a whole number, by its names. */
const wholeTypes: Record<string, readonly [number, number]> = {
  byte: [-0x80, 0x7f],
  int8: [-0x80, 0x7f],
  unsignedbyte: [0, 0xff],
  uint8: [0, 0xff],
  short: [-0x8000, 0x7fff],
  int16: [-0x8000, 0x7fff],
  unsignedshort: [0, 0xffff],
  uint16: [0, 0xffff],
  int: [-0x80000000, 0x7fffffff],
  int32: [-0x80000000, 0x7fffffff],
  unsignedint: [0, 0xffffffff],
  uint32: [0, 0xffffffff],
  // amqplib takes a JavaScript number, which is not exact beyond this.
  long: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  timestamp: [0, Number.MAX_SAFE_INTEGER],
};
/** The largest number of each type that amqplib writes as a fraction; a larger one would be sent as infinity. */
const fractionTypes: Record<string, number> = {
  double: Number.MAX_VALUE,
  float64: Number.MAX_VALUE,
  float: (2 - 2 ** -23) * 2 ** 127,
};

/** Whether a header's value is a 32-bit integer in amqplib's notation. */
export function isInt32(value: unknown): value is { "!": string; value: number } {
  return isTable(value) && Object.hasOwn(value, "!") && (value["!"] === "int32" || value["!"] === "int");
}

/** The largest size of headers in bytes with which amqplib writes them, without the broker's own. */
export function amqplibBytes(headers: Record<string, unknown>): number {
  const copy = new FieldCopy({ name: "amqplib", maximumPropertiesBytes: Number.POSITIVE_INFINITY });
  copy.headers(headers);
  return copy.bytes;
}

/** Copies one message's headers, checks that a library can encode them, and counts their bytes. */
export class FieldCopy {
  /** Their size in bytes on the wire; for values in amqplib's notation, the upper limit. */
  bytes = 0;
  private readonly path: (string | number)[] = ["headers"];

  constructor(private readonly library: ClientLibrary) {}

  /** @throws MessageRefusedError that names the header and what is allowed, never its value */
  headers(given: unknown): Record<string, unknown> {
    if (!isTable(given)) throw this.refusal(`${kindOf(given)} is not allowed; they must be an object`);
    return this.table(given, (name) => !isBrokerHeader(name));
  }

  private table(given: Record<string, unknown>, isWanted?: (name: string) => boolean): Record<string, unknown> {
    this.bytes += 4;
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(given)) {
      const value = given[name];
      if (value === undefined || isWanted?.(name) === false) continue;
      this.path.push(name);
      this.countName(name);
      const field = this.field(value);
      if (name === "__proto__") Object.defineProperty(copy, name, { value: field, enumerable: true });
      else copy[name] = field;
      this.path.pop();
    }
    return copy;
  }

  private countName(name: string): void {
    const length = utf8Length(name);
    this.bytes += 2 + length;
    if (length <= brokerLimits.shortStringBytes) return;
    throw this.refusal(`its name has ${length} bytes, at most ${brokerLimits.shortStringBytes} bytes are allowed`);
  }

  private field(value: unknown): unknown {
    switch (typeof value) {
      case "string":
        this.bytes += 4 + utf8Length(value);
        return value;
      case "boolean":
        this.bytes += 1;
        return value;
      case "number":
        this.bytes += bytesOf(value);
        return this.number(value);
      case "bigint":
        this.bytes += 8;
        return this.bigint(value);
      case "object":
        return value === null ? null : this.object(value);
      default:
        throw this.refusal(`${kindOf(value)} has no form in AMQP`);
    }
  }

  private object(value: object): unknown {
    if (this.path.length > deepestTable) throw this.refusal("tables may not be nested so deeply, nor in a circle");
    if (isBytes(value)) return this.binary(value);
    if (Array.isArray(value)) return this.list(value);
    if (!isTable(value)) throw this.refusal(`${kindOf(value)} has no form in AMQP; give a text or a number`);
    return Object.hasOwn(value, "!") ? this.typed(value) : this.table(value);
  }

  private list(given: unknown[]): unknown[] {
    this.bytes += 4 + given.length;
    const copy: unknown[] = [];
    for (let index = 0; index < given.length; index++) {
      this.path.push(index);
      copy.push(this.field(given[index]));
      this.path.pop();
    }
    return copy;
  }

  private number(value: number): number | TypedValue {
    if (!Number.isFinite(value)) throw this.refusal(`${value} is not allowed; numbers must be finite`);
    const isWritten = Number.isInteger(value) ? value >= -(2 ** 63) : Math.abs(value) < LARGEST_FRACTION;
    if (isWritten) return value;
    if (this.library.name === "amqplib") return { "!": "double", value };
    throw this.refusal("rabbitmq-client can't write whole numbers below -2^63 or fractions beyond 2^50");
  }

  private bigint(value: bigint): unknown {
    if (BigInt.asIntN(64, value) !== value) throw this.refusal("whole numbers have at most 64 bits with their sign");
    if (this.library.name === "rabbitmq-client") return value;
    const number = Number(value);
    if (Number.isSafeInteger(number)) return { "!": "int64", value: number };
    throw this.refusal("amqplib can't write whole numbers beyond 2^53 exactly; give them as text");
  }

  private binary(value: Uint8Array): Buffer {
    if (this.library.name === "rabbitmq-client") {
      throw this.refusal("rabbitmq-client can't write bytes in headers; give a text, e.g. base64");
    }
    this.bytes += 4 + value.byteLength;
    return Buffer.from(value);
  }

  /** Checks a value in amqplib's notation; other libraries would send it as the table that it looks like. */
  private typed(given: Record<string, unknown>): TypedValue {
    const { "!": type, value } = given;
    // Only rabbitmq-client's port writes this one type itself, and only in the outermost table.
    if (this.library.name !== "amqplib" && !(isInt32(given) && this.path.length === 2)) {
      throw this.refusal(`${this.library.name} can't write a value with a type ("!") of its own; amqplib can`);
    }
    this.bytes += 9;
    if (typeof type === "string" && isTyped(type, value)) return { "!": type, value: structuredClone(value) };
    throw this.refusal(`a table with the key "!" must be amqplib's {"!": type, value}, with a value of that type`);
  }

  private refusal(reason: string): MessageRefusedError {
    return new MessageRefusedError(this.path.join("."), reason);
  }
}

function isTyped(type: string, value: unknown): boolean {
  const largest = Object.hasOwn(fractionTypes, type) ? fractionTypes[type] : undefined;
  if (largest !== undefined) return typeof value === "number" && Math.abs(value) <= largest;
  if (type === "decimal") {
    return isTable(value) && isWhole(value.places, [0, 255]) && isWhole(value.digits, [0, 0xffffffff]);
  }
  const range = Object.hasOwn(wholeTypes, type) ? wholeTypes[type] : undefined;
  return range !== undefined && isWhole(value, range);
}

function isWhole(value: unknown, [minimum, maximum]: readonly [number, number]): boolean {
  return Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
}

/** The number of bytes with which both libraries write a number. */
function bytesOf(value: number): number {
  if (!Number.isInteger(value)) return 8;
  if (value >= -0x80 && value <= 0x7f) return 1;
  if (value >= -0x8000 && value <= 0x7fff) return 2;
  return value >= -0x80000000 && value <= 0x7fffffff ? 4 : 8;
}

/**
 * Whether a value is a plain object or one of a class, but not a Date, a Map or the like, which both libraries would send as an empty
 * table.
 */
export function isTable(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  if (Object.getPrototypeOf(value) === Object.prototype) return true;
  return Object.prototype.toString.call(value) === "[object Object]";
}

/** Whether a value holds bytes, including Node's Buffers and those of another realm. */
function isBytes(value: object): value is Uint8Array {
  return Buffer.isBuffer(value) || Object.prototype.toString.call(value) === "[object Uint8Array]";
}

function kindOf(value: unknown): string {
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return /^[aeiou]/i.test(tag) ? `an ${tag}` : `a ${tag}`;
}
