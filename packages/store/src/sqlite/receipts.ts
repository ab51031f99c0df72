import type { Database } from "better-sqlite3";
import type { NewDelayedMessage } from "../delayedMessage";
import type { IntakeReceipts, Lot, TakenMessage } from "../delayedMessageStore";
import { LONGEST_MS, SEEN_MS, sortOut } from "../sql/lots";
import { AHEAD_MS, DOUBT_MS, RETURN_MS, Receipt, ageOf, recognize, waitFor } from "../sql/receipts";
import { writeOrRefuse } from "./refusals";
import type { SqliteTable } from "./table";

/** The parts of the store that receipts need. */
export interface ReceiptsParts {
  database: Database;
  table: () => SqliteTable;
  /** Inserts inside a transaction. */
  insert: (messages: NewDelayedMessage[]) => void;
}

interface ReceiptRow {
  message_id: string;
  session: string;
  fingerprint: string;
  earlier_deliveries: number;
  begun: number;
  taken_at: number;
}

/** Receipts in a table beside the messages. */
export class SqliteReceipts implements IntakeReceipts {
  constructor(private readonly parts: ReceiptsParts) {}

  async begin(session: string, ended: readonly string[], isPatient: boolean): Promise<number> {
    const { database } = this.parts;
    const { receipts } = this.parts.table();
    if (this.othersOf(session, ended).length === 0) return 0;
    return database
      .transaction(() => {
        this.drop();
        const others = this.othersOf(session, ended);
        const youngest = Math.min(...others.filter(({ isEnded }) => !isEnded).map(({ ageMs }) => ageMs));
        if (isPatient && youngest < DOUBT_MS) return waitFor(youngest);
        database
          .prepare(
            `UPDATE ${receipts} SET begun = begun + 1
             WHERE session <> ? AND (session IN (SELECT value FROM json_each(?)) OR taken_at <= ?)`,
          )
          .run(session, JSON.stringify(ended), Date.now() - DOUBT_MS);
        return 0;
      })
      .immediate();
  }

  async store(
    taken: readonly TakenMessage[],
    session: string,
    ended: readonly string[],
    isPatient: boolean,
  ): Promise<number> {
    const { database, insert } = this.parts;
    const { receipts } = this.parts.table();
    const note = database.prepare(
      `INSERT INTO ${receipts} (message_id, session, fingerprint, earlier_deliveries, taken_at) VALUES (?, ?, ?, ?, ?)`,
    );
    const drop = database.prepare(`DELETE FROM ${receipts} WHERE message_id = ?`);
    const isMine = database.prepare(`SELECT 1 FROM ${receipts} WHERE message_id = ? AND session = ?`);
    return database
      .transaction(() => {
        // Messages that this session has committed already stay.
        const open = taken.filter(({ message }) => isMine.get(message.messageId, session) === undefined);
        const isReturned = open.some(({ earlierDeliveries }) => earlierDeliveries > 0);
        const others = isReturned ? this.othersOf(session, ended) : [];
        const { unknown, known, waitMs } = recognize(open, others, isPatient);
        if (waitMs > 0) return Math.ceil(waitMs);
        for (const { receipt } of known) drop.run(receipt.messageId);
        insert(unknown.map(({ message }) => message));
        const takenAt = Date.now();
        writeOrRefuse(() => {
          for (const { message, fingerprint, earlierDeliveries } of [...unknown, ...known.map((one) => one.taken)]) {
            note.run(message.messageId, session, fingerprint, earlierDeliveries, takenAt);
          }
        });
        return 0;
      })
      .immediate();
  }

  async settle(session: string): Promise<void> {
    const { receipts } = this.parts.table();
    this.parts.database.prepare(`DELETE FROM ${receipts} WHERE session = ?`).run(session);
    this.drop();
  }

  async sweep(): Promise<void> {
    // Read first: a file into which nobody writes stays as it is.
    const isThere = this.parts.database.prepare(`SELECT EXISTS (SELECT 1 FROM ${this.parts.table().receipts})`);
    if (isThere.pluck().get() !== 0) this.drop();
  }

  async storeLot(taken: readonly TakenMessage[], { id, session }: Lot): Promise<readonly TakenMessage[]> {
    const { database, insert } = this.parts;
    const { lots } = this.parts.table();
    const isThere = database.prepare(`SELECT 1 FROM ${lots} WHERE lot = ?`);
    const find = database.prepare<[string], { lot: string; fingerprints: string }>(
      `SELECT lot, fingerprints FROM ${lots} WHERE session <> ? ORDER BY taken_at, lot`,
    );
    const change = database.prepare(`UPDATE ${lots} SET fingerprints = ? WHERE lot = ?`);
    const note = database.prepare(`INSERT INTO ${lots} (lot, session, fingerprints, taken_at) VALUES (?, ?, ?, ?)`);
    const isReturned = taken.some(({ earlierDeliveries }) => earlierDeliveries > 0);
    return database
      .transaction(() => {
        if (isThere.get(id) !== undefined) return [];
        const others = (isReturned ? find.all(session) : []).map(({ lot, fingerprints }) => ({
          lot,
          fingerprints: JSON.parse(fingerprints) as string[],
        }));
        const { unknown, known, left } = sortOut(taken, others);
        for (const { lot, fingerprints } of left) change.run(JSON.stringify(fingerprints), lot);
        insert(unknown.map(({ message }) => message));
        note.run(id, session, JSON.stringify(taken.map(({ fingerprint }) => fingerprint)), Date.now());
        return known;
      })
      .immediate();
  }

  async settleLots(ids: readonly string[]): Promise<void> {
    const { lots } = this.parts.table();
    const settle = this.parts.database.prepare(`DELETE FROM ${lots} WHERE lot IN (SELECT value FROM json_each(?))`);
    settle.run(JSON.stringify(ids));
  }

  async sweepLots(session: string): Promise<void> {
    const { database } = this.parts;
    const { lots } = this.parts.table();
    const isThere = database.prepare(`SELECT EXISTS (SELECT 1 FROM ${lots} WHERE session <> ?)`);
    if (isThere.pluck().get(session) === 0) return;
    const nowMs = Date.now();
    database.prepare(`UPDATE ${lots} SET seen_at = ? WHERE session <> ? AND seen_at IS NULL`).run(nowMs, session);
    database
      .prepare(`DELETE FROM ${lots} WHERE session <> ? AND (seen_at <= ? OR taken_at <= ?)`)
      .run(session, nowMs - SEEN_MS, nowMs - LONGEST_MS);
  }

  /** Drops receipts that are too old; those from the future begin to age. */
  private drop(): void {
    const { database } = this.parts;
    const { receipts } = this.parts.table();
    const nowMs = Date.now();
    database.prepare(`UPDATE ${receipts} SET taken_at = ? WHERE taken_at > ?`).run(nowMs - DOUBT_MS, nowMs + AHEAD_MS);
    database.prepare(`DELETE FROM ${receipts} WHERE taken_at <= ?`).run(nowMs - RETURN_MS);
  }

  private othersOf(session: string, ended: readonly string[]): Receipt[] {
    const nowMs = Date.now();
    const rows = this.parts.database
      .prepare<[string], ReceiptRow>(`SELECT * FROM ${this.parts.table().receipts} WHERE session <> ?`)
      .all(session);
    return rows.map((row) => ({
      messageId: row.message_id,
      fingerprint: row.fingerprint,
      earlierDeliveries: row.earlier_deliveries,
      begun: row.begun,
      ageMs: ageOf(nowMs - row.taken_at),
      isEnded: ended.includes(row.session),
    }));
  }
}
