import { createHash } from "node:crypto";
import { Delivery, OpenDelivery, recountHeaders, withoutBrokerHeaders } from "@rabbitmq-delay/publish/parts";
import { hasDeliveryLimit } from "@rabbitmq-delay/topology/stack";
import { propertiesToJson } from "../messageProperties";

/** Whether the publisher has given a message an id; an empty one does not distinguish it from any other message. */
export function hasMessageId({ properties }: Delivery): boolean {
  return properties.messageId !== undefined && properties.messageId !== "";
}

/** A hash of everything that the publisher said: only equal messages have the same. */
export function fingerprintOf({ exchange, routingKey, body, properties }: Delivery): string {
  const { headers, ...others } = properties;
  const json = propertiesToJson({ ...others, headers: withoutBrokerHeaders(headers) });
  const hash = createHash("sha256");
  for (const part of [exchange, routingKey, json]) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.update(body).digest("hex");
}

/** More than any broker counts; a larger number was written by a publisher. */
const MOST_DELIVERIES = 2 ** 31 - 1;

/**
 * How often the broker has delivered a message before; quorum queues count it, other queues only say whether they did. A header that this
 * broker does not count with was written by a publisher, and so was a value that no counter can have.
 * @param brokerVersion undefined if it is not known
 */
export function earlierDeliveriesOf({ isRedelivered, properties }: OpenDelivery, brokerVersion?: string): number {
  if (!isRedelivered) return 0;
  const isOld = hasDeliveryLimit(brokerVersion) === false;
  const names = recountHeaders.filter((name) => name !== "x-acquired-count" || !isOld);
  const counts = names.map((name) => properties.headers?.[name]);
  const isCount = (count: unknown): count is number =>
    Number.isInteger(count) && (count as number) >= 0 && (count as number) <= MOST_DELIVERIES;
  return Math.max(1, ...counts.filter(isCount));
}
