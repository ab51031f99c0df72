import { strict as assert } from "node:assert";
import { Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { renderMarkdown } from "../dist/report/markdown";
import type { PreviewStep } from "../dist/preview/preview";
import type { Review } from "../dist/review";
import { change, deletedFirst, judged, queueStep, step } from "./steps";
import { runCommand } from "../../../test/support/command";

/** What a broker says to each path, without the question after it; 404 to all others. */
type Answers = Record<string, unknown>;

const declared = { durable: true, auto_delete: false, arguments: {}, consumers: 1 };

const right: Answers = {
  "/api/overview": { rabbitmq_version: "4.3.6" },
  "/api/queues/%2F": [
    { ...declared, name: "empty", messages: 0, state: "running" },
    { ...declared, name: "full", messages: 3, state: "running" },
  ],
  "/api/exchanges/%2F": [{ ...declared, name: "amq.topic", type: "topic", internal: false }],
  "/api/bindings/%2F": [],
  "/api/policies/%2F": [],
  "/api/operator-policies/%2F": [],
};
const queueNamed = (name: string): object => ({ name, vhost: "/", settings: { argumentsJson: "{}" } });
const [emptyQueue, fullQueue] = [queueNamed("empty"), queueNamed("full")];
const deleted = { steps: [queueStep("delete", "empty")] };

describe("a review that asks the broker", () => {
  let server: Server;
  let answers: Answers;
  let asked: number;

  before(async () => {
    server = createServer(({ url = "" }, response) => {
      asked++;
      const answer = answers[url.split("?")[0] as string];
      const text = typeof answer === "string" ? answer : JSON.stringify(answer ?? { error: "not found" });
      response.writeHead(answer === undefined ? 404 : 200).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(() => void server.close());
  beforeEach(() => {
    answers = { ...right };
    asked = 0;
  });

  const address = (host = "127.0.0.1"): string => `http://${host}:${(server.address() as AddressInfo).port}`;

  async function review(
    plan: { steps: PreviewStep[] },
    args: string[],
    environment: NodeJS.ProcessEnv = {},
  ): Promise<{ status: number; report: Review; stderr: string }> {
    const { code, out, err } = await runCommand(["review", "-", "--json", ...args], environment, JSON.stringify(plan));
    return { status: code, report: JSON.parse(out) as Review, stderr: err };
  }

  const impossible: [string, Answers, RegExp][] = [
    ["finds nothing there", { "/api/overview": undefined }, /is not RabbitMQ's management API/],
    ["gets a page of something else", { "/api/overview": "<html>" }, /overview does not answer in JSON/],
    ["gets a list instead of an overview", { "/api/overview": [] }, /is not RabbitMQ's management API/],
    ["asks for a vhost that is not there", { "/api/queues/%2F": undefined }, /there is no vhost \//],
    ["gets no list of queues", { "/api/queues/%2F": { error: "x" } }, /is no list of them/],
    ["gets a list of something else", { "/api/queues/%2F": [1] }, /is no list of them/],
    [
      "asks a broker that has nothing of the stack",
      { "/api/queues/%2F": [] },
      /has none of the 1 queues and 0 exchanges/,
    ],
    ["asks a broker with other queues", { "/api/queues/%2F": [{ name: "x", messages: 0 }] }, /is it another broker/],
  ];
  for (const [what, other, message] of impossible) {
    it(`is no safe one when it ${what}: the queue in question may be full`, async () => {
      answers = { ...right, ...other };
      const { status, report, stderr } = await review(deleted, ["--management", address()]);
      assert.equal(status, 3, stderr);
      assert.match(stderr, message);
      assert.equal(report.verdict, "loss", "and says so in the report");
      assert.match(report.findings.find(({ rule }) => rule === "broker-not-asked")?.entity ?? "", message);
    });
  }

  // Its password, its tags and its rights went, and the review called that safe.
  it("tells of a new user whose name the broker has already, or may have", async () => {
    const user = step("create", "rabbitmq:index/user:User", "gate", { name: "gate" });
    const plan = { steps: [user, queueStep("same", "empty")] };
    const told = async (): Promise<string[]> => {
      const { report, stderr } = await review(plan, ["--management", address()]);
      assert.equal(stderr, "");
      return report.findings.map(({ rule, entity, found }) => `${rule} ${entity}: ${found}`);
    };
    assert.deepEqual(await told(), []);
    answers["/api/users/gate"] = { name: "gate", tags: ["administrator"] };
    assert.match(
      (await told()).join(),
      /^access-changed user gate: it is on the broker already, with the tags administrator:/,
    );
    plan.steps[0] = change("replace", "rabbitmq:index/user:User", "gate", { name: "old" }, { name: "gate" });
    assert.match((await told()).join(), /,access-changed user gate: it is on the broker already/);
  });

  it("knows an empty queue from a full one, one without a count, and one that is down", async () => {
    const empty = await review(deleted, ["--management", address()]);
    assert.deepEqual([empty.status, empty.report.verdict], [0, "care"], empty.stderr);
    const full = await review({ steps: [queueStep("delete", "full")] }, ["--management", address()]);
    assert.deepEqual([full.status, full.report.messagesAtRisk], [1, 3], full.stderr);
    for (const found of [{}, { messages: null }, { messages: 0, state: "down" }, { messages: 0, state: "minority" }]) {
      answers["/api/queues/%2F"] = [{ ...declared, name: "empty", ...found }];
      const { status, report } = await review(deleted, ["--management", address()]);
      assert.deepEqual([status, report.verdict], [1, "loss"], JSON.stringify(found));
    }
  });

  // Another environment's broker has the other queues: the one with 500 messages was a note, because it was not listed there.
  it("takes a queue that is not listed for one that may be full", async () => {
    const steps = [queueStep("same", "full"), queueStep("delete", "unlisted")];
    const { status, report } = await review({ steps }, ["--management", address()]);
    assert.deepEqual([status, report.verdict], [1, "loss"]);
    assert.match(report.findings[0]?.found ?? "", /does not list it, so nobody can tell/);
  });

  it("says that the broker asked has another address than the plan's", async () => {
    const at = (endpoint: unknown): PreviewStep =>
      change("same", "pulumi:providers:rabbitmq", "b", { endpoint }, { endpoint });
    const rules = async (...steps: PreviewStep[]): Promise<unknown[]> => {
      const { report } = await review({ steps }, ["--management", address()]);
      return [report.verdict, ...report.findings.map(({ rule, severity }) => `${rule} ${severity}`)];
    };
    const other = at("http://prod:15672");
    assert.deepEqual(await rules(...deleted.steps, other), ["care", "queue-deleted care", "broker-elsewhere care"]);
    assert.deepEqual(await rules(queueStep("create", "new"), other), ["safe", "broker-elsewhere note"]);
    for (const same of [at(address("localhost")), at("[secret]"), at(undefined)]) {
      assert.deepEqual(await rules(...deleted.steps, same), ["care", "queue-deleted care"]);
    }
  });

  // An empty queue was renamed in the program: the update deleted it, and all that was published afterwards came back unroutable.
  it("finds a rename of an empty queue, with the name for its alias", async () => {
    const queue = { name: "empty", vhost: "/", settings: { argumentsJson: "{}" } };
    const type = "rabbitmq:index/queue:Queue";
    const stack = { parent: "urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod" };
    const component = { parent: "urn:pulumi:prod::shop::rabbitmq-delay:index:EndpointDelayBinding::Sales" };
    for (const [more, name] of [
      [stack, "old"],
      [component, "Sales"],
    ] as const) {
      const steps = [step("create", type, "new", queue, more), step("delete", type, "old", queue, more)];
      const { status, report } = await review({ steps }, ["--management", address()]);
      assert.deepEqual([status, report.verdict, report.findings[0]?.rule], [1, "loss", "live-deleted"]);
      assert.match(report.findings[0]?.found ?? "", /published after the update would be lost/);
      assert.match(renderMarkdown(report, "prod"), new RegExp(`aliases: \\[\\{ name: "${name}" \\}\\]`));
    }
  });

  // The same in two updates, the new one first: the second was said to need care alone, and the queue that stayed was gone.
  it("finds that an empty queue goes, which another resource still stands for", async () => {
    const steps = [queueStep("same", "empty"), step("delete", "rabbitmq:index/queue:Queue", "old", emptyQueue)];
    const { status, report } = await review({ steps }, ["--management", address()]);
    assert.deepEqual([status, report.verdict, report.findings[0]?.rule], [1, "loss", "twin-deleted"]);
    const retained = step("delete", "rabbitmq:index/queue:Queue", "old", emptyQueue, { retainOnDelete: true });
    const kept = await review({ steps: [queueStep("same", "empty"), retained] }, ["--management", address()]);
    assert.deepEqual([kept.status, kept.report.verdict], [0, "safe"]);
  });

  // A full queue of one broker was counted on another, where a queue of its name was empty: care, and exit code 0.
  it("counts no queue of another broker of the plan than the one that was asked", async () => {
    const provider = (name: string, endpoint: string): PreviewStep =>
      step("same", "pulumi:providers:rabbitmq", name, { endpoint });
    const by = (name: string): object => ({
      provider: `urn:pulumi:prod::shop::pulumi:providers:rabbitmq::${name}::id`,
    });
    const providers = [provider("here", address()), provider("there", "http://there:15672")];
    for (const [name, severity] of [
      ["here", "care"],
      ["there", "loss"],
    ] as const) {
      const steps = [...providers, queueStep("delete", "empty", by(name)), queueStep("same", "full", by("here"))];
      const { report } = await review({ steps }, ["--management", address()]);
      assert.deepEqual([report.findings[0]?.rule, report.verdict], ["queue-deleted", severity]);
    }
    // A queue of the same name elsewhere is no twin.
    const twins = [
      ...providers,
      queueStep("delete", "full", by("there")),
      step("same", "rabbitmq:index/queue:Queue", "f", fullQueue, by("here")),
    ];
    const { report } = await review({ steps: twins }, ["--management", address()]);
    assert.deepEqual([report.findings[0]?.rule, report.messagesAtRisk], ["queue-deleted", 0]);
    assert.match(report.findings[0]?.found ?? "", /on another broker of this plan/);
  });

  // Dead letters that nothing takes stay in their queue past its TTL: the review said that the last was due in 0.3 s.
  it("says of messages past their TTL that they are overdue, and not when they are due", async () => {
    const values = { name: "full", vhost: "/", settings: { arguments: { "x-message-ttl": 300 } } };
    const steps = [step("delete", "rabbitmq:index/queue:Queue", "full", values)];
    for (const [messages, found] of [
      [20, "20 messages now; 20 overdue, because nothing takes its dead letters"],
      [0, "0 messages now; 20 overdue, because nothing takes its dead letters"],
    ] as const) {
      answers["/api/queues/%2F"] = [{ ...declared, name: "full", messages, messages_dlx: 20, state: "running" }];
      const { status, report } = await review({ steps }, ["--management", address()]);
      assert.deepEqual([status, report.findings[0]?.found], [1, found]);
    }
  });

  it("counts no queue as empty whose name or vhost nobody can read: it may be the full one", async () => {
    const values = (more: object): object => ({ name: "full", vhost: "/", settings: { argumentsJson: "{}" }, ...more });
    const known = queueStep("same", "full");
    for (const unreadable of [
      { name: "[secret]" },
      { name: "" },
      { name: undefined },
      { name: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" },
      { vhost: "[secret]" },
      { vhost: undefined },
    ]) {
      const steps = [known, step("delete", "rabbitmq:index/queue:Queue", "q", values(unreadable))];
      const { status, report, stderr } = await review({ steps }, ["--management", address()]);
      assert.deepEqual([status, report.verdict], [1, "loss"], `${JSON.stringify(unreadable)} ${stderr}`);
      assert.match(report.findings[0]?.found ?? "", /can't be read/);
    }
  });

  it("knows the plan's broker by the type of a provider, and by no name that looks like one", async () => {
    const provider = change("same", "pulumi:providers:rabbitmq", "b", { endpoint: address() }, { endpoint: address() });
    const named = step("same", "aws:s3/bucket:Bucket", "a::pulumi:providers:rabbitmq::b", { endpoint: "http://x" });
    const steps = [...deleted.steps, provider, named];
    const { status, stderr } = await review({ steps }, [], { RABBITMQ_MANAGEMENT_URL: address() });
    assert.equal(status, 0, stderr);
    assert.ok(asked > 0);
  });

  const bound = (op: string, destination: string, routingKey: string): PreviewStep => {
    const values = {
      vhost: "/",
      source: "orders.r4x2u1000.delivery",
      destination,
      destinationType: "queue",
      routingKey,
    };
    return step(op, "rabbitmq:index/binding:Binding", destination, values);
  };
  const atDelivery = "/api/exchanges/%2F/orders.r4x2u1000.delivery/bindings/source";
  for (const key of ["#.Sales", "#", "[secret]"]) {
    it(`finds that a service's own stack binds ${key} at a shared delivery exchange: it would get others' messages`, async () => {
      answers[atDelivery] = [
        { source: "x", destination: "Sales", destination_type: "queue", routing_key: "*.*.Sales" },
        { source: "x", destination: "Spy", destination_type: "queue", routing_key: "*.*.Spy" },
      ];
      for (const others of [[], [queueStep("same", "full")]]) {
        const steps = [bound("create", "Spy", key), ...others];
        const { report, stderr } = await review({ steps }, ["--management", address()]);
        assert.equal(report.verdict, "care", stderr);
        assert.equal(report.findings[0]?.rule, "delivered-twice");
        assert.equal(report.findings[0]?.urn, steps[0]?.urn, "by which it is accepted");
        assert.match(report.findings[0]?.found ?? "", /what is for Sales on the broker/);
      }
      const own = { steps: [bound("create", "Spy", "*.*.Spy")] };
      assert.equal((await review(own, ["--management", address()])).report.verdict, "safe");
      answers[atDelivery] = { error: "x" };
      assert.equal((await review(own, ["--management", address()])).status, 3, "an answer that is none says nothing");
    });
  }

  it("counts all that waits where a vhost goes", async () => {
    const steps = [step("delete", "rabbitmq:index/vHost:VHost", "v", { name: "/" })];
    assert.equal((await review({ steps }, ["--management", address()])).report.messagesAtRisk, 3);
  });

  it("takes a vhost that is yet to be made for an empty one", async () => {
    const steps = [step("create", "rabbitmq:index/queue:Queue", "q", { name: "q", vhost: "new", settings: {} })];
    const { status, report, stderr } = await review({ steps }, ["--management", address()]);
    assert.deepEqual([status, report.verdict], [0, "safe"], stderr);
  });

  it("asks the broker of the environment where the plan is for that one, and no other: the same names may be empty there", async () => {
    const provider = (endpoint: unknown): PreviewStep =>
      change("same", "pulumi:providers:rabbitmq", "b", { endpoint }, { endpoint });
    const environment = { RABBITMQ_MANAGEMENT_URL: address() };
    const full = await review({ steps: [...deleted.steps, provider(address("localhost"))] }, [], environment);
    assert.deepEqual([full.status, full.report.verdict], [0, "care"], full.stderr);
    for (const steps of [
      deleted.steps,
      [...deleted.steps, provider("http://prod:15672")],
      [...deleted.steps, provider("[secret]")],
    ]) {
      asked = 0;
      const { status, stderr } = await review({ steps }, [], environment);
      assert.equal(status, 1);
      assert.equal(asked, 0);
      assert.match(stderr, /the broker of RABBITMQ_MANAGEMENT_URL is not asked/);
    }
    const named = await review(deleted, ["--management", address()], { RABBITMQ_MANAGEMENT_URL: "http://127.0.0.1:4" });
    assert.equal(named.status, 0, named.stderr);
  });

  const exchangeNamed = (name: string, type = "topic"): object => ({ name, vhost: "/", settings: { type } });
  const bindingOf = (op: string, source: string, destination: string, destinationType = "queue"): PreviewStep => {
    const values = { vhost: "/", source, destination, destinationType, routingKey: "#" };
    return step(op, "rabbitmq:index/binding:Binding", `${source}-${destination}`, values);
  };
  const onBroker = (source: string, destination: string, routingKey = "#", values: object = {}): object => ({
    source,
    destination,
    destination_type: "queue",
    routing_key: routingKey,
    arguments: values,
  });

  // Queues that were deleted by hand, or declared otherwise, were "nothing changes", and stayed away.
  it("finds what the state has and the broker has not, or otherwise", async () => {
    const level = { name: "full", vhost: "/", settings: { argumentsJson: '{"x-message-ttl":10240}' } };
    const steps = [
      queueStep("same", "empty"),
      queueStep("same", "gone"),
      step("same", "rabbitmq:index/queue:Queue", "full", level),
      step("same", "rabbitmq:index/exchange:Exchange", "amq.topic", exchangeNamed("amq.topic")),
      step("same", "rabbitmq:index/exchange:Exchange", "shop", exchangeNamed("shop")),
      bindingOf("same", "amq.topic", "full"),
      bindingOf("same", "amq.topic", "empty"),
      queueStep("create", "new"),
    ];
    answers["/api/queues/%2F"] = [
      { ...declared, name: "empty", messages: 0, state: "running" },
      { ...declared, name: "full", messages: 0, state: "running", arguments: { "x-message-ttl": 1 } },
    ];
    answers["/api/bindings/%2F"] = [onBroker("amq.topic", "empty")];
    const { status, report, stderr } = await review({ steps }, ["--management", address()]);
    assert.deepEqual([status, report.verdict], [0, "care"], stderr);
    const told = report.findings.map(({ rule, entity, found }) => `${rule} ${entity}: ${found}`);
    assert.deepEqual(told.slice(0, 2), [
      "missing-on-broker queue gone: it is not on the broker",
      told.find((line) => /^missing-on-broker queue full: .*x-message-ttl/.test(line)),
    ]);
    assert.deepEqual(told.slice(2), [
      "missing-on-broker exchange shop: it is not on the broker",
      "missing-on-broker binding amq.topic → full: it is not on the broker",
    ]);
    answers["/api/bindings/%2F"] = { error: "x" };
    assert.equal((await review({ steps }, ["--management", address()])).status, 3, "no answer says nothing");
    answers["/api/bindings/%2F"] = [];
    answers["/api/queues/%2F"] = [{ name: "empty", messages: 0, state: "running" }];
    assert.equal((await review({ steps }, ["--management", address()])).status, 3, "half an answer neither");
  });

  // Consumers had bound their queues to it: what was due later found no way, and nothing said so.
  it("finds the bindings of others that go with an exchange, or are not made again with it", async () => {
    answers["/api/exchanges/%2F"] = [{ ...declared, name: "shop", type: "topic", internal: false }];
    answers["/api/bindings/%2F"] = [onBroker("shop", "full"), onBroker("shop", "bills", "eu.#"), onBroker("x", "y")];
    for (const op of ["delete", "replace"]) {
      const shop = step(op, "rabbitmq:index/exchange:Exchange", "shop", exchangeNamed("shop"));
      const replaced = [shop, bindingOf(op, "shop", "full")].flatMap(deletedFirst);
      const steps = [queueStep("same", "empty"), ...replaced];
      const { status, report } = await review({ steps }, ["--management", address()]);
      const others = report.findings.find(({ rule }) => rule === "bindings-of-others-gone");
      assert.deepEqual([status, report.verdict], [1, "loss"]);
      assert.equal(others?.found, 'queue bills is bound to shop by "eu.#"');
    }
    // Nobody misses a binding whose queue goes as well.
    answers["/api/queues/%2F"] = ["empty", "bills"].map((name) => ({ ...declared, name, messages: 0, consumers: 0 }));
    answers["/api/bindings/%2F"] = [onBroker("shop", "bills", "eu.#")];
    const shop = step("delete", "rabbitmq:index/exchange:Exchange", "shop", exchangeNamed("shop"));
    const both = await review({ steps: [queueStep("same", "empty"), shop, queueStep("delete", "bills")] }, [
      "--management",
      address(),
    ]);
    assert.deepEqual(both.report.findings.map(({ rule }) => rule).sort(), ["exchange-gone", "queue-deleted"]);
    const kept = step("delete", "rabbitmq:index/exchange:Exchange", "shop", exchangeNamed("shop"), {
      retainOnDelete: true,
    });
    const { report } = await review({ steps: [queueStep("same", "empty"), kept] }, ["--management", address()]);
    assert.equal(report.verdict, "safe");
  });

  // Another service had bound a queue that was empty: declared anew, it got nothing any more, and "needs care" was all that was said.
  it("finds the bindings of others that go with a queue which is declared anew", async () => {
    answers["/api/bindings/%2F"] = [onBroker("", "empty", "empty"), onBroker("others", "empty", "")];
    const rulesOf = async (op: string): Promise<unknown[]> => {
      const { status, report } = await review({ steps: deletedFirst(queueStep(op, "empty")) }, [
        "--management",
        address(),
      ]);
      return [status, ...report.findings.map(({ rule, found }) => `${rule}: ${found}`)];
    };
    const [status, first, second] = await rulesOf("replace");
    assert.deepEqual([status, first], [1, 'bindings-of-others-gone: queue empty is bound to others by ""']);
    assert.match(String(second), /^queue-replaced: empty at the last count/);
    assert.equal((await rulesOf("delete"))[0], 0, "what is deleted for good is bound to nothing any more");
    answers["/api/bindings/%2F"] = [onBroker("", "empty", "empty")];
    assert.equal((await rulesOf("replace"))[0], 0, "the default exchange is nobody's");
  });

  it("knows its own bindings without a routing key, by arguments, and by a key that can't be read", async () => {
    answers["/api/exchanges/%2F"] = [{ ...declared, name: "shop", type: "headers", internal: false }];
    answers["/api/bindings/%2F"] = [onBroker("shop", "full", "", { "x-match": "all", n: 5 })];
    const verdictWith = async (values: object): Promise<unknown> => {
      const ends = { vhost: "/", source: "shop", destination: "full", destinationType: "queue", ...values };
      const binding = step("delete", "rabbitmq:index/binding:Binding", "b", ends);
      const shop = step("delete", "rabbitmq:index/exchange:Exchange", "shop", exchangeNamed("shop", "headers"));
      const { report } = await review({ steps: [queueStep("same", "full"), shop, binding] }, [
        "--management",
        address(),
      ]);
      return report.verdict;
    };
    assert.equal(await verdictWith({ argumentsJson: '{"n":5,"x-match":"all"}' }), "care");
    assert.equal(await verdictWith({ routingKey: "[secret]" }), "care");
    assert.equal(await verdictWith({ argumentsJson: '{"n":"5","x-match":"all"}' }), "loss");
    assert.equal(await verdictWith({ argumentsJson: '{"n":6,"x-match":"all"}' }), "loss");
    assert.equal(await verdictWith({}), "loss");
    // The provider declares what stands in a plain table as texts, a number without its fraction.
    answers["/api/bindings/%2F"] = [onBroker("shop", "full", "", { "x-match": "all", n: "5" })];
    for (const n of [5, 5.5, 1e21])
      assert.equal(await verdictWith({ arguments: { n, "x-match": "all" }, routingKey: "" }), "care", String(n));
    assert.equal(await verdictWith({ arguments: { n: 6, "x-match": "all" }, routingKey: "" }), "loss");
  });

  it("promises no parking that the broker has not", async () => {
    const [delivery, parking] = ["orders.r4x2u1000.delivery", "orders.r4x2u1000.parking"];
    const policy = { pattern: "^orders\\.r4x2u1000\\.delivery$", applyTo: "exchanges", priority: 0 };
    const steps = [
      step("same", "rabbitmq:index/exchange:Exchange", delivery, exchangeNamed(delivery)),
      step("same", "rabbitmq:index/exchange:Exchange", parking, exchangeNamed(parking, "fanout")),
      queueStep("same", parking),
      queueStep("same", "empty"),
      step("same", "rabbitmq:index/policy:Policy", parking, {
        name: parking,
        vhost: "/",
        policy: { ...policy, definition: { "alternate-exchange": parking } },
      }),
      bindingOf("delete", delivery, "empty"),
    ];
    const exchanges = [delivery, parking].map((name) => ({ ...declared, name, internal: false }));
    const types = exchanges.map((one, index) => ({
      ...one,
      type: ["topic", "fanout"][index],
      policy: [parking][index],
    }));
    answers["/api/exchanges/%2F"] = types;
    answers["/api/bindings/%2F"] = [onBroker(delivery, "empty"), onBroker(parking, parking, "")];
    const gone = await review({ steps }, ["--management", address()]);
    assert.deepEqual([gone.report.verdict, gone.report.findings[0]?.rule], ["loss", "endpoint-unbound"], gone.stderr);
    assert.match(
      gone.report.findings[0]?.found ?? "",
      /nothing is bound to .*parking on the broker .*, so that nothing keeps it/,
    );
    answers["/api/queues/%2F"] = ["empty", parking].map((name) => ({ ...declared, name, messages: 0 }));
    answers["/api/policies/%2F"] = [
      { name: parking, ...policy, "apply-to": "exchanges", definition: { "alternate-exchange": parking } },
    ];
    const there = await review({ steps }, ["--management", address()]);
    assert.deepEqual([there.report.verdict, there.report.findings.length], ["care", 1], there.stderr);
    // The policy and the binding had been deleted by hand: what was "kept in the parking queue" was in none.
    answers["/api/bindings/%2F"] = [onBroker(delivery, "empty")];
    const unbound = await review({ steps }, ["--management", address()]);
    assert.deepEqual([unbound.report.verdict, unbound.report.findings[0]?.rule], ["loss", "endpoint-unbound"]);
    assert.match(unbound.report.findings[0]?.found ?? "", /nothing is bound to .*parking on the broker/);
    answers["/api/bindings/%2F"] = [onBroker(delivery, "empty"), onBroker(parking, parking, "")];
    answers["/api/exchanges/%2F"] = types.map((one) => ({ ...one, policy: undefined }));
    answers["/api/policies/%2F"] = undefined;
    const bare = await review({ steps }, ["--management", address()]);
    assert.deepEqual(
      bare.report.findings.map(({ rule, found }) => `${rule}: ${found}`),
      [
        `endpoint-unbound: ${delivery} does not lead to ${parking} on the broker what finds no binding, so that nothing keeps it`,
        `missing-on-broker: no policy applies to ${delivery} on the broker`,
      ],
    );
    answers["/api/exchanges/%2F"] = types;
    answers["/api/policies/%2F"] = [
      { name: parking, ...policy, "apply-to": "exchanges", definition: { "alternate-exchange": "elsewhere" } },
    ];
    const otherwise = await review({ steps }, ["--management", address()]);
    assert.deepEqual(
      otherwise.report.findings.map(({ rule, severity, found }) => `${rule} ${severity}: ${found}`),
      [
        `endpoint-unbound loss: ${delivery} does not lead to ${parking} on the broker what finds no binding, so that nothing keeps it`,
        "missing-on-broker care: it has another alternate-exchange",
      ],
    );
  });

  it("finds a binding without a routing key that the broker has not", async () => {
    answers["/api/exchanges/%2F"] = [{ ...declared, name: "shop", type: "fanout", internal: false }];
    answers["/api/bindings/%2F"] = [];
    const ends = { vhost: "/", source: "shop", destination: "empty", destinationType: "queue", routingKey: "" };
    const steps = [queueStep("same", "empty"), step("same", "rabbitmq:index/binding:Binding", "b", ends)];
    const { report } = await review({ steps }, ["--management", address()]);
    assert.deepEqual(
      report.findings.map(({ rule, entity }) => `${rule} ${entity}`),
      ["missing-on-broker binding shop → empty"],
    );
  });

  // Publishers make hold queues at run time, and the queue to which they lead was "empty": what was held came nowhere.
  it("finds queues that only the broker has, and that pass their messages on to what is deleted", async () => {
    const hold = (name: string, values: object): object => ({ ...declared, name, arguments: values });
    const leads = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "empty" };
    const rulesWith = async (...queues: object[]): Promise<string[]> => {
      answers["/api/queues/%2F"] = [{ ...declared, name: "empty", messages: 0, consumers: 0 }, ...queues];
      const { report } = await review({ steps: [queueStep("delete", "empty")] }, ["--management", address()]);
      return [report.verdict, ...report.findings.map(({ rule, detail }) => `${rule}: ${detail}`)];
    };
    const [verdict, found] = await rulesWith(hold("hold.5000", leads));
    assert.deepEqual(
      [verdict, found],
      ["loss", "unroutable-lost: queue hold.5000, which stays, passes its messages on to it."],
    );
    const kept = { "x-queue-type": "quorum", "x-overflow": "reject-publish" };
    const safe = { ...leads, ...kept, "x-dead-letter-strategy": "at-least-once" };
    for (const other of [safe, { ...leads, "x-dead-letter-exchange": "x" }])
      assert.equal((await rulesWith(hold("hold.5000", other)))[0], "care");
    // By the messages' own keys, it may pass them on to any queue: each deletion was a loss.
    assert.equal((await rulesWith(hold("hold.5000", { "x-dead-letter-exchange": "" })))[0], "care");
    // By policy as well.
    const byPolicy = async (more: object): Promise<string | undefined> => {
      const definition = { "dead-letter-exchange": "", ...more };
      answers["/api/policies/%2F"] = [{ name: "p", pattern: "theirs", "apply-to": "queues", priority: 0, definition }];
      return (await rulesWith({ ...hold("theirs", {}), policy: "p" }))[0];
    };
    assert.equal(await byPolicy({ "dead-letter-routing-key": "empty" }), "loss");
    assert.equal(await byPolicy({}), "care");
  });

  // Five of five dead letters were dropped after "care".
  it("finds that a queue of the plan's, which the broker's own policy gives its target, loses that", async () => {
    const definition = { "dead-letter-exchange": "dlx" };
    answers["/api/policies/%2F"] = [{ name: "p", pattern: "empty", "apply-to": "queues", priority: 0, definition }];
    answers["/api/queues/%2F"] = [{ ...declared, name: "empty", messages: 0, policy: "p" }];
    answers["/api/exchanges/%2F"] = [{ ...declared, name: "dlx", type: "fanout", internal: false }];
    const target = step("delete", "rabbitmq:index/exchange:Exchange", "dlx", exchangeNamed("dlx"));
    const { report } = await review({ steps: [queueStep("same", "empty"), target] }, ["--management", address()]);
    assert.equal(report.verdict, "loss");
  });

  it("finds a new policy that takes away the parking of another stack's network", async () => {
    const [delivery, parking] = ["orders.r4x2u1000.delivery", "orders.r4x2u1000.parking"];
    const exchange = { ...declared, name: delivery, internal: false, type: "topic", policy: parking };
    answers["/api/exchanges/%2F"] = [exchange, { ...exchange, name: parking, type: "fanout", policy: undefined }];
    const policy = { name: parking, pattern: "delivery", "apply-to": "exchanges", priority: 0 };
    answers["/api/policies/%2F"] = [{ ...policy, definition: { "alternate-exchange": parking } }];
    const definition = { "ha-mode": "all" };
    const foreign = (priority: number): PreviewStep =>
      step("create", "rabbitmq:index/policy:Policy", "p", {
        name: "p",
        vhost: "/",
        policy: { pattern: ".*", applyTo: "all", priority, definition },
      });
    const judgedWith = async (priority: number): Promise<string[]> => {
      const steps = [queueStep("same", "empty"), foreign(priority)];
      const { report } = await review({ steps }, ["--management", address()]);
      return [report.verdict, report.findings[0]?.rule ?? ""];
    };
    assert.deepEqual(await judgedWith(5), ["loss", "policy-protection-gone"]);
    assert.deepEqual(await judgedWith(-5), ["care", "policy-changed"]);
  });

  it("finds exchanges that only the broker has, whose alternate is deleted", async () => {
    const other = { ...declared, name: "theirs", type: "fanout", internal: false };
    answers["/api/exchanges/%2F"] = [{ ...other, arguments: { "alternate-exchange": "shop" } }];
    const shop = step("delete", "rabbitmq:index/exchange:Exchange", "shop", exchangeNamed("shop"));
    const { report } = await review({ steps: [queueStep("same", "empty"), shop] }, ["--management", address()]);
    assert.equal(report.findings[0]?.rule, "unroutable-lost");
    assert.match(report.findings[0]?.detail ?? "", /^It is the alternate exchange of exchange theirs, which stays/);
  });

  // A service's stack does not have the network's policy: its endpoint's leaving was a loss, and what waited was parked.
  it("knows from the broker that what a service's stack unbinds is kept", async () => {
    const [delivery, parking] = ["orders.r4x2u1000.delivery", "orders.r4x2u1000.parking"];
    const exchanges = [delivery, parking].map((name) => ({ ...declared, name, internal: false, type: "topic" }));
    answers["/api/exchanges/%2F"] = [
      { ...exchanges[0], policy: parking },
      { ...exchanges[1], type: "fanout" },
    ];
    answers["/api/queues/%2F"] = ["empty", parking].map((name) => ({ ...declared, name, messages: 0 }));
    answers["/api/bindings/%2F"] = [onBroker(delivery, "empty"), onBroker(parking, parking, "")];
    const definition = { "alternate-exchange": parking };
    const policy = { name: parking, pattern: "delivery", "apply-to": "exchanges", priority: 0, definition };
    answers["/api/policies/%2F"] = [policy];
    const steps = [queueStep("same", "empty"), bindingOf("delete", delivery, "empty")];
    const { status, report } = await review({ steps }, ["--management", address()]);
    assert.deepEqual([status, report.verdict, report.findings[0]?.rule], [0, "care", "endpoint-unbound"]);
    answers["/api/policies/%2F"] = [{ ...policy, definition: { "alternate-exchange": "nope" } }];
    assert.equal((await review({ steps }, ["--management", address()])).status, 1);
  });

  it("says of an endpoint that enforce has bound to the other end that it is bound there already", async () => {
    const [delivery, exact] = ["nsb.v2.delay-delivery", "nsb.v2.delay-exact"];
    answers["/api/bindings/%2F"] = [onBroker(delivery, "empty"), onBroker(exact, "empty")];
    const values = (source: string): object => ({
      vhost: "/",
      source,
      destination: "empty",
      destinationType: "queue",
      routingKey: "#",
    });
    const moved = change("replace", "rabbitmq:index/binding:Binding", "b", values(delivery), values(exact));
    const { report } = await review({ steps: [queueStep("same", "empty"), moved] }, ["--management", address()]);
    assert.deepEqual(
      report.findings.filter(({ severity }) => severity !== "note").map(({ rule }) => rule),
      [],
    );
    assert.equal(report.findings[0]?.found, `it is bound to ${exact} already`);
    // "1 binding would leave messages without a way", as a note.
    assert.equal(report.findings[0]?.rule, "bound-already");
  });

  // Each endpoint of a first adoption was said to get what is for itself on the broker as well.
  it("takes a binding whose destination is not known yet for its component's own on the broker", async () => {
    const delivery = "nsb.v2.delay-delivery";
    const source = `/api/exchanges/%2F/${delivery}/bindings/source`;
    const ours = { parent: "urn:pulumi:prod::shop::rabbitmq-delay:index:EndpointDelayBinding::empty" };
    const values = {
      vhost: "/",
      source: delivery,
      destination: "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
      destinationType: "queue",
      routingKey: "#.empty",
    };
    const queue = queueStep("same", "empty", ours);
    const full = queueStep("same", "full", ours);
    const comesFrom = (...ends: PreviewStep[]): object => ({
      ...ours,
      propertyDependencies: { destination: ends.map(({ urn }) => urn) },
    });
    const rulesBeside = async (bound: string, more: object, ...others: PreviewStep[]): Promise<string[]> => {
      answers[source] = [onBroker(delivery, bound, "#.empty")];
      const binding = step("create", "rabbitmq:index/binding:Binding", "b", values, more);
      const steps = [queue, full, binding, ...others];
      const { report } = await review({ steps }, ["--management", address()]);
      return report.findings.map(({ rule }) => rule);
    };
    const own = comesFrom(queue);
    assert.deepEqual(await rulesBeside("empty", own), []);
    assert.deepEqual(await rulesBeside("full", own), ["delivered-twice"]);
    for (const more of [{}, ours, comesFrom(queue, full), { ...own, parent: undefined }])
      assert.deepEqual(await rulesBeside("empty", more), ["delivered-twice"], "it may be of any queue");
    // Also in the program that has the network.
    const network = step("create", "rabbitmq:index/exchange:Exchange", "delivery", exchangeNamed(delivery));
    assert.deepEqual(await rulesBeside("empty", own, network), []);
    assert.deepEqual(await rulesBeside("full", own, network), ["delivered-twice"]);
  });

  it("calls what is not durable, and is declared so, no difference", async () => {
    const settings = { type: "topic", durable: false, autoDelete: true };
    const shop = step("same", "rabbitmq:index/exchange:Exchange", "shop", { name: "shop", vhost: "/", settings });
    const live = { ...declared, name: "shop", type: "topic", internal: false };
    const verdictWith = async (more: object): Promise<string> => {
      answers["/api/exchanges/%2F"] = [{ ...live, ...more }];
      const { report } = await review({ steps: [queueStep("same", "empty"), shop] }, ["--management", address()]);
      return report.verdict;
    };
    assert.equal(await verdictWith({ durable: false, auto_delete: true }), "nothing");
    assert.equal(await verdictWith({ durable: true, auto_delete: true }), "care");
    assert.equal(await verdictWith({ durable: false, auto_delete: false }), "care");
  });

  // The endpoint left as the stack took enforced matching over: the binding that enforce had made kept filling its queue.
  it("says that an endpoint that leaves stays bound to the other end of its network", async () => {
    const [delivery, exact] = ["nsb.v2.delay-delivery", "nsb.v2.delay-exact"];
    answers["/api/bindings/%2F"] = [onBroker(delivery, "empty"), onBroker(exact, "empty", "*.empty")];
    const steps = [queueStep("same", "empty"), bindingOf("delete", delivery, "empty")];
    const { report } = await review({ steps }, ["--management", address()]);
    assert.match(report.findings[0]?.found ?? "", /^it stays bound to nsb.v2.delay-exact by "\*\.empty" on the broker/);
  });

  it("shows no secret of a binding's key that somebody else made", async () => {
    const [delivery, exact, key] = ["nsb.v2.delay-delivery", "nsb.v2.delay-exact", "amqp://shop:hunter22@host"];
    answers["/api/exchanges/%2F"] = [delivery, exact, "shop"].map((name) => ({
      ...declared,
      name,
      type: "topic",
      internal: false,
    }));
    const there = [onBroker(exact, "empty", key), onBroker("shop", "bills", key), onBroker(delivery, "bills", key)];
    answers["/api/bindings/%2F"] = there;
    answers[`/api/exchanges/%2F/${delivery}/bindings/source`] = there.slice(2);
    const steps = [
      queueStep("same", "empty"),
      step("same", "rabbitmq:index/exchange:Exchange", delivery, exchangeNamed(delivery)),
      bindingOf("delete", delivery, "empty"),
      step("delete", "rabbitmq:index/exchange:Exchange", "shop", exchangeNamed("shop")),
    ];
    const { report } = await review({ steps }, ["--management", address()]);
    const told = report.findings.map(({ rule, found }) => `${rule}: ${found}`).filter((one) => one.includes("shop:"));
    assert.equal(told.length, 0, told.join());
    const shown = report.findings.filter(({ found }) => found?.includes("[secret]@host")).map(({ rule }) => rule);
    assert.deepEqual(shown.sort(), ["bindings-of-others-gone", "foreign-binding", "unroutable-lost"]);
  });

  // Deleted by hand in a vhost whose name was a secret, and in a file without unchanged resources: "nothing changes".
  it("says what it could not compare", async () => {
    const unread = step("same", "rabbitmq:index/queue:Queue", "q", { name: "empty", vhost: "[secret]", settings: {} });
    const known = queueStep("same", "empty");
    const cases: [object & { steps: PreviewStep[] }, RegExp][] = [
      [{ steps: [known, unread] }, /^queue q is of a name or in a vhost that can't be read$/],
      [
        { steps: [known], changeSummary: { same: 7 } } as never,
        /^the preview does not list unchanged resources; make it with --show-sames$/,
      ],
    ];
    for (const [preview, told] of cases) {
      const { status, report, stderr } = await review(preview, ["--management", address()]);
      assert.deepEqual([status, report.verdict], [0, "care"], stderr);
      assert.deepEqual(
        report.findings.map(({ rule }) => rule),
        ["not-compared"],
      );
      assert.match(report.findings[0]?.entity ?? "", told);
    }
  });

  // Two secret addresses counted as one, and so did a provider's former one: full queues elsewhere were empty here.
  it("counts nothing here that may be on another broker, and looks for no vhost of another one", async () => {
    const provider = (name: string, from: unknown, to: unknown, op = "same"): PreviewStep =>
      change(op, "pulumi:providers:rabbitmq", name, { endpoint: from }, { endpoint: to });
    const by = (name: string): object => ({
      provider: `urn:pulumi:prod::shop::pulumi:providers:rabbitmq::${name}::id`,
    });
    const here = address();
    const found = async (...steps: PreviewStep[]): Promise<unknown[]> => {
      const { status, report, stderr } = await review({ steps }, ["--management", here]);
      assert.notEqual(status, 3, stderr);
      const first = report.findings.find(({ rule }) => rule === "queue-deleted");
      return [report.verdict, /may be, on another broker/.test(first?.found ?? "")];
    };
    const known = queueStep("same", "full", by("a"));
    const gone = queueStep("delete", "empty", by("b"));
    const secrets = [provider("a", "[secret]", "[secret]"), provider("b", "[secret]", "[secret]")];
    assert.deepEqual(await found(...secrets, known, gone), ["loss", true]);
    assert.deepEqual(await found(provider("a", here, here), known, gone), ["loss", true], "a default provider");
    const moved = queueStep("delete", "empty", by("a"));
    assert.deepEqual(await found(provider("a", here, "http://there:15672", "update"), known, moved), ["loss", true]);
    const rotated = { ...provider("a", "[secret]", "[secret]", "update"), diffReasons: ["password"] };
    assert.deepEqual(await found(rotated, known, moved), ["care", false]);
    const elsewhere = { name: "x", vhost: "only-there", settings: {} };
    const there = step("same", "rabbitmq:index/queue:Queue", "x", elsewhere, by("b"));
    const two = [provider("a", here, here), provider("b", "http://there:15672", "http://there:15672")];
    assert.deepEqual(await found(...two, known, there), ["care", false], "not-compared");
  });

  // The engine deleted the old one, and then the broker refused the new one, or it came under the stack without a word.
  it("finds a renamed queue or exchange that the broker has already under its new name", async () => {
    const named = (name: string, settings: object = {}): object => ({ name, vhost: "/", settings });
    const QUEUE = "rabbitmq:index/queue:Queue";
    const EXCHANGE = "rabbitmq:index/exchange:Exchange";
    answers["/api/exchanges/%2F"] = ["shop", "theirs"].map((name) => ({
      ...declared,
      name,
      type: "topic",
      internal: false,
    }));
    const told = async (type: string, to: object, more: object = {}, ops = ["replace"]): Promise<string[]> => {
      const from = named(type === QUEUE ? "empty" : "shop", { type: "topic" });
      const steps = ops.map((op) => change(op, type, "own", from, to, more));
      const { report, stderr } = await review({ steps }, ["--management", address()]);
      assert.equal(stderr, "");
      const own = ["taken-over", "declared-otherwise"];
      return report.findings.filter(({ rule }) => own.includes(rule)).map(({ rule, entity }) => `${rule} ${entity}`);
    };
    const limited = { argumentsJson: '{"x-max-length":5}' };
    assert.deepEqual(await told(QUEUE, named("full")), ["taken-over queue full"]);
    assert.deepEqual(await told(QUEUE, named("full", limited)), ["declared-otherwise queue full"]);
    const kept = { retainOnDelete: true };
    assert.deepEqual(await told(QUEUE, named("full", limited), kept), ["declared-otherwise queue full"]);
    assert.deepEqual(await told(EXCHANGE, named("theirs", { type: "topic" })), ["taken-over exchange theirs"]);
    const fanout = named("theirs", { type: "fanout" });
    assert.deepEqual(await told(EXCHANGE, fanout), ["declared-otherwise exchange theirs"]);
    assert.deepEqual(await told(EXCHANGE, named("new", { type: "fanout" })), []);
    assert.deepEqual(await told(QUEUE, named("empty", limited)), [], "the same one with other arguments");
    const imported = ["import-replacement", "replace", "delete-replaced"];
    assert.deepEqual(await told(QUEUE, named("full"), {}, imported), [], "taken in on purpose");
  });

  it("takes an entity of the same name on another broker for another one", async () => {
    const provider = (name: string): PreviewStep =>
      step("same", "pulumi:providers:rabbitmq", name, { endpoint: `http://${name}:15672` });
    const on = (name: string): object => ({
      provider: `urn:pulumi:prod::shop::pulumi:providers:rabbitmq::${name}::id`,
      retainOnDelete: true,
    });
    const type = "rabbitmq:index/queue:Queue";
    const steps = (to: string): PreviewStep[] => [
      provider("one"),
      provider("other"),
      step("create", type, "new", emptyQueue, on(to)),
      step("delete", type, "old", emptyQueue, on("one")),
    ];
    assert.deepEqual(await judged(steps("other")), ["safe", "queue-kept"]);
    assert.deepEqual(await judged(steps("one")), ["safe"]);
  });

  it("keeps the password of the address to itself, also where the address is broken", async () => {
    const args = ["review", "-", "--management", "http://user:hunter2%zz@127.0.0.1:4"];
    const { code, out, err } = await runCommand(args, {}, JSON.stringify(deleted));
    assert.equal(code, 2, err);
    assert.ok(!`${out}${err}`.includes("hunter2"), err);
  });
});
