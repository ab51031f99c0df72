/** Headers by which a quorum queue counts deliveries. */
export const recountHeaders = ["x-delivery-count", "x-acquired-count"];

/**
 * Whether a header is the broker's own record of where a message has been. It must not travel with a message that is published anew: before
 * RabbitMQ 4.0 the broker reads `x-death` and takes the second pass through a queue for a loop, so that the message neither goes on nor is
 * parked.
 */
export function isBrokerHeader(name: string): boolean {
  if (recountHeaders.includes(name)) return true;
  return name === "x-death" || name.startsWith("x-first-death-") || name.startsWith("x-last-death-");
}

/** A copy of headers without the broker's own; see {@link isBrokerHeader}. */
export function withoutBrokerHeaders(headers: Record<string, unknown> | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !isBrokerHeader(name)));
}

/** The queues that dead-lettered a message since it was published, the last one first. */
export function queuesLeft(headers: Record<string, unknown>): unknown[] {
  const deaths = headers["x-death"];
  return Array.isArray(deaths) ? deaths.map((death: { queue?: unknown } | null) => death?.queue) : [];
}
