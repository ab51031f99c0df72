import type { Migration } from "../sql/migrations";
import type { PostgresTable } from "./table";

/**
 * The migrations of a PostgreSQL table. Rows are written and deleted all the time, so dead rows are cleared away early: an index whose
 * start is full of them makes the search for due messages slow.
 */
export function postgresMigrations({ name, receipts, lots, broker, index }: PostgresTable): Migration[] {
  return [
    {
      name: "0001-messages",
      sql: `
        CREATE TABLE ${name} (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          message_id text NOT NULL,
          due_at timestamptz(3) NOT NULL,
          attempt_at timestamptz(3) NOT NULL,
          stored_at timestamptz(3) NOT NULL DEFAULT now(),
          failure_count integer NOT NULL DEFAULT 0,
          exchange text NOT NULL,
          routing_key text NOT NULL,
          properties jsonb NOT NULL,
          body bytea NOT NULL
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
        CREATE INDEX ${index("attempt")} ON ${name} (attempt_at, id);
        CREATE INDEX ${index("message")} ON ${name} (message_id);
        CREATE INDEX ${index("failed")} ON ${name} (id) WHERE failure_count > 0;`,
    },
    {
      name: "0002-receipts",
      sql: `
        CREATE TABLE ${receipts} (
          message_id text PRIMARY KEY,
          session text NOT NULL,
          fingerprint text NOT NULL,
          earlier_deliveries integer NOT NULL,
          begun integer NOT NULL DEFAULT 0,
          taken_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);`,
    },
    {
      name: "0003-lots",
      sql: `
        CREATE TABLE ${lots} (
          lot text PRIMARY KEY,
          session text NOT NULL,
          fingerprints text[] NOT NULL,
          taken_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
          seen_at timestamptz(3)
        ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);`,
    },
    {
      name: "0004-in-doubt",
      sql: `ALTER TABLE ${name} ADD COLUMN IF NOT EXISTS is_in_doubt boolean NOT NULL DEFAULT false;`,
    },
    {
      name: "0005-broker",
      sql: `CREATE TABLE IF NOT EXISTS ${broker} (id integer PRIMARY KEY CHECK (id = 1), vhost text NOT NULL, cluster text);`,
    },
  ];
}
