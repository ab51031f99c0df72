import { realpathSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { NewDelayedMessage } from "../delayedMessage";
import type {
  BrokerPlace,
  CancelCount,
  DelayedMessageStore,
  DueMessages,
  MessageCount,
  MessageFilter,
  MessagePage,
  PageRequest,
  StoreMode,
  StoreOptions,
} from "../delayedMessageStore";
import { StoreMismatchError } from "../errors";
import { propertiesToJson } from "../messageProperties";
import { Condition, refuseEmpty, toCondition } from "../sql/filter";
import { checkVersion, isComplete, migrate } from "../sql/migrations";
import { checkLimit, parseCursor, toPage } from "../sql/page";
import { Row, toListed } from "../sql/rows";
import {
  NotedBroker,
  TableStore,
  countStatement,
  hasToBeNoted,
  noteBrokerStatement,
  notedBrokerStatement,
  quoteName,
  toBrokerPlace,
} from "../sql/tableStore";
import { columns, dialect, milliseconds } from "./dialect";
import { DispatchLock } from "./dispatchLock";
import { SqliteDueMessages } from "./dueMessages";
import { sqliteMigrations } from "./migrations";
import { openDatabase } from "./open";
import { SqliteReceipts } from "./receipts";
import { writeOrRefuse } from "./refusals";
import { SqliteTable, sqliteTable } from "./table";

/** Where a SQLite store keeps its messages. */
export interface SqliteStoreOptions {
  /** The file, on a local disk; created if it does not exist. */
  path: string;
  /** Default `ENDPOINT.delayed`. */
  table?: string;
  /** Default `atLeastOnce`. */
  mode?: StoreMode;
}

/** Nobody else writes for longer than a batch takes; while SQLite waits, this whole process stands still. */
const BUSY_TIMEOUT_MS = 5000;
/** How many messages a cancel deletes in one transaction. */
const CANCEL_PART = 1000;

/**
 * Delayed messages in an SQLite file; processes on the same machine take turns with it.
 * @example
 * ```ts
 * import { SqliteDelayedMessageStore, delayedMessage } from "@rabbitmq-delay/store";
 *
 * const store = new SqliteDelayedMessageStore({ path: "/var/lib/shop/delayed.db" });
 * await store.setUpInfrastructure("delayed");
 * await store.initialize("delayed");
 * await store.store(delayedMessage({ routingKey: "Billing", body: { order: 17 }, delayMs: 900_000 }));
 * ```
 */
export class SqliteDelayedMessageStore extends TableStore<SqliteTable> implements DelayedMessageStore {
  readonly pollMs = 1000;
  readonly isConcurrent = false;
  readonly receipts: SqliteReceipts;
  private readonly database: Database;
  private readonly lock: DispatchLock;

  /** @throws StoreMismatchError when the file can't be opened */
  constructor(private readonly options: SqliteStoreOptions) {
    super(options.mode);
    // The driver's default for the second one could lose committed messages in a power cut.
    const pragmas = ["journal_mode = WAL", "synchronous = FULL"];
    this.database = openDatabase(options.path, { timeout: BUSY_TIMEOUT_MS }, pragmas);
    this.lock = new DispatchLock(options.path);
    this.receipts = new SqliteReceipts({
      database: this.database,
      table: () => this.table,
      insert: (messages) => this.insert(this.database, messages),
    });
  }

  async setUpInfrastructure(endpoint: string, signal?: AbortSignal): Promise<void> {
    const table = this.locate(endpoint);
    this.endWith(signal);
    if (isComplete(sqliteMigrations(table), this.executed(table))) return;
    const migrations = quoteName(table.migrations);
    // Under the lock and on a connection of its own: the migrations are one transaction that lasts over several turns of the event loop.
    await this.lock.hold(async () => {
      const database = openDatabase(this.options.path, { timeout: BUSY_TIMEOUT_MS });
      try {
        database.exec("BEGIN IMMEDIATE");
        database.exec(
          `CREATE TABLE IF NOT EXISTS ${migrations} (name TEXT PRIMARY KEY, taken_at INTEGER NOT NULL) STRICT`,
        );
        const note = database.prepare(`INSERT INTO ${migrations} (name, taken_at) VALUES (?, ?)`);
        await migrate(table.name, sqliteMigrations(table), {
          run: async (sql) => database.exec(sql),
          executed: async () => executedOf(database, table),
          note: async (step) => note.run(step, Date.now()),
        });
        database.exec("COMMIT");
      } finally {
        database.close();
      }
    });
  }

  async initialize(endpoint: string, signal?: AbortSignal): Promise<void> {
    const table = this.locate(endpoint);
    this.endWith(signal);
    checkVersion(table.name, sqliteMigrations(table), this.executed(table));
  }

  async noteBroker(place: BrokerPlace, isMoved: boolean): Promise<BrokerPlace> {
    const noted = await this.notedBroker();
    if (noted !== undefined && !hasToBeNoted(noted, place, isMoved)) return noted;
    const statement = noteBrokerStatement(this.table.broker, ["?", "?"], isMoved);
    const change = this.database.prepare<unknown[], NotedBroker>(statement);
    return toBrokerPlace(change.get(place.vhost, place.cluster ?? null) as NotedBroker);
  }

  async notedBroker(): Promise<BrokerPlace | undefined> {
    const noted = this.database.prepare<[], NotedBroker>(notedBrokerStatement(this.table.broker)).get();
    return noted === undefined ? undefined : toBrokerPlace(noted);
  }

  private executed(table: SqliteTable): string[] | undefined {
    const found = this.database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(table.migrations);
    return found === undefined ? undefined : executedOf(this.database, table);
  }

  /** Ends the store with the signal: a caller that waits for the lock would keep the process from ending. */
  private endWith(signal: AbortSignal | undefined): void {
    if (signal?.aborted) this.lock.end();
    signal?.addEventListener("abort", () => this.lock.end(), { once: true });
  }

  async storeAll(messages: NewDelayedMessage[], { transaction }: StoreOptions = {}): Promise<void> {
    const database = this.databaseOf(transaction);
    const insertAll = database.transaction(() => this.insert(database, messages));
    if (transaction === undefined) insertAll.immediate();
    else insertAll();
  }

  /** Inserts inside a transaction. @throws MessageRefusedError for a value that SQLite does not accept */
  private insert(database: Database, messages: NewDelayedMessage[]): void {
    const insert = database.prepare(`
      INSERT INTO ${this.table.name} (message_id, due_at, attempt_at, stored_at, exchange, routing_key, properties, body_bytes, body)
      VALUES (@messageId, @dueAt, @dueAt, @storedAt, @exchange, @routingKey, @properties, @bodyBytes, @body)`);
    const storedAt = Date.now();
    writeOrRefuse(() => {
      for (const { messageId, dueAt, exchange, routingKey, properties, body } of messages) {
        insert.run({
          messageId,
          dueAt: dueAt.getTime(),
          storedAt,
          exchange,
          routingKey,
          properties: propertiesToJson(properties),
          bodyBytes: body.length,
          body,
        });
      }
    });
  }

  async next(): Promise<Date | undefined> {
    const row = this.database
      .prepare<[], { attempt_at: number }>(`SELECT attempt_at FROM ${this.table.name} ORDER BY attempt_at, id LIMIT 1`)
      .get();
    return row === undefined ? undefined : new Date(row.attempt_at);
  }

  inLock<T>(work: (due: DueMessages) => Promise<T>): Promise<T> {
    const due = new SqliteDueMessages(this.database, this.table.name);
    return this.lock.hold(async () => {
      const result = await work(due);
      due.commit();
      return result;
    });
  }

  /**
   * Deletes in parts, each with the lock for itself: a single statement for very many messages would stop this process, and any dispatching
   * one, until its end.
   */
  async cancelNoted(filter: MessageFilter): Promise<CancelCount> {
    refuseEmpty(filter);
    const condition = toCondition(filter, dialect);
    const last = this.database.prepare<[], { id: number }>(`SELECT max(id) AS id FROM ${this.table.name}`);
    const counted = { count: 0, inDoubt: 0 };
    const lastId = last.get()?.id ?? 0;
    for (let afterId: number | undefined = 0; afterId !== undefined;) {
      const part: { afterId: number; lastId: number } = { afterId, lastId };
      afterId = await this.lock.hold(async () => this.cancelPart(condition, part, counted));
      await new Promise((resolve) => setImmediate(resolve));
    }
    return counted;
  }

  /** @returns the last id of the part; undefined when there is none after it */
  private cancelPart(
    { sql, values }: Condition,
    { afterId, lastId }: { afterId: number; lastId: number },
    counted: CancelCount,
  ): number | undefined {
    const { name } = this.table;
    const find = this.database.prepare<unknown[], { id: number | bigint; is_in_doubt: number }>(
      `SELECT id, is_in_doubt FROM ${name} WHERE id > ? AND id <= ? AND (${sql}) ORDER BY id LIMIT ${CANCEL_PART}`,
    );
    const remove = this.database.prepare(`DELETE FROM ${name} WHERE id = ?`);
    const cancel = this.database.transaction(() => {
      const gone = find.all(afterId, lastId, ...values);
      for (const { id } of gone) remove.run(id);
      return gone;
    });
    const gone = cancel.immediate();
    const { count, inDoubt } = countDoubts(gone);
    counted.inDoubt += inDoubt;
    counted.count += count;
    return gone.length < CANCEL_PART ? undefined : Number(gone.at(-1)?.id);
  }

  /** Runs under the lock, because a message that is being delivered can't be moved. */
  async rescheduleNoted(filter: MessageFilter, at: Date): Promise<CancelCount> {
    refuseEmpty(filter);
    const { sql, values } = toCondition(filter, dialect);
    const { name } = this.table;
    const time = at.getTime();
    const find = this.database.prepare<unknown[], { id: number; is_in_doubt: number }>(
      `SELECT id, is_in_doubt FROM ${name} WHERE ${sql}`,
    );
    // Moves each message by itself: for many at once, SQLite copies their bodies to a temporary file, whose folder may be small.
    const move = this.database.prepare(`UPDATE ${name} SET due_at = ?, attempt_at = ?, failure_count = 0 WHERE id = ?`);
    const both = this.database.transaction((): CancelCount => {
      const moved = find.all(...values);
      for (const { id } of moved) move.run(time, time, id);
      return countDoubts(moved);
    });
    return this.lock.hold(async () => both.immediate());
  }

  async list(filter: MessageFilter = {}, page: PageRequest = {}): Promise<MessagePage> {
    const limit = checkLimit(page.limit);
    const { sql, values } = toCondition(filter, dialect);
    const cursor = page.after === undefined ? undefined : parseCursor(page.after);
    const rows = this.database
      .prepare<unknown[], Row>(
        `SELECT ${columns}, body_bytes FROM ${this.table.name}
         WHERE ${sql} ${cursor === undefined ? "" : "AND (attempt_at, id) > (?, ?)"} ORDER BY attempt_at, id LIMIT ?`,
      )
      .all(...values, ...(cursor === undefined ? [] : [cursor.attemptAt.getTime(), Number(cursor.id)]), limit + 1);
    return toPage(rows.map(toListed), limit);
  }

  async count(at = new Date()): Promise<MessageCount> {
    const counted = this.database
      .prepare<[number], { pending: number; due: number; failed: number; next: number | null }>(
        countStatement(this.table.name, "?", milliseconds),
      )
      .get(at.getTime());
    const { next, ...counts } = counted as NonNullable<typeof counted>;
    return { ...counts, ...(next === null ? {} : { next: new Date(next) }) };
  }

  async close(): Promise<void> {
    this.lock.close();
    this.database.close();
  }

  protected override tableOf(endpoint: string): SqliteTable {
    return sqliteTable(this.options.table ?? `${endpoint}.delayed`);
  }

  private databaseOf(transaction: unknown): Database {
    if (transaction !== undefined) return this.checkTransaction(transaction);
    this.refuseWithoutTransaction();
    return this.database;
  }

  private checkTransaction(transaction: unknown): Database {
    const database = transaction as Partial<Database>;
    if (typeof database?.prepare !== "function" || database.inTransaction !== true) {
      throw new StoreMismatchError("transaction", "it must be a better-sqlite3 database inside a transaction");
    }
    if (realpathSync(database.name as string) !== realpathSync(this.options.path)) {
      throw new StoreMismatchError("transaction", `it is on ${database.name}, the store on ${this.options.path}`);
    }
    return database as Database;
  }
}

/** Counts messages; those that may have been sent apart from the others. */
function countDoubts(rows: { is_in_doubt: number }[]): CancelCount {
  const inDoubt = rows.filter(({ is_in_doubt: mark }) => Number(mark) === 1).length;
  return { count: rows.length - inDoubt, inDoubt };
}

function executedOf(database: Database, { migrations }: SqliteTable): string[] {
  const rows = database.prepare<[], { name: string }>(`SELECT name FROM ${quoteName(migrations)} ORDER BY name`).all();
  return rows.map(({ name }) => name);
}
