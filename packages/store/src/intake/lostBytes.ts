import { Delivery, deepestTable, withoutBrokerHeaders } from "@rabbitmq-delay/publish/parts";
import { REPLACEMENT } from "../broker/hiddenHeaders";

/**
 * Finds a part of a delivery that amqplib could not keep: a text with bytes that are not UTF-8, or headers that are hidden from it. A text that
 * has the replacement character already looks the same, and is found too.
 * @returns its name, e.g. `headers.subject`; undefined if nothing is lost
 */
export function lostBytes({ routingKey, properties }: Delivery): string | undefined {
  if (routingKey.includes(REPLACEMENT)) return "routingKey";
  const { headers, ...others } = properties;
  return lostIn(others) ?? lostIn(withoutBrokerHeaders(headers ?? {}), "headers.");
}

/** @param depth how many names and places lead to the table; what is nested more deeply than can be sent is refused anyway */
function lostIn(table: object, place = "", depth = 1): string | undefined {
  for (const [name, value] of Object.entries(table)) {
    if (name.includes(REPLACEMENT) || isLost(value, depth + 1)) return `${place}${name}`;
  }
  return undefined;
}

function isLost(value: unknown, depth: number): boolean {
  if (typeof value === "string") return value.includes(REPLACEMENT);
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value) || depth > deepestTable) return false;
  if (Array.isArray(value)) return value.some((part) => isLost(part, depth + 1));
  return lostIn(value, "", depth) !== undefined;
}
