import type { NewDelayedMessage } from "../delayedMessage";
import type { BrokerPlace, CancelCount, MessageFilter, StoreMode, StoreOptions } from "../delayedMessageStore";
import { StoreMismatchError } from "../errors";

/** The common part of stores with a table: a single message is a batch of one, and table names are known once there is an endpoint. */
export abstract class TableStore<Table> {
  private located: Table | undefined;

  protected constructor(private readonly mode: StoreMode = "atLeastOnce") {}

  abstract storeAll(messages: NewDelayedMessage[], options?: StoreOptions): Promise<void>;
  abstract cancelNoted(filter: MessageFilter): Promise<CancelCount>;
  abstract rescheduleNoted(filter: MessageFilter, at: Date): Promise<CancelCount>;

  store(message: NewDelayedMessage, options?: StoreOptions): Promise<void> {
    return this.storeAll([message], options);
  }

  cancel(messageId: string): Promise<number> {
    return this.cancelAll({ messageId });
  }

  async cancelAll(filter: MessageFilter): Promise<number> {
    return (await this.cancelNoted(filter)).count;
  }

  reschedule(messageId: string, at: Date): Promise<number> {
    return this.rescheduleAll({ messageId }, at);
  }

  async rescheduleAll(filter: MessageFilter, at: Date): Promise<number> {
    return (await this.rescheduleNoted(filter, at)).count;
  }

  /** The names of the endpoint's table. */
  protected abstract tableOf(endpoint: string): Table;

  /** @throws StoreMismatchError for names that the database would refuse */
  protected locate(endpoint: string): Table {
    this.located = this.tableOf(endpoint);
    return this.located;
  }

  /** @throws StoreMismatchError before an endpoint is known */
  protected get table(): Table {
    if (this.located === undefined) throw new StoreMismatchError("store", "call initialize(endpoint) first");
    return this.located;
  }

  /** @throws StoreMismatchError if the mode requires the caller's transaction */
  protected refuseWithoutTransaction(): void {
    if (this.mode === "transactional") {
      throw new StoreMismatchError("transaction", "in mode transactional, each store needs the caller's transaction");
    }
  }
}

/**
 * Counts without reading rows if an index can do it.
 * @param table its name, quoted
 * @param at placeholder of the time by which messages are due
 * @param ms a time as milliseconds since 1970
 */
export function countStatement(table: string, at: string, ms: (time: string) => string): string {
  const count = (condition: string): string => `(SELECT count(*) FROM ${table} WHERE ${condition})`;
  return `SELECT ${count("1 = 1")} AS pending, ${count(`attempt_at <= ${at}`)} AS due, ${count("failure_count > 0")} AS failed,
    (SELECT ${ms("min(attempt_at)")} FROM ${table}) AS next`;
}

/** A broker, as its row describes it. */
export interface NotedBroker {
  vhost: string;
  cluster: string | null;
}

export function toBrokerPlace({ vhost, cluster }: NotedBroker): BrokerPlace {
  return { vhost, ...(cluster === null ? {} : { cluster }) };
}

/**
 * Records the broker if none is recorded, or if the messages have moved to another one, and returns the recorded broker.
 * @param table its name, quoted
 * @param placeholders of the vhost and of the cluster
 */
export function noteBrokerStatement(table: string, [vhost, cluster]: [string, string], isMoved: boolean): string {
  const change = isMoved
    ? "vhost = excluded.vhost, cluster = excluded.cluster"
    : "cluster = coalesce(noted.cluster, CASE WHEN noted.vhost = excluded.vhost THEN excluded.cluster END)";
  return `INSERT INTO ${table} AS noted (id, vhost, cluster) VALUES (1, ${vhost}, ${cluster})
    ON CONFLICT (id) DO UPDATE SET ${change} RETURNING vhost, cluster`;
}

/** Reads what {@link noteBrokerStatement} writes. */
export function notedBrokerStatement(table: string): string {
  return `SELECT vhost, cluster FROM ${table}`;
}

/** Whether the record has to change; a start that only reads does not wait for writers. */
export function hasToBeNoted(noted: BrokerPlace, { vhost, cluster }: BrokerPlace, isMoved: boolean): boolean {
  return isMoved || (noted.vhost === vhost && noted.cluster === undefined && cluster !== undefined);
}

/** Quotes a name for SQL, whatever characters it has. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
