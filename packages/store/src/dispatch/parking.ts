import { dueHeader } from "@rabbitmq-delay/publish";
import { DeliveryProperties, failureHeaders } from "@rabbitmq-delay/publish/parts";
import { copyWith } from "../broker/bodies";
import type { DelayedMessage, NewDelayedMessage } from "../delayedMessage";
import { storeHeaders } from "../headers";
import { unsendable } from "../sendable";

/** Where messages go that can't be delivered or stored. */
export interface Parking {
  /** The exchange of the error queue. */
  exchange: string;
  /** The store or the queue that the message was in, for its headers. */
  source: string;
}

/** Makes the copy of a message for the error queue, with the reason; its routing key and its headers stay. */
export function parkedCopy(
  message: NewDelayedMessage,
  { exchange, source }: Parking,
  failure: { error: unknown; tries: number },
): NewDelayedMessage {
  const omitted = unsendable(message.properties);
  const sent = Object.entries(message.properties).filter(([name]) => !omitted.has(name as keyof DeliveryProperties));
  const { expiration, userId, headers, ...properties }: DeliveryProperties = Object.fromEntries(sent);
  return copyWith(message, {
    exchange,
    properties: {
      ...properties,
      headers: {
        ...headers,
        // An expiration would apply in the error queue, too.
        ...(expiration === undefined ? {} : { [storeHeaders.expiration]: expiration }),
        ...(userId === undefined ? {} : { [storeHeaders.userId]: userId }),
        ...(omitted.size === 0 ? {} : { [storeHeaders.omitted]: [...omitted.keys()].join(", ") }),
        ...failureHeaders(source, failure),
      },
    },
  });
}

/** Makes the same copy from a message that was due, with the headers that are needed to publish it to the intake once more. */
export function undeliveredCopy(
  message: NewDelayedMessage,
  parking: Parking,
  failure: { error: unknown; tries: number },
): NewDelayedMessage {
  const copy = parkedCopy(message, parking, failure);
  const headers = {
    ...copy.properties.headers,
    [dueHeader]: message.dueAt.toISOString(),
    [storeHeaders.exchange]: message.exchange,
    [storeHeaders.routingKey]: message.routingKey,
  };
  return copyWith(copy, { properties: { ...copy.properties, headers } });
}

/** Whether a message that failed once more has used up its tries. */
export function isUsedUp({ failureCount }: DelayedMessage, numberOfRetries: number): boolean {
  return failureCount >= numberOfRetries;
}
