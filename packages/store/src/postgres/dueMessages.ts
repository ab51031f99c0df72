import type { ClientBase } from "pg";
import type { DelayedMessage } from "../delayedMessage";
import { BatchDueMessages } from "../sql/batchDueMessages";
import { Row, toMessage } from "../sql/rows";
import { columns } from "./statements";
import type { PostgresTable } from "./table";

/** Due messages in a transaction that has locked their rows. */
export class PostgresDueMessages extends BatchDueMessages {
  private readonly fetched: string[] = [];

  constructor(
    private readonly client: Pick<ClientBase, "query">,
    private readonly table: PostgresTable,
  ) {
    super();
  }

  async fetchDue(at: Date, limit: number, maximumBytes = Number.MAX_SAFE_INTEGER): Promise<DelayedMessage[]> {
    const { name } = this.table;
    // A transaction's own locks don't hide its rows from itself.
    const isAgain = this.fetched.length > 0;
    const { rows } = await this.client.query<Row>({
      text: `
        WITH locked AS MATERIALIZED (
          SELECT id, attempt_at, octet_length(body) AS bytes FROM ${name}
          WHERE attempt_at <= $1 ${isAgain ? "AND id <> ALL ($4::bigint[])" : ""}
          ORDER BY attempt_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
        ), sized AS (
          SELECT id, sum(bytes) OVER (ORDER BY attempt_at, id) - bytes AS before FROM locked
        )
        SELECT ${columns}, body FROM sized JOIN ${name} AS message USING (id)
        WHERE before < $3 OR before = 0 ORDER BY message.attempt_at, id`,
      values: [at, limit, maximumBytes, ...(isAgain ? [this.fetched] : [])],
    });
    this.fetched.push(...rows.map(({ id }) => String(id)));
    return rows.map(toMessage);
  }

  async removeAll(messages: DelayedMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const { name } = this.table;
    await this.client.query({
      text: `DELETE FROM ${name} WHERE id = ANY ($1::bigint[])`,
      values: [messages.map(({ id }) => id)],
    });
  }

  async removeUnchanged(messages: DelayedMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const { name } = this.table;
    await this.client.query({
      text: `
        DELETE FROM ${name} AS message USING unnest($1::bigint[], $2::timestamptz[]) AS given (id, attempt_at)
        WHERE message.id = given.id AND message.attempt_at = given.attempt_at`,
      values: [messages.map(({ id }) => id), messages.map(({ attemptAt }) => attemptAt)],
    });
  }

  async noteDoubts(messages: DelayedMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const { name } = this.table;
    await this.client.query({
      text: `UPDATE ${name} SET is_in_doubt = true WHERE id = ANY ($1::bigint[]) AND NOT is_in_doubt`,
      values: [messages.map(({ id }) => id)],
    });
  }

  async incrementFailureCounts(failures: { message: DelayedMessage; retryAt?: Date }[]): Promise<void> {
    await this.tryLater(failures, 1);
  }

  async postpone(later: { message: DelayedMessage; retryAt: Date }[]): Promise<void> {
    await this.tryLater(later, 0);
  }

  /** @param failures how many each of them has more */
  private async tryLater(later: { message: DelayedMessage; retryAt?: Date }[], failures: number): Promise<void> {
    if (later.length === 0) return;
    const { name } = this.table;
    await this.client.query({
      text: `
        UPDATE ${name} AS message
        SET failure_count = failure_count + ${failures}, attempt_at = coalesce(given.retry_at, message.attempt_at)
        FROM unnest($1::bigint[], $2::timestamptz[]) AS given (id, retry_at) WHERE message.id = given.id`,
      values: [later.map(({ message }) => message.id), later.map(({ retryAt }) => retryAt ?? null)],
    });
  }
}
