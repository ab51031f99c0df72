"use strict";

// Receives what arrives in a part's queues; publishes again, with the headers that it came with, what the plan says.
const { createDelayPublisher } = require("@rabbitmq-delay/publish");
const { Connection, endOnTerm, persistently, record, task, url } = require("./shared");

const again = new Map(Object.entries(task.again ?? {}));
let sequence = 0;
let other;

async function publisherOn(channel) {
  if (task.network === undefined) return undefined;
  if (task.publisher !== "rabbitmq-client") return createDelayPublisher(channel, task.network);
  other ??= new Connection(url);
  other.on("error", () => undefined);
  const own = await other.acquire();
  return createDelayPublisher(own, task.network);
}

async function publishAgain(publisher, message, n) {
  const first = n.replace(/\++$/, "");
  const planned = again.get(first);
  if (planned === undefined || n.length - first.length >= planned.times) return true;
  const next = `${n}+`;
  const attempt = `${process.pid}-${sequence++}`;
  const { messageId, headers } = message.properties;
  const given = { delayMs: planned.delayMs, headers, ...(messageId === undefined ? {} : { messageId }) };
  record({ kind: "published", n: next, attempt, delayMs: planned.delayMs, messageId });
  try {
    await publisher.publish(planned.destination, next, given);
    record({ kind: "confirmed", n: next, attempt });
    return true;
  } catch (error) {
    record({ kind: "unknown", n: next, attempt, error: error.message });
    return false;
  }
}

async function main() {
  endOnTerm(async () => other?.close());
  await persistently(async (channel) => {
    const publisher = await publisherOn(channel);
    await channel.prefetch(50);
    for (const { queue, place } of task.queues) {
      await channel.consume(queue, async (message) => {
        if (message === null) return;
        const n = message.content.toString();
        const { messageId } = message.properties;
        record({ kind: "arrived", n, place, messageId, redelivered: message.fields.redelivered });
        try {
          if (await publishAgain(publisher, message, n)) channel.ack(message);
          else channel.nack(message);
        } catch {
          // The channel is gone: the broker delivers again.
        }
      });
    }
    record({ kind: "ready" });
  });
}

void main();
