"use strict";

const assert = require("node:assert/strict");
const { decodeRoutingKey, delayNetwork, encodeDelay, parseDelayNetwork } = require("@rabbitmq-delay/topology");

const network = parseDelayNetwork(JSON.parse(JSON.stringify(delayNetwork({ preset: "nservicebus" }))));
const { exchange, routingKey } = encodeDelay(network, 10_000, "Sales");
assert.equal(exchange, "nsb.v2.delay-level-03");
assert.deepEqual(
  [decodeRoutingKey(network, routingKey).delayMs, decodeRoutingKey(network, routingKey).destination],
  [10_000, "Sales"],
);
console.log("ok");
