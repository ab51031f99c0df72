import { DelayTopologyError, QueuePlan } from "rabbitmq-delay-topology";

/** How long a hold queue made on demand stays after its last declare beyond its delay, ten minutes. */
export const DEFAULT_LEASE_MS = 600_000;

/** How long a queue stays beyond its delay, in milliseconds; undefined for one that stays for ever. */
export function leaseOf({ arguments: values }: QueuePlan): number | undefined {
  const expiresMs = values["x-expires"];
  return expiresMs === undefined ? undefined : Number(expiresMs) - Number(values["x-message-ttl"]);
}

/**
 * A message that the broker gets within the lease after the declare is due before its queue goes; so the lease has to outlive
 * the longest wait for a confirm.
 * @throws DelayTopologyError
 */
export function checkLease(queue: QueuePlan, confirmTimeoutMs: number): void {
  const leaseMs = leaseOf(queue);
  if (leaseMs === undefined || leaseMs > confirmTimeoutMs) return;
  throw new DelayTopologyError(
    "leaseMs",
    leaseMs,
    `it must be longer than confirmTimeoutMs, ${confirmTimeoutMs}: a message that is confirmed later could go with its queue`,
  );
}
