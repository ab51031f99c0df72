import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  delayNetwork,
  delayedRetry,
  holdQueues,
  planEntities,
  planRetry,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { CommandEnd, command, runCommand } from "../../../test/support/command";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

const run = (args: string[], input = ""): Promise<CommandEnd> => runCommand(args, {}, input);

const nservicebus = ["--preset", "nservicebus"];
const target = ["--destination", "some-address"];
const own = ["--preset", "custom", "--prefix", "own", "--radix", "2", "--levels", "3"];

describe("rabbitmq-delay", () => {
  // What up accepts, check called an error, and no flag could tell it otherwise.
  it("checks with the pairs of names that the config or a flag allows", async () => {
    const file = join(temporaryFolder(), "Pulumi.prod.yaml");
    const pair = "Sales with Europe.Sales";
    const config = {
      "rabbitmq-delay:network": { preset: "nservicebus" },
      "rabbitmq-delay:endpoints": [{ name: "Sales" }, { name: "Europe.Sales" }],
    };
    const check = async (allow: string[], ...more: string[]): Promise<number> => {
      writeFileSync(file, JSON.stringify({ config: { ...config, "rabbitmq-delay:allow": allow } }));
      return (await run(["check", "--stack-config", file, ...more])).code;
    };
    assert.equal(await check([]), 1);
    assert.equal(await check([pair]), 0);
    assert.equal(await check([], "--allow", pair), 0);
    assert.equal(await check([], "--allow", "Sales with Asia.Sales"), 1);
    assert.equal(await check([], "--allow", "everything"), 2);
  });

  it("encodes and decodes", async () => {
    const { code, out } = await run(["encode", ...nservicebus, "--delay", "10s", ...target, "--json"]);
    assert.equal(code, 0);
    const routingKey = `${"0.".repeat(24)}1.0.1.0.some-address`;
    assert.deepEqual(JSON.parse(out), {
      exchange: "nsb.v2.delay-level-03",
      routingKey,
      level: 3,
      delayMs: 10_000,
      hops: 2,
    });
    const decoded = await run(["decode", ...nservicebus, "--key", routingKey, "--json"]);
    assert.deepEqual(JSON.parse(decoded.out), { delayMs: 10_000, destination: "some-address" });
    assert.match((await run(["decode", ...nservicebus, "--key", routingKey])).out, /delayMs +10000 \(10s\)/);
  });

  it("decodes what a word of digits in a destination leaves open, when it is told", async () => {
    const key = "1.0.0.1.Sales";
    const end = await run(["decode", ...own, "--key", key, "--destination", "1.Sales", "--json"]);
    assert.deepEqual(JSON.parse(end.out), { delayMs: 4000, destination: "1.Sales" });
  });

  it("shows long delays in words, and as numbers in JSON", async () => {
    const encode = async (...more: string[]): Promise<string> =>
      (await run(["encode", ...nservicebus, "--delay", "268435455s", ...target, ...more])).out;
    assert.match(await encode(), /delayMs +268435455000 \(8y 186d 21h 24m 15s\)/);
    assert.equal((JSON.parse(await encode("--json")) as { delayMs: number }).delayMs, 268_435_455_000);
  });

  it("takes a time of any zone", async () => {
    for (const past of ["2001-01-01T01:00:00+01:00", "2001-01-01T01:00+0100"]) {
      const { out } = await run(["encode", ...nservicebus, "--at", past, ...target, "--json"]);
      assert.equal((JSON.parse(out) as { delayMs: number }).delayMs, 0);
    }
  });

  it("reads a descriptor from a file, from a stack's outputs and from standard input", async () => {
    const network = delayNetwork({ preset: "custom", prefix: "orders" });
    const folder = temporaryFolder();
    writeFileSync(join(folder, "network.json"), JSON.stringify(network));
    writeFileSync(join(folder, "outputs.json"), JSON.stringify({ delayNetwork: network, "endpoint a": "x" }));
    const encode = async (file: string, input = ""): Promise<string> =>
      (await run(["encode", "--network", file, "--delay", "PT1M", ...target, "--json"], input)).out;
    const expected = await encode(join(folder, "network.json"));
    assert.match(expected, /orders\.r4x13u1000\.level-02/);
    assert.equal(await encode(join(folder, "outputs.json")), expected);
    assert.equal(await encode("-", JSON.stringify(network)), expected);
  });

  it("takes a time", async () => {
    const past = await run(["encode", ...nservicebus, "--at", "2001-01-01T00:00:00Z", ...target, "--json"]);
    assert.equal((JSON.parse(past.out) as { delayMs: number }).delayMs, 0);
  });

  it("renders every format of the real plan", async () => {
    const network = delayNetwork({ preset: "celery" });
    const definitions = JSON.parse((await run(["render", "--preset", "celery", "--format", "definitions"])).out) as {
      queues: unknown[];
    };
    assert.equal(definitions.queues.length, planEntities(network).queues.length);
    const svg = (await run(["render", "--preset", "celery", "--format", "svg", "--endpoint", "tasks"])).out;
    for (const name of [...network.entryExchanges, "tasks", "celery_delayed_parking"])
      assert.ok(svg.includes(`>${name}<`), name);
    assert.match((await run(["render", "--preset", "celery", "--format", "mermaid"])).out, /^flowchart TD\n/);
    assert.deepEqual(JSON.parse((await run(["render", "--preset", "celery", "--json"])).out).network, network);
  });

  it("renders what a stack declares for retries, from its outputs, a descriptor or options", async () => {
    const destinations = [{ exchange: "orders", routingKey: "due" }];
    const outputs = {
      retryIntervals: retryIntervals({ intervals: [5000] }),
      workRetries: { work: workRetry({ queue: "work", delays: [1000], maxRetries: 3 }) },
      holdQueues: holdQueues({ delays: [2000], destinations }),
      delayedRetries: { native: delayedRetry({ queue: "native", minMs: 100, deliveryLimit: 2, settings: "policy" }) },
    };
    const file = join(temporaryFolder(), "retries.json");
    writeFileSync(file, JSON.stringify(outputs));
    const render = async (format: string, more: string[] = []): Promise<string> =>
      (await run(["render", "--retries", file, "--format", format, ...more])).out;
    const plan = JSON.parse(await render("json", ["--endpoint", "Billing"])) as {
      queues: object[];
      endpointBindings: object[];
    };
    assert.equal(plan.queues.length, 2 + 3 + 1 + 2);
    assert.equal(plan.endpointBindings.length, 1);
    const definitions = JSON.parse(await render("definitions")) as { policies: { "apply-to": string }[] };
    assert.ok(definitions.policies.some((policy) => policy["apply-to"] === "quorum_queues"));
    const svg = await render("svg");
    for (const name of ["mt-delay-5000", "work.retry-1000", "work.dead", "orders → due", "failure 2", "native.dead"])
      assert.ok(svg.includes(`>${name}<`), name);
    const mermaid = await render("mermaid");
    assert.match(mermaid, /"expired, as due" \.-> exchange\d+\(\["orders"\]\)/);
    assert.match(mermaid, /(queue\d+) -\. "failed: waits 100ms × n, at most 200ms" \.-> \1\n/);

    writeFileSync(file, JSON.stringify({ kind: "work-retry", queue: "by hand", delays: ["5s"] }));
    assert.match(await render("svg"), />by hand\.retry-5000</);
    const many = { kind: "hold-queues", delays: Array.from({ length: 30 }, (_, index) => index + 1), destinations };
    writeFileSync(file, JSON.stringify(many));
    assert.match(await render("svg"), />and 18 more</);
  });

  it("renders definitions with which no queue drops a message for being delivered often", async () => {
    const limits = async (...args: string[]): Promise<unknown[]> => {
      const { out } = await run(["render", "--format", "definitions", ...args]);
      const { policies } = JSON.parse(out) as {
        policies: { "apply-to": string; definition: Record<string, unknown> }[];
      };
      return policies.filter((policy) => "delivery-limit" in policy.definition).map((policy) => policy.definition);
    };
    const network = ["--preset", "nservicebus"];
    // Of any version, a limit that no message reaches.
    assert.deepEqual(await limits(...network), [{ "delivery-limit": 2_147_483_647 }]);
    assert.deepEqual(await limits(...network, "--broker-version", "4.3.6"), [{ "delivery-limit": -1 }]);
    assert.deepEqual(await limits(...network, "--broker-version", "3.10.8"), []);
    const file = join(temporaryFolder(), "work.json");
    writeFileSync(file, JSON.stringify(workRetry({ queue: "work", delays: [1000] })));
    assert.equal((await limits("--retries", file, "--broker-version", "4.0")).length, 3, "work, retry and dead queue");
    assert.equal((await run(["render", ...network, "--broker-version", "new"])).code, 2);
  });

  it("renders definitions of retries that a broker could take for ours", async () => {
    const work = workRetry({ queue: "work", delays: [1000] });
    const { queues } = JSON.parse(
      (await run(["render", "--retries", "-", "--format", "definitions"], JSON.stringify(work))).out,
    ) as { queues: { name: string; arguments: object }[] };
    assert.deepEqual(
      queues.map(({ name, arguments: values }) => [name, values]),
      planRetry(work).queues.map(({ name, arguments: values }) => [name, values]),
    );
  });

  // The parsers quote what they can't read: whoever named another file by mistake had its password in a log.
  it("shows nothing of a file that is not what it should be", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "other");
    for (const content of [
      "Planted-secret",
      '{ "password": Planted-secret }',
      '{ "a": 1 } Planted-secret',
      "a: [Planted-secret",
      'a: "x" Planted-secret\nb: [',
    ]) {
      writeFileSync(file, content);
      const flags = [
        ["encode", "--network", file, "--delay", "1s", ...target],
        ["render", "--retries", file],
        ["check", "--stack-config", file],
      ];
      for (const args of flags) {
        const { code, err } = await run(args);
        assert.equal(code, 2, err);
        assert.doesNotMatch(err, /Planted|ecret/, args.join(" "));
      }
    }
  });

  it("publishes to the broker of the environment where no other is named", async () => {
    const args = ["publish", ...nservicebus, "--delay", "1s", ...target];
    const { code, err } = await runCommand(args, { RABBITMQ_URL: "amqp://127.0.0.1:1" });
    assert.equal(code, 3, err);
    assert.match(err, /no broker at 127\.0\.0\.1:1/);
  });

  // The message went to a network of the same names in the other vhost, or to none.
  it("publishes to no other vhost than the one that a descriptor names", async () => {
    const publish = (vhost: string, amqp: string): Promise<CommandEnd> => {
      const input = JSON.stringify(delayNetwork({ preset: "nservicebus", vhost }));
      return run(["publish", "--network", "-", "--delay", "1s", ...target, "--amqp", amqp], input);
    };
    const { code, err } = await publish("shop/eu", "amqp://u:hunter2@127.0.0.1:1/other");
    assert.equal(code, 2, err);
    assert.match(
      err,
      /--amqp: it leads to vhost other, .* declared in vhost shop\/eu; end the address with \/shop%2Feu$/m,
    );
    assert.doesNotMatch(err, /hunter2/);
    for (const [vhost, path] of [
      ["shop/eu", "/shop%2Feu"],
      ["/", ""],
      ["/", "/%2F"],
    ] as const)
      assert.match((await publish(vhost, `amqp://127.0.0.1:1${path}`)).err, /no broker at 127\.0\.0\.1:1/);
  });

  // A fault in the command ended as a mistyped option does, and nobody could see where it was.
  it("tells a fault of its own from bad usage, and says where it is, without what is secret", () => {
    const main = JSON.stringify(join(__dirname, "..", "dist", "main.js"));
    const args = JSON.stringify(["", "", "encode", ...nservicebus, "--delay", "1s", ...target, "--json"]);
    const script = `console.log = () => { throw new TypeError("broken: " + process.env.RABBITMQ_PASSWORD + " at amqp://u:hunter3@h"); };
      require(${main}).main(${args})`;
    const env = { PATH: process.env.PATH, RABBITMQ_PASSWORD: "hunter2-hunter2" };
    const { status, stderr } = spawnSync(process.execPath, ["-e", script], { env, encoding: "utf8" });
    assert.equal(status, 70, stderr);
    assert.match(stderr, /^error: broken: .* \(a fault of this command's own\)\n {4}at console\.log/);
    assert.match(stderr, /at .*encode\.js:\d+/);
    assert.doesNotMatch(stderr, /hunter/);
  });

  it("ends with 70 for what nobody caught, and with 0 where nobody reads on", () => {
    const bin = JSON.stringify(command);
    const throwing = `process.argv = ["", "", "--version"]; setImmediate(() => { throw new Error("late"); }); require(${bin})`;
    const late = spawnSync(process.execPath, ["-e", throwing], { encoding: "utf8" });
    assert.deepEqual([late.status, /^error: late \(a fault/.test(late.stderr)], [70, true], late.stderr);
    const piped = `${process.execPath} ${command} render --preset nservicebus | head -c 1; exit "\${PIPESTATUS[0]}"`;
    const head = spawnSync("bash", ["-c", piped], { encoding: "utf8" });
    assert.deepEqual([head.status, head.stderr], [0, ""]);
  });

  // What a command says ends in the log of a pipeline: the password in it would have been everybody's.
  for (const [what, args] of Object.entries({
    "an unknown option's value": ["store", "run", "--password=hunter2"],
    "a mistyped option": ["store", "list", "--stroe=postgres://u:abc'hunter2'ghi@h/d"],
    "a short option with its value": ["publish", "-phunter2"],
    "a command": ["amqp://u:hunter2'hunter2@h"],
    "a command of the store": ["store", "postgres://u:hunter2@h/d"],
    "a number": ["store", "list", "--limit", "postgres://u:abc'hunter2'ghi@h/d"],
    "a choice": ["check", "--fail-on", "Hunter2hunter2"],
    "a time": ["encode", ...nservicebus, "--at", "amqp://u:hunter2@h", ...target],
    "a delay": ["encode", ...nservicebus, "--delay", "amqp://u:hunter2@h", ...target],
    "a network's file": ["encode", "--network", "https://u:hunter2@h", "--delay", "1s", ...target],
    "a preset": ["encode", "--preset=amqp://u:hunter2@h", "--delay", "1s", ...target],
    "a header": ["store", "list", "--header", "amqp://u:abc'hunter2@h"],
    "a message's header, as curl writes it": ["publish", ...nservicebus, "--header", "Authorization: Bearer hunter2"],
    "a message's header without a name": ["publish", ...nservicebus, "--header", "=hunter2"],
    "a file of settings": ["store", "run", "--config", "amqp://u:abc'hunter2'ghi@h"],
    "a stack's config": ["check", "--stack-config", "https://u:hunter2@h"],
    "a preview": ["review", "https://u:hunter2@h"],
  })) {
    it(`shows no password in the place of ${what}`, async () => {
      const { code, err, out } = await run(args);
      assert.equal(code, 2, err);
      assert.doesNotMatch(err + out, /hunter2/i);
      assert.match(err, /^error: /);
    });
  }

  // A stack that exports an output before it has a value: "a fault of this command's own", which sent its user to the wrong place.
  it("names outputs that hold no descriptor", async () => {
    for (const outputs of [{ workRetries: null }, { workRetries: "x" }, { workRetries: { a: null } }]) {
      const { code, err } = await run(["render", "--retries", "-"], JSON.stringify(outputs));
      assert.deepEqual([code, /--retries.* is not allowed; it must be/.test(err)], [2, true], err);
    }
  });

  it("names an option that it does not know", async () => {
    assert.match((await run(["store", "run", "--pasword=x"])).err, /unknown option '--pasword=…'/);
  });

  it("leads from a former or a mistyped option to the one that is meant, and shows no value of it", async () => {
    for (const [args, suggestion] of [
      [["check", "--broker", "http://u:hunter2@h"], "--management"],
      [["check", "--config=x"], "--stack-config"],
      [["review", "--config-file", "x"], "--stack-config"],
      [["review", "--broker=http://u:hunter2@h"], "--management"],
      [["store", "list", "--endpoint", "x"], "--table-prefix"],
      [["store", "run", "--endpoint", "x"], "--table-prefix"],
      [["publish", ...target, "--ampq", "amqp://u:hunter2@h"], "--amqp"],
    ] as const) {
      const { code, err } = await run([...args]);
      assert.equal(code, 2);
      assert.match(err, new RegExp(`^error: unknown option '.*'\\n\\(Did you mean ${suggestion}\\?\\)\\n$`));
      assert.doesNotMatch(err, /hunter2/);
    }
  });

  it("says of a file that is not there, or can't be written, what is wrong with it", async () => {
    const folder = temporaryFolder();
    const plan = join(folder, "plan.json");
    const queue = { type: "rabbitmq:index/queue:Queue", urn: "urn:pulumi:a::b::rabbitmq:index/queue:Queue::c" };
    writeFileSync(plan, JSON.stringify({ steps: [{ op: "same", urn: queue.urn, oldState: queue, newState: queue }] }));
    const missing = /: there is no such file$/;
    const sent = ["publish", ...nservicebus, "--delay", "1s", ...target, "--amqp", "amqps://h:1"];
    const service = ["store", "run", "--store", `sqlite:${join(folder, "x.db")}`, "--log-level", "silent"];
    const cases: [string[], RegExp][] = [
      [["comment", "missing.md", "--on", "github"], missing],
      [["comment", folder, "--on", "github"], /: it is a folder$/],
      [["review", "missing.json"], missing],
      [
        ["review", plan, "--output", "/none/x"],
        /^error: --output: \/none\/x can't be written: its folder does not exist$/,
      ],
      [["review", plan, "--output", folder], /: it is a folder$/],
      [["render", "--network", "missing.json"], missing],
      [["render", "--retries", "missing.json"], missing],
      [["check", "--stack-config", "missing.yaml"], missing],
      [
        ["check", ...nservicebus, "--management", "https://h:1", "--ca", "missing.pem"],
        /--ca: missing.pem can't be read: there/,
      ],
      [[...sent, "--body-file", "missing.txt"], missing],
      [[...sent, "--ca", "missing.pem"], /--ca: missing\.pem can't be read: there is no such file$/],
      [["store", "run", "--config", "missing.yaml"], missing],
      [["store", "run", "--descriptor", "missing.json"], missing],
      [[...service, "--amqp", "amqps://h:1", "--ca", "missing.pem"], missing],
    ];
    for (const [args, message] of cases) {
      const { code, err } = await run(args);
      assert.equal(code, 2, err);
      assert.match(err.trim(), message);
      assert.doesNotMatch(err, /ENOENT|EISDIR|errno/);
      assert.equal(err.trim().split("\n").length, 1, err);
    }
  });

  // What is mistyped is repeated by whoever refuses it.
  it("shows no password of a broker's address, however it is mistyped, and wherever it comes from", async () => {
    const addresses = [
      "amqp//u:hunter2@h",
      "ampq://u:hunter2@h",
      "u:hunter2@h",
      "amqp:/u:hunter2@h",
      "amqp://u:hunter2/x@h",
      "amqp://u:hunter2@h:99999",
      "amqp://u:hunter2@h:port",
      "amqp://u:hun ter2hunter2@h h",
      "amqp://u:hunter2@",
      "hunter2hunter2",
      "http://u:hunter2@127.0.0.1:1",
    ];
    const verbs = [
      ["publish", ...nservicebus, "--delay", "1s", ...target],
      ["store", "stats"],
      ["store", "run", "--store", `sqlite:${join(temporaryFolder(), "x.db")}`, "--log-level", "silent"],
    ];
    for (const verb of verbs) {
      for (const address of addresses) {
        for (const args of [["--amqp", address], [`--amqp=${address}`], []]) {
          const { code, err } = await runCommand([...verb, ...args], { RABBITMQ_URL: address });
          assert.equal(code, 2, `${address}: ${err}`);
          assert.match(err, /amqp/, "it says which option it is");
          assert.doesNotMatch(err, /hun ?ter2/, address);
        }
      }
    }
  });

  const mistakes: [string, string[], number, RegExp][] = [
    ["no network", ["encode", "--delay", "1s", ...target], 2, /--network FILE, --stack STACK and --preset/],
    [
      "an unknown preset",
      ["encode", "--preset", "x", "--delay", "1s", ...target],
      2,
      /'--preset <preset>' argument 'x' is invalid\. Allowed choices are nservicebus,/,
    ],
    ["no delay", ["encode", ...nservicebus, ...target], 2, /--delay DELAY and --at TIME/],
    ["a delay that is none", ["encode", ...nservicebus, "--delay", "soon", ...target], 2, /--delay: "soon"/],
    ["a time that is none", ["encode", ...nservicebus, "--at", "13", ...target], 2, /--at: "13"/],
    ["too long a delay", ["encode", ...nservicebus, "--delay", "4000d", ...target], 2, /maximum is 268435455000 ms/],
    ["a missing file", ["encode", "--network", "/nowhere", "--delay", "1s", ...target], 2, /can't be read/],
    // Without a zone, the same text is another moment on another machine, and a bare date was taken as UTC.
    [
      "a time without a zone",
      ["encode", ...nservicebus, "--at", "2030-01-31T12:00:00", ...target],
      2,
      /--at: .* with its zone/,
    ],
    ["a date alone", ["encode", ...nservicebus, "--at", "2030-01-31", ...target], 2, /--at: .* with its zone/],
    [
      "a day that is none",
      ["encode", ...nservicebus, "--at", "2030-02-30T12:00:00Z", ...target],
      2,
      /--at: "2030-02-30/,
    ],
    [
      "a time without a zone, of stored messages",
      ["store", "list", "--store", "sqlite::memory:", "--before", "2030-01-31T12:00"],
      2,
      /--before: .* with its zone/,
    ],
    // It said "delay 0" and a destination full of digits, and ended with 0.
    [
      "a key of a network with more levels",
      ["decode", ...own, "--key", `${"0.".repeat(24)}1.0.1.0.some-address`],
      2,
      /--key: .* network with more levels, or goes to 0\.0\..*some-address: say so by --destination/,
    ],
    ["a key with a digit that the radix lacks", ["decode", ...own, "--key", "0.2.0.a"], 2, /3 digits below 2/],
    [
      "an exchange of another network",
      ["decode", ...own, "--key", "0.1.0.a", "--exchange", "nsb.v2.delay-level-02"],
      2,
      /--exchange: .* this network's are own\.r2x3u1000\.level-00 to own\.r2x3u1000\.level-02/,
    ],
    [
      "an exchange below the key's highest digit",
      ["decode", ...own, "--key", "1.0.0.a", "--exchange", "own.r2x3u1000.level-01"],
      2,
      /--exchange: .* digit above level 1/,
    ],
    [
      "another destination",
      ["decode", ...own, "--key", "1.0.0.a", "--destination", "b"],
      2,
      /--destination: "b".* stands a$/m,
    ],
    [
      "an address whose password hides its host",
      ["publish", ...nservicebus, "--delay", "1s", ...target, "--amqp", "amqp://u:p/w@h"],
      2,
      /--amqp: .*%2F/,
    ],
    ["no address of a broker", ["publish", ...nservicebus, "--delay", "1s", ...target], 2, /--amqp: .* RABBITMQ_URL/],
    [
      "a number that is none",
      ["store", "run", "--number-of-retries", "abc"],
      2,
      /^error: option '--number-of-retries <number>' argument 'abc' is invalid\. It must be a whole number from 0\.$/m,
    ],
    ["too large a number", ["store", "list", "--limit", "1001"], 2, /'1001' is invalid\. .* from 1 to 1000\./],
    ["two delays", ["encode", ...nservicebus, "--delay", "1s", "--at", "2030-01-31T12:00:00Z", ...target], 2, /'--at/],
    [
      "a network twice",
      ["encode", "--network", "-", "--levels", "3", "--delay", "1s", ...target],
      2,
      /'--network <file>' cannot be used with option '--levels/,
    ],
    [
      "a stack's config and a network",
      ["check", "--stack-config", "x", ...nservicebus],
      2,
      /'--stack-config <file>' cannot be used with option '--preset/,
    ],
    ["a foreign key", ["decode", ...nservicebus, "--key", "a.b"], 2, /routingKey/],
    ["an unknown verb", ["enqueue"], 2, /unknown command/],
    [
      "retries and a network",
      ["render", ...nservicebus, "--retries", "x"],
      2,
      /'--retries <file>' cannot be used with option '--preset/,
    ],
    ["no retries in a file", ["render", "--retries", join(__dirname, "..", "package.json")], 2, /neither a descriptor/],
    ["an unknown format", ["render", ...nservicebus, "--format", "png"], 2, /png/],
    [
      "an address that is none",
      ["publish", ...nservicebus, "--delay", "1s", ...target, "--amqp", "localhost"],
      2,
      /--amqp/,
    ],
    [
      "no broker",
      ["publish", ...nservicebus, "--delay", "1s", ...target, "--amqp", "amqp://127.0.0.1:1"],
      3,
      /no broker at 127\.0\.0\.1:1/,
    ],
    [
      "no address of a gateway's broker",
      ["gateway", "run", ...own],
      2,
      /^error: --amqp: give it a URL, or set RABBITMQ_URL$/m,
    ],
    [
      "no broker to enforce matching on",
      ["enforce", ...nservicebus, "--management", "http://guest:guest@127.0.0.1:1"],
      3,
      /vhost can't be read: no broker answers \(/,
    ],
  ];
  for (const [what, args, code, message] of mistakes) {
    it(`says what is wrong with ${what}, and exits with ${code}`, async () => {
      const end = await run(args);
      assert.equal(end.code, code, end.err);
      assert.match(end.err, message);
      assert.equal(end.out, "");
      assert.equal(end.err.trim().split("\n").length, 1, end.err);
    });
  }
});
