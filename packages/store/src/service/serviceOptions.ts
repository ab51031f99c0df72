import { DelayedStore, DelayedStoreOptions, delayedStore, parseDelayedStore } from "@rabbitmq-delay/topology";
import * as z from "zod";
import { showText } from "../address";
import { defaultLimits } from "../delayedMessage";
import { checkSettings, dispatchSettings } from "../dispatch/settings";
import { defaultCounting } from "../intake/interpret";
import { keepSecrets } from "./secrets";

const DAY_MS = 24 * 3600 * 1000;
/** RabbitMQ 3's own limit; larger bodies would not fit into a statement's text either. */
const LARGEST_BODY_BYTES = 128 << 20;

/** A name of tables; not an address, which messages and logs would show. */
const nameText = z.string().regex(/^(?!.*:\/\/)[^@]*$/s, "it must be a name without :// and @");

/** The settings of a running store, from its flags, environment and file. */
export const serviceSchema = z.strictObject({
  /** `sqlite:PATH` or `postgres://…`. */
  store: z.string("it must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE"),
  /** The broker: `amqp://…` or `amqps://…`. */
  amqp: z.string("it must be amqp://USER:PASSWORD@HOST:PORT/VHOST"),
  /**
   * The broker's management API, `http://USER:PASSWORD@HOST:15672`, by which `declare` lifts RabbitMQ 4's delivery limit; without a user
   * in it, the one of `amqp` is taken. Default: none, and the limit stays.
   */
  management: z.string("it must be http://USER:PASSWORD@HOST:PORT").optional(),
  /** File of the certificate authority, in PEM, of an `amqps` or `https` address; in the place of those that Node.js knows. Default: none. */
  ca: z.string().optional(),
  /** The broker's side: a descriptor that a stack exports, or what one is made from. Default: named `delayed`, queues only. */
  descriptor: z.record(z.string(), z.unknown()).optional(),
  /** Start of the tables' names. Default: the descriptor's name. */
  tablePrefix: nameText.min(1).optional(),
  schema: nameText.optional(),
  table: nameText.optional(),
  /** Declare the broker's side, too; for trying it out. Default false. */
  declare: z.boolean().default(false),
  /** Create or migrate tables at the start. Default true. */
  setUp: z.boolean().default(true),
  /** Take another vhost or broker than the one that the database's messages were stored for so far; for one start. Default false. */
  moved: z.boolean().default(false),
  /** Where health and metrics are served, `HOST:PORT`, or `off`. Default `127.0.0.1:9478`. */
  http: z
    .string()
    .regex(/^(off|[^\s/@?#]+:\d{1,5})$/, "it must be HOST:PORT or off")
    .default("127.0.0.1:9478"),
  /** End the process when a breaker triggers, for a supervisor that starts it anew. Default false. */
  exitOnCritical: z.boolean().default(false),
  logLevel: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** Longest delay that is taken, in milliseconds. Default ten years. */
  maximumDelayMs: z.number().int().positive().max(Number.MAX_SAFE_INTEGER).default(defaultLimits.maximumDelayMs),
  /**
   * From when a delay of the header `x-delay` counts: `intake`, when the store takes the message, or `timestamp`, the end of the second that
   * the publisher's AMQP property `timestamp` says; a message without one counts from the intake. Default `intake`.
   */
  countFrom: z.enum(["intake", "timestamp"]).default(defaultCounting.countFrom),
  /** How far ahead of the store's clock a timestamp may be, in milliseconds; one further ahead is ignored. Default 60000. */
  maximumSkewMs: z.number().int().min(0).max(DAY_MS).default(defaultCounting.maximumSkewMs),
  /** How old a timestamp may be, in milliseconds, which is the longest outage that is made up for; an older one is ignored. Default a week. */
  maximumTimestampAgeMs: z
    .number()
    .int()
    .min(0)
    .max(3650 * DAY_MS)
    .default(defaultCounting.maximumTimestampAgeMs),
  /** Largest body that is taken, in bytes. Default 16 MiB. */
  maximumBodyBytes: z.number().int().positive().max(LARGEST_BODY_BYTES).default(defaultLimits.maximumBodyBytes),
  /** Messages that the broker hands over before their rows are committed; fewer where bodies are large. Default 1000. */
  intakePrefetch: z.number().int().min(1).max(65_535).default(1000),
  ...dispatchSettings.shape,
});

/** See {@link serviceSchema}. */
export type ServiceOptions = z.input<typeof serviceSchema>;

/** Checked options. */
export type ServiceSettings = Omit<z.output<typeof serviceSchema>, "descriptor" | "tablePrefix"> & {
  descriptor: DelayedStore;
  tablePrefix: string;
};

/**
 * Checks options, before anything is opened.
 * @throws StoreMismatchError or DelayTopologyError naming the property and what is allowed, and the value where no password can be in it
 */
export function serviceSettings(options: unknown): ServiceSettings {
  return keepSecrets(options, Object.keys(serviceSchema.shape), () => {
    const checked = checkSettings(serviceSchema, options, showText);
    const descriptor = descriptorOf(checked.descriptor);
    return { ...checked, descriptor, tablePrefix: checked.tablePrefix ?? descriptor.name };
  });
}

function descriptorOf(given: Record<string, unknown> = {}): DelayedStore {
  return "kind" in given ? parseDelayedStore(given, "descriptor") : delayedStore(given as DelayedStoreOptions);
}
