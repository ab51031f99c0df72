"use strict";

const assert = require("node:assert/strict");
const { parsePreview, renderMarkdown, reviewOf } = require("@rabbitmq-delay/review");

const urn = "urn:pulumi:prod::orders::rabbitmq:index/queue:Queue::waiting";
const type = "rabbitmq:index/queue:Queue";
const settings = { durable: true, arguments: { "x-queue-type": "quorum" } };
const oldState = { urn, type, custom: true, inputs: { name: "waiting", vhost: "/", settings } };
const preview = { steps: [{ op: "delete", urn, oldState }], changeSummary: { delete: 1 } };

async function main() {
  const review = await reviewOf(parsePreview(JSON.stringify(preview), "preview.json"));
  assert.equal(review.verdict, "loss");
  assert.match(renderMarkdown(review, "prod"), /waiting/);
  console.log("ok");
}

void main();
