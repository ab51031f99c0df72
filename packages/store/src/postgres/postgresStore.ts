import { ClientBase, ClientConfig, Pool, PoolClient, QueryResult } from "pg";
import type { NewDelayedMessage } from "../delayedMessage";
import type {
  BrokerPlace,
  CancelCount,
  DelayedMessageStore,
  DueMessages,
  Lot,
  MessageCount,
  MessageFilter,
  MessagePage,
  PageRequest,
  StoreMode,
  StoreOptions,
} from "../delayedMessageStore";
import { StoreMismatchError } from "../errors";
import { refuseEmpty, toCondition } from "../sql/filter";
import { checkVersion, isComplete, migrate } from "../sql/migrations";
import { checkLimit, parseCursor, toPage } from "../sql/page";
import type { StoredLot } from "../sql/lots";
import { Row, toListed } from "../sql/rows";
import {
  NotedBroker,
  TableStore,
  countStatement,
  hasToBeNoted,
  noteBrokerStatement,
  notedBrokerStatement,
  toBrokerPlace,
} from "../sql/tableStore";
import { PostgresDueMessages } from "./dueMessages";
import { keepAlive } from "./idleTransaction";
import { postgresMigrations } from "./migrations";
import { checkRights, shareRights } from "./rights";
import { columns, dialect, milliseconds, toArrays } from "./statements";
import { PostgresReceipts } from "./receipts";
import { refuseFilter, refuseMessage } from "./refusals";
import { PostgresTable, postgresTable } from "./table";
import { WakeCalls } from "./wakeCalls";

/** Where a PostgreSQL store keeps its messages. */
export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with the parameters of `pg` (`sslmode`, …). */
  connectionString: string;
  /** Default `public`; created if it does not exist. */
  schema?: string;
  /** Default `ENDPOINT.delayed`. */
  table?: string;
  /** Default `atLeastOnce`. */
  mode?: StoreMode;
  /** The largest number of connections. Default 10. */
  maximumConnections?: number;
  /**
   * How long a dispatcher whose process has stopped keeps its rows, in milliseconds, 1000 to 3600000. One that works keeps them as long as
   * it works. Default 120000.
   */
  idleTransactionTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A server that vanished silently is given up after this time. */
const QUERY_TIMEOUT_MS = 60_000;
/**
 * The server gives up a statement of a transaction earlier. Otherwise it might execute it when nobody waits for it any more, after the
 * caller was told that it failed.
 */
const STATEMENT_TIMEOUT_MS = QUERY_TIMEOUT_MS - 5000;
/** The message of `pg` about a query that took too long. */
const TIMED_OUT = "Query read timeout";
const IDLE_TRANSACTION_TIMEOUT_MS = { least: 1000, usual: 120_000, most: 3_600_000 };
/** With these, the server notices after about half a minute, instead of after hours, that a host with locked rows is gone. */
const KEEP_ALIVES =
  "SET LOCAL tcp_keepalives_idle = 15; SET LOCAL tcp_keepalives_interval = 5; SET LOCAL tcp_keepalives_count = 3";

/**
 * Delayed messages in a PostgreSQL table; several instances share it with row locks, and wake each other.
 * @example
 * ```ts
 * import { PostgresDelayedMessageStore, delayedMessage } from "@rabbitmq-delay/store";
 *
 * const store = new PostgresDelayedMessageStore({ connectionString: process.env.DATABASE_URL ?? "" });
 * await store.setUpInfrastructure("delayed");
 * await store.initialize("delayed");
 * await store.store(delayedMessage({ routingKey: "Billing", body: { order: 17 }, delayMs: 900_000 }));
 * ```
 */
export class PostgresDelayedMessageStore extends TableStore<PostgresTable> implements DelayedMessageStore {
  readonly receipts = new PostgresReceipts({
    table: () => this.table,
    inTransaction: (work) => this.inTransaction(work),
    insert: (client, messages, lot) => this.insert(client ?? this.pool, messages, lot),
  });
  private readonly pool: Pool;
  private readonly config: ClientConfig;
  private wakeCalls: WakeCalls | undefined;
  private readonly idleTimeoutMs: number;

  /** @throws StoreMismatchError for an invalid address, or a time out of range */
  constructor(private readonly options: PostgresStoreOptions) {
    super(options.mode);
    const { least, usual, most } = IDLE_TRANSACTION_TIMEOUT_MS;
    this.idleTimeoutMs = checkIdleTimeout(options.idleTransactionTimeoutMs ?? usual, least, most);
    const { connectionString, maximumConnections = 10 } = options;
    this.config = {
      connectionString,
      application_name: "rabbitmq-delay-store",
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
    };
    this.pool = new Pool({ ...this.config, max: maximumConnections });
    // The next query reports it.
    this.pool.on("error", () => undefined);
    // So does it of a connection that breaks between two queries, or between its start and the first one.
    this.pool.on("connect", (client) => client.on("error", () => undefined));
  }

  async setUpInfrastructure(endpoint: string): Promise<void> {
    const table = this.locate(endpoint);
    if (isComplete(postgresMigrations(table), await this.executed(table))) return;
    await this.inTransaction(async (client) => {
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [table.channel]);
      const { rows } = await client.query("SELECT to_regnamespace($1) AS found", [table.schema]);
      if (rows[0].found === null) await client.query(`CREATE SCHEMA ${table.schema}`);
      await client.query(
        `CREATE TABLE IF NOT EXISTS ${table.migrations} (name text PRIMARY KEY, taken_at timestamptz NOT NULL DEFAULT now())`,
      );
      let isChanged = false;
      await migrate(table.name, postgresMigrations(table), {
        run: (sql) => client.query(sql),
        executed: async () => namesOf(await client.query(`SELECT name FROM ${table.migrations} ORDER BY name`)),
        note: (name) => {
          isChanged = true;
          return client.query(`INSERT INTO ${table.migrations} (name) VALUES ($1)`, [name]);
        },
      });
      if (isChanged) await shareRights(client, table);
    });
  }

  async initialize(endpoint: string, signal?: AbortSignal): Promise<void> {
    const table = this.locate(endpoint);
    checkVersion(table.name, postgresMigrations(table), await this.executed(table));
    signal?.addEventListener("abort", () => void this.wakeCalls?.close(), { once: true });
  }

  private async executed({ migrations }: PostgresTable): Promise<string[] | undefined> {
    const { rows } = await this.pool.query("SELECT to_regclass($1) AS found", [migrations]);
    if (rows[0].found === null) return undefined;
    return namesOf(await this.pool.query(`SELECT name FROM ${migrations} ORDER BY name`));
  }

  async noteBroker(place: BrokerPlace, isMoved: boolean): Promise<BrokerPlace> {
    const noted = await this.notedBroker();
    if (noted !== undefined && !hasToBeNoted(noted, place, isMoved)) return noted;
    const statement = noteBrokerStatement(this.table.broker, ["$1", "$2"], isMoved);
    const { rows } = await this.pool.query<NotedBroker>(statement, [place.vhost, place.cluster ?? null]);
    return toBrokerPlace(rows[0] as NotedBroker);
  }

  async notedBroker(): Promise<BrokerPlace | undefined> {
    const { rows } = await this.pool.query<NotedBroker>(notedBrokerStatement(this.table.broker));
    return rows[0] === undefined ? undefined : toBrokerPlace(rows[0]);
  }

  checkIntake(): Promise<void> {
    return checkRights(this.pool, this.table);
  }

  async storeAll(messages: NewDelayedMessage[], { transaction }: StoreOptions = {}): Promise<void> {
    const client = this.clientOf(transaction);
    if (messages.length === 0) return;
    await this.insert(client, messages);
  }

  /** @param lot stored with the messages; if the lot is stored already, nothing is */
  private async insert(
    client: Pick<ClientBase, "query">,
    messages: NewDelayedMessage[],
    lot?: StoredLot & Pick<Lot, "session">,
  ): Promise<void> {
    const { name, lots, channel } = this.table;
    const statement = {
      text: `
        WITH given AS (
          SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::jsonb[], $6::bytea[])
            AS given (message_id, due_at, exchange, routing_key, properties, body)
        ), ${lot === undefined ? "" : `lot AS (INSERT INTO ${lots} (lot, session, fingerprints) VALUES ($7, $8, $9) ON CONFLICT (lot) DO NOTHING RETURNING lot),`}
        stored AS (
          INSERT INTO ${name} (message_id, due_at, attempt_at, exchange, routing_key, properties, body)
          SELECT message_id, due_at, due_at, exchange, routing_key, properties, body FROM given
          ${lot === undefined ? "" : "WHERE EXISTS (SELECT FROM lot)"}
          RETURNING attempt_at
        )
        SELECT pg_notify('${channel}', ${MILLISECONDS}) FROM stored HAVING count(*) > 0`,
      values: [...toArrays(messages), ...(lot === undefined ? [] : [lot.lot, lot.session, lot.fingerprints])],
    };
    await client.query(statement).catch(refuseMessage);
  }

  async next(): Promise<Date | undefined> {
    const { rows } = await this.pool.query<{ next: number }>(
      `SELECT ${milliseconds("attempt_at")} AS next FROM ${this.table.name} ORDER BY attempt_at, id LIMIT 1`,
    );
    return rows[0] === undefined ? undefined : new Date(rows[0].next);
  }

  inLock<T>(work: (due: DueMessages) => Promise<T>): Promise<T> {
    const { table } = this;
    return this.inTransaction((client) => work(new PostgresDueMessages(client, table)));
  }

  async cancelNoted(filter: MessageFilter): Promise<CancelCount> {
    refuseEmpty(filter);
    const { sql, values } = toCondition(filter, dialect);
    return this.runChange(
      `WITH gone AS (DELETE FROM ${this.table.name} WHERE ${sql} RETURNING is_in_doubt) SELECT ${DOUBT_COUNTS} FROM gone`,
      values,
    );
  }

  async rescheduleNoted(filter: MessageFilter, at: Date): Promise<CancelCount> {
    refuseEmpty(filter);
    const { name, channel } = this.table;
    const { sql, values } = toCondition(filter, dialect);
    const time = `$${values.length + 1}`;
    return this.runChange(
      `WITH moved AS (
         UPDATE ${name} SET due_at = ${time}, attempt_at = ${time}, failure_count = 0 WHERE ${sql} RETURNING attempt_at, is_in_doubt
       )
       SELECT ${DOUBT_COUNTS}, pg_notify('${channel}', ${MILLISECONDS}) FROM moved`,
      [...values, at],
    );
  }

  /** Runs a change that may wait for rows that somebody has in hand: it is done within a time limit, or not at all. */
  private async runChange(text: string, values: unknown[]): Promise<CancelCount> {
    const { rows } = await this.inTransaction((client) =>
      client.query<{ sure: string; in_doubt: string }>(text, values),
    ).catch(refuseFilter);
    return { count: Number(rows[0]?.sure), inDoubt: Number(rows[0]?.in_doubt) };
  }

  async list(filter: MessageFilter = {}, page: PageRequest = {}): Promise<MessagePage> {
    const limit = checkLimit(page.limit);
    const { sql, values } = toCondition(filter, dialect);
    const cursor = page.after === undefined ? undefined : parseCursor(page.after);
    const after =
      cursor === undefined ? "" : `AND (attempt_at, id) > ($${values.length + 1}, $${values.length + 2}::bigint)`;
    const { rows } = await this.pool
      .query<Row>(
        `SELECT ${columns}, octet_length(body) AS body_bytes FROM ${this.table.name} AS message
       WHERE ${sql} ${after} ORDER BY message.attempt_at, id LIMIT ${limit + 1}`,
        [...values, ...(cursor === undefined ? [] : [cursor.attemptAt, cursor.id])],
      )
      .catch(refuseFilter);
    return toPage(rows.map(toListed), limit);
  }

  async count(at = new Date()): Promise<MessageCount> {
    const { rows } = await this.pool.query<Record<keyof MessageCount, string> & { next: number | null }>(
      countStatement(this.table.name, "$1", milliseconds),
      [at],
    );
    const [{ pending, due, failed, next }] = rows as [(typeof rows)[0]];
    return {
      pending: Number(pending),
      due: Number(due),
      failed: Number(failed),
      ...(next === null ? {} : { next: new Date(next) }),
    };
  }

  onStored(listener: (attemptAt: Date) => void): () => void {
    this.wakeCalls ??= new WakeCalls(this.config, this.table.channel);
    return this.wakeCalls.add(listener);
  }

  async close(): Promise<void> {
    await this.wakeCalls?.close();
    await this.pool.end();
  }

  protected override tableOf(endpoint: string): PostgresTable {
    const { schema = "public", table = `${endpoint}.delayed` } = this.options;
    return postgresTable(schema, table);
  }

  private clientOf(transaction: unknown): Pick<ClientBase, "query"> {
    if (transaction !== undefined) return checkTransaction(transaction);
    this.refuseWithoutTransaction();
    return this.pool;
  }

  private async inTransaction<T>(work: (client: Pick<PoolClient, "query">) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let failure: Error | undefined;
    try {
      await client.query(
        `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${this.idleTimeoutMs};
         SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}; ${KEEP_ALIVES}`,
      );
      const kept = keepAlive(client, this.idleTimeoutMs);
      const result = await work(kept.client).finally(kept.stop);
      const { command } = await client.query("COMMIT");
      if (command !== "COMMIT") throw new Error("the transaction was rolled back");
      return result;
    } catch (error) {
      failure = error as Error;
      // Behind a statement that hangs, it would wait for as long again; ending the connection has the same effect.
      if (failure.message !== TIMED_OUT) await client.query("ROLLBACK").catch(() => undefined);
      throw error;
    } finally {
      client.release(failure);
    }
  }
}

function checkIdleTimeout(value: unknown, least: number, most: number): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw new StoreMismatchError(
    "idleTransactionTimeoutMs",
    `${String(value)} is not allowed; it must be whole milliseconds from ${least} to ${most}`,
  );
}

/** Of the changed rows, counts those that the broker surely does not have, and the others. */
const DOUBT_COUNTS = "count(*) FILTER (WHERE NOT is_in_doubt) AS sure, count(*) FILTER (WHERE is_in_doubt) AS in_doubt";

/** Milliseconds since 1970 of the first of the rows, as text. */
const MILLISECONDS = "(extract(epoch FROM min(attempt_at)) * 1000)::bigint::text";

/** Checks the caller's transaction: a pool would take any connection, outside the transaction. */
function checkTransaction(transaction: unknown): Pick<ClientBase, "query"> {
  const client = transaction as Partial<ClientBase & { totalCount: number; getTransactionStatus: () => string }>;
  if (typeof client?.query !== "function" || client.totalCount !== undefined) {
    throw new StoreMismatchError("transaction", "it must be a pg client (pool.connect()) after BEGIN, not a pool");
  }
  if (client.getTransactionStatus?.() === "I") {
    throw new StoreMismatchError("transaction", "the client is in no transaction; BEGIN first");
  }
  return client as ClientBase;
}

function namesOf({ rows }: QueryResult<{ name: string }>): string[] {
  return rows.map(({ name }) => name);
}
