import { DelayLevelTopology, EndpointDelayBinding, RetryIntervalQueues } from "pulumi-rabbitmq-delay";

const network = new DelayLevelTopology("delays", { preset: "custom", prefix: "delay" });
new EndpointDelayBinding("billing", { network, endpoint: "billing", createQueue: true });
const retries = new RetryIntervalQueues("retries", { intervals: ["5s", "1m"] });

export const delayNetwork = network.network;
export const retryIntervals = retries.retryIntervals;
