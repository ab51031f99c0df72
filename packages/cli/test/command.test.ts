import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delayNetwork, planEntities } from "rabbitmq-delay-topology";

const command = join(__dirname, "..", "bin", "rabbitmq-delay.js");

function run(args: string[], input = ""): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { input, encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

const nservicebus = ["--preset", "nservicebus"];
const target = ["--destination", "some-address"];

describe("rabbitmq-delay", () => {
  it("encodes and decodes", () => {
    const { code, out } = run(["encode", ...nservicebus, "--delay", "10s", ...target, "--json"]);
    assert.equal(code, 0);
    const routingKey = `${"0.".repeat(24)}1.0.1.0.some-address`;
    assert.deepEqual(JSON.parse(out), {
      exchange: "nsb.v2.delay-level-03",
      routingKey,
      level: 3,
      delayMs: 10_000,
      hops: 2,
    });
    const decoded = run(["decode", ...nservicebus, "--key", routingKey, "--json"]);
    assert.deepEqual(JSON.parse(decoded.out), { delayMs: 10_000, destination: "some-address" });
    assert.match(run(["decode", ...nservicebus, "--key", routingKey]).out, /delayMs +10000 \(10s\)/);
  });

  it("reads a descriptor from a file, from a stack's outputs and from standard input", () => {
    const network = delayNetwork({ preset: "custom", prefix: "orders" });
    const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-cli-"));
    writeFileSync(join(folder, "network.json"), JSON.stringify(network));
    writeFileSync(join(folder, "outputs.json"), JSON.stringify({ delayNetwork: network, "endpoint a": "x" }));
    const encode = (file: string, input = ""): string =>
      run(["encode", "--network", file, "--delay", "PT1M", ...target, "--json"], input).out;
    const expected = encode(join(folder, "network.json"));
    assert.match(expected, /orders\.r4x13u1000\.level-02/);
    assert.equal(encode(join(folder, "outputs.json")), expected);
    assert.equal(encode("-", JSON.stringify(network)), expected);
  });

  it("takes a time", () => {
    const past = run(["encode", ...nservicebus, "--at", "2001-01-01T00:00:00Z", ...target, "--json"]);
    assert.equal((JSON.parse(past.out) as { delayMs: number }).delayMs, 0);
  });

  it("renders every format of the real plan", () => {
    const network = delayNetwork({ preset: "celery" });
    const definitions = JSON.parse(run(["render", "--preset", "celery", "--format", "definitions"]).out) as {
      queues: unknown[];
    };
    assert.equal(definitions.queues.length, planEntities(network).queues.length);
    const svg = run(["render", "--preset", "celery", "--format", "svg", "--endpoint", "tasks"]).out;
    for (const name of [...network.entryExchanges, "tasks", "celery_delayed_parking"])
      assert.ok(svg.includes(`>${name}<`), name);
    assert.match(run(["render", "--preset", "celery", "--format", "mermaid"]).out, /^flowchart TD\n/);
    assert.deepEqual(JSON.parse(run(["render", "--preset", "celery", "--json"]).out).network, network);
  });

  const mistakes: [string, string[], number, RegExp][] = [
    ["no network", ["encode", "--delay", "1s", ...target], 2, /--network FILE and --preset/],
    ["an unknown preset", ["encode", "--preset", "x", "--delay", "1s", ...target], 2, /preset: "x"/],
    ["no delay", ["encode", ...nservicebus, ...target], 2, /--delay DELAY and --at TIME/],
    ["a delay that is none", ["encode", ...nservicebus, "--delay", "soon", ...target], 2, /--delay: "soon"/],
    ["a time that is none", ["encode", ...nservicebus, "--at", "13", ...target], 2, /--at: "13"/],
    ["too long a delay", ["encode", ...nservicebus, "--delay", "4000d", ...target], 2, /maximum is 268435455000 ms/],
    ["a missing file", ["encode", "--network", "/nowhere", "--delay", "1s", ...target], 2, /can't be read/],
    ["a foreign key", ["decode", ...nservicebus, "--key", "a.b"], 2, /routingKey/],
    ["an unknown verb", ["enqueue"], 2, /unknown command/],
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
  ];
  for (const [what, args, code, message] of mistakes) {
    it(`says what is wrong with ${what}, and exits with ${code}`, () => {
      const end = run(args);
      assert.equal(end.code, code, end.err);
      assert.match(end.err, message);
      assert.equal(end.out, "");
      assert.equal(end.err.trim().split("\n").length, 1, end.err);
    });
  }
});
