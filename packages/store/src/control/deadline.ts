import type { OpenDelivery } from "@rabbitmq-delay/publish";

/**
 * When who asks gives up, in milliseconds since 1970. A request's expiration begins in the queue alone: before, it may have waited in the
 * socket for as long as the broker read nothing.
 */
export const deadlineHeader = "rabbitmq-delay.deadline";

/** How far the clocks of who asks and of the store may be apart. */
const CLOCKS_APART_MS = 10_000;

/** Whether who asked has given up long ago, and may have done something else since. */
export function isTooLate({ headers }: OpenDelivery["properties"], nowMs: number): boolean {
  const deadlineMs: unknown = headers?.[deadlineHeader];
  return typeof deadlineMs === "number" && nowMs > deadlineMs + CLOCKS_APART_MS;
}
