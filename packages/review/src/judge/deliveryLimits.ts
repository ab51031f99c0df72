import { hasDeliveryLimit } from "@rabbitmq-delay/topology/stack";

/** From this value on, a delivery limit counts as none: NServiceBus's own; -1 counts as none, too. */
const NO_DELIVERY_LIMIT = 100_000;
/** Limit of a quorum queue that has none of its own, from RabbitMQ 4.0 on. */
const DEFAULT_DELIVERY_LIMIT = 20;

type Definition = Record<string, unknown>;

/** Delivery limits that a policy and a queue's arguments set. */
export class DeliveryLimits {
  /** Limits that a queue may have by itself, the lowest and the highest. */
  private readonly lowest: number;
  private readonly highest: number;

  /** @param brokerVersion undefined if it is not known */
  constructor(brokerVersion?: string) {
    const isCounted = hasDeliveryLimit(brokerVersion);
    this.lowest = isCounted === false ? Infinity : DEFAULT_DELIVERY_LIMIT;
    this.highest = isCounted === true ? DEFAULT_DELIVERY_LIMIT : Infinity;
  }

  /**
   * Whether a queue may give a message up sooner by `later` than by `earlier`. The lower one of a policy's and an argument's limit counts.
   * @param queueArguments undefined for queues that are not known
   */
  isLower(earlier: Definition, later: Definition, queueArguments: Definition = {}): boolean {
    const argument = queueArguments["x-delivery-limit"];
    const [before, after] = [earlier, later].map((definition) =>
      [definition["delivery-limit"], argument].filter((one) => one !== undefined).map(limitOf),
    ) as [number[], number[]];
    const from = before.length === 0 ? this.highest : Math.min(...before);
    const to = after.length === 0 ? this.lowest : Math.min(...after);
    return !(to >= from);
  }
}

/** A delivery limit as a number; NaN where it can't be read. */
function limitOf(value: unknown): number {
  const limit = value === "" ? NaN : Number(value);
  return limit === -1 || limit >= NO_DELIVERY_LIMIT ? Infinity : limit;
}
