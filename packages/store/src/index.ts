export {
  DelayedMessage,
  DelayedMessageInput,
  MessageLimits,
  NewDelayedMessage,
  defaultLimits,
  delayedMessage,
} from "./delayedMessage";
export {
  BrokerPlace,
  CancelCount,
  DelayedMessageStore,
  DueMessages,
  IntakeReceipts,
  ListedMessage,
  Lot,
  MessageCount,
  MessageFilter,
  MessagePage,
  PageRequest,
  StoreMode,
  StoreOptions,
  TakenMessage,
} from "./delayedMessageStore";
export { StoreMismatchError } from "./errors";
export { OpenStoreOptions, openStore } from "./openStore";
export { PostgresDelayedMessageStore, PostgresStoreOptions } from "./postgres/postgresStore";
export { SqliteDelayedMessageStore, SqliteStoreOptions } from "./sqlite/sqliteStore";
export { ConformanceTest, conformanceTests } from "./conformance";
export { storeHeaders } from "./headers";
export {
  ErrorQueueCount,
  FilterRequest,
  ListedJson,
  StoreAnswer,
  StoreAnswers,
  StoreRequest,
  perform,
} from "./control/operations";
export { StoreRefusedError, askStore } from "./control/client";
