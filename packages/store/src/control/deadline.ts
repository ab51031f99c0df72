import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";

/**
 * Header with the time at which the requester gives up, in milliseconds since 1970. A request's expiration only begins in the queue: before
 * that, the request may have waited in the socket for as long as the broker read nothing.
 */
export const deadlineHeader = "rabbitmq-delay.deadline";

/** How far the clocks of the requester and of the store may differ. */
const CLOCKS_APART_MS = 10_000;

/** Whether the requester gave up long ago, and may have done something else since. */
export function isTooLate({ headers }: OpenDelivery["properties"], nowMs: number): boolean {
  const deadlineMs: unknown = headers?.[deadlineHeader];
  return typeof deadlineMs === "number" && nowMs > deadlineMs + CLOCKS_APART_MS;
}
