import type { ClientBase } from "pg";
import type { NewDelayedMessage } from "../delayedMessage";
import type { IntakeReceipts, Lot, TakenMessage } from "../delayedMessageStore";
import { LONGEST_MS, SEEN_MS, StoredLot, sortOut } from "../sql/lots";
import { AHEAD_MS, DOUBT_MS, RETURN_MS, Receipt, ageOf, recognize, waitFor } from "../sql/receipts";
import { refuseMessage } from "./refusals";
import type { PostgresTable } from "./table";

type Queries = Pick<ClientBase, "query">;

/** The parts of the store that receipts need. */
export interface ReceiptsParts {
  table: () => PostgresTable;
  inTransaction: <T>(work: (client: Queries) => Promise<T>) => Promise<T>;
  /** Inserts messages, with or without a lot; without a client, in a transaction of its own. */
  insert: (
    client: Queries | undefined,
    messages: NewDelayedMessage[],
    lot?: StoredLot & Pick<Lot, "session">,
  ) => Promise<void>;
}

const AGE_MS = "extract(epoch FROM clock_timestamp() - taken_at) * 1000";

/** Receipts in a table beside the messages. */
export class PostgresReceipts implements IntakeReceipts {
  constructor(private readonly parts: ReceiptsParts) {}

  begin(session: string, ended: readonly string[], isPatient: boolean): Promise<number> {
    const { receipts } = this.parts.table();
    return this.parts.inTransaction(async (client) => {
      await this.drop(client);
      if (isPatient) {
        const { rows } = await client.query<{ youngest: string | null }>(
          `SELECT min(${AGE_MS}) AS youngest FROM ${receipts} WHERE session <> ALL ($1::text[])`,
          [[session, ...ended]],
        );
        const youngest = rows[0]?.youngest ?? null;
        if (youngest !== null && Number(youngest) < DOUBT_MS) return waitFor(ageOf(Number(youngest)));
      }
      await client.query(
        `UPDATE ${receipts} SET begun = begun + 1
         WHERE session <> $1 AND (session = ANY ($2::text[]) OR ${AGE_MS} >= ${DOUBT_MS})`,
        [session, ended],
      );
      return 0;
    });
  }

  store(
    taken: readonly TakenMessage[],
    session: string,
    ended: readonly string[],
    isPatient: boolean,
  ): Promise<number> {
    return this.parts.inTransaction(async (client) => {
      const open = await this.withoutStored(client, taken, session);
      const others = await this.othersOf(client, open, session, ended);
      const { unknown, known, waitMs } = recognize(open, others, isPatient);
      if (waitMs > 0) return Math.ceil(waitMs);
      const { receipts } = this.parts.table();
      if (known.length > 0) {
        await client.query(`DELETE FROM ${receipts} WHERE message_id = ANY ($1::text[])`, [
          known.map(({ receipt }) => receipt.messageId),
        ]);
      }
      if (unknown.length > 0)
        await this.parts.insert(
          client,
          unknown.map(({ message }) => message),
        );
      const all = [...unknown, ...known.map((one) => one.taken)];
      await client
        .query(
          `INSERT INTO ${receipts} (message_id, session, fingerprint, earlier_deliveries)
         SELECT message_id, $1, fingerprint, earlier_deliveries
         FROM unnest($2::text[], $3::text[], $4::integer[]) AS given (message_id, fingerprint, earlier_deliveries)`,
          [
            session,
            all.map(({ message }) => message.messageId),
            all.map(({ fingerprint }) => fingerprint),
            all.map(({ earlierDeliveries }) => earlierDeliveries),
          ],
        )
        .catch(refuseMessage);
      return 0;
    });
  }

  settle(session: string): Promise<void> {
    const { receipts } = this.parts.table();
    return this.parts.inTransaction(async (client) => {
      await client.query(`DELETE FROM ${receipts} WHERE session = $1`, [session]);
      await this.drop(client);
    });
  }

  sweep(): Promise<void> {
    return this.parts.inTransaction((client) => this.drop(client));
  }

  async storeLot(taken: readonly TakenMessage[], { id, session }: Lot): Promise<readonly TakenMessage[]> {
    const stored = { lot: id, session, fingerprints: taken.map(({ fingerprint }) => fingerprint) };
    const messagesOf = (some: readonly TakenMessage[]): NewDelayedMessage[] => some.map(({ message }) => message);
    const returned = taken.filter(({ earlierDeliveries }) => earlierDeliveries > 0);
    if (returned.length === 0) {
      await this.parts.insert(undefined, messagesOf(taken), stored);
      return [];
    }
    const { lots } = this.parts.table();
    return this.parts.inTransaction(async (client) => {
      const { rows: same } = await client.query(`SELECT FROM ${lots} WHERE lot = $1`, [id]);
      if (same.length > 0) return [];
      const { rows: others } = await client.query<StoredLot>(
        `SELECT lot, fingerprints FROM ${lots} WHERE session <> $1 AND fingerprints && $2::text[] ORDER BY taken_at, lot FOR UPDATE`,
        [session, returned.map(({ fingerprint }) => fingerprint)],
      );
      const { unknown, known, left } = sortOut(taken, others);
      for (const { lot, fingerprints } of left) {
        await client.query(`UPDATE ${lots} SET fingerprints = $2 WHERE lot = $1`, [lot, fingerprints]);
      }
      await this.parts.insert(client, messagesOf(unknown), stored);
      return known;
    });
  }

  async settleLots(ids: readonly string[]): Promise<void> {
    const { lots } = this.parts.table();
    await this.parts.inTransaction((client) => client.query(`DELETE FROM ${lots} WHERE lot = ANY ($1::text[])`, [ids]));
  }

  sweepLots(session: string): Promise<void> {
    const { lots } = this.parts.table();
    const older = (column: string, ms: number): string => `${column} <= clock_timestamp() - interval '${ms} ms'`;
    return this.parts.inTransaction(async (client) => {
      await client.query(
        `UPDATE ${lots} SET seen_at = clock_timestamp() WHERE lot IN
         (SELECT lot FROM ${lots} WHERE session <> $1 AND seen_at IS NULL FOR UPDATE SKIP LOCKED)`,
        [session],
      );
      await client.query(
        `DELETE FROM ${lots} WHERE lot IN (SELECT lot FROM ${lots} WHERE session <> $1
         AND (${older("seen_at", SEEN_MS)} OR ${older("taken_at", LONGEST_MS)}) FOR UPDATE SKIP LOCKED)`,
        [session],
      );
    });
  }

  /**
   * Drops receipts that are too old; those from the future begin to age. Rows that others have in hand are left to them, and to the next
   * time.
   */
  private async drop(client: Queries): Promise<void> {
    const { receipts } = this.parts.table();
    const chosen = (condition: string): string =>
      `(SELECT message_id FROM ${receipts} WHERE ${condition} FOR UPDATE SKIP LOCKED)`;
    await client.query(
      `UPDATE ${receipts} SET taken_at = clock_timestamp() - interval '${DOUBT_MS} ms'
       WHERE message_id IN ${chosen(`${AGE_MS} < ${-AHEAD_MS}`)}`,
    );
    await client.query(`DELETE FROM ${receipts} WHERE message_id IN ${chosen(`${AGE_MS} >= ${RETURN_MS}`)}`);
  }

  /** Leaves out messages that this session has committed already, without getting the answer. */
  private async withoutStored(
    client: Queries,
    taken: readonly TakenMessage[],
    session: string,
  ): Promise<TakenMessage[]> {
    const { rows } = await client.query<{ message_id: string }>(
      `SELECT message_id FROM ${this.parts.table().receipts} WHERE session = $1 AND message_id = ANY ($2::text[])`,
      [session, taken.map(({ message }) => message.messageId)],
    );
    const stored = new Set(rows.map((row) => row.message_id));
    return taken.filter(({ message }) => !stored.has(message.messageId));
  }

  private async othersOf(
    client: Queries,
    taken: readonly TakenMessage[],
    session: string,
    ended: readonly string[],
  ): Promise<Receipt[]> {
    const returned = taken.filter(({ earlierDeliveries }) => earlierDeliveries > 0);
    if (returned.length === 0) return [];
    const { rows } = await client.query<{
      message_id: string;
      fingerprint: string;
      earlier_deliveries: number;
      begun: number;
      age_ms: string;
      is_ended: boolean;
    }>(
      `SELECT message_id, fingerprint, earlier_deliveries, begun, ${AGE_MS} AS age_ms, session = ANY ($2::text[]) AS is_ended
       FROM ${this.parts.table().receipts} WHERE session <> $1 AND fingerprint = ANY ($3::text[])
       ORDER BY message_id FOR UPDATE`,
      [session, ended, [...new Set(returned.map(({ fingerprint }) => fingerprint))]],
    );
    return rows.map((row) => ({
      messageId: row.message_id,
      fingerprint: row.fingerprint,
      earlierDeliveries: row.earlier_deliveries,
      begun: row.begun,
      ageMs: ageOf(Number(row.age_ms)),
      isEnded: row.is_ended,
    }));
  }
}
