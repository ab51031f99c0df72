import type { DelayGateway, DelayedStore } from "@rabbitmq-delay/topology";
import * as z from "zod";
import { defaultLimits } from "../delayedMessage";
import { defaultReading, delayRules } from "../intake/interpret";

const DAY_MS = 24 * 3600 * 1000;
/** RabbitMQ 3's own limit; larger bodies would not fit into a statement's text either. */
const LARGEST_BODY_BYTES = 128 << 20;

/** The settings that a running store and a running gateway share. */
export const processShape = {
  /** The broker: `amqp://…` or `amqps://…`. */
  amqp: z.string("it must be amqp://USER:PASSWORD@HOST:PORT/VHOST"),
  /**
   * The broker's management API, `http://USER:PASSWORD@HOST:15672`, by which `declare` lifts RabbitMQ 4's delivery limit; without a user
   * in it, the one of `amqp` is taken. Default: none, and the limit stays.
   */
  management: z.string("it must be http://USER:PASSWORD@HOST:PORT").optional(),
  /** File of the certificate authority, in PEM, of an `amqps` or `https` address; in the place of those that Node.js knows. Default: none. */
  ca: z.string().optional(),
  /** Declare the broker's side, too; for trying it out. Default false. */
  declare: z.boolean().default(false),
  /** End the process when a breaker triggers, for a supervisor that starts it anew. Default false. */
  exitOnCritical: z.boolean().default(false),
  logLevel: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** Longest delay that is taken, in milliseconds. Default ten years. */
  maximumDelayMs: z.number().int().positive().max(Number.MAX_SAFE_INTEGER).default(defaultLimits.maximumDelayMs),
  /**
   * What the header `x-delay` may hold: `strict`, a number or a numeric text, and everything else goes to the error queue; or `plugin`, which reads it as the
   * delayed-message plugin did: a fraction is cut off, and what it took for no delay is delivered at once. Default `strict`.
   */
  delayRules: z.enum(delayRules).default(defaultReading.delayRules),
  /**
   * From when a delay of the header `x-delay` counts: `intake`, when the message is taken, or `timestamp`, the end of the second that
   * the publisher's AMQP property `timestamp` says; a message without one counts from the intake. Default `intake`.
   */
  countFrom: z.enum(["intake", "timestamp"]).default(defaultReading.countFrom),
  /** How far ahead of the own clock a timestamp may be, in milliseconds; one further ahead is ignored. Default 60000. */
  maximumSkewMs: z.number().int().min(0).max(DAY_MS).default(defaultReading.maximumSkewMs),
  /** How old a timestamp may be, in milliseconds, which is the longest outage that is made up for; an older one is ignored. Default a week. */
  maximumTimestampAgeMs: z
    .number()
    .int()
    .min(0)
    .max(3650 * DAY_MS)
    .default(defaultReading.maximumTimestampAgeMs),
  /** Largest body that is taken, in bytes. Default 16 MiB. */
  maximumBodyBytes: z.number().int().positive().max(LARGEST_BODY_BYTES).default(defaultLimits.maximumBodyBytes),
  /** Messages that the broker hands over before they are acknowledged. Default 1000. */
  intakePrefetch: z.number().int().min(1).max(65_535).default(1000),
  /**
   * Bytes of the bodies of these messages that are kept in memory; those beyond it wait for their turn in files of the system's temporary
   * folder, which have no name. Default 67108864 (64 MiB).
   */
  bodyMemoryBytes: z
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .default(64 << 20),
};

/** Where health and metrics are served, `HOST:PORT`, or `off`. */
export function httpAddress(byDefault: string): z.ZodDefault<z.ZodString> {
  return z
    .string()
    .regex(/^(off|[^\s/@?#]+:\d{1,5})$/, "it must be HOST:PORT or off")
    .default(byDefault);
}

/** The settings that a {@link BrokerProcess} needs itself. */
export interface ProcessSettings {
  descriptor: DelayedStore | DelayGateway;
  amqp: string;
  management?: string;
  ca?: string;
  http: string;
  exitOnCritical: boolean;
  confirmTimeoutMs: number;
}
