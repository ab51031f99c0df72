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
export { DelayCounting, interpret } from "./intake/interpret";
export { Intake, IntakeEvents, IntakeParts } from "./intake/intake";
export { BrokerConnection, ConnectionEvents } from "./broker/brokerConnection";
export { declarePlan } from "./broker/declarePlan";
export { BatchPublisher, BrokerFaultError, Outcome } from "./dispatch/batchPublisher";
export { Dispatcher, DispatcherEvents, DispatcherParts } from "./dispatch/dispatcher";
export { DispatchOptions, DispatchSettings, dispatchSettings } from "./dispatch/settings";
export { Breaker, BreakerEvents, BreakerName, FrequentFailures, LastingFailures } from "./resilience/breaker";
export { SteadyClock } from "./resilience/steadyClock";
export { Control } from "./control/control";
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
export { ServiceOptions, ServiceSettings, serviceSchema, serviceSettings } from "./service/serviceOptions";
export { CriticalError, runStoreService } from "./service/storeService";
