import type { DelayNetwork } from "rabbitmq-delay-topology";

/** Header with the time at which a message is due, as ISO-8601 text in UTC with milliseconds. */
export const dueHeader = "rabbitmq-delay.due-at";

/** Header that tells a copy of a failed message from other messages on their way to the broker. */
export const copyHeader = "rabbitmq-delay.copy";

/** Header of NServiceBus with the delay in whole seconds; source: NServiceBus.RabbitMQ's DelayInfrastructure. */
export const nserviceBusDelayHeader = "NServiceBus.Transport.RabbitMQ.DelayInSeconds";

/** The headers that go with a delayed message: when it is due, and what the preset's own clients put there. */
export function delayHeaders(network: DelayNetwork, delayMs: number, dueAt: Date): Record<string, unknown> {
  const isNServiceBus = network.preset === "nservicebus" || network.preset === "nservicebus-v1";
  return {
    [dueHeader]: dueAt.toISOString(),
    ...(isNServiceBus && delayMs > 0 ? { [nserviceBusDelayHeader]: delayMs / 1000 } : {}),
  };
}
