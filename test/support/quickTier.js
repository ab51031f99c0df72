"use strict";

// One of the two brokers is enough; see brokers.ts.
process.env.RABBITMQ_DELAY_TEST_BROKER ??= "3.10";

module.exports = require("./tiers").configOf("quick");
