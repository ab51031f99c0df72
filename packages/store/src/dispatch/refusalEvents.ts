import type { DeliveryProperties } from "@rabbitmq-delay/publish/parts";

/** Characters of a reason that are kept while its message waits. */
export const LONGEST_REASON = 1000;

/** A refused message, as events tell it. */
export interface RefusedMessage {
  properties: Pick<DeliveryProperties, "messageId">;
}

/** What happens to consumed messages that are refused. */
export interface RefusalEvents {
  /**
   * A message is refused, and is in the error queue.
   * @param isMoved whether the broker has moved it there, without the reason
   */
  onRefused?: (message: RefusedMessage, error: Error, isMoved?: boolean) => void;
  /**
   * A refused message could not be put into the error queue either; it stays in hand, and is tried again.
   * @param isMoved whether the broker was told to move it, and may do so later, without the reason
   */
  onStuck?: (message: RefusedMessage, error: unknown, isMoved?: boolean) => void;
}
