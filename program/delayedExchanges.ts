import type * as pulumi from "@pulumi/pulumi";
import { DelayedExchange } from "pulumi-rabbitmq-delay";
import type { StackBroker } from "./broker";
import type { ProgramConfig } from "./config";

/**
 * Declares the exchanges that delay by the header `x-delay`.
 * @param before what has to be there before, as the store that takes other delays
 * @returns the stack's outputs: descriptors by the exchange's name
 */
export function declareDelayedExchanges(
  { delayedExchanges, removal }: ProgramConfig,
  { vhost, brokerVersion }: Pick<StackBroker, "vhost" | "brokerVersion">,
  opts: pulumi.ComponentResourceOptions,
  before: pulumi.Resource[],
): Record<string, unknown> {
  if (delayedExchanges.length === 0) return {};
  const made = new Map<string, DelayedExchange>();
  const declare = (shape: (typeof delayedExchanges)[number]): DelayedExchange => {
    const { exchange, otherwise } = shape;
    const known = made.get(exchange);
    if (known !== undefined) return known;
    // One of them may lead to another, but never round.
    const next = delayedExchanges.find((other) => other.exchange === otherwise);
    const dependsOn = [...before, ...(next === undefined ? [] : [declare(next)])];
    const component = new DelayedExchange(
      exchange,
      { ...shape, vhost, removal, brokerVersion },
      { ...opts, dependsOn },
    );
    made.set(exchange, component);
    return component;
  };
  const declared = delayedExchanges.map((shape) => [shape.exchange, declare(shape).delayedExchange] as const);
  return { delayedExchanges: Object.fromEntries(declared) };
}
