import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { openStore } from "@rabbitmq-delay/store";
import { serviceSchema, serviceSettings } from "@rabbitmq-delay/store/service";
import { BrokerConnection } from "@rabbitmq-delay/store/testing";
import { stringify } from "yaml";
import { readConfig, readDescriptor, readEnvironment } from "../dist/process/config";
import { main } from "../dist/main";

type Settings = Record<string, unknown>;

const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const secret = fc
  .tuple(
    fc.string({ unit: fc.constantFrom(...letters), minLength: 10, maxLength: 14 }),
    fc.constantFrom("", "!", "*", "&", "#", "/", "@", "%", ": ", "{", "[", '"', "'", "|", "\t"),
  )
  // A password is found in a message by its letters, whatever became of the rest.
  .map(([core, sign]) => ({ core, text: `${sign}${core}` }));
const settingName = fc.constantFrom(...Object.keys(serviceSchema.shape));
/** Any name: known, mistyped, or nothing of the kind. */
const anyName = fc.oneof(
  settingName,
  settingName.map((name) => name.slice(1)),
  settingName.map((name) => name.toUpperCase()),
  fc.constantFrom("password", "pg", "broker", "url", "x", "db", "connectionString"),
);

describe("passwords in a store's settings", () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-secrets-"))));
  after(() => rmSync(folder, { recursive: true }));

  /** Settings as they should be, with a password each in two places. */
  const valid = (password: string): Settings => ({
    store: `postgres://store:${encodeURIComponent(password)}@db/orders`,
    amqp: `amqp://delayed-store:${encodeURIComponent(password)}@broker`,
    numberOfRetries: 3,
    http: "0.0.0.0:9478",
    descriptor: { name: "delayed", forwards: [{ exchange: "orders.delayed", delivery: "orders" }] },
  });

  /** Puts a value where it should not be. */
  const place = (settings: Settings, path: string[], value: unknown): Settings => {
    const [key, ...rest] = path as [string, ...string[]];
    if (rest.length === 0) return { ...settings, [key]: value };
    const inner = settings[key];
    return { ...settings, [key]: place(typeof inner === "object" ? (inner as Settings) : {}, rest, value) };
  };

  /** What is said of settings that may be wrong, by all that reads them before anything is opened. */
  const said = (work: () => unknown): string => {
    try {
      const settings = work() as Partial<ReturnType<typeof serviceSettings>>;
      // What is right goes on to where addresses are read, and these names to the log.
      const { http, tablePrefix, schema, table, logLevel, descriptor } = settings;
      const text = JSON.stringify({ http, tablePrefix, schema, table, logLevel, descriptor });
      for (const open of [
        () => openStore(String(settings.store)),
        () => new BrokerConnection(String(settings.amqp), "test"),
      ]) {
        try {
          const opened = open();
          void Promise.resolve(opened.close()).catch(() => undefined);
        } catch (error) {
          return text + String((error as Error).message);
        }
      }
      return text;
    } catch (error) {
      return String((error as Error).message);
    }
  };

  it("are in no message, wherever a value was put by mistake", () => {
    fc.assert(
      fc.property(
        secret,
        fc.oneof(
          anyName.map((name) => [name]),
          anyName.map((name) => ["descriptor", name]),
          anyName.map((name) => [name, name]),
        ),
        fc.constantFrom("password", "url", "raw url", "list", "table", "key", "address behind sqlite"),
        ({ core, text }, path, kind) => {
          const url = `amqp://user:${encodeURIComponent(text)}@broker:5672/x`;
          const values: Record<string, unknown> = {
            password: text,
            url,
            "raw url": `postgres://user:${text}@db/orders`,
            list: [url, text],
            table: { password: text, [text]: url },
            key: { [url]: 1, [core]: null },
            "address behind sqlite": `sqlite:postgres://user:${text}@db/orders`,
          };
          const settings = place(valid(text), path, values[kind]);
          // A name of the descriptor's is no place for a plain word that is known to be none: it is one then.
          fc.pre(!(kind === "password" && ["tablePrefix", "schema", "table", "name"].includes(path.at(-1) as string)));
          const told = said(() => serviceSettings(settings));
          assert.ok(!told.includes(core), `${JSON.stringify(settings)}: ${told}`);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("are in no message about a file that is no YAML, whatever is mistyped in it", () => {
    const file = join(folder, "store.yaml");
    fc.assert(
      fc.property(
        secret,
        fc.nat(),
        fc.constantFrom(
          "",
          ":",
          "\n",
          "\t",
          "  ",
          "{",
          "}",
          "[",
          '"',
          "'",
          "*",
          "&",
          "!",
          "- ",
          "? ",
          "%",
          "|",
          "@",
          "`",
        ),
        fc.nat(3),
        ({ core, text }, at, inserted, deleted) => {
          const right = `${stringify(valid(text))}password: ${text}\n`;
          const position = at % right.length;
          // What is cut out must not be a part of the password itself.
          const wrong = right.slice(0, position) + inserted + right.slice(position + deleted);
          writeFileSync(file, wrong);
          const told = said(() => serviceSettings(readConfig(file)));
          const pieces = [core, core.slice(0, 6), core.slice(-6)];
          assert.ok(!pieces.some((piece) => told.includes(piece)), `${wrong}: ${told}`);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it("are in no message about variables, descriptors and flags", async () => {
    const password = "s3cretPassw0rd";
    const names = Object.keys(serviceSchema.shape);
    const file = join(folder, "outputs.json");
    writeFileSync(file, `{"storePassword": "${password}", `);
    const url = `amqp://user:${password}@broker`;
    const told = [
      said(() => readDescriptor(file, "delayedStore")),
      said(() => readDescriptor(url, "delayedStore")),
      said(() => readConfig(url)),
      said(() => readEnvironment(names, { RABBITMQ_DELAY_STORE_DESCRIPTOR: `{"password": ${password}}` })),
      said(() => serviceSettings(readEnvironment(names, { RABBITMQ_DELAY_STORE_HTTP: url }))),
    ];
    const write = process.stderr.write.bind(process.stderr);
    const log = console.error.bind(console);
    const previous = process.exitCode;
    try {
      process.stderr.write = (text) => told.push(String(text)) > 0;
      console.error = (text: string) => void told.push(text);
      for (const flags of [
        [`--store${url}`],
        ["--forward", url],
        ["--number-of-retries", url],
        ["--log-level", url],
        ["--http", url],
        ["--name", url],
        ["--descriptor", url],
        ["--config", url],
        ["--store", `sqlite:${url}`],
        [url],
      ]) {
        process.exitCode = 0;
        await main([
          "node",
          "rabbitmq-delay",
          "store",
          "run",
          "--store",
          `sqlite:${join(folder, "x.db")}`,
          "--amqp",
          "amqp://h",
          ...flags,
        ]);
        assert.equal(process.exitCode, 2, flags.join(" "));
      }
    } finally {
      process.stderr.write = write;
      console.error = log;
      process.exitCode = previous;
    }
    assert.equal(told.length >= 15, true, told.join("\n"));
    for (const text of told) assert.ok(!text.includes(password), text);
  });

  it("a mistyped name is told, with the one that was meant", () => {
    const given = { store: "sqlite:x", amqp: "amqp://h" };
    assert.throws(
      () => serviceSettings({ ...given, batchsize: 5 }),
      /"batchsize" \(is batchSize meant\?\) is no known name/,
    );
    assert.throws(() => serviceSettings({ ...given, password: "x" }), /"password" is no known name/);
    assert.throws(() => serviceSettings({ ...given, hunter2hunter2: 1 }), /a name that is not shown/);
  });
});
