import * as pulumi from "@pulumi/pulumi";
import * as delays from "@rabbitmq-delay/rabbitmq-delay";

// A delay network, an endpoint, a work queue with retries, and the service's user.
const { Preset, Removal } = delays.types.enums;
const config = new pulumi.Config();

const delay = new delays.DelayLevelTopology("delay", {
  preset: Preset.Custom,
  prefix: "orders",
  radix: 4,
  levels: 4,
  removal: Removal.Delete,
});
new delays.EndpointDelayBinding("returns", {
  endpoint: "Returns",
  network: delay.network,
  createQueue: true,
  removal: Removal.Delete,
});
const work = new delays.WorkRetryQueues("work", { queue: "work", delays: ["5s", "1m"], removal: Removal.Delete });
const user = new delays.EndpointUser("user", {
  user: "returns",
  credentials: [{ password: config.requireSecret("password") }],
  consumes: ["Returns"],
  network: delay.network,
  retries: [work.workRetry],
});

export const delayNetwork = delay.network;
export const workRetry = work.workRetry;
export const users = user.users;
