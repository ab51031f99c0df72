import { DelayGateway, DelayGatewayOptions, delayGateway, parseDelayGateway } from "@rabbitmq-delay/topology";
import * as z from "zod";
import { showText } from "../address";
import { checkSettings, dispatchSettings } from "../dispatch/settings";
import { httpAddress, processShape } from "../service/processSettings";
import { keepSecrets } from "../service/secrets";

const { numberOfRetries, retryDelayMs, timeToTriggerConsumeBreakerMs, timeToTriggerDispatchBreakerMs } =
  dispatchSettings.shape;
const { batchSize, confirmTimeoutMs } = dispatchSettings.shape;

/** The settings of a running gateway, from its flags, environment and file. */
export const gatewaySchema = z.strictObject({
  ...processShape,
  /** The broker's side: a descriptor that a stack exports, or what one is made from. */
  descriptor: z.record(z.string(), z.unknown(), "it must be a gateway's descriptor, or what one is made from"),
  /** Where health and metrics are served, `HOST:PORT`, or `off`. Default `127.0.0.1:9479`. */
  http: httpAddress("127.0.0.1:9479"),
  /** How often a failed delivery is tried again before the message goes to the error queue. Default 0. */
  numberOfRetries,
  /**
   * Pause before the first of these tries, in milliseconds, in which the message waits in the network; each further pause is twice as long,
   * up to a minute. Default 1000.
   */
  retryDelayMs,
  /** How long it may be impossible to consume the intake or the return queue, in milliseconds. Default 30000. */
  timeToTriggerConsumeBreakerMs,
  /** How long publishing into the network may only fail, in milliseconds. Default 30000. */
  timeToTriggerNetworkBreakerMs: dispatchSettings.shape.timeToTriggerStoreBreakerMs,
  /** How long delivering may only fail, in milliseconds. Default 30000. */
  timeToTriggerDispatchBreakerMs,
  /** Messages that are published at once. Default 500. */
  batchSize,
  /** How long to wait for the broker's confirm, in milliseconds. Default 30000. */
  confirmTimeoutMs,
});

/** See {@link gatewaySchema}. */
export type GatewayOptions = z.input<typeof gatewaySchema>;

/** Checked options. */
export type GatewaySettings = Omit<z.output<typeof gatewaySchema>, "descriptor"> & { descriptor: DelayGateway };

/**
 * Checks options, before anything is opened.
 * @throws StoreMismatchError or DelayTopologyError naming the property and what is allowed, and the value where no password can be in it
 * @example
 * ```ts
 * import { gatewaySettings } from "@rabbitmq-delay/store/gateway";
 *
 * const descriptor = JSON.parse(process.env.DELAY_GATEWAY ?? "");
 * export const settings = gatewaySettings({ amqp: "amqp://localhost", descriptor });
 * ```
 */
export function gatewaySettings(options: unknown): GatewaySettings {
  return keepSecrets(options, Object.keys(gatewaySchema.shape), () => {
    const checked = checkSettings(gatewaySchema, options, showText);
    return { ...checked, descriptor: descriptorOf(checked.descriptor) };
  });
}

function descriptorOf(given: Record<string, unknown>): DelayGateway {
  return "kind" in given
    ? parseDelayGateway(given, "descriptor")
    : delayGateway(given as unknown as DelayGatewayOptions);
}
