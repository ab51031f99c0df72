import type { NewDelayedMessage } from "../delayedMessage";

const ACCESS_REFUSED = 403;
const MOST_REFUSING = 10_000;

/** Exchanges, or single routing keys of them, to which the broker did not let the store publish. */
export class RefusingExchanges {
  private readonly keys = new Set<string>();

  has({ exchange, routingKey }: NewDelayedMessage): boolean {
    return this.keys.has(exchange) || this.keys.has(`${exchange}\0${routingKey}`);
  }

  /** Records a refusal; does nothing if the broker closed the channel for another reason. */
  note({ exchange, routingKey }: NewDelayedMessage, error: Error & { code?: unknown }): void {
    if (error.code !== ACCESS_REFUSED) return;
    const isOfKey = /access to topic/.test(error.message);
    if (this.keys.size < MOST_REFUSING) this.keys.add(isOfKey ? `${exchange}\0${routingKey}` : exchange);
  }

  delete({ exchange, routingKey }: NewDelayedMessage): void {
    this.keys.delete(exchange);
    this.keys.delete(`${exchange}\0${routingKey}`);
  }
}
