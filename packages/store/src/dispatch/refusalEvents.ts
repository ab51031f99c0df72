import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";

/** What happens to consumed messages that are refused. */
export interface RefusalEvents {
  /**
   * A message is refused, and is in the error queue.
   * @param isMoved whether the broker has moved it there, without the reason
   */
  onRefused?: (delivery: OpenDelivery, error: Error, isMoved?: boolean) => void;
  /**
   * A refused message could not be put into the error queue either; it stays in hand, and is tried again.
   * @param isMoved whether the broker was told to move it, and may do so later, without the reason
   */
  onStuck?: (delivery: OpenDelivery, error: unknown, isMoved?: boolean) => void;
}
