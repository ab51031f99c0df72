import { showText } from "../address";
import { StoreMismatchError } from "../errors";
import { quoteName } from "../sql/tableStore";

/** The names of a store's table and of everything that belongs to it. */
export interface SqliteTable {
  /** Quoted. */
  name: string;
  /** The bare name of the table of executed migrations. */
  migrations: string;
  /** The table of receipts, quoted; see `IntakeReceipts`. */
  receipts: string;
  /** The table of lots, quoted; see `IntakeReceipts.storeLot`. */
  lots: string;
  /** The table of the broker for which messages are stored, quoted; see `DelayedMessageStore.noteBroker`. */
  broker: string;
  /** An index's name, quoted. */
  index(label: string): string;
}

/** @throws StoreMismatchError for a name that SQLite reserves */
export function sqliteTable(table: string): SqliteTable {
  if (table === "" || table.includes("\0") || table.startsWith("sqlite_")) {
    throw new StoreMismatchError("table", `${showText(table)} is not allowed; give it a name of its own`);
  }
  return {
    name: quoteName(table),
    migrations: `${table}.migrations`,
    receipts: quoteName(`${table}.receipts`),
    lots: quoteName(`${table}.lots`),
    broker: quoteName(`${table}.broker`),
    index: (label) => quoteName(`${table}.${label}`),
  };
}
