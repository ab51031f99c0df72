"use strict";

// Consumes a queue with retries; its handler does with each delivery of a message what the plan says.
const { setTimeout } = require("node:timers");
const publish = require("@rabbitmq-delay/publish");
const { endOnTerm, nowMs, persistently, record, recorded, task } = require("./shared");

/** How long a handler goes on after its time. */
const LATE_MS = 200;

const planned = new Map(task.messages.map((message) => [message.n, message]));
const begun = new Map();
for (const { kind, n } of recorded()) if (kind === "try-begins") begun.set(n, (begun.get(n) ?? 0) + 1);

const mechanism =
  task.onDemand === undefined
    ? publish.throughDeclared(task.descriptor, { destination: task.destination })
    : publish.throughHoldsOnDemand(task.onDemand);
const policy = publish.RetryPolicy.immediate(task.immediate).intervals(task.delaysMs);
let consumer;

/** Nothing else happens in this process meanwhile. */
function block(forMs) {
  const end = nowMs() + forMs;
  while (nowMs() < end);
}

/** It is a fault of the consumer, as when somebody stops its process for a while. */
function blockNoted() {
  const at = nowMs();
  block(task.blockMs);
  record({ kind: "fault", fault: "consumer-blocked", at, until: nowMs() });
}

function handlerOn(connection) {
  return async (message) => {
    const n = message.body.toString();
    const { behaviour, workMs } = planned.get(n);
    const count = begun.get(n) ?? 0;
    begun.set(n, count + 1);
    const { redeliveries } = message;
    record({ kind: "try-begins", n, redeliveries });
    await new Promise((resolve) => setTimeout(resolve, workMs));
    switch (behaviour[count]) {
      case "fail":
        record({ kind: "try-fails", n, redeliveries });
        throw new Error("it failed");
      case "hang":
        // Its time begins with the handler; a failure is noted no later than it is one. One that never ended would keep its place.
        record({ kind: "try-fails", n, redeliveries });
        return new Promise((resolve) => {
          message.signal.addEventListener("abort", () => setTimeout(resolve, LATE_MS), { once: true });
        });
      case "block":
        blockNoted();
        break;
      case "crash":
        record({ kind: "try-crashes", n, redeliveries });
        process.kill(process.pid, "SIGKILL");
        return new Promise(() => undefined);
      case "drop":
        record({ kind: "try-crashes", n, redeliveries });
        connection.connection.stream.destroy(new Error("broken"));
        return new Promise(() => undefined);
    }
    const { messageId } = message.properties;
    record({ kind: "arrived", n, place: "handled", messageId, redelivered: count > 0 });
  };
}

async function main() {
  endOnTerm(() => consumer?.stop());
  await persistently(async (channel, connection) => {
    await channel.consume(task.errorQueue, (message) => {
      if (message === null) return;
      const { messageId } = message.properties;
      const n = message.content.toString();
      record({ kind: "arrived", n, place: "error", messageId, redelivered: message.fields.redelivered });
      channel.ack(message);
    });
    const { handlerTimeoutMs, confirmTimeoutMs, concurrency, errorQueue } = task;
    const own = await connection.createConfirmChannel();
    own.on("error", () => undefined);
    const options = { policy, mechanism, handlerTimeoutMs, confirmTimeoutMs, prefetch: concurrency, errorQueue };
    try {
      consumer = await publish.consumeWithRetries(own, task.queue, handlerOn(connection), options);
    } catch (error) {
      if (error.name !== "DelayTopologyError") throw error;
      record({ kind: "not-started", error: error.message });
      record({ kind: "ready", isRefused: true });
      return;
    }
    record({ kind: "ready" });
    await consumer.ended.catch(() => undefined);
    await connection.close().catch(() => undefined);
  });
}

void main();
