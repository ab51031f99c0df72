import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DelayedMessageStore, StoreMode } from "./delayedMessageStore";
import { showPath } from "@rabbitmq-delay/topology/stack";
import { hasStrayAt, showProtocol } from "./address";
import { StoreMismatchError } from "./errors";
import { PostgresDelayedMessageStore } from "./postgres/postgresStore";
import { SqliteDelayedMessageStore } from "./sqlite/sqliteStore";

/** The options that an address does not give. */
export interface OpenStoreOptions {
  /** Default `ENDPOINT.delayed`. */
  table?: string;
  /** PostgreSQL only; default `public`. */
  schema?: string;
  /** Default `atLeastOnce`. */
  mode?: StoreMode;
}

/**
 * Opens a store by its address: `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
 * @throws StoreMismatchError that says which part of it is wrong
 * @example
 * ```ts
 * import { delayedMessage, openStore } from "@rabbitmq-delay/store";
 *
 * const store = openStore("sqlite:/var/lib/shop/delayed.db");
 * await store.setUpInfrastructure("delayed");
 * await store.initialize("delayed");
 * await store.store(delayedMessage({ routingKey: "Billing", body: { order: 17 }, delayMs: 900_000 }));
 * await store.close();
 * ```
 */
export function openStore(address: string, options: OpenStoreOptions = {}): DelayedMessageStore {
  const { schema, table, mode } = options;
  const sqlite = /^sqlite:(.*)$/s.exec(address);
  if (sqlite !== null) {
    if (schema !== undefined)
      refuse(`schema ${/^\w{1,5}$/.test(schema) ? schema : "…"} is for PostgreSQL; SQLite has none`);
    return new SqliteDelayedMessageStore({ path: checkPath(sqlite[1] as string), table, mode });
  }
  return new PostgresDelayedMessageStore({ connectionString: checkPostgres(address), schema, table, mode });
}

function checkPath(path: string): string {
  if (path.includes("://")) return refuse("what stands behind sqlite: is an address; write sqlite:PATH");
  const named = `sqlite:${showPath(path)}`;
  if (path === "" || path.startsWith(":")) refuse(`${named} names no file; write sqlite:PATH`);
  const folder = dirname(path);
  if (!existsSync(folder)) refuse(`the folder ${showPath(folder)} of ${named} is not there`);
  if (existsSync(path) && statSync(path).isDirectory()) refuse(`${named} is a folder; name a file`);
  return path;
}

/** Checks an address. No message shows it, because it contains a password. */
function checkPostgres(address: string): string {
  const form = "write postgres://USER:PASSWORD@HOST:PORT/DATABASE, or sqlite:PATH";
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return refuse(`the address can't be read; ${form}`);
  }
  if (!/^postgres(ql)?:$/.test(url.protocol)) refuse(`its protocol is ${showProtocol(url)}; ${form}`);
  if (hasStrayAt(url)) refuse(`an @ stands behind its host; write / ? # and @ of a password as %2F %3F %23 %40`);
  if (url.hostname === "" && !url.searchParams.has("host")) refuse(`it names no host; ${form}`);
  if (url.pathname.length < 2) refuse(`it names no database; ${form}`);
  if (!isEscaped(url.pathname)) refuse("the name of its database has a % that begins no escape; write it as %25");
  return address;
}

function isEscaped(text: string): boolean {
  try {
    decodeURI(text);
    return true;
  } catch {
    return false;
  }
}

function refuse(reason: string): never {
  throw new StoreMismatchError("store", reason);
}
