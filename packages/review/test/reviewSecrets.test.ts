import { strict as assert } from "node:assert";
import { join } from "node:path";
import * as fc from "fast-check";
import { causesOf } from "../dist/preview/cause";
import { renderHtml } from "../dist/report/html";
import { renderMarkdown } from "../dist/report/markdown";
import { PreviewStep, parsePreview } from "../dist/preview/preview";
import { secretsOf, withoutSecrets } from "../dist/redact";
import { reviewOf } from "../dist/review";
import { change } from "./steps";
import { runCommand } from "../../../test/support/command";

/** Stands in every place that may hold a secret, so that each report can be looked through for it. */
const PLANTED = "hunter2";

/** What an object of each kind holds, with the places at which a secret may stand; other texts are of the same kind. */
const sensitive: Record<string, object> = {
  "kubernetes:core/v1:Secret": {
    metadata: { name: "s", annotations: { "kubectl.kubernetes.io/last-applied-configuration": "x" } },
    data: { password: "x", anything: "x" },
    stringData: { "default_user.conf": "x", ".erlang.cookie": "x" },
  },
  "kubernetes:core/v1:ConfigMap": { data: { "rabbitmq.conf": "default_pass = x", "store.json": '{"url":"x"}' } },
  "kubernetes:apps/v1:Deployment": {
    spec: {
      template: {
        metadata: { annotations: { a: "x" } },
        spec: {
          containers: [
            { name: "c", image: "x", command: ["x"], args: ["--password", "x"], env: [{ name: "PGPASS", value: "x" }] },
          ],
        },
      },
    },
  },
  "kubernetes:apps/v1:StatefulSet": {
    spec: { replicas: 3, template: { spec: { containers: [{ env: [{ name: "COLOUR", value: "x" }] }] } } },
  },
  "kubernetes:helm.sh/v3:Release": { chart: "rabbitmq", values: { auth: { password: "x", extra: ["x", { a: "x" }] } } },
  "kubernetes:rabbitmq.com/v1beta1:RabbitmqCluster": {
    spec: { rabbitmq: { additionalConfig: "x" }, override: { a: "x" } },
  },
  "docker:index/container:Container": {
    name: "x",
    image: "x",
    envs: ["A=x"],
    command: ["x"],
    labels: [{ label: "a", value: "x" }],
  },
  "aws:mq/broker:Broker": { brokerName: "x", users: [{ username: "x", password: "x" }], tags: { a: "x" } },
  "pulumi:providers:rabbitmq": { endpoint: "x", username: "x", password: "x", clientkeyFile: "x", headers: { a: "x" } },
  "pulumi:providers:kubernetes": { kubeconfig: '{"users":[{"user":{"token":"x"}}]}' },
  "rabbitmq:index/user:User": { name: "sales", password: "x", tags: ["x"] },
  "rabbitmq:index/shovel:Shovel": { name: "x", info: { sourceUri: "amqp://a:x@h", destinationUri: "x" } },
  "rabbitmq:index/federationUpstream:FederationUpstream": { name: "x", definition: { uri: "x" } },
  "random:index/randomPassword:RandomPassword": { length: 48, keepers: { a: "x" }, overrideSpecial: "x" },
  "command:local:Command": { create: "x", environment: { A: "x" }, stdin: "x", triggers: ["x", { a: "x" }] },
  "auth0:index/client:Client": { headers: { Authorization: "x" }, apiKey: "x", mobile: [{ apps: ["x"] }] },
};

/** The same object with `put` in the place of each text; names by which a report calls a thing stay. */
function planted(value: unknown, put: (text: string) => unknown, key = ""): unknown {
  if (typeof value === "string") return key === "name" && value === "sales" ? value : put(value);
  if (Array.isArray(value)) return value.map((item) => planted(item, put));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, planted(item, put, name)]));
}

async function reports(steps: PreviewStep[]): Promise<string[]> {
  const review = await reviewOf(parsePreview(JSON.stringify({ steps }), "test"));
  return [renderMarkdown(review, "prod"), renderHtml(review, "prod"), JSON.stringify(review)];
}

/** How a secret may be written where it stands. */
const shapes: ((secret: string) => unknown)[] = [
  (secret) => secret,
  (secret) => `amqp://user:${secret}@host/vhost`,
  (secret) => `postgres://user:p@${secret}@host/db?a=b`,
  (secret) => `Password=${secret};Server=a`,
  (secret) => `Bearer ${secret}`,
  (secret) => JSON.stringify({ a: { b: [secret] } }),
  (secret) => `line\nwith ${secret}\n`,
  (secret) => [secret, { name: "A", value: secret }],
  (secret) => ({ [`key-of-${1}`]: { deep: [[secret]] } }),
  (secret) => Buffer.from(secret).toString("base64"),
];

describe("secrets in a review", () => {
  for (const [type, inputs] of Object.entries(sensitive)) {
    it(`are not shown, wherever one stands in ${type}`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...shapes),
          fc.constantFrom(...shapes),
          fc.constantFrom("update", "replace", "create", "delete"),
          fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
          async (one, other, op, places) => {
            const at = (shape: (secret: string) => unknown, mark: string): object => {
              let place = 0;
              return planted(inputs, (text) =>
                places[place++ % places.length] ? shape(`${PLANTED}${mark}`) : text,
              ) as object;
            };
            const step = change(op, type, "thing", at(one, "old"), at(other, "new"));
            for (const report of await reports([step])) {
              for (const text of [PLANTED, Buffer.from(`${PLANTED}old`).toString("base64")]) {
                assert.ok(!report.includes(text), `${op}: ${report}`);
              }
            }
          },
        ),
        { numRuns: 60 },
      );
    });
  }

  it("are told apart from what is none: numbers, images and a queue's arguments show", async () => {
    const [replicas] = causesOf({ spec: { replicas: 3 } }, { spec: { replicas: 5 } }, "elsewhere");
    assert.deepEqual(replicas, { property: "spec.replicas", before: "3", after: "5" });
    const [image] = causesOf({ image: "rabbitmq:4.3.5" }, { image: "rabbitmq:4.3.6" }, "elsewhere");
    assert.deepEqual(image, { property: "image", before: "rabbitmq:4.3.5", after: "rabbitmq:4.3.6" });
    const queue = (ttl: number): object => ({ settings: { argumentsJson: `{"x-message-ttl":${ttl}}` } });
    const [ttl] = causesOf(queue(1) as never, queue(2) as never);
    assert.deepEqual(ttl, { property: "x-message-ttl", before: "1", after: "2" });
  });

  const places: Record<string, unknown>[] = [
    { password: PLANTED },
    { Authorization: PLANTED },
    { "x-api-key": PLANTED },
    { apiKey: PLANTED },
    { headers: { authorization: `Basic ${PLANTED}` } },
    { environment: { PGPASSWORD: PLANTED, DB_PASS: PLANTED, MY_PWD: PLANTED } },
    { env: [{ name: "A", value: PLANTED }] },
    { list: [{ clientSecret: PLANTED }, { other: PLANTED }] },
    { uri: `amqp://user:p@${PLANTED}@host/` },
    { uri: `amqp://user:${PLANTED}/w@host/` },
    { uri: `postgres://user:${PLANTED} with blanks@host/` },
    { dsn: `Server=a;User Id=b;Password=${PLANTED};` },
    { text: `Server=a;Pwd='${PLANTED} x';` },
    { text: `curl -H "Authorization: Bearer ${PLANTED}"` },
    { text: `login --password ${PLANTED}` },
    { text: `-----BEGIN PRIVATE KEY-----\n${PLANTED}\n-----END PRIVATE KEY-----` },
    { json: JSON.stringify({ token: PLANTED, nested: [{ accessKey: PLANTED }] }) },
    { secrets: { [PLANTED]: "a" } },
    { connectionString: PLANTED, kubeconfig: PLANTED, "tls.key": PLANTED, sig: `sig=${PLANTED}` },
  ];
  for (const place of places) {
    it(`of things of the broker are not shown either: ${JSON.stringify(place).slice(0, 60)}`, () => {
      for (const causes of [causesOf(place, {}), causesOf({}, place), causesOf(place, { a: 1 })]) {
        assert.ok(!JSON.stringify(causes).includes(PLANTED), JSON.stringify(causes));
      }
    });
  }

  it("are not shown in what a failed preview says, whether they look like secrets or not", async () => {
    const provider = change(
      "same",
      "pulumi:providers:rabbitmq",
      "b",
      { password: "correct-horse" },
      { password: "correct-horse" },
    );
    const messages = [
      `PUT http://admin:p@${PLANTED}@host:15672/api/queues: 401`,
      `Authorization: Basic ${PLANTED}xyz`,
      `connection postgres://user:${PLANTED}/p@ss@db/x refused`,
      "user administrator can't log in with correct-horse",
    ];
    const diagnostics = messages.map((message) => ({ severity: "error", message }));
    const review = await reviewOf(parsePreview(JSON.stringify({ steps: [provider], diagnostics }), "test"));
    for (const report of [renderMarkdown(review, "prod"), renderHtml(review, "prod"), JSON.stringify(review)]) {
      assert.ok(!report.includes(PLANTED) && !report.includes("correct-horse"), report);
      assert.ok(report.includes("administrator") && report.includes("refused"), "what is none shows");
    }
  });

  const encoded: [string, string, (secret: string) => string][] = [
    ["in JSON", 'S3cr"et\\Pa55', (secret) => `value ${JSON.stringify(secret)} has a quote`],
    ["in a text of JSON", 'S3cr"et\\Pa55', (secret) => JSON.stringify({ body: JSON.stringify([secret]) })],
    ["in JSON for HTML", "p&ssw0rd<1", () => 'body {"x":"p\\u0026ssw0rd\\u003c1"}'],
    ["in plain JSON", "pässw0rd", () => 'body {"x":"p\\u00e4ssw0rd"}'],
    ["in HTML", 'p&ss"w0rd', () => "value p&amp;ss&#34;w0rd"],
    ["in base64", "Tr0ub4dor3", (secret) => `bad data ${Buffer.from(secret).toString("base64")}`],
    ["in base64 behind a user", "Tr0ub4dor3", (secret) => `value ${Buffer.from(`admin:${secret}`).toString("base64")}`],
    ["in base64 in a path", "Tr0ub4dor3", (secret) => `at /x/${Buffer.from(`a:${secret}`).toString("base64url")}/y`],
    ["of five characters", "hunt3", (secret) => `login as admin with ${secret} refused`],
  ];
  for (const [what, secret, say] of encoded) {
    it(`of the environment are not shown ${what}`, () => {
      const message = say(secret);
      const shown = withoutSecrets(message, secretsOf({ RABBITMQ_PASSWORD: secret }));
      assert.ok(shown.includes("[secret]"), shown);
      for (const part of message.split(/[^A-Za-z0-9+=\\&;#_-]+/).filter((word) => /\d/.test(word))) {
        assert.ok(!shown.includes(part), shown);
      }
    });
  }

  it("that are short leave words alone in which they are only a part", () => {
    const shown = withoutSecrets("hunt3rs of guest", secretsOf({ RABBITMQ_PASSWORD: "hunt3", A_TOKEN: "of" }));
    assert.equal(shown, "hunt3rs of guest");
  });

  // A queue's arguments were in the JSON as they are, and a policy's values in every format.
  it("are in no argument and no policy's value, whatever its name", async () => {
    const address = `amqp://svc:${PLANTED}@broker/x`;
    const settings = { arguments: { "x-origin": address } };
    const policy = { pattern: ".*", applyTo: "queues", definition: { "dead-letter-routing-key": address } };
    const steps = [
      change("delete", "rabbitmq:index/queue:Queue", "q", { name: "q", vhost: "/", settings }, {}),
      change("create", "rabbitmq:index/policy:Policy", "p", {}, { name: "p", vhost: "/", policy }),
    ];
    const review = await reviewOf(parsePreview(JSON.stringify({ steps }), "test"));
    assert.equal(review.findings.length, 2);
    for (const text of [JSON.stringify(review), renderMarkdown(review, "s"), renderHtml(review, "s")]) {
      assert.doesNotMatch(text, new RegExp(PLANTED));
    }
  });

  it("are in no message of a plan that can't be read", async () => {
    const { code, err } = await runCommand(["review", "-"], {}, `password ${PLANTED}`);
    assert.equal(code, 2);
    assert.ok(!err.includes(PLANTED), err);
  });

  it("are in no message of a comment that can't be posted", async () => {
    const report = join(__dirname, "..", "..", "..", "docs", "reviews", "safe.md");
    const environments: [string, NodeJS.ProcessEnv][] = [
      [
        "github",
        {
          GITHUB_API_URL: `http://user:${PLANTED}@127.0.0.1:4`,
          GITHUB_REPOSITORY: "a/b",
          GITHUB_TOKEN: `t-${PLANTED}`,
        },
      ],
      [
        "gitlab",
        { CI_API_V4_URL: `http://127.0.0.1:4/t-${PLANTED}`, CI_PROJECT_ID: "1", GITLAB_TOKEN: `t-${PLANTED}` },
      ],
    ];
    for (const [on, environment] of environments) {
      const { code, out, err } = await runCommand(["comment", report, "--on", on, "--request", "12"], environment);
      assert.equal(code, 3);
      assert.ok(!`${err}${out}`.includes(PLANTED), err);
    }
  });

  it("leave a text without secrets as it is", () => {
    for (const text of [
      "network.radix: 3 is not allowed; it must be one of 2, 4, 8, 16",
      "http://127.0.0.1:15672/api does not answer (connect ECONNREFUSED 127.0.0.1:15672)",
      "the vhost shop has no exchange orders.r4x7u1000.delivery; see docs/concept.md",
    ]) {
      assert.equal(withoutSecrets(text), text);
    }
  });
});
