/** Whose names and arguments a network has: a vendor's, byte for byte, or your own (`custom`). */
export const presets = ["nservicebus", "nservicebus-v1", "celery", "custom"] as const;

export type Preset = (typeof presets)[number];

export const queueTypes = ["quorum", "classic"] as const;

/** `quorum` level queues dead-letter at least once; `classic` ones lose a message that can't be delivered onwards. */
export type QueueType = (typeof queueTypes)[number];

export const matchings = ["exact", "suffix", "enforced"] as const;

/**
 * `exact`: one `*` per level, then the endpoint; `suffix`: `#.ENDPOINT`, which also catches `OTHER.ENDPOINT`; `enforced`: exact, at an
 * exchange that NServiceBus's senders don't know. They bind `#.ENDPOINT` to the delivery exchange before each delayed send, whatever is
 * bound there already.
 */
export type Matching = (typeof matchings)[number];

export const radixes = [2, 4, 8, 16] as const;

/** Digits per level: each level has `radix − 1` queues. */
export type Radix = (typeof radixes)[number];

/** The descriptor: plain JSON that a broker's stack exports and that services read. */
export interface DelayNetwork {
  kind: "delay-network";
  /** Of the descriptor's format: 2, or 1 where an earlier release wrote it. */
  version: 1 | 2;
  /** The vhost that it is declared in; a descriptor of version 1 does not say. */
  vhost?: string;
  preset: Preset;
  /** What the names start with, e.g. `nsb.v2.delay`, `celery_delayed`, `orders.r4x14u1000`. */
  prefix: string;
  radix: Radix;
  /** Number of levels; the routing key has one word for each. */
  levels: number;
  /** Smallest delay, in milliseconds; all delays are multiples of it. */
  unitMs: number;
  queueType: QueueType;
  matching: Matching;
  /** The exchange of each level; the index is the level. */
  entryExchanges: string[];
  /** The topic exchange that the vendor's clients know as the end of the network: every message's, unless `bindingExchange` is another. */
  deliveryExchange: string;
  /**
   * The topic exchange that every message reaches when its delay is over, to which endpoints are bound. It is the delivery exchange, except
   * where `matching` is `enforced`.
   */
  bindingExchange: string;
  /** The exchange and the queue that keep what no binding takes; without them such a message stalls its level. */
  parkingExchange?: string;
  parkingQueue?: string;
  /** The longest delay, in milliseconds. */
  maximumDelayMs: number;
}

/** A descriptor as JSON and stack outputs have it, in texts and numbers; `parseDelayNetwork` reads it. */
export type DelayNetworkJson = Omit<{ [P in keyof DelayNetwork]: Widened<DelayNetwork[P]> }, "bindingExchange"> & {
  bindingExchange?: string;
};
type Widened<T> = T extends string ? string : T extends number ? number : T;
