import type { DelayNetwork } from "@rabbitmq-delay/topology/descriptors";

/** Header with the time at which a message is due, as ISO-8601 text in UTC with milliseconds. */
export const dueHeader = "rabbitmq-delay.due-at";

/**
 * Header with a number that distinguishes messages on their way to the broker. A message gets it if the broker has not yet confirmed
 * another one with the same id, exchange and routing key. A caller's own header of this name is left out.
 */
export const copyHeader = "rabbitmq-delay.copy";

/** Header of NServiceBus with the delay in whole seconds, a 32-bit integer; source: NServiceBus.RabbitMQ's DelayInfrastructure. */
export const nserviceBusDelayHeader = "NServiceBus.Transport.RabbitMQ.DelayInSeconds";

/** Header of NServiceBus with the time at which a message was sent. */
export const nserviceBusTimeSentHeader = "NServiceBus.TimeSent";

/** The headers that go with a delayed message: its due time, and those that the preset's own clients set. */
export function delayHeaders(network: DelayNetwork, delayMs: number, dueAt: Date): Record<string, unknown> {
  const sentAt = new Date(dueAt.getTime() - delayMs);
  return { [dueHeader]: dueAt.toISOString(), ...vendorHeaders(network, delayMs, sentAt) };
}

/**
 * The headers that NServiceBus's own clients and tools read in one of its networks; none for other presets. Its tool that moves delayed
 * messages stops at a delay of another type than a 32-bit integer, and removes the delay of a message without the time.
 * @param delayMs as the network keeps it
 * @param sentAt when the delay began
 */
export function vendorHeaders(network: DelayNetwork, delayMs: number, sentAt: Date): Record<string, unknown> {
  if (network.preset !== "nservicebus" && network.preset !== "nservicebus-v1") return {};
  return {
    [nserviceBusTimeSentHeader]: wireTime(sentAt),
    // Without a delay, the header of an earlier publish does not travel on.
    [nserviceBusDelayHeader]: delayMs > 0 ? { "!": "int32", value: delayMs / 1000 } : undefined,
  };
}

/** `yyyy-MM-dd HH:mm:ss:ffffff Z` in UTC. */
function wireTime(time: Date): string {
  const [date, clock] = time.toISOString().split("T") as [string, string];
  return `${date} ${clock.slice(0, 8)}:${clock.slice(9, 12)}000 Z`;
}
