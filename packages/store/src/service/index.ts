// The store as a process of its own, with its intake, its health and its metrics.
export { ServiceOptions, ServiceSettings, serviceSchema, serviceSettings } from "./serviceOptions";
export { CriticalError } from "./brokerProcess";
export { runStoreService } from "./storeService";
