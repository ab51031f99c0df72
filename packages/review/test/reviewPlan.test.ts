import { strict as assert } from "node:assert";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Review, reviewOf } from "../dist/review";
import { PreviewStep, parsePreview } from "../dist/preview/preview";
import { change, deletedFirst, judged, queueStep, reviewed, step } from "./steps";
import { command, runCommand } from "../../../test/support/command";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

interface End {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The command on a plan from standard input. */
async function review(plan: unknown, ...more: string[]): Promise<End> {
  const input = typeof plan === "string" ? plan : JSON.stringify(plan);
  const { code, out, err } = await runCommand(["review", "-", ...more], {}, input);
  return { status: code, stdout: out, stderr: err };
}

/** The command with an engine that prints `output`, says `errors` and ends with `code`. */
function reviewStack(engine: { output: string; errors?: string; code: number }, env: object, ...more: string[]): End {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "output"), engine.output);
  writeFileSync(join(folder, "errors"), engine.errors ?? "");
  const script = `#!/bin/sh\ncat "${folder}/output"\ncat "${folder}/errors" >&2\nexit ${engine.code}\n`;
  writeFileSync(join(folder, "pulumi"), script);
  chmodSync(join(folder, "pulumi"), 0o755);
  return spawnSync(process.execPath, [command, "review", "--stack", "prod", ...more], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: `${folder}:${process.env.PATH}`, ...env },
  });
}

const harmless = { steps: [queueStep("same", "a")], changeSummary: { same: 2 } };
const loss = { steps: [queueStep("delete", "a")], changeSummary: { delete: 1 } };
const care = { steps: [step("update", "aws:s3/bucket:Bucket", "b", {})], changeSummary: { update: 1 } };

describe("how a review ends", () => {
  it("fails on loss without being asked to, on care when asked to, and on nothing when told so", async () => {
    const status = async (plan: object, ...more: string[]): Promise<number | null> =>
      (await review(plan, ...more)).status;
    assert.equal(await status(loss), 1);
    assert.equal(await status(loss, "--fail-on", "loss"), 1);
    assert.equal(await status(loss, "--fail-on", "never"), 0);
    assert.equal(await status(care), 0);
    assert.equal(await status(care, "--fail-on", "care"), 1);
    assert.equal(await status(harmless, "--fail-on", "care"), 0);
  });

  const unreadable: [string, object][] = [
    ["deletes in its summary that it does not list", { steps: [], changeSummary: { delete: 3, same: 1 } }],
    ["fewer deletes than it counts", { steps: [queueStep("same", "a")], changeSummary: { delete: 1, same: 2 } }],
    ["replacements that it does not list", { changeSummary: { replace: 1 } }],
    ["a step of an unknown kind", { steps: [{ ...queueStep("same", "a"), op: "obliterate" }] }],
    ["an unknown kind in its summary", { steps: [queueStep("same", "a")], changeSummary: { same: 2, obliterate: 1 } }],
    ["no steps and no summary", { steps: [] }],
    ["an error without a message", { ...harmless, diagnostics: [{ severity: "error" }] }],
    ["an error", { ...harmless, diagnostics: [{ severity: "error", message: "no broker at http://x" }] }],
  ];
  for (const [what, plan] of unreadable) {
    it(`takes a plan with ${what} for one that nobody can judge`, async () => {
      for (const more of [[], ["--fail-on", "loss"], ["--fail-on", "never"]]) {
        const { status, stdout } = await review(plan, ...more);
        assert.equal(status, 3, stdout);
        assert.match(stdout, /## ⛔ Could not be reviewed/);
      }
      const json = JSON.parse((await review(plan, "--json")).stdout) as Review;
      assert.equal(json.verdict, "unknown");
      assert.match((await review(plan, "--format", "html")).stdout, /<h1>Could not be reviewed<\/h1>/);
    });
  }

  for (const type of [
    "pulumi:pulumi:Stack",
    "pulumi:providers:rabbitmq",
    "rabbitmq-delay:index:EndpointDelayBinding",
  ]) {
    it(`reviews a queue whose logical name holds ${type}: else it would go unseen with its messages`, async () => {
      const urn = `urn:pulumi:prod::shop::rabbitmq:index/queue:Queue::x::${type}::y`;
      const gone = { ...queueStep("delete", "orders"), urn };
      assert.deepEqual(await judged([gone]), ["loss", "queue-deleted"]);
    });
  }

  it("takes two names that are secret for two names: the end of one queue is not the rename of another", async () => {
    const secret = (op: string, type: string, name: string, values: object): PreviewStep =>
      step(op, `rabbitmq:index/${type}`, name, { vhost: "/", ...values });
    const exchange = secret("delete", "exchange:Exchange", "e", { name: "[secret]", settings: {} });
    const values = { source: "[secret]", destination: "a", destinationType: "queue", routingKey: "#" };
    const binding = secret("delete", "binding:Binding", "b", values);
    assert.deepEqual(await judged([queueStep("same", "a"), exchange, binding]), [
      "loss",
      "unroutable-lost",
      "exchange-gone",
    ]);
    const [old, fresh] = ["delete", "create"].map((op) => secret(op, "queue:Queue", op, { name: "[secret]" }));
    assert.deepEqual(await judged([old, fresh] as PreviewStep[]), ["loss", "queue-deleted"]);
  });

  it("still tells a loss in what of a plan can be read", async () => {
    const { status, stdout } = await review({ ...loss, diagnostics: [{ severity: "error", message: "broken" }] });
    assert.equal(status, 1);
    assert.match(stdout, /Would lose messages[\s\S]*did not get to its end/);
  });

  const refused: [string, string][] = [
    ["a summary that does not count", '{"steps":[],"changeSummary":{"delete":"3"}}'],
    ["a state that is null", '{"steps":[{"op":"delete","urn":"urn:pulumi:a::b::c:d:E::f","oldState":null}]}'],
    ["a step whose URN is none", '{"steps":[{"op":"delete","urn":"queue"}]}'],
  ];
  for (const [what, plan] of refused) it(`refuses ${what}`, async () => assert.equal((await review(plan)).status, 2));

  it("judges steps that replace, import, discard and read by what they do", async () => {
    const [before, after] = ["{}", '{"x-expires":5}'].map((argumentsJson) => ({
      name: "a",
      vhost: "/",
      settings: { argumentsJson },
    })) as [object, object];
    for (const op of ["replace", "create-replacement", "delete-replaced", "import-replacement"]) {
      const steps = [change(op, "rabbitmq:index/queue:Queue", "a", before, after)];
      assert.deepEqual(await judged(steps), ["loss", "queue-replaced"], op);
    }
    assert.equal((await judged([queueStep("import", "a")]))[0], "safe");
    for (const op of ["read", "read-replacement", "refresh", "discard", "discard-replaced", "remove-pending-replace"]) {
      assert.deepEqual(await judged([queueStep(op, "a")]), ["nothing"], op);
    }
    const noDiff = { ...step("update", "rabbitmq:index/queue:Queue", "a", {}), detailedDiff: null, diffReasons: null };
    assert.equal((await judged([{ ...noDiff, oldState: undefined, newState: undefined }]))[0], "care");
    const aliased = queueStep("same", "a");
    const old = { ...(aliased.oldState as object), urn: "urn:pulumi:prod::shop::rabbitmq:index/queue:Queue::before" };
    assert.equal((await reviewed([{ ...aliased, oldState: old as never }])).verdict, "nothing");
  });

  it("takes an engine that ends with 255 and no reason for a failure, whatever it printed", () => {
    const end = reviewStack({ output: JSON.stringify(harmless), code: 255 }, {}, "--output", "review.md");
    assert.equal(end.status, 3, end.stdout);
    assert.match(end.stderr, /error: the preview is not whole: pulumi preview ended with 255/);
    const fine = reviewStack({ output: JSON.stringify(harmless), code: 0 }, {});
    assert.equal(fine.status, 0, fine.stderr);
  });

  const printed: [string, string, number][] = [
    ["is cut off", '{"steps":[{"op":"del', 0],
    ["is cut off by a failure", '{"steps":[{"op":"del', 255],
    ["has another plan behind it", `${JSON.stringify(harmless)}\n${JSON.stringify(loss)}`, 0],
    ["is a stream of events", '{"sequence":0,"preludeEvent":{}}\n{"sequence":1,"cancelEvent":{}}', 0],
    ["has steps of another kind", '{"steps":[{"action":"x"}]}', 0],
  ];
  for (const [what, output, code] of printed) {
    it(`writes a report when what the engine printed ${what}: a pull request would show the last one's, which may say safe`, () => {
      const file = join(temporaryFolder(), "review.md");
      const end = reviewStack({ output, code }, {}, "--output", file);
      assert.equal(end.status, 3, end.stderr);
      assert.match(readFileSync(file, "utf8"), /## ⛔ Could not be reviewed: stack <code>prod<\/code>/);
    });
  }

  it("asks the engine for a plan, and not for its events", () => {
    const folder = temporaryFolder();
    const script = `#!/bin/sh\nprintf '{"steps":[],"diagnostics":[{"severity":"error","message":"<%s>"}]}' "$PULUMI_ENABLE_STREAMING_JSON_PREVIEW"\n`;
    writeFileSync(join(folder, "pulumi"), script, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env.PATH}`, PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true" };
    const end = spawnSync(process.execPath, [command, "review", "--stack", "prod"], { encoding: "utf8", env });
    assert.match(end.stderr, /not whole: <>/);
  });

  it("writes a report for the pull request when there is no plan at all", () => {
    const folder = temporaryFolder();
    const file = join(folder, "review.md");
    const secret = "s3cr3t-of-the-state";
    const errors = `error: getting secrets manager: ${secret} at https://user:p@ss/w0rd@state.example.com is wrong\n`;
    const env = { PULUMI_CONFIG_PASSPHRASE: secret };
    const end = reviewStack({ output: "", errors, code: 255 }, env, "--output", file);
    assert.equal(end.status, 3, end.stderr);
    assert.ok(existsSync(file));
    const report = readFileSync(file, "utf8");
    assert.match(report, /## ⛔ Could not be reviewed: stack <code>prod<\/code>[\s\S]*getting secrets manager/);
    for (const text of [report, end.stderr]) {
      assert.ok(!text.includes(secret) && !text.includes("w0rd") && !text.includes("p@ss"), text);
    }
  });

  it("says in one line that a file can't be read or written", async () => {
    const missing = await runCommand(["comment", "none.md", "--on", "github"]);
    assert.equal(missing.code, 2);
    assert.match(missing.err, /error: none\.md can't be read/);
    const unwritable = await review(harmless, "--output", "/none/review.md");
    assert.equal(unwritable.status, 2);
    assert.match(unwritable.stderr, /--output: \/none\/review\.md can't be written/);
  });

  // An exchange was renamed in the program: its bindings were gone after the update, and what waited for it was lost.
  it("finds an exchange that is declared under another name, and then deleted, with the name for its alias", async () => {
    const type = "rabbitmq:index/exchange:Exchange";
    const values = { name: "Billing", vhost: "/", settings: { type: "fanout" } };
    const { verdict, findings } = await reviewed([
      step("create", type, "new", values),
      step("delete", type, "old", values),
    ]);
    assert.deepEqual([verdict, findings[0]?.rule, findings[0]?.alias], ["loss", "live-deleted", '{ name: "old" }']);
    const kept = step("delete", type, "old", values, { retainOnDelete: true });
    assert.deepEqual(await judged([step("create", type, "new", values), kept]), ["safe"]);
  });

  // The same in two updates, the new one first: the second was said to need care alone, and the exchange that stayed was gone.
  it("finds that an exchange goes which another resource still stands for, unless that is on another broker", async () => {
    const type = "rabbitmq:index/exchange:Exchange";
    const values = { name: "Billing", vhost: "/", settings: { type: "fanout" } };
    const provider = (name: string, endpoint: string): PreviewStep =>
      step("same", "pulumi:providers:rabbitmq", name, { endpoint });
    const by = (name: string): object => ({
      provider: `urn:pulumi:prod::shop::pulumi:providers:rabbitmq::${name}::id`,
    });
    const steps = [step("same", type, "new", values, by("one")), step("delete", type, "old", values, by("other"))];
    const twin = ["loss", "twin-deleted"];
    assert.deepEqual(await judged(steps), twin);
    const one = provider("one", "http://here:15672");
    assert.deepEqual(await judged([one, provider("other", "http://here:15672/"), ...steps]), twin);
    assert.deepEqual(await judged([one, provider("other", "[secret]"), ...steps]), twin);
    assert.deepEqual(await judged([one, provider("other", "http://there:15672"), ...steps]), ["care", "exchange-gone"]);
    const kept = step("delete", type, "old", values, { retainOnDelete: true });
    assert.deepEqual(await judged([step("same", type, "new", values), kept]), ["safe"]);
  });

  // The engine left them as they were, the broker unbound them, and no later preview said so.
  it("finds the program's own bindings that go with an exchange or a queue, and are not declared anew", async () => {
    const exchange = (op: string): PreviewStep =>
      step(op, "rabbitmq:index/exchange:Exchange", "Billing", { name: "Billing", vhost: "/", settings: {} });
    const binding = (op: string, ends: object = {}): PreviewStep => {
      const values = { vhost: "/", source: "Billing", destination: "bills", destinationType: "queue", ...ends };
      return step(op, "rabbitmq:index/binding:Binding", "b", values);
    };
    const [leftOut, gone] = ["bindings-left-out", "exchange-gone"];
    for (const op of ["delete", "replace"]) {
      assert.deepEqual(await judged([...deletedFirst(exchange(op)), binding("same")]), ["loss", leftOut, gone]);
      const to = { source: "events", destination: "Billing", destinationType: "exchange" };
      assert.deepEqual(await judged([...deletedFirst(exchange(op)), binding("same", to)]), ["loss", leftOut, gone]);
      const elsewhere = { source: "events", destination: "Billing", destinationType: "queue" };
      assert.deepEqual(await judged([...deletedFirst(exchange(op)), binding("same", elsewhere)]), ["care", gone]);
      assert.deepEqual(await judged([...deletedFirst(exchange(op)), binding("same", { vhost: "other" })]), [
        "care",
        gone,
      ]);
      const queue = await judged([...deletedFirst(queueStep(op, "bills")), binding("same")]);
      assert.ok(queue.includes(leftOut), `${op}: ${queue.join()}`);
      const declaredAnew = await judged([...deletedFirst(exchange(op)), ...deletedFirst(binding(op))]);
      assert.ok(!declaredAnew.includes(leftOut), `${op}: ${declaredAnew.join()}`);
    }
    // The update failed half-way, or the new binding went with the old queue, and the review said care once that was empty.
    const anew = deletedFirst(queueStep("replace", "bills"));
    const edited = async (...dependencies: string[]): Promise<string[]> => {
      const { oldState, newState, ...one } = binding("replace");
      const before = { ...oldState, inputs: { ...oldState?.inputs, routingKey: "a" } };
      const ops = ["create-replacement", "replace", "delete-replaced"];
      const replacement = { ...one, oldState: before, newState: { ...newState, dependencies } } as PreviewStep;
      return judged([exchange("same"), ...anew, ...ops.map((op) => ({ ...replacement, op }))]);
    };
    assert.ok((await edited()).includes(leftOut));
    assert.ok(!(await edited(anew[0]?.urn as string)).includes(leftOut), "it comes after the queue");
  });

  it("calls a file whose states are malformed no preview, and does not fail at it", async () => {
    const [good] = [queueStep("delete", "a")];
    for (const broken of [
      { inputs: null },
      { inputs: [] },
      { outputs: 5 },
      { type: 5 },
      { parent: {} },
      { provider: [] },
    ]) {
      const steps = [{ ...good, oldState: { ...good.oldState, ...broken } }];
      assert.throws(() => parsePreview(JSON.stringify({ steps }), "test"), /PreviewError: test: steps\[0\]: a state's/);
    }
  });

  // A gateway without its forward put what came by it into a queue of the routing key's name.
  it("says that the queues and exchanges of a store or a gateway that stay have no process any more", async () => {
    const parent = "urn:pulumi:prod::shop::rabbitmq-delay:index:DelayGateway::gateway";
    const more = { parent, retainOnDelete: true };
    const exchange = (name: string): PreviewStep =>
      step("delete", "rabbitmq:index/exchange:Exchange", name, { name, vhost: "/", settings: { type: "topic" } }, more);
    const [source, destination, destinationType] = ["shop", "gateway.intake", "queue"];
    const binding = { source, destination, destinationType, routingKey: "#", vhost: "/" };
    const bound = step("delete", "rabbitmq:index/binding:Binding", "shop-to-intake", binding, more);
    assert.ok((await judged([exchange("shop"), bound])).includes("intake-kept"));
    // Consumers have bound their queues to it.
    assert.deepEqual(await judged([exchange("shop.delivery")]), ["safe"]);
    assert.deepEqual(await judged([queueStep("delete", "gateway.intake", more)]), ["care", "intake-kept"]);
    assert.deepEqual(await judged([queueStep("delete", "gateway.error", more)]), ["safe", "queue-kept"]);
    assert.deepEqual(await judged([exchange("rabbitmq-delay.owner-of-endpoint.gateway.return")]), ["safe"]);
    assert.deepEqual(await judged([queueStep("delete", "work", { retainOnDelete: true })]), ["safe", "queue-kept"]);
  });

  // The program found the broker otherwise than its state, said so, and the review was "nothing changes".
  it("tells what the program warned of, but for the engine's own warnings; the broker's own faults change no verdict", async () => {
    const warning = (message: string): object => ({ severity: "warning", message });
    const fault =
      "the broker is RabbitMQ 4.0.0: it stops; RabbitMQ 4.1.0 mends it, and allow: [dead-letter-stuck] silences this";
    const preview = {
      steps: [queueStep("same", "a")],
      diagnostics: [
        warning("<{%fg 3%}>warning: <{%reset%}>rabbitmq-delay: queue a has another TTL\n"),
        warning("rabbitmq-delay: queue a has another TTL"),
        warning("Could not find a package.json or package.yaml file"),
        warning("A new version of Pulumi is available. To upgrade from version '3.220.0' to '3.221.0', visit ..."),
        warning(`rabbitmq-delay: ${fault}`),
      ],
    };
    const { verdict, findings } = await reviewOf(parsePreview(JSON.stringify(preview), "test"));
    assert.deepEqual(
      [verdict, ...findings.map(({ rule, entity }) => `${rule}: ${entity}`)],
      [
        "care",
        "program-warned: queue a has another TTL",
        `broker-fault: ${fault}`,
        "other-warned: Could not find a package.json or package.yaml file",
      ],
    );
    const alone = { ...preview, diagnostics: [preview.diagnostics[2]] };
    const noted = await reviewOf(parsePreview(JSON.stringify(alone), "test"));
    assert.deepEqual([noted.verdict, noted.findings.map(({ rule }) => rule)], ["nothing", ["other-warned"]]);
  });
});
