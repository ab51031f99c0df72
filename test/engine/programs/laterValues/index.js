"use strict";
// A program with one mistake in a value that is secret; `network.kind` of its config says which.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");
const { DelayLevelTopology, DelayedRetryQueue, EndpointDelayBinding, EndpointUser } = require("pulumi-rabbitmq-delay");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const { kind } = config.requireObject("network");
const secret = pulumi.secret("Hunter2Secret");

const login = { endpoint: managementUrl, username: "guest", password: "guest" };
const wrongLogins = {
  username: { ...login, username: secret },
  endpoint: { ...login, endpoint: pulumi.secret("http://127.0.0.1:9/Hunter2Secret") },
  cacertFile: { ...login, endpoint: "https://127.0.0.1:9", cacertFile: pulumi.secret("/Hunter2Secret/ca.pem") },
};
const opts = { provider: new rabbitmq.Provider("broker", wrongLogins[kind] ?? login) };

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 };
const network = new DelayLevelTopology("delay", { ...shape, vhost: kind === "vhost" ? secret : vhost }, opts);
const binding = (args) => new EndpointDelayBinding("Sales", { endpoint: "Sales", createQueue: true, ...args }, opts);
const user = (password) =>
  new EndpointUser("user", { user: `of-${vhost}`, credentials: [{ password }], network }, opts);
const makers = {
  "vhost of an endpoint": () => binding({ network, vhost: secret }),
  network: () => binding({ network: pulumi.secret(4815162342) }),
  "version of a network": () =>
    binding({ network: pulumi.secret({ kind: "delay-network", version: "Hunter2Secret" }) }),
  "property of a network": () =>
    binding({ network: pulumi.secret({ ...shape, kind: "delay-network", version: 2, Hunter2Secret: 1 }) }),
  password: () => user(pulumi.secret("Hunter2")),
  "retried queue": () =>
    new DelayedRetryQueue(
      "retried",
      { queue: "retried", minMs: 5, vhost, broker: { managementUrl, username: secret, password: "Hunter2Password" } },
      opts,
    ),
};
makers[kind]?.();
