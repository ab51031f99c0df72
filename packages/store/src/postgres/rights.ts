import type { ClientBase } from "pg";
import { StoreMismatchError } from "../errors";
import type { PostgresTable } from "./table";

type Queries = Pick<ClientBase, "query">;

const RIGHTS = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/**
 * Gives roles with rights on the messages' table the same rights on the other tables, so that a migration that adds one stops nobody. The
 * table's owner gets all rights without a grant, if another role runs the migration.
 * @param client of the role that made the tables
 */
export async function shareRights(client: Queries, { name, receipts, lots, broker }: PostgresTable): Promise<void> {
  const { rows } = await client.query<{ role: string; rights: string }>(
    `SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role,
       string_agg(DISTINCT privilege_type, ', ') AS rights
     FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
     WHERE pg_class.oid = $1::regclass AND privilege_type = ANY ($2) AND pg_get_userbyid(grantee) <> current_user
     GROUP BY grantee`,
    [name, RIGHTS],
  );
  const beside = [receipts, lots, broker].join(", ");
  for (const { role, rights } of rows) await client.query(`GRANT ${rights} ON ${beside} TO ${role}`);
}

/** @throws StoreMismatchError with the statement that grants the missing rights */
export async function checkRights(client: Queries, { name, receipts, lots, broker }: PostgresTable): Promise<void> {
  const { rows } = await client.query<{ table: string; role: string }>(
    `SELECT given.name AS table, quote_ident(current_user) AS role FROM unnest($1::text[]) AS given (name)
     WHERE NOT (SELECT bool_and(has_table_privilege(given.name, needed)) FROM unnest($2::text[]) AS needed)`,
    [[name, receipts, lots, broker], RIGHTS],
  );
  const [first] = rows;
  if (first === undefined) return;
  const tables = rows.map(({ table }) => table).join(", ");
  throw new StoreMismatchError(
    "table",
    `the role ${first.role} may not use ${tables}; let their owner run GRANT ${RIGHTS.join(", ")} ON ${tables} TO ${first.role}`,
  );
}
