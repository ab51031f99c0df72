import type { HoldDestination } from "@rabbitmq-delay/topology/descriptors";
import { MessageRefusedError } from "../errors";
import { refusalCode } from "../brokerRefusal";
import { ChannelLimitError, secondChannelOf } from "../secondChannel";
import { toEntityPort } from "./entityPort";

/** Limits the memory of a process that holds messages for ever new destinations; a forgotten destination is looked at again. */
const MOST_REMEMBERED = 10_000;

/**
 * Checks, once for each destination of a channel, that the exchange or queue exists to which a hold queue passes its messages: the broker
 * silently drops an expired message that has nowhere to go. It asks over a second channel, because the broker closes the channel on which
 * somebody asks for a missing thing. If no second channel can be opened, the message is sent unchecked.
 */
export class DestinationCheck {
  private readonly looks = new Map<string, Promise<void>>();

  constructor(private readonly channel: object) {}

  /** @throws MessageRefusedError for a destination that does not exist, and if a second channel ended the connection. A destination that this user has no right to look at passes. */
  check({ exchange, routingKey }: HoldDestination): Promise<void> {
    const destination = exchange === "" ? `queue ${routingKey}` : `exchange ${exchange}`;
    const known = this.looks.get(destination);
    if (known !== undefined) return known;
    if (this.looks.size >= MOST_REMEMBERED) this.looks.clear();
    const look = this.look(exchange, routingKey, () => this.looks.delete(destination));
    this.looks.set(destination, look);
    return look;
  }

  /** @param forget called if the next message has to look again */
  private async look(exchange: string, routingKey: string, forget: () => void): Promise<void> {
    try {
      await secondChannelOf(this.channel).ask(async (on) => {
        if (on === this.channel) return;
        const port = toEntityPort(on);
        await (exchange === "" ? port.checkQueue(routingKey) : port.checkExchange(exchange));
      });
    } catch (error) {
      if (refusalCode(error) === 403) return;
      forget();
      // The caller's channel is closed too, and its error does not say why.
      if (error instanceof ChannelLimitError && error.isConnectionLost) throw error;
      // Any other fault shows when the message is published.
      if (isMissing(error)) throw missingError(exchange, routingKey, error as Error);
    }
  }
}

/** Whether a queue or exchange does not exist; the broker uses the same code for a queue of a node that is down, which exists. */
function isMissing(error: unknown): boolean {
  return refusalCode(error) === 404 && /no (queue|exchange) /.test(String((error as Error).message));
}

function missingError(exchange: string, routingKey: string, error: Error): MessageRefusedError {
  const [property, kind, name] =
    exchange === ""
      ? (["routingKey", "a queue", routingKey] as const)
      : (["exchange", "an exchange", exchange] as const);
  return new MessageRefusedError(
    property,
    `${JSON.stringify(name)} is not allowed: it must be ${kind} that exists, or the broker drops the message when it is due (${error.message})`,
  );
}
