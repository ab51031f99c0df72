export { DelayLevelTopology, DelayLevelTopologyArgs } from "./delayLevelTopology";
export { EndpointDelayBinding, EndpointDelayBindingArgs } from "./endpointDelayBinding";
export { RetryIntervalQueues, RetryIntervalQueuesArgs, RetryIntervalsDescriptor } from "./retryIntervalQueues";
export { DelayNetworkDescriptor, DelayNetworkSource } from "./descriptor";
export { EndpointType, Matching, Preset, QueueType, Removal } from "./enums";
export { BrokerAddress, ManagementApi } from "./preflight/managementApi";
export { BrokerCheckError, checkBroker, Expectation } from "./preflight/checkBroker";
