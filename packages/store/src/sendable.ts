import {
  DeliveryProperties,
  amqplibBytes,
  deepestTable,
  isShortString,
  isTable,
  shortStringProperties,
} from "@rabbitmq-delay/publish/parts";
import { brokerLimits } from "@rabbitmq-delay/topology";
import { furtherKeyHeaders } from "./headers";

/**
 * Leaves room for what an envelope or a copy for the error queue adds, and for the other properties: amqplib can send 65,216 bytes. RabbitMQ
 * 3.10.8 ends a connection with 541 at 100,000 bytes, and accepts 60,000 (measured).
 */
const LARGEST_HEADERS_BYTES = 50_000;

/** The broker closes the channel of a publisher who names its own direct reply-to and does not consume it there. */
const DIRECT_REPLY_TO = "amq.rabbitmq.reply-to";

/**
 * The properties of a message that can't be sent, each with the reason: values without a form in AMQP, values for which a broker ends the
 * connection (3.10.8: NaN), and tables of other clients that amqplib would take for its own notation of a type.
 */
export function unsendable(properties: DeliveryProperties): Map<keyof DeliveryProperties, string> {
  const refusals = new Map<keyof DeliveryProperties, string>();
  for (const name of shortStringProperties) {
    const value: unknown = properties[name];
    if (value !== undefined && !isShortString(value)) {
      refusals.set(name, `it must be a text of at most ${brokerLimits.shortStringBytes} bytes`);
    }
  }
  if (properties.replyTo === DIRECT_REPLY_TO)
    refusals.set(
      "replyTo",
      `${DIRECT_REPLY_TO} is not allowed; it must be a queue, because another channel publishes it`,
    );
  const { priority, timestamp, headers } = properties;
  if (priority !== undefined && !isWhole(priority, 255))
    refusals.set("priority", "it must be a whole number up to 255");
  if (timestamp !== undefined && !isWhole(timestamp)) refusals.set("timestamp", "it must be whole seconds since 1970");
  const reason = headers === undefined ? undefined : headersRefusal(headers);
  if (reason !== undefined) refusals.set("headers", reason);
  return refusals;
}

function headersRefusal(headers: unknown): string | undefined {
  if (!isTable(headers)) return "they must be an object";
  for (const [name, value] of Object.entries(headers)) {
    if (!isShortString(name)) return `a name of more than ${brokerLimits.shortStringBytes} bytes is not allowed`;
    if (value !== undefined && !isField(value)) return `${name} has a value that AMQP clients can't send`;
    // The broker closes a channel for anything but a list.
    if (furtherKeyHeaders.includes(name) && value !== undefined && !isListOfTexts(value))
      return `${name} must be a list of texts`;
  }
  const bytes = amqplibBytes(headers);
  return bytes > LARGEST_HEADERS_BYTES
    ? `they have ${bytes} bytes, at most ${LARGEST_HEADERS_BYTES} are taken`
    : undefined;
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** How many names lead to the value of a header: `headers`, and its own. */
const HEADER_DEPTH = 2;

/**
 * Whether a value has a form in an AMQP table, as amqplib writes it, and is not nested more deeply than can be sent.
 * @param depth how many names and places lead to it
 */
function isField(value: unknown, depth = HEADER_DEPTH): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (depth > deepestTable) return false;
  if (Buffer.isBuffer(value)) return true;
  if (Array.isArray(value)) return value.every((part) => isField(part, depth + 1));
  if (!isTable(value)) return false;
  if (Object.hasOwn(value, "!")) return isTagged(value);
  return Object.entries(value).every(
    ([name, part]) => isShortString(name) && (part === undefined || isField(part, depth + 1)),
  );
}

/** Whether a value is of the two kinds that amqplib decodes with their type; it would take any other table with such a key for one. */
function isTagged({ "!": kind, value }: Record<string, unknown>): boolean {
  if (kind === "timestamp") return isWhole(value);
  if (kind !== "decimal" || !isTable(value)) return false;
  return isWhole(value.places, 255) && isWhole(value.digits, 0xffffffff);
}

function isWhole(value: unknown, maximum = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maximum;
}
