import type { ConfirmPort, ReturnedMessage } from "./confirmPort";
import { copyHeader } from "./headers";
import type { SendableProperties } from "./sendable";

/** A message that was handed to the client library and that the broker has not confirmed yet. */
export interface Flight {
  readonly exchange: string;
  readonly routingKey: string;
  /** Set when the broker returned it, which it does before it confirms it. */
  returned?: ReturnedMessage;
  /** Called when the channel closed, with the channel's own error if it had one. */
  fail: (reason: Error | undefined) => void;
}

/**
 * All messages that are on their way over one channel, whoever sends them. A return carries no delivery tag, so each message is recognized
 * by the properties that come back with it. No two at once may have the same: the second gets a number in a header.
 */
export class InFlight {
  /** Whether the channel has closed. */
  isClosed = false;
  /** The channel's own error if it closed with one, such as the broker's refusal. */
  closeReason: Error | undefined;
  private readonly flights = new Map<string, Flight>();
  private lastNumber = 0;

  private constructor(port: ConfirmPort) {
    port.onReturn((message) => {
      const flight = this.flights.get(identityOf(message.exchange, message.routingKey, message));
      if (flight !== undefined) flight.returned = message;
    });
    port.onClose((reason) => {
      this.isClosed = true;
      this.closeReason = reason;
      for (const { fail } of [...this.flights.values()]) fail(reason);
    });
  }

  /** The instance of a channel's port, which listens to the channel once for all senders. */
  static over(port: ConfirmPort): InFlight {
    const known = inFlightByPort.get(port);
    if (known !== undefined) return known;
    const made = new InFlight(port);
    inFlightByPort.set(port, made);
    return made;
  }

  /**
   * Records a message before it is published.
   * @returns the properties to publish it with, and a function to call when the broker has confirmed it. A message that nobody waits for
   * any more stays until then: its return may still come, and must not be mistaken for another message's.
   */
  enter(flight: Flight, properties: SendableProperties): { properties: SendableProperties; leave: () => void } {
    const { exchange, routingKey } = flight;
    let numbered = properties;
    let identity = identityOf(exchange, routingKey, properties);
    while (this.flights.has(identity)) {
      numbered = { ...properties, headers: { ...properties.headers, [copyHeader]: ++this.lastNumber } };
      identity = identityOf(exchange, routingKey, numbered);
    }
    this.flights.set(identity, flight);
    return { properties: numbered, leave: () => void this.flights.delete(identity) };
  }
}

const inFlightByPort = new WeakMap<ConfirmPort, InFlight>();

function identityOf(
  exchange: string,
  routingKey: string,
  { messageId = "", headers }: Pick<SendableProperties, "messageId" | "headers">,
): string {
  const copy = headers?.[copyHeader];
  const text = `${typeof copy === "number" ? copy : ""}\0${messageId}\0${routingKey}\0${exchange}`;
  // An unpaired surrogate comes back as the replacement character of UTF-8.
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text;
}
