"use strict";

// What the gauntlet's child processes share: each notes what it sees in a file before it goes on, so that a kill loses no line.
const { appendFileSync, readFileSync } = require("node:fs");
const { setTimeout } = require("node:timers");
const amqp = require("amqplib");
const { Connection } = require("rabbitmq-client");

/** The process's task, from the file that its parent wrote; its URL comes by the environment. */
const task = JSON.parse(readFileSync(process.argv[2], "utf8"));
const url = process.env.GAUNTLET_URL;

/** Milliseconds of the machine's steady clock, as the parent counts them. */
function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

function record(event) {
  appendFileSync(task.events, `${JSON.stringify({ at: nowMs(), part: task.part, ...event })}\n`);
}

/** What this process and those before it noted. */
function recorded() {
  try {
    return readFileSync(task.events, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

let isOver = false;
let current;

/** Connects, and again whenever the connection ends, until the process shall end. */
async function persistently(use) {
  while (!isOver) {
    try {
      const connection = await amqp.connect(url);
      current = connection;
      connection.on("error", () => undefined);
      const ended = new Promise((resolve) => connection.once("close", resolve));
      const channel = await connection.createConfirmChannel();
      const closed = new Promise((resolve) => channel.once("close", resolve));
      channel.on("error", () => undefined);
      await use(channel, connection);
      await Promise.race([ended, closed]);
      await Promise.race([connection.close().catch(() => undefined), ended]);
    } catch {
      // The broker is away, or closed the connection meanwhile.
    }
    if (!isOver) await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Ends in order when the parent asks for it. */
function endOnTerm(finish = async () => undefined) {
  process.on("SIGTERM", async () => {
    isOver = true;
    await finish().catch(() => undefined);
    if (current !== undefined) await current.close().catch(() => undefined);
    process.exit(0);
  });
}

module.exports = { Connection, amqp, endOnTerm, nowMs, persistently, record, recorded, task, url };
