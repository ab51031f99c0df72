import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { delayedMessage, openStore } from "@rabbitmq-delay/store";
import { serviceSettings } from "@rabbitmq-delay/store/service";
import { BatchPublisher, BrokerConnection, dispatchSettings } from "@rabbitmq-delay/store/testing";
import { postgresTable } from "../dist/postgres/table";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

describe("what a store is told", () => {
  it("an address that is none: says which part, and tells no password", () => {
    const refused: [string, RegExp][] = [
      ["", /store: the address can't be read/],
      ["sqlite:", /store: sqlite: names no file/],
      ["sqlite::memory:", /names no file/],
      ["sqlite:/nowhere/at/all.db", /the folder \/nowhere\/at of sqlite:\/nowhere\/at\/all\.db is not there/],
      ["sqlite:/tmp", /\/tmp is a folder/],
      ["mysql://user:secret@host/db", /its protocol is mysql/],
      ["postgres://user:secret@host", /names no database/],
      ["postgres://user:secret@host/100%", /name of its database has a % that begins no escape/],
      ["postgres:///db", /names no host/],
    ];
    for (const [address, message] of refused) {
      assert.throws(
        () => openStore(address),
        (error: Error) =>
          message.test(error.message) && error.name === "StoreMismatchError" && !/secret/.test(error.message),
        address,
      );
    }
    assert.throws(() => openStore("sqlite:/tmp/x.db", { schema: "s" }), /schema s is for PostgreSQL/);
    for (const [url, message] of [
      ["host", /amqp: the address can't be read/],
      ["http://host", /amqp: its protocol is http/],
    ] as const) {
      assert.throws(() => new BrokerConnection(url, "test"), message);
    }
  });

  it("a time that no timer takes: it would be over at once", () => {
    const connection = new BrokerConnection("amqp://h", "test");
    for (const confirmTimeoutMs of [2 ** 31 - 1, 2 ** 31, 0, 1.5, Number.NaN]) {
      assert.throws(
        () => new BatchPublisher(connection, confirmTimeoutMs),
        /confirmTimeoutMs: .* from 1 to 2147482647/,
      );
    }
    assert.ok(new BatchPublisher(connection, 2_147_482_647));
    const timers = Object.keys(dispatchSettings.shape).filter((name) => name.endsWith("Ms"));
    assert.ok(timers.length >= 6, timers.join(", "));
    for (const name of timers) {
      const given = { store: "sqlite:x", amqp: "amqp://h", [name]: 2 ** 31 };
      assert.throws(() => serviceSettings(given), new RegExp(`${name}: 2147483648 is not allowed`));
    }
  });

  it("names that PostgreSQL would cut", () => {
    assert.throws(() => postgresTable("public", "ä".repeat(27)), /table: .*1 to 52 bytes/);
    assert.throws(() => postgresTable("", "a"), /schema: ""/);
    assert.equal(postgresTable("a", 'b"c').name, '"a"."b""c"');
    assert.notEqual(postgresTable("a", "b").channel, postgresTable("b", "b").channel);
  });

  it("a file that is no database", async () => {
    const folder = temporaryFolder();
    try {
      const path = join(folder, "text.db");
      const { writeFileSync } = await import("node:fs");
      writeFileSync(path, "no database at all, but longer than a header of one would be".repeat(20));
      assert.throws(
        () => openStore(`sqlite:${path}`),
        /text\.db can't be opened as a SQLite file \(file is not a database\)/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("settings: defaults, and which one is refused and why", () => {
    const given = { store: "sqlite:x", amqp: "amqp://h" };
    const settings = serviceSettings(given);
    assert.deepEqual(
      [settings.numberOfRetries, settings.timeToTriggerFetchBreakerMs, settings.maximumRecoveryFailuresPerSecond],
      [0, 30_000, 1],
    );
    assert.deepEqual([settings.tablePrefix, settings.descriptor.name, settings.setUp], ["delayed", "delayed", true]);
    assert.equal(serviceSettings({ ...given, descriptor: { name: "later" } }).tablePrefix, "later");
    const refused: [object, RegExp][] = [
      [{ store: undefined }, /store: undefined is not allowed; it must be sqlite:PATH/],
      [{ batchSize: 0 }, /batchSize: 0 is not allowed/],
      [{ batchSize: "many" }, /batchSize: "many"/],
      [{ http: "here" }, /http: "here" is not allowed; it must be HOST:PORT or off/],
      [{ numberOfRetries: 1.5 }, /numberOfRetries: 1\.5/],
      [{ logLevel: "loud" }, /logLevel: "loud"/],
      [
        { batchsize: 5 },
        /^StoreMismatchError: settings: "batchsize" \(is batchSize meant\?\) is no known name; known are/,
      ],
      [{ descriptor: { kind: "delay-network" } }, /descriptor\.kind: "delay-network"/],
      [{ descriptor: { name: "amq.x" } }, /name: "amq\.x"/],
    ];
    const withPasswords = { store: "postgres://u:hidden@h/d", amqp: "amqp://u:hidden@h" };
    for (const [more, message] of refused) {
      assert.throws(() => serviceSettings({ ...given, ...more }), message);
      const shows = ({ message: text }: Error): boolean => text.includes("hidden");
      assert.throws(
        () => serviceSettings({ ...withPasswords, ...more }),
        (error: Error) => !shows(error),
      );
    }
  });

  it("a password in the place of another setting is in no message", () => {
    const hidden = "Hunter2xyz";
    const names = ["http", "countFrom", "exitOnCritical", "numberOfRetries", "logLevel", "declare", "batchSize"];
    for (const name of names) {
      assert.throws(
        () => serviceSettings({ store: "sqlite:x", amqp: "amqp://h", [name]: hidden }),
        (error: Error) => error.message.startsWith(`${name}: `) && !error.message.includes(hidden),
      );
    }
    assert.throws(
      () => openStore("sqlite:/tmp/x.db", { schema: hidden }),
      (error: Error) => !error.message.includes(hidden),
    );
    assert.throws(
      () => postgresTable(`${hidden}\0`, "t"),
      (error: Error) => !error.message.includes(hidden),
    );
  });

  it("a message that can't be stored", () => {
    const given = { routingKey: "work", body: "x" };
    const refused: [object, RegExp][] = [
      [{}, /delayMs: give exactly one of delayMs and at/],
      [{ delayMs: 1, at: new Date() }, /exactly one/],
      [{ delayMs: NaN }, /delayMs: NaN is not allowed/],
      [{ delayMs: "5" }, /delayMs: 5 is not allowed/],
      [{ delayMs: Infinity }, /delayMs: Infinity ms are not allowed; the longest delay/],
      [{ at: new Date("never") }, /at: Invalid Date is not allowed/],
      [{ at: new Date(8e15) }, /at: .*longest delay/],
      [{ delayMs: 1, routingKey: "ä".repeat(128) }, /routingKey: it has 256 bytes/],
      [{ delayMs: 1, exchange: 5 }, /exchange: 5/],
      [{ delayMs: 1, messageId: "a\0" }, /messageId/],
      [{ delayMs: 1, body: undefined }, /body/],
      [{ delayMs: 1, headers: { large: "x".repeat(100_000) } }, /headers: they have \d+ bytes, at most 50000/],
      [{ delayMs: 1, headers: { a: [{ b: NaN }] } }, /headers: a has a value that AMQP clients can't send/],
      [{ delayMs: 1, headers: { a: -Infinity } }, /headers: a has/],
      [{ delayMs: 1, headers: { a: 1n } }, /headers: a has/],
      [{ delayMs: 1, headers: { a: { "!": "unknown", value: 1 } } }, /headers: a has/],
      [{ delayMs: 1, headers: { a: { "!": "timestamp", value: 1e300 } } }, /headers: a has/],
      [{ delayMs: 1, headers: { ["n".repeat(256)]: 1 } }, /headers: a name of more than 255 bytes/],
      [{ delayMs: 1, headers: [] }, /headers: they must be an object/],
      [{ delayMs: 1, priority: 300 }, /priority: it must be a whole number up to 255/],
      [{ delayMs: 1, timestamp: 1.5 }, /timestamp: it must be whole seconds/],
      [
        { delayMs: 1, replyTo: "amq.rabbitmq.reply-to" },
        /replyTo: amq.rabbitmq.reply-to is not allowed; it must be a queue/,
      ],
      [{ delayMs: 1, type: 5 }, /type: it must be a text of at most 255 bytes/],
    ];
    for (const [more, message] of refused) assert.throws(() => delayedMessage({ ...given, ...more } as never), message);
  });
});
