import { createHash } from "node:crypto";
import { utf8Length } from "@rabbitmq-delay/topology";
import { showText } from "../address";
import { StoreMismatchError } from "../errors";
import { quoteName } from "../sql/tableStore";

/** PostgreSQL cuts longer names silently; source: its manual, identifiers. */
const LONGEST_NAME_BYTES = 63;

/** The quoted names of a store's table and of everything that belongs to it. */
export interface PostgresTable {
  /** Schema and table. */
  name: string;
  /** The schema alone. */
  schema: string;
  /** The table of executed migrations. */
  migrations: string;
  /** The table of receipts; see `IntakeReceipts`. */
  receipts: string;
  /** The table of lots; see `IntakeReceipts.storeLot`. */
  lots: string;
  /** The table of the broker for which messages are stored; see `DelayedMessageStore.noteBroker`. */
  broker: string;
  /** An index's name. */
  index(label: string): string;
  /** The channel on which instances wake each other. */
  channel: string;
}

/** @throws StoreMismatchError for a name that PostgreSQL would cut or refuse */
export function postgresTable(schema: string, table: string): PostgresTable {
  check("schema", schema, "");
  check("table", table, ".migrations");
  const hash = createHash("sha256").update(`${schema}\0${table}`).digest("hex").slice(0, 32);
  return {
    name: `${quoteName(schema)}.${quoteName(table)}`,
    schema: quoteName(schema),
    migrations: `${quoteName(schema)}.${quoteName(`${table}.migrations`)}`,
    receipts: `${quoteName(schema)}.${quoteName(`${table}.receipts`)}`,
    lots: `${quoteName(schema)}.${quoteName(`${table}.lots`)}`,
    broker: `${quoteName(schema)}.${quoteName(`${table}.broker`)}`,
    index: (label) => quoteName(`delayed_${hash}_${label}`),
    channel: `delayed_${hash}`,
  };
}

function check(property: string, name: string, suffix: string): void {
  const bytes = utf8Length(name + suffix);
  if (typeof name !== "string" || name === "" || name.includes("\0") || bytes > LONGEST_NAME_BYTES) {
    throw new StoreMismatchError(
      property,
      `${showText(name)} is not allowed; it must have 1 to ${LONGEST_NAME_BYTES - suffix.length} bytes`,
    );
  }
}
