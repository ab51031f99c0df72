import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";

/** What happens to consumed messages that are refused. */
export interface RefusalEvents {
  /** A message is refused, and is in the error queue. */
  onRefused?: (delivery: OpenDelivery, error: Error) => void;
  /** A refused message could not be put into the error queue either; it stays in hand, and is tried again. */
  onStuck?: (delivery: OpenDelivery, error: unknown) => void;
}
