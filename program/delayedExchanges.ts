import type * as pulumi from "@pulumi/pulumi";
import { DelayedExchange } from "pulumi-rabbitmq-delay";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";

/**
 * Declares the exchanges that delay by the header `x-delay`.
 * @param opts with what has to be there before, as the store that takes other delays
 * @returns the stack's outputs: descriptors by the exchange's name
 */
export function declareDelayedExchanges(
  { delayedExchanges, removal }: ProgramConfig,
  { vhost, brokerVersion }: Pick<StackBroker, "vhost" | "brokerVersion">,
  opts: pulumi.ComponentResourceOptions,
): Record<string, unknown> {
  if (delayedExchanges.length === 0) return {};
  const declared = delayedExchanges.map((shape) => {
    const { delayedExchange } = new DelayedExchange(shape.exchange, { ...shape, vhost, removal, brokerVersion }, opts);
    return [shape.exchange, delayedExchange] as const;
  });
  return { delayedExchanges: Object.fromEntries(declared) };
}
