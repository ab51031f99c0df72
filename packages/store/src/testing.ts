// Parts of the service that tests and benches use one by one. They may change with any release.
export { DelayReading, hasDueTime, interpret } from "./intake/interpret";
export { Intake, IntakeEvents, IntakeParts } from "./intake/intake";
export { BrokerConnection, ConnectionEvents } from "./broker/brokerConnection";
export { Bodies, bodyBytesOf, copyWith, withBodyOf } from "./broker/bodies";
export { ConsumerSession, consumeBatches } from "./broker/consumer";
export { declarePlan } from "./broker/declarePlan";
export { BatchPublisher, BrokerFaultError } from "./dispatch/batchPublisher";
export { Outcome } from "./dispatch/outcomes";
export { Dispatcher, DispatcherEvents, DispatcherParts } from "./dispatch/dispatcher";
export { DispatchOptions, DispatchSettings, dispatchSettings } from "./dispatch/settings";
export {
  Breaker,
  BreakerEvents,
  BreakerName,
  BreakerRule,
  BreakerState,
  FrequentFailures,
  LastingFailures,
} from "./resilience/breaker";
export { SteadyClock } from "./resilience/steadyClock";
export { Control } from "./control/control";
export { Returned, Sending, Waiting, checkReturned, firstWaitMs, leftMs, unwrap, wrap } from "./gateway/envelope";
export { NetworkEntry } from "./gateway/networkEntry";
