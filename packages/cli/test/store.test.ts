import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandEnd, runCommand } from "../../../test/support/command";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

describe("rabbitmq-delay store", () => {
  let folder: string;
  beforeEach(() => (folder = temporaryFolder()));

  const run = (args: string[], environment: NodeJS.ProcessEnv = {}): Promise<CommandEnd> =>
    runCommand(["store", ...args], environment);

  it("refuses a wrong setting before anything is opened, wherever it comes from", async () => {
    const file = join(folder, "store.yaml");
    writeFileSync(file, "store: sqlite:/nowhere/x.db\namqp: amqp://127.0.0.1:1\nbatchSize: 0\n");
    const list = join(folder, "list.yaml");
    writeFileSync(list, "- a\n");
    const database = join(folder, "x.db");
    const given = ["run", "--store", `sqlite:${database}`, "--amqp", "amqp://127.0.0.1:1"];
    const refused: [string[], Record<string, string>, RegExp][] = [
      [["run"], {}, /^error: --amqp: give it a URL, or set RABBITMQ_URL$/m],
      [["run", "--amqp", "amqp://h"], {}, /store: undefined is not allowed; it must be sqlite:PATH or postgres:/],
      [["run", "--config", file], {}, /batchSize: 0 is not allowed/],
      [["run", "--config", file], { RABBITMQ_DELAY_STORE_BATCH_SIZE: "many" }, /batchSize: "many"/],
      [
        ["run", "--config", file],
        { RABBITMQ_DELAY_STORE_BATCH_SIZE: "5" },
        /folder \/nowhere of sqlite:\/nowhere\/x\.db/,
      ],
      [["run", "--config", list], {}, /--config: .*list\.yaml must hold settings by their names/],
      [["run", "--config", join(folder, "none")], {}, /--config: .*none can't be read/],
      [
        [...given, "--number-of-retries", "some"],
        {},
        /'--number-of-retries <number>' argument 'some' is invalid. It must be a whole number from 0/,
      ],
      [[...given, "--http", "here"], {}, /http: "here" is not allowed/],
      [[...given, "--forward", "a"], {}, /--forward: "a" is not allowed; write EXCHANGE=DELIVERY/],
      [[...given, "--forward", "a=a"], {}, /forwards\[0\]\.delivery: "a"/],
      [
        [...given, "--descriptor", file, "--name", "x"],
        {},
        /'--descriptor <file>' cannot be used with option '--name <name>'/,
      ],
      [["run"], { RABBITMQ_DELAY_STORE: "x", RABBITMQ_URL: "amqp://h" }, /store: the address can't be read/],
      [["run", "--store", `sqlite:${database}`, "--amqp", "http://h"], {}, /amqp: its protocol is http/],
      [["set-up"], {}, /give --store ADDRESS/],
      [["list"], {}, /give exactly one of --store ADDRESS and --amqp URL/],
      [["cancel", "--store", `sqlite:${database}`], {}, /say which messages/],
      [["cancel", "--header", "a"], {}, /--header: "a" is not allowed; write NAME=TEXT/],
      [["cancel", "--header", "a:=b"], {}, /--header: "a:=b"/],
      [["reschedule", "--message-id", "a"], {}, /give exactly one of --delay DELAY and --at TIME/],
      [["list", "--store", `sqlite:${database}`, "--before", "soon"], {}, /--before: "soon"/],
      [["list", "--store", `sqlite:${database}`], {}, /set it up first \(rabbitmq-delay store set-up\)/],
    ];
    for (const [args, environment, message] of refused) {
      const { code, err } = await run(args, environment);
      assert.match(err, message);
      assert.equal(code, 2, err);
    }
  });

  it("says what is out of reach", async () => {
    const nobody = await run(["stats", "--amqp", "amqp://127.0.0.1:1"]);
    assert.deepEqual([nobody.code, /--amqp: no broker at 127\.0\.0\.1:1/.test(nobody.err)], [3, true], nobody.err);
    const database = await run(["stats", "--store", "postgres://u:secret@127.0.0.1:1/d"]);
    assert.deepEqual([database.code, /--store: .*ECONNREFUSED/.test(database.err)], [3, true], database.err);
    assert.ok(!database.err.includes("secret"));
  });

  // Set-up and run took the database from there, and list told to name one.
  it("takes the database from the environment where nothing else names one", async () => {
    const { code, err } = await run(["list"], { RABBITMQ_DELAY_STORE: "postgres://u:secret@127.0.0.1:1/d" });
    assert.deepEqual([code, /--store: .*ECONNREFUSED/.test(err)], [3, true], err);
  });
});
