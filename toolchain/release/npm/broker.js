"use strict";

const assert = require("node:assert/strict");
const { URL } = require("node:url");
const { checkVersion, faultsOf } = require("@rabbitmq-delay/broker");

async function main() {
  const { username, password } = new URL(process.env.RABBITMQ_URL);
  const version = await checkVersion({ managementUrl: process.env.RABBITMQ_MANAGEMENT_URL, username, password });
  assert.match(version, /^\d+\.\d+/);
  assert.ok(Array.isArray(faultsOf(version)));
  console.log("ok");
}

void main();
