import type { DelayedMessage, NewDelayedMessage } from "./delayedMessage";

/**
 * A store of delayed messages. PostgreSQL and SQLite are here; a store of your own proves itself by `conformanceTests`.
 * Modelled on the delayed delivery of NServiceBus's MSMQ transport (`IDelayedMessageStore`).
 */
export interface DelayedMessageStore {
  /**
   * Creates tables, or brings them to this version; before {@link initialize}, as often as you like, also by several at once.
   * @param endpoint name of the service that the messages are delayed for; part of default table names
   * @param signal ends what waits in the store
   */
  setUpInfrastructure(endpoint: string, signal?: AbortSignal): Promise<void>;

  /**
   * Gets ready for all that follows.
   * @param endpoint as in {@link setUpInfrastructure}
   * @param signal ends what waits in the store
   * @throws StoreMismatchError when there are no tables, or those of another version
   */
  initialize(endpoint: string, signal?: AbortSignal): Promise<void>;

  /**
   * Looks, after {@link initialize}, whether an intake and a dispatcher could work with it; who only asks needs less.
   * @throws StoreMismatchError that says which right is missing
   */
  checkIntake?(): Promise<void>;

  /**
   * Notes, after {@link initialize}, the broker that the messages are for: the first one, or another one that they have moved to.
   * A store that leaves it out can't tell that two brokers work with it, of which each would get messages of the other.
   * @returns what is noted
   */
  noteBroker?(broker: BrokerPlace, isMoved: boolean): Promise<BrokerPlace>;

  /** What {@link noteBroker} has noted; undefined before. Left out together with that. */
  notedBroker?(): Promise<BrokerPlace | undefined>;

  /** Stores one message; when it resolves, the message survives a crash (with a transaction: when that is committed). */
  store(message: NewDelayedMessage, options?: StoreOptions): Promise<void>;

  /**
   * Stores all of them, or none.
   * @throws MessageRefusedError when a value of one of them, and not the database's state, is why; any other error may pass
   */
  storeAll(messages: NewDelayedMessage[], options?: StoreOptions): Promise<void>;

  /** When the delivery of the next message is tried; undefined when there is none. */
  next(): Promise<Date | undefined>;

  /**
   * Works on due messages that nobody else gets meanwhile. What `work` removed or counted holds when it resolves; nothing of
   * it does when it rejects or this process dies, and others get the messages then.
   */
  inLock<T>(work: (due: DueMessages) => Promise<T>): Promise<T>;

  /**
   * Deletes messages by their message id, unless their delivery has begun.
   * @returns how many, without those that may have been delivered; see {@link cancelNoted}
   */
  cancel(messageId: string): Promise<number>;

  /**
   * Deletes all messages of a filter; an empty one would be all of them and is refused.
   * @returns how many
   */
  cancelAll(filter: MessageFilter): Promise<number>;

  /**
   * Deletes as {@link cancelAll} does, and counts apart what may have been delivered: messages with which the broker was tried, and of
   * which it did not say whether it has them. Those are deleted, too.
   */
  cancelNoted?(filter: MessageFilter): Promise<CancelCount>;

  /**
   * Gives messages another due time and forgets their failures, unless their delivery has begun.
   * @returns how many, without those that may have been delivered; see {@link rescheduleNoted}
   */
  reschedule(messageId: string, at: Date): Promise<number>;

  /**
   * Gives all messages of a filter another due time; an empty filter is refused.
   * @returns how many
   */
  rescheduleAll(filter: MessageFilter, at: Date): Promise<number>;

  /**
   * As {@link rescheduleAll}, and counts apart what may have been delivered, as {@link cancelNoted} does; those messages have the other
   * time, too, and come then, perhaps once more.
   */
  rescheduleNoted?(filter: MessageFilter, at: Date): Promise<CancelCount>;

  /** Messages by their next attempt, a page at a time. */
  list(filter?: MessageFilter, page?: PageRequest): Promise<MessagePage>;

  /**
   * How many messages wait.
   * @param at the time by which messages are due
   */
  count(at?: Date): Promise<MessageCount>;

  /**
   * Tells of messages that another process has stored or rescheduled; may be left out by a store that can't know.
   * @returns ends the telling
   */
  onStored?(listener: (attemptAt: Date) => void): () => void;

  /** How long a dispatcher may sleep at most, in milliseconds, because nobody wakes it for what others store. */
  readonly pollMs?: number;

  /** Whether several locks at once bring more; default true. */
  readonly isConcurrent?: boolean;

  /**
   * Receipts by which an intake recognizes what the broker delivers again. A store may leave them out; a message that was committed, and
   * not acknowledged when a process crashed, is stored a second time then, and under another id where it has none of its own.
   */
  readonly receipts?: IntakeReceipts;

  /** Lets go of all connections and files. */
  close(): Promise<void>;
}

/** A broker, as far as a store tells one from another. */
export interface BrokerPlace {
  vhost: string;
  /** The cluster's name, once the broker has said it; an operator may change it. */
  cluster?: string;
}

/** Due messages in hand; see {@link DelayedMessageStore.inLock}. */
export interface DueMessages {
  /** The next message that is due, or undefined; each once in a lock. */
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
   * Messages are tried later, and not counted as failed. May be left out: then those of a destination that does not answer are tried again at
   * once, before all others.
   */
  postpone?(later: { message: DelayedMessage; retryAt: Date }[]): Promise<void>;

  /**
   * Notes of messages that stay that the broker may have them all the same, because it did not answer; see
   * {@link DelayedMessageStore.cancelNoted}. May be left out together with that.
   */
  noteDoubts?(messages: DelayedMessage[]): Promise<void>;
}

/** How a message is stored. */
export interface StoreOptions {
  /**
   * The caller's own transaction, so that the message is there exactly when the business data is: a `pg` client after
   * `BEGIN`, or a `better-sqlite3` database of the same file. Commit and rollback stay with the caller.
   */
  transaction?: unknown;
}

/** A message as an intake has it in hand. */
export interface TakenMessage {
  /** With its id, or the one that the intake has made up for it. */
  message: NewDelayedMessage;
  /** Equal for equal messages alone: a hash of all that the publisher said. */
  fingerprint: string;
  /** How often the broker has delivered it before. */
  earlierDeliveries: number;
}

/** Messages with ids of their own that an intake stores in one statement. */
export interface Lot {
  /** The same whenever the same statement is tried again, and no other's. */
  id: string;
  /** Identity of the channel's consumption. */
  session: string;
}

/**
 * What an intake knows of messages that it has committed, and of which it can't know yet that the broker has forgotten them.
 *
 * Messages with an id are stored in lots. A lot is there as long as one of its messages may come back: until the broker has gone through its
 * acknowledgements. What comes back is known by the lot that has an equal one, whatever became of its row meanwhile; what is published anew is
 * in no lot any more, and is stored.
 *
 * A message without an id a message that comes back is the one of the receipt, and not stored again. An intake writes receipts in the transaction that
 * stores, acknowledges when it has committed everything in hand and gets no more, and drops its receipts before it takes the next message:
 * so whatever a crashed intake had in hand while it had receipts is committed, and two equal messages are never taken for one.
 */
export interface IntakeReceipts {
  /**
   * Begins a session, before its first message is taken.
   * @param session identity of one channel's consumption
   * @param ended earlier sessions that are known to have ended
   * @param isPatient whether younger receipts of sessions that may go on are waited for
   * @returns how long to wait before it is called again, in milliseconds; 0 when the session has begun
   */
  begin(session: string, ended: readonly string[], isPatient: boolean): Promise<number>;

  /**
   * Stores what was not stored before, each with a receipt; all of it, or nothing.
   * @returns how long to wait before it is called again, in milliseconds, and nothing is stored then; 0 when all is committed
   * @throws MessageRefusedError as `storeAll`
   */
  store(taken: readonly TakenMessage[], session: string, ended: readonly string[], isPatient: boolean): Promise<number>;

  /**
   * Drops a session's receipts, because the broker has its acknowledgements, and what {@link sweep} drops.
   */
  settle(session: string): Promise<void>;

  /**
   * Stores messages with ids that were not stored before; all of them, or nothing. Does nothing when the same lot is stored already. Of those
   * that were delivered before, one is left out for each equal one in a lot of another session, which becomes this lot's.
   * @returns those that were left out
   * @throws MessageRefusedError as `storeAll`
   */
  storeLot(taken: readonly TakenMessage[], lot: Lot): Promise<readonly TakenMessage[]>;

  /** Drops lots, because the broker has the acknowledgements of all their messages. */
  settleLots(ids: readonly string[]): Promise<void>;

  /**
   * Drops what sessions that crashed have left, when it is too old to be of a message that comes back: three minutes after a session that
   * consumes has seen it first, or a day after it was stored. Called every few seconds while a session consumes.
   * @param session the one that consumes
   */
  sweepLots(session: string): Promise<void>;

  /**
   * Drops receipts of other sessions that are too old to be of a message that comes back: more than 15 seconds. Called every few seconds
   * while an intake runs. A receipt from the future, which a clock that was put back leaves, begins to age.
   */
  sweep(): Promise<void>;
}

/**
 * What a store promises to those who store:
 * `atLeastOnce`: what is stored is delivered, and once more when a crash comes between delivery and removal;
 * `transactional`: besides, nothing is stored without the caller's transaction, so none can be forgotten.
 */
export type StoreMode = "atLeastOnce" | "transactional";

/** Which messages; all conditions together. */
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
  /** Whose delivery has failed at least so often. */
  minimumFailures?: number;
}

/** Which part of a list. */
export interface PageRequest {
  /** How many at most. Default 100. */
  limit?: number;
  /** `next` of the page before. */
  after?: string;
}

/** A message in a list: without its body. */
export type ListedMessage = Omit<DelayedMessage, "body"> & { bodyBytes: number; storedAt: Date };

/** A part of a list. */
export interface MessagePage {
  messages: ListedMessage[];
  /** For the page after this one; undefined on the last. */
  next?: string;
}

/** What a cancel has deleted, or a reschedule moved. */
export interface CancelCount {
  /** Messages that do not arrive, or not before their new time. */
  count: number;
  /** Messages that may have been delivered, or be with the broker. */
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
