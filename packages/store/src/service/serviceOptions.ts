import { DelayedStore, DelayedStoreOptions, delayedStore, parseDelayedStore } from "@rabbitmq-delay/topology";
import * as z from "zod";
import { showText } from "../address";
import { checkSettings, dispatchSettings } from "../dispatch/settings";
import { httpAddress, processShape } from "./processSettings";
import { keepSecrets } from "./secrets";

/** A name of tables; not an address, which messages and logs would show. */
const nameText = z.string().regex(/^(?!.*:\/\/)[^@]*$/s, "it must be a name without :// and @");

/** The settings of a running store, from its flags, environment and file. */
export const serviceSchema = z.strictObject({
  /** `sqlite:PATH` or `postgres://…`. */
  store: z.string("it must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE"),
  ...processShape,
  /** The broker's side: a descriptor that a stack exports, or what one is made from. Default: named `delayed`, queues only. */
  descriptor: z.record(z.string(), z.unknown()).optional(),
  /** Start of the tables' names. Default: the descriptor's name. */
  tablePrefix: nameText.min(1).optional(),
  schema: nameText.optional(),
  table: nameText.optional(),
  /** Create or migrate tables at the start. Default true. */
  setUp: z.boolean().default(true),
  /** Take another vhost or broker than the one that the database's messages were stored for so far; for one start. Default false. */
  moved: z.boolean().default(false),
  /** Where health and metrics are served, `HOST:PORT`, or `off`. Default `127.0.0.1:9478`. */
  http: httpAddress("127.0.0.1:9478"),
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
 * @example
 * ```ts
 * import { serviceSettings } from "@rabbitmq-delay/store/service";
 *
 * export const settings = serviceSettings({ store: "sqlite:/var/lib/shop/delayed.db", amqp: "amqp://localhost" });
 * ```
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
