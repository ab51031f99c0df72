import type { Database } from "better-sqlite3";
import type { DelayedMessage } from "../delayedMessage";
import { BatchDueMessages } from "../sql/batchDueMessages";
import { Row, toMessage } from "../sql/rows";
import { columns } from "./dialect";

/** Due messages under the dispatch lock; the decisions about them are written all at once, at the end. */
export class SqliteDueMessages extends BatchDueMessages {
  private readonly fetched: number[] = [];
  private readonly removed: DelayedMessage[] = [];
  private readonly unchanged: DelayedMessage[] = [];
  private readonly doubted: DelayedMessage[] = [];
  private readonly failed: { message: DelayedMessage; retryAt?: Date }[] = [];
  private readonly postponed: { message: DelayedMessage; retryAt: Date }[] = [];

  /** @param table its name, quoted */
  constructor(
    private readonly database: Database,
    private readonly table: string,
  ) {
    super();
  }

  async fetchDue(at: Date, limit: number, maximumBytes = Number.MAX_SAFE_INTEGER): Promise<DelayedMessage[]> {
    const find = this.database
      .prepare<unknown[], number>(
        `SELECT id FROM (
           SELECT id, attempt_at, sum(body_bytes) OVER (ORDER BY attempt_at, id) - body_bytes AS before FROM (
             SELECT id, attempt_at, body_bytes FROM ${this.table}
             WHERE attempt_at <= ? AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY attempt_at, id LIMIT ?
           )
         ) WHERE before < ? OR before = 0 ORDER BY attempt_at, id`,
      )
      .pluck();
    const read = this.database.prepare<[number], Row>(`SELECT ${columns}, body FROM ${this.table} WHERE id = ?`);
    // Reads the bodies after sorting, because SQLite sorts whole rows, in a temporary file, whose folder may be small.
    const fetch = this.database.transaction(() =>
      find.all(at.getTime(), JSON.stringify(this.fetched), limit, maximumBytes).map((id) => read.get(id) as Row),
    );
    const rows = fetch();
    this.fetched.push(...rows.map(({ id }) => Number(id)));
    return rows.map(toMessage);
  }

  async removeAll(messages: DelayedMessage[]): Promise<void> {
    this.removed.push(...messages);
  }

  async removeUnchanged(messages: DelayedMessage[]): Promise<void> {
    this.unchanged.push(...messages);
  }

  async incrementFailureCounts(failures: { message: DelayedMessage; retryAt?: Date }[]): Promise<void> {
    this.failed.push(...failures);
  }

  async postpone(later: { message: DelayedMessage; retryAt: Date }[]): Promise<void> {
    this.postponed.push(...later);
  }

  async noteDoubts(messages: DelayedMessage[]): Promise<void> {
    this.doubted.push(...messages);
  }

  /** Writes the decisions, in one transaction. */
  commit(): void {
    const { removed, unchanged, failed, postponed, doubted } = this;
    if (removed.length + unchanged.length + failed.length + postponed.length + doubted.length === 0) return;
    const removeUnchanged = this.database.prepare(`DELETE FROM ${this.table} WHERE id = ? AND attempt_at = ?`);
    const remove = this.database.prepare(`DELETE FROM ${this.table} WHERE id = ?`);
    const fail = this.database.prepare(
      `UPDATE ${this.table} SET failure_count = failure_count + 1, attempt_at = coalesce(?, attempt_at) WHERE id = ?`,
    );
    const postpone = this.database.prepare(`UPDATE ${this.table} SET attempt_at = ? WHERE id = ?`);
    const doubt = this.database.prepare(`UPDATE ${this.table} SET is_in_doubt = 1 WHERE id = ?`);
    this.database
      .transaction(() => {
        for (const { id, attemptAt } of unchanged) removeUnchanged.run(Number(id), attemptAt.getTime());
        for (const { id } of removed) remove.run(Number(id));
        for (const { message, retryAt } of failed) fail.run(retryAt?.getTime() ?? null, Number(message.id));
        for (const { message, retryAt } of postponed) postpone.run(retryAt.getTime(), Number(message.id));
        for (const { id } of doubted) doubt.run(Number(id));
      })
      .immediate();
  }
}
