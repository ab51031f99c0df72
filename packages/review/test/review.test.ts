import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { causesOf } from "../dist/preview/cause";
import { renderHtml } from "../dist/report/html";
import { MOST_CHARACTERS, renderMarkdown } from "../dist/report/markdown";
import { renderMermaidPicture } from "../dist/report/picture";
import { PreviewStep, parsePreview } from "../dist/preview/preview";
import { Review, reviewOf } from "../dist/review";
import { parseUrn } from "../dist/preview/urn";
import { runCommand } from "../../../test/support/command";

/** Steps as the engine writes them; the real engine's are tested with the whole system. */
function step(op: string, type: string, name: string, inputs: object, more: object = {}): PreviewStep {
  const urn = `urn:pulumi:prod::shop::${type}::${name}`;
  const state = { urn, type: type.split("$").at(-1) as string, custom: true, inputs: { ...inputs }, ...more };
  return {
    op,
    urn,
    ...(op === "create" ? {} : { oldState: state }),
    ...(op === "delete" ? {} : { newState: state }),
  };
}

const queue = (op: string, name: string, more: object = {}): PreviewStep =>
  step(op, "rabbitmq:index/queue:Queue", name, { name, vhost: "/", settings: { argumentsJson: "{}" } }, more);

const reviewed = (steps: PreviewStep[]): Promise<Review> => reviewOf(parsePreview(JSON.stringify({ steps }), "test"));

describe("review", () => {
  it("tells the causes to the single argument, in texts of JSON too", () => {
    const before = { name: "a", settings: { argumentsJson: '{"x-message-ttl":8000,"x-queue-type":"quorum"}' } };
    const after = { name: "a", settings: { argumentsJson: '{"x-queue-type":"quorum","x-message-ttl":9000}' } };
    assert.deepEqual(causesOf(before, after), [{ property: "x-message-ttl", before: "8000", after: "9000" }]);
    assert.deepEqual(causesOf({ a: 1 }, { a: 1, b: [2] }), [{ property: "b", before: "nothing", after: "[2]" }]);
  });

  it("keeps secrets, wherever they stand", () => {
    const shown = JSON.stringify([
      causesOf({ password: "hunter2" }, { password: "hunter3" }),
      causesOf({ uri: "amqp://a:hunter2@x/" }, { uri: "amqp://a:hunter3@y/" }),
      causesOf({ json: '{"token":"hunter2","b":1}' }, { json: '{"token":"hunter3","b":2}' }),
      causesOf({ json: "[secret]" }, { json: '{"c":"hunter2"}' }),
      causesOf({ list: [1] }, { list: [{ clientSecret: "hunter2" }] }),
    ]);
    assert.ok(!shown.includes("hunter"), shown);
    assert.ok(shown.includes('"property":"json.b"'), "what is no secret shows");
  });

  it("knows the parts of a URN whose name has colons", () => {
    const parts = parseUrn("urn:pulumi:prod::shop::a:b:C$rabbitmq:index/queue:Queue::holds-hold.5.0::work");
    assert.deepEqual(parts?.types, ["a:b:C", "rabbitmq:index/queue:Queue"]);
    assert.equal(parts?.name, "holds-hold.5.0::work");
  });

  it("judges resources outside the components by the same rules, and names others", async () => {
    const steps = [
      queue("delete", "plain"),
      step("delete", "aws:s3/bucket:Bucket", "files", {}),
      queue("create", "new"),
    ];
    const { verdict, findings, changes } = await reviewed(steps);
    assert.equal(verdict, "loss");
    assert.deepEqual(
      findings.map(({ rule }) => rule),
      ["queue-deleted", "other-changed"],
    );
    assert.deepEqual(
      changes.map(({ subject, name, predicate }) => `${subject} ${name} ${predicate}`),
      [
        "aws:s3/bucket:Bucket files is deleted",
        "queue outside the components new is created",
        "queue outside the components plain is deleted",
      ],
    );
    assert.equal((await reviewed([queue("delete", "kept", { retainOnDelete: true })])).verdict, "safe");
  });

  const policy = (op: string, definition: object, more: object = {}): PreviewStep =>
    step(
      op,
      "rabbitmq:index/policy:Policy",
      "p",
      { name: "p", vhost: "/", policy: { pattern: ".*", definition } },
      more,
    );
  const delivery = "orders.r4x2u1000.delivery";
  const binding = (op: string, destination: string, routingKey: string): PreviewStep =>
    step(op, "rabbitmq:index/binding:Binding", `${destination}-${routingKey}`, {
      source: delivery,
      destination,
      destinationType: "queue",
      routingKey,
      vhost: "/",
    });
  const unseen: [string, PreviewStep[], string, string | undefined][] = [
    ["a policy that lets queues expire", [policy("create", { expires: 5000 })], "loss", "policy-drops"],
    ["a policy of somebody else's", [policy("create", { "ha-mode": "all" })], "care", "policy-changed"],
    [
      "a network's own new policy",
      [policy("create", { "alternate-exchange": "x" }, { parent: "urn::rabbitmq-delay:index:DelayLevelTopology::a" })],
      "safe",
      undefined,
    ],
    ["a shovel", [step("create", "rabbitmq:index/shovel:Shovel", "s", {})], "care", "other-changed"],
    [
      "a cluster that goes with its volumes",
      [step("delete", "rabbitmq-delay:index:RabbitMqCluster$kubernetes:apps/v1:StatefulSet", "s", {})],
      "loss",
      "cluster-deleted",
    ],
    ["a bucket of something else", [step("create", "aws:s3/bucket:Bucket", "b", {})], "safe", undefined],
    [
      "a binding that takes another endpoint's messages",
      [binding("same", "Sales", "*.*.Sales"), binding("create", "Copy", "#.Sales")],
      "care",
      "delivered-twice",
    ],
    [
      "a binding beside another",
      [binding("same", "Sales", "*.*.Sales"), binding("create", "Europe", "*.*.Europe.Sales")],
      "safe",
      undefined,
    ],
    [
      "what an interrupted update left to be deleted",
      [queue("same", "a"), queue("delete", "a")],
      "loss",
      "replaced-by-itself",
    ],
  ];
  for (const [what, steps, verdict, rule] of unseen) {
    it(`does not overlook ${what}`, async () => {
      const review = await reviewed(steps);
      assert.equal(review.verdict, verdict);
      assert.deepEqual(
        review.findings.map((finding) => finding.rule),
        rule === undefined ? [] : [rule],
      );
    });
  }

  const hostile = fc.oneof(
    fc.constantFrom(
      "`x`",
      "a|b|c",
      "<img src=x onerror=alert(1)>",
      "</code></details><script>alert(1)</script>",
      "a\nb\r\n# c",
      "\u202egnp.exe",
      "é".repeat(127),
      "[a](javascript:b)",
      "@everyone",
      '"]; click n0 "x"',
      "```",
      "<!-- -->",
      "*.#",
    ),
    fc.string({ unit: "binary", maxLength: 60 }),
  );

  it("lets no name change the report around it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 4 }), async (names) => {
        const review = await reviewed([...new Set(names)].map((name) => queue("delete", name)));
        const [plain] = [await reviewed([queue("delete", "plain")])];
        const markdown = renderMarkdown(review, names[0] as string);
        // Without what is code, which is looked at below and of which nothing gets out.
        const shape = (text: string): string[] =>
          text.replace(/<code>[^<>`\n]*<\/code>|```mermaid\n[^`]*```/g, "").match(/[`|<>[\]*_~]+|^#+ /gm) ?? [];
        const kinds = new Set(shape(renderMarkdown(plain, "prod")));
        for (const found of shape(markdown.replace(/^<!--.*?-->$/m, "")))
          assert.ok(kinds.has(found) || found === "<!--", found);
        const page = renderHtml(review, names[0] as string);
        const tags = (text: string): Set<string> => new Set(text.match(/<[^>]*>/g) ?? []);
        const known = tags(renderHtml(plain, "prod"));
        for (const tag of tags(page)) if (!/^<(svg|rect|text|path) /.test(tag)) assert.ok(known.has(tag), tag);
        const mermaid = renderMermaidPicture(review).split("\n");
        assert.ok(
          mermaid.every((line) => /^(flowchart LR| {2}n\d+\["[^"`<>[\]]*"\]:::removed| {2}classDef .*)$/.test(line)),
        );
      }),
    );
  });

  it("has room for a thousand endpoints, and never cuts a danger", async () => {
    const type = "rabbitmq-delay:index:EndpointDelayBinding";
    const parent = (name: string): object => ({ parent: `urn:pulumi:prod::shop::${type}::${name}` });
    const steps = Array.from({ length: 1000 }, (_, index) => {
      const name = `Endpoint-${index}-${"x".repeat(200)}`;
      const values = {
        source: "nsb.v2.delay-delivery",
        destination: name,
        destinationType: "queue",
        routingKey: name,
        vhost: "/",
      };
      return [
        step("delete", `${type}$rabbitmq:index/binding:Binding`, name, values, parent(name)),
        step("delete", `${type}$rabbitmq:index/queue:Queue`, name, { name, vhost: "/" }, parent(name)),
        step("delete", type, name, {}, { custom: false }),
      ];
    }).flat();
    const others = Array.from({ length: 300 }, (_, index) => step("create", `aws:x/y${index}:Z`, `other-${index}`, {}));
    const markdown = renderMarkdown(await reviewed([...steps, ...others]), "prod");
    assert.ok(markdown.length <= MOST_CHARACTERS, `${markdown.length} characters`);
    assert.match(markdown, /## 🔴 Would lose messages/);
    assert.match(markdown, /- 🔴 \*\*1000 queues would be deleted/);
    assert.match(markdown, /- 🟡 \*\*1000 endpoints would no longer get delayed messages/);
    assert.match(markdown, /and 980 more/);
    const components = Array.from({ length: 400 }, (_, index) => {
      const type = "rabbitmq-delay:index:WorkRetryQueues";
      const urn = `urn:pulumi:prod::shop::${type}::${"*".repeat(200)}${index}`;
      return queue("delete", `${"|".repeat(240)}${index}`, { parent: urn });
    });
    const failed = { severity: "error", message: "*".repeat(5000) };
    const preview = { steps: [...components, ...steps, ...others], diagnostics: Array(50).fill(failed) as object[] };
    const worst = renderMarkdown(await reviewOf(parsePreview(JSON.stringify(preview), "test")), "prod");
    assert.ok(worst.length <= MOST_CHARACTERS, `${worst.length} characters`);
    assert.match(worst, /- 🔴 \*\*1400 queues would be deleted/);
    assert.match(worst, /- 🟡 \*\*1000 endpoints would no longer/);
    assert.match(worst, /- 🟡 \*\*The preview did not get to its end/);
    const boxes = renderMermaidPicture(await reviewed(steps)).match(/^ {2}n\d+[[(]/gm) ?? [];
    assert.ok(boxes.length < 10, `${boxes.length} boxes`);
  });

  const foreign: [string, string, RegExp][] = [
    ["nothing", "", /is not JSON, or cut off/],
    ["a truncated preview", '{"steps":[{"op":"create"', /is not JSON, or cut off/],
    ["another tool's JSON", '{"resource_changes":[]}', /is not the output of pulumi preview --json/],
    ["a list", "[1]", /is not the output of pulumi preview/],
    ["steps of another kind", '{"steps":[{"action":"x"}]}', /steps\[0\] has no op and urn/],
    ["null", "null", /is not the output of pulumi preview/],
  ];
  for (const [what, input, message] of foreign) {
    it(`refuses ${what}`, async () => {
      const { code, err } = await runCommand(["review", "-"], {}, input);
      assert.equal(code, 2);
      assert.match(err, message);
    });
  }

  it("refuses a broker's address that is none, and a broker out of reach", async () => {
    const input = JSON.stringify({ steps: [queue("delete", "a")] });
    const ends = await Promise.all(
      ["amqp://x", "nowhere", "http://127.0.0.1:4"].map((url) =>
        runCommand(["review", "-", "--management", url], {}, input),
      ),
    );
    assert.deepEqual(
      ends.map(({ code }) => code),
      [2, 2, 3],
    );
    assert.match(ends[2]?.err ?? "", /--management: http:\/\/127\.0\.0\.1:4\/api does not answer \(.*ECONNREFUSED/);
  });
});
