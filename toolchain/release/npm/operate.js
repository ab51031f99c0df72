"use strict";

const assert = require("node:assert/strict");
const { planMatchingChange } = require("@rabbitmq-delay/operate");
const { delayNetwork } = require("@rabbitmq-delay/topology");

const change = planMatchingChange(delayNetwork({ preset: "nservicebus" }));
assert.equal(change.network.matching, "enforced");
assert.notEqual(change.from, change.to);
console.log("ok");
