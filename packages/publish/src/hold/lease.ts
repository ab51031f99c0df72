import { DelayTopologyError, QueuePlan } from "@rabbitmq-delay/topology/descriptors";
import { PublishTimeoutError } from "../errors";
import type { DeclarePort } from "./entityPort";

/** How long a hold queue made on demand stays after its last declare, in addition to its delay: ten minutes. */
export const DEFAULT_LEASE_MS = 600_000;

/** How long a queue stays in addition to its delay, in milliseconds; undefined for a queue that stays for ever. */
export function leaseOf({ arguments: values }: QueuePlan): number | undefined {
  const expiresMs = values["x-expires"];
  return expiresMs === undefined ? undefined : Number(expiresMs) - Number(values["x-message-ttl"]);
}

/**
 * Checks that the lease outlives the longest wait for a confirm: a message that the broker gets within the lease is due before its queue is
 * deleted.
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

/**
 * Declares a queue, which renews its lease, and publishes a message into it. A timer doesn't notice that this process stood still between
 * the declare and the publish, so the whole time is measured: beyond the lease, nobody knows whether the message is due before its queue is
 * deleted.
 * @param publish resolves when the broker has confirmed the message
 * @throws PublishTimeoutError when the confirm came too late to be sure of the lease
 */
export async function publishInLease(port: DeclarePort, queue: QueuePlan, publish: () => Promise<void>): Promise<void> {
  const elapsedMs = stopwatch();
  await port.declareQueue(queue);
  await publish();
  const leaseMs = leaseOf(queue);
  if (leaseMs !== undefined && elapsedMs() >= leaseMs) throw new PublishTimeoutError("", queue.name, leaseMs);
}

/** A clock of the milliseconds since now, by the longer of two clocks: the monotonic one stands still while the machine sleeps. */
export function stopwatch(): () => number {
  const [steady, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - steady, Date.now() - wall);
}
