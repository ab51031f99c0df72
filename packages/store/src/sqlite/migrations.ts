import type { Migration } from "../sql/migrations";
import type { SqliteTable } from "./table";

/** The migrations of an SQLite table; times are milliseconds since 1970. */
export function sqliteMigrations({ name, receipts, lots, broker, index }: SqliteTable): Migration[] {
  return [
    {
      name: "0001-messages",
      sql: `
        CREATE TABLE ${name} (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          message_id TEXT NOT NULL,
          due_at INTEGER NOT NULL,
          attempt_at INTEGER NOT NULL,
          stored_at INTEGER NOT NULL,
          failure_count INTEGER NOT NULL DEFAULT 0,
          exchange TEXT NOT NULL,
          routing_key TEXT NOT NULL,
          properties TEXT NOT NULL,
          body_bytes INTEGER NOT NULL,
          body BLOB NOT NULL
        ) STRICT;
        CREATE INDEX ${index("attempt")} ON ${name} (attempt_at, id);
        CREATE INDEX ${index("message")} ON ${name} (message_id);
        CREATE INDEX ${index("failed")} ON ${name} (id) WHERE failure_count > 0;`,
    },
    {
      name: "0002-receipts",
      sql: `
        CREATE TABLE ${receipts} (
          message_id TEXT PRIMARY KEY,
          session TEXT NOT NULL,
          fingerprint TEXT NOT NULL,
          earlier_deliveries INTEGER NOT NULL,
          begun INTEGER NOT NULL DEFAULT 0,
          taken_at INTEGER NOT NULL
        ) STRICT;`,
    },
    {
      name: "0003-lots",
      sql: `
        CREATE TABLE ${lots} (
          lot TEXT PRIMARY KEY,
          session TEXT NOT NULL,
          fingerprints TEXT NOT NULL,
          taken_at INTEGER NOT NULL,
          seen_at INTEGER
        ) STRICT;`,
    },
    {
      name: "0004-in-doubt",
      sql: `ALTER TABLE ${name} ADD COLUMN is_in_doubt INTEGER NOT NULL DEFAULT 0;`,
    },
    {
      name: "0005-broker",
      sql: `CREATE TABLE ${broker} (id INTEGER PRIMARY KEY CHECK (id = 1), vhost TEXT NOT NULL, cluster TEXT) STRICT;`,
    },
  ];
}
