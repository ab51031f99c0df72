import type { DelayedMessage, NewDelayedMessage } from "./delayedMessage";

/**
 * A store of delayed messages. This package has implementations for PostgreSQL and SQLite; test one of your own with `conformanceTests`.
 * Modelled on the delayed delivery of NServiceBus's MSMQ transport (`IDelayedMessageStore`).
 */
export interface DelayedMessageStore {
  /**
   * Creates tables, or migrates them to this version, before {@link initialize}. It may be called repeatedly, and by several processes at
   * once.
   * @param endpoint name of the service for which messages are delayed; part of default table names
   * @param signal ends operations that wait in the store
   */
  setUpInfrastructure(endpoint: string, signal?: AbortSignal): Promise<void>;

  /**
   * Prepares for all operations below.
   * @param endpoint as in {@link setUpInfrastructure}
   * @param signal ends operations that wait in the store
   * @throws StoreMismatchError when there are no tables, or those of another version
   */
  initialize(endpoint: string, signal?: AbortSignal): Promise<void>;

  /**
   * Checks, after {@link initialize}, whether an intake and a dispatcher could work with the store; requests need fewer rights.
   * @throws StoreMismatchError that says which right is missing
   */
  checkIntake?(): Promise<void>;

  /**
   * Records, after {@link initialize}, the broker for which the messages are stored: the first one, or another one to which they have
   * moved. A store without this method can't notice that two brokers work with it, of which each would get messages of the other.
   * @returns the recorded broker
   */
  noteBroker?(broker: BrokerPlace, isMoved: boolean): Promise<BrokerPlace>;

  /** The broker that {@link noteBroker} recorded; undefined before. A store implements both methods or neither. */
  notedBroker?(): Promise<BrokerPlace | undefined>;

  /** Stores one message; when it resolves, the message survives a crash (with a transaction: once that is committed). */
  store(message: NewDelayedMessage, options?: StoreOptions): Promise<void>;

  /**
   * Stores all of the messages, or none.
   * @throws MessageRefusedError if the reason is a value of one of them, and not the database's state; any other error may pass
   */
  storeAll(messages: NewDelayedMessage[], options?: StoreOptions): Promise<void>;

  /** When the delivery of the next message is tried; undefined when there is none. */
  next(): Promise<Date | undefined>;

  /**
   * Works on due messages that nobody else gets meanwhile. Removals and counts made by `work` become valid when it resolves. None becomes
   * valid when it rejects or this process dies; others get the messages then.
   */
  inLock<T>(work: (due: DueMessages) => Promise<T>): Promise<T>;

  /**
   * Deletes messages by their message id, unless their delivery has begun.
   * @returns how many, without those that may have been delivered; see {@link cancelNoted}
   */
  cancel(messageId: string): Promise<number>;

  /**
   * Deletes all messages that match a filter; an empty filter would match all messages and is refused.
   * @returns how many
   */
  cancelAll(filter: MessageFilter): Promise<number>;

  /**
   * Deletes like {@link cancelAll}, and counts separately the messages that may have been delivered: those that were given to the broker
   * and for which it did not say whether it has them. They are deleted, too.
   */
  cancelNoted?(filter: MessageFilter): Promise<CancelCount>;

  /**
   * Gives messages another due time and forgets their failures, unless their delivery has begun.
   * @returns how many, without those that may have been delivered; see {@link rescheduleNoted}
   */
  reschedule(messageId: string, at: Date): Promise<number>;

  /**
   * Gives all messages that match a filter another due time; an empty filter is refused.
   * @returns how many
   */
  rescheduleAll(filter: MessageFilter, at: Date): Promise<number>;

  /**
   * Reschedules like {@link rescheduleAll}, and counts separately the messages that may have been delivered, as {@link cancelNoted} does;
   * they get the new time, too, and arrive then, perhaps a second time.
   */
  rescheduleNoted?(filter: MessageFilter, at: Date): Promise<CancelCount>;

  /** Lists messages by their next attempt, one page at a time. */
  list(filter?: MessageFilter, page?: PageRequest): Promise<MessagePage>;

  /**
   * How many messages wait.
   * @param at the time by which messages are due
   */
  count(at?: Date): Promise<MessageCount>;

  /**
   * Reports messages that another process has stored or rescheduled; a store that can't know them omits this method.
   * @returns a function that stops the reports
   */
  onStored?(listener: (attemptAt: Date) => void): () => void;

  /** The longest sleep of a dispatcher, in milliseconds, because nothing wakes it for messages that others store. */
  readonly pollMs?: number;

  /** Whether several locks at once are faster; default true. */
  readonly isConcurrent?: boolean;

  /**
   * Receipts by which an intake recognizes messages that the broker delivers again. A store may omit them. Then a message that was
   * committed but not acknowledged when a process crashed is stored a second time, and under another id if it has none of its own.
   */
  readonly receipts?: IntakeReceipts;

  /** Closes all connections and files. */
  close(): Promise<void>;
}

/** A broker, as a store identifies it. */
export interface BrokerPlace {
  vhost: string;
  /** The cluster's name, once the broker has reported it; an operator may change it. */
  cluster?: string;
}

/** Due messages in hand; see {@link DelayedMessageStore.inLock}. */
export interface DueMessages {
  /** The next message that is due, or undefined; each message comes once in a lock. */
  fetchNextDue(at: Date): Promise<DelayedMessage | undefined>;

  /**
   * The next messages that are due, each once in a lock; at least one when there is one.
   * @param limit how many at most
   * @param maximumBytes how many bytes their bodies may have together
   */
  fetchDue(at: Date, limit: number, maximumBytes?: number): Promise<DelayedMessage[]>;

  /** Deletes a message that was delivered. */
  remove(message: DelayedMessage): Promise<void>;

  /** Deletes messages that were delivered. */
  removeAll(messages: DelayedMessage[]): Promise<void>;

  /**
   * Counts a failed delivery.
   * @param retryAt when it is tried again; default: at once
   */
  incrementFailureCount(message: DelayedMessage, retryAt?: Date): Promise<void>;

  /** Counts failed deliveries. */
  incrementFailureCounts(failures: { message: DelayedMessage; retryAt?: Date }[]): Promise<void>;

  /**
   * Postpones messages without counting a failure. May be omitted: then those for a destination that does not answer are tried again at
   * once, before all others.
   */
  postpone?(later: { message: DelayedMessage; retryAt: Date }[]): Promise<void>;

  /**
   * Deletes messages that the broker took while nobody had them in hand, unless they are due at another time than these say: those were
   * rescheduled meanwhile. May be omitted: then they are deleted when they are due.
   */
  removeUnchanged?(messages: DelayedMessage[]): Promise<void>;

  /**
   * Records doubts about messages that stay: the broker may have them, because it did not answer; see {@link
   * DelayedMessageStore.cancelNoted}. To be omitted together with that.
   */
  noteDoubts?(messages: DelayedMessage[]): Promise<void>;
}

/** How a message is stored. */
export interface StoreOptions {
  /**
   * The caller's own transaction, so that the message exists exactly if the business data does: a `pg` client after `BEGIN`, or a
   * `better-sqlite3` database of the same file. Commit and rollback stay with the caller.
   */
  transaction?: unknown;
}

/** A message that an intake has in hand. */
export interface TakenMessage {
  /** The message with its id, or with the one that the intake has generated for it. */
  message: NewDelayedMessage;
  /** A hash of everything that the publisher said: only equal messages have the same. */
  fingerprint: string;
  /** How often the broker has delivered it before. */
  earlierDeliveries: number;
}

/** Messages with ids of their own that an intake stores in one statement. */
export interface Lot {
  /** The same whenever the same statement is tried again, and different for any other. */
  id: string;
  /** Identity of the channel's consumption. */
  session: string;
}

/**
 * Records of messages that an intake has committed, kept as long as the intake can't know that the broker has forgotten the messages.
 *
 * Messages with an id are stored in lots. A lot exists as long as one of its messages may come back: until the broker has processed its
 * acknowledgements. A message that comes back is recognized by the lot that has an equal one, whatever became of its row meanwhile. A
 * message that is published anew is in no lot any more, and is stored.
 *
 * For a message without an id, a receipt is written: a message that comes back is recognized by its receipt, and not stored again. An
 * intake writes receipts in the transaction that stores. It acknowledges when it has committed everything in hand and gets no more
 * deliveries, and drops its receipts before it takes the next message. So everything that a crashed intake had in hand while it had
 * receipts is committed, and two equal messages are never taken for one.
 */
export interface IntakeReceipts {
  /**
   * Begins a session, before its first message is taken.
   * @param session identity of one channel's consumption
   * @param ended earlier sessions that are known to have ended
   * @param isPatient whether to wait for younger receipts of sessions that may go on
   * @returns how long to wait before the next call, in milliseconds; 0 when the session has begun
   */
  begin(session: string, ended: readonly string[], isPatient: boolean): Promise<number>;

  /**
   * Stores the messages that were not stored before, each with a receipt; all of them, or none.
   * @returns how long to wait before the next call, in milliseconds, if nothing was stored yet; 0 when everything is committed
   * @throws MessageRefusedError as `storeAll`
   */
  store(taken: readonly TakenMessage[], session: string, ended: readonly string[], isPatient: boolean): Promise<number>;

  /** Drops a session's receipts, because the broker has its acknowledgements, and everything that {@link sweep} drops. */
  settle(session: string): Promise<void>;

  /**
   * Stores messages with ids that were not stored before; all of them, or none. Does nothing when the same lot is stored already. Of the
   * messages that were delivered before, one is left out for each equal one in a lot of another session, and that record becomes this
   * lot's.
   * @returns those that were left out
   * @throws MessageRefusedError as `storeAll`
   */
  storeLot(taken: readonly TakenMessage[], lot: Lot): Promise<readonly TakenMessage[]>;

  /** Drops lots, because the broker has the acknowledgements of all their messages. */
  settleLots(ids: readonly string[]): Promise<void>;

  /**
   * Drops lots that crashed sessions have left, once they are too old for a message to come back: three minutes after a consuming session
   * has first seen them, or a day after they were stored. Called every few seconds while a session consumes.
   * @param session the one that consumes
   */
  sweepLots(session: string): Promise<void>;

  /**
   * Drops receipts of other sessions that are too old for a message to come back: more than 15 seconds. Called every few seconds while an
   * intake runs. A receipt from the future, left by a clock that was put back, begins to age.
   */
  sweep(): Promise<void>;
}

/**
 * What a store promises to its callers:
 * - `atLeastOnce`: a stored message is delivered, and once more when a crash comes between delivery and removal
 * - `transactional`: in addition, nothing is stored without the caller's transaction, so none can be forgotten
 */
export type StoreMode = "atLeastOnce" | "transactional";

/** Selects messages; all conditions have to match. */
export interface MessageFilter {
  messageId?: string;
  exchange?: string;
  routingKey?: string;
  /** Headers, of text, number or boolean, that the message has with these values. */
  headers?: Record<string, string | number | boolean>;
  /** Tried next before this time. */
  before?: Date;
  /** Tried next at this time or later. */
  after?: Date;
  /** Messages whose delivery has failed at least this often. */
  minimumFailures?: number;
}

/** Selects a part of a list. */
export interface PageRequest {
  /** The largest number of messages. Default 100. */
  limit?: number;
  /** `next` of the page before. */
  after?: string;
}

/** A message in a list: without its body. */
export type ListedMessage = Omit<DelayedMessage, "body"> & { bodyBytes: number; storedAt: Date };

/** A part of a list. */
export interface MessagePage {
  messages: ListedMessage[];
  /** Selects the page after this one; undefined on the last. */
  next?: string;
}

/** How many messages a cancel has deleted, or a reschedule moved. */
export interface CancelCount {
  /** Messages that will not arrive, or not before their new time. */
  count: number;
  /** Messages that may have been delivered, or that the broker may have. */
  inDoubt: number;
}

/** How many messages wait. */
export interface MessageCount {
  /** All of them. */
  pending: number;
  /** Those whose time has come. */
  due: number;
  /** Those whose delivery has failed. */
  failed: number;
  /** When the next is tried. */
  next?: Date;
}
