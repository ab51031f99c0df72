import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Finding, Review, renderMarkdown } from "@rabbitmq-delay/review";
import { delayNetwork, encodeDelay, levelExchangeName } from "@rabbitmq-delay/topology";
import type { ConfirmChannel } from "amqplib";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { freePort } from "../../toolchain/dist/ports";
import { TestBroker, onEachBroker, ownTestBroker } from "../support/brokers";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { StackConfig, TestStack } from "../support/stack";
import { StoreProcess } from "../support/storeService";
import { TcpProxy } from "../support/tcpProxy";
import { temporaryFolder } from "../support/temporaryFolder";
import { wayOut } from "../support/waysOut";
import { Resource, binding, exchange, policy, queue } from "./plainResources";

type Rule = Finding["rule"];

/** An edit that a review warns of, and what becomes of it by the way out that the report prints. */
interface Advice {
  before: Resource[];
  /** What somebody else has on the broker. */
  byHand?: () => Promise<unknown>;
  edit: Resource[];
  told: [rule: Rule, entity: string, text: RegExp][];
  /** The update of its own before the one that the edit asked for. */
  first?: Resource[];
  /** What is done on the broker or to the state between the two. */
  deed?: (findings: Finding[]) => Promise<unknown>;
  /** The edit by the way out, if the report then tells what else it does. */
  retold?: Resource[];
  after: (findings: Finding[]) => Resource[];
  /** What is done on the broker once all is made. */
  end?: () => Promise<unknown>;
  /** Exchange and key of a message that is published at the end. */
  published?: [exchange: string, key: string];
  /** What is in each queue at the end: a message named as its first queue, or as the exchange that it was published to. */
  left: Record<string, string[]>;
}

/** An end of a binding: its name as a text, or as an output. */
type End = string | { nameOf: string };
const labelOf = (end: End): string => (typeof end === "string" ? end : end.nameOf);
const between = (source: End, destination: End, routingKey = "k", opts = {}, name?: string): Resource =>
  binding(name ?? `${labelOf(source)}-${labelOf(destination)}`, routingKey, opts, { source, destination });
const twins = [exchange("twin"), queue("twin-q"), { ...queue("twin-q"), name: "twin-second" }];
const worked = [
  exchange("front", "topic", {}, "front-exchange"),
  queue("front"),
  queue("front.retry-500", { "x-message-ttl": 500, "x-dead-letter-exchange": "front" }),
  between("front", { nameOf: "front" }, "#"),
];
const network = delayNetwork({ preset: "custom", prefix: "due", radix: 4, levels: 2, unitMs: 10 });
const delayed = (destination: string): [exchange: string, key: string] => {
  const { exchange: entry, routingKey } = encodeDelay(network, 100, destination);
  return [entry, routingKey];
};
const anew = { replaceOnChanges: ["settings"], deleteBeforeReplace: true };
const lasting = { ...anew, retainOnDelete: true };
const secretly = (one: Resource): Resource => ({ ...one, args: { ...one.args, policy: { secret: one.args.policy } } });
const onPriority = { replaceOnChanges: ["policy.priority"] };
const spare = (name: string): Resource[] => [
  exchange(name),
  exchange(`${name}-spare`, "fanout"),
  queue(`${name}-rest`),
  between(`${name}-spare`, `${name}-rest`, ""),
];
/** A queue whose dead letters come to an exchange. */
const rejecting = (to: string): Resource =>
  queue(`${to}-first`, { "x-dead-letter-exchange": to, "x-dead-letter-routing-key": "k" });
const toSpare = (name: string, logical = name, priority = 1, opts = {}): Resource =>
  policy(
    logical,
    { "alternate-exchange": `${name}-spare` },
    { pattern: `^${name}$`, applyTo: "exchanges", priority },
    opts,
  );

/** A network whose endpoints `rabbitmq-delay enforce` has bound to another exchange than the state has. */
const ENFORCED = "nsb.v2.delay";
const unenforced = between(`${ENFORCED}-delivery`, "enforced-q", "k", {}, "enforced-b");

/** The policy of {@link toSpare}, for another exchange. */
const elsewhere = (name: string): Resource =>
  policy(
    name,
    { "alternate-exchange": `${name}-spare` },
    { pattern: `^${name}-none$`, applyTo: "exchanges", priority: 1 },
  );

/** The ways out, each with things of its own that have its name. */
function advices(broker: TestBroker, stack: TestStack, channel: ConfirmChannel): Record<string, Advice> {
  const { vhost } = stack;
  const bind = (destination: string, source: string): Promise<unknown> => channel.bindQueue(destination, source, "k");
  const byHand = async (name: string, source?: string): Promise<void> => {
    await channel.assertQueue(name, { arguments: { "x-queue-type": "quorum" } });
    if (source !== undefined) await bind(name, source);
  };
  const untilReady = async (name: string, count: number): Promise<void> => {
    while ((await channel.checkQueue(name)).messageCount < count)
      await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const levelOf = (name: string): Resource =>
    queue(`${name}-level`, {
      "x-message-ttl": 500,
      "x-dead-letter-exchange": name,
      "x-dead-letter-routing-key": "k",
    });
  const idle = [levelOf("idle"), queue("idle-q")];
  const comparedWith = (definition?: object): Resource[] => [
    ...spare("compared"),
    queue("compared-q", { "x-dead-letter-exchange": "compared-spare" }),
    ...(definition === undefined ? [] : [policy("compared", definition, { pattern: "^compared-q$" })]),
  ];
  const shovel: Resource = {
    type: "Shovel",
    name: "shovel",
    args: {
      name: "shovel",
      info: {
        sourceUri: "amqp://",
        sourceQueue: "shovel-q",
        destinationUri: "amqp://",
        destinationExchange: "shovel-missing",
      },
    },
  };
  const ownProvider: Resource = {
    type: "Provider",
    name: "provider",
    args: { endpoint: broker.management.url, username: "guest", password: "guest" },
  };
  const onward = binding(
    "behind-on",
    "k",
    {},
    { source: "behind", destination: "behind-out", destinationType: "exchange" },
  );
  const drain = async (name: string): Promise<void> => {
    const message = await channel.get(name, { noAck: true });
    assert.equal(message !== false && message.content.toString(), name);
  };
  return {
    // First, because its deed is an update.
    drift: {
      before: [queue("drift"), queue("drift-missing")],
      byHand: async () => {
        for (const name of ["drift", "drift-missing"]) await channel.deleteQueue(name);
        await channel.assertQueue("drift", { arguments: { "x-queue-type": "quorum", "x-max-length": 9 } });
      },
      edit: [queue("drift"), queue("drift-missing")],
      told: [
        ["missing-on-broker", "queue drift", wayOut("review-up-refresh")],
        ["missing-on-broker", "queue drift-missing", wayOut("review-up-refresh")],
      ],
      deed: async () => {
        await drain("drift");
        await stack.up("--refresh");
      },
      after: () => [queue("drift"), queue("drift-missing")],
      published: ["", "drift-missing"],
      left: { "drift-missing": [""] },
    },
    beside: {
      before: [exchange("beside"), queue("beside-old"), between("beside", "beside-old")],
      edit: [exchange("beside"), queue("beside-old", { "x-max-length": 9 }), between("beside", "beside-old")],
      told: [["queue-replaced", "queue beside-old", wayOut("review-beside-resource")]],
      first: [
        exchange("beside"),
        queue("beside-old"),
        queue("beside-new", { "x-max-length": 9 }),
        between("beside", "beside-new"),
      ],
      deed: () => drain("beside-old"),
      after: () => [exchange("beside"), queue("beside-new", { "x-max-length": 9 }), between("beside", "beside-new")],
      published: ["beside", "k"],
      left: { "beside-new": ["beside"] },
    },
    retained: {
      before: [queue("retained")],
      edit: [],
      told: [["queue-deleted", "queue retained", wayOut("review-retain-resource")]],
      first: [queue("retained", {}, { retainOnDelete: true })],
      after: () => [],
      left: { retained: ["retained"] },
    },
    drained: {
      before: [queue("drained")],
      edit: [],
      told: [["queue-deleted", "queue drained", wayOut("review-drain")]],
      deed: async () => {
        await drain("drained");
        const list = (): Promise<string> =>
          rabbitmqctl(broker.node, "list_queues", "-p", vhost, "name", "messages", "consumers");
        while (!/^drained\t0\t0$/m.test(await list()));
      },
      after: () => [],
      left: {},
    },
    moved: {
      before: [{ ...queue("moved"), isGrouped: true }],
      edit: [queue("moved")],
      told: [["live-deleted", "queue moved", wayOut("review-alias")]],
      after: ([found]) => [queue("moved", {}, { aliases: [JSON.parse(found?.alias as string)] })],
      left: { moved: ["moved"] },
    },
    twin: {
      before: [...twins, between("twin", { nameOf: "twin-second" }, "k", {}, "twin-b")],
      edit: [...twins.slice(0, 2), between("twin", "twin-q", "k", {}, "twin-b")],
      told: [["twin-deleted", "queue twin-q", wayOut("review-forget-twin")]],
      first: [...twins, between("twin", "twin-q", "k", {}, "twin-b")],
      deed: async ([found]) => {
        const { urn } = found as Finding;
        const { code, output } = await stack.run(["state", "delete", urn, "--yes", "--stack", "test"]);
        assert.equal(code, 0, output);
      },
      after: () => [...twins.slice(0, 2), between("twin", "twin-q", "k", {}, "twin-b")],
      published: ["twin", "k"],
      left: { "twin-q": ["twin-q", "twin"] },
    },
    raised: {
      before: [...spare("raised"), toSpare("raised", "raised", 1, onPriority)],
      edit: [...spare("raised"), toSpare("raised", "raised", 2, onPriority)],
      told: [["replaced-by-itself", "policy raised", wayOut("review-leave-replacing-out")]],
      after: () => [...spare("raised"), toSpare("raised", "raised", 2)],
      published: ["raised", "none"],
      left: { "raised-rest": ["raised-rest", "raised"] },
    },
    output: {
      before: [exchange("output"), queue("output-q"), between("output", "output-q")],
      edit: [exchange("output", "direct", anew), queue("output-q"), between("output", "output-q")],
      told: [["bindings-left-out", "exchange output", wayOut("review-name-by-output")]],
      first: [exchange("output"), queue("output-q"), between({ nameOf: "output" }, "output-q")],
      after: () => [exchange("output", "direct", anew), queue("output-q"), between({ nameOf: "output" }, "output-q")],
      published: ["output", "k"],
      left: { "output-q": ["output-q", "output"] },
    },
    served: {
      before: [exchange("served")],
      byHand: () => byHand("served-q", "served"),
      edit: [],
      told: [
        ["bindings-of-others-gone", "exchange served", wayOut("review-services-bind-beside")],
        ["exchange-gone", "exchange served", wayOut("review-consumers-bind-beside")],
      ],
      first: [exchange("served"), exchange("served-next")],
      deed: () => bind("served-q", "served-next"),
      after: () => [exchange("served-next")],
      published: ["served-next", "k"],
      left: { "served-q": ["served-q", "served-next"] },
    },
    again: {
      before: [exchange("again")],
      byHand: () => byHand("again-q", "again"),
      edit: [exchange("again", "direct", anew)],
      told: [
        ["bindings-of-others-gone", "exchange again", wayOut("review-services-bind-again")],
        ["exchange-gone", "exchange again", wayOut("review-consumers-bind-again")],
      ],
      after: () => [exchange("again", "direct", anew)],
      end: () => bind("again-q", "again"),
      published: ["again", "k"],
      left: { "again-q": ["again-q", "again"] },
    },
    waits: {
      before: [exchange("waits"), levelOf("waits"), queue("waits-q"), between("waits", "waits-q")],
      edit: [exchange("waits"), levelOf("waits"), queue("waits-q")],
      told: [["unroutable-lost", "binding", wayOut("review-keep-binding")]],
      deed: () => untilReady("waits-q", 2),
      after: () => [exchange("waits"), queue("waits-q")],
      left: { "waits-q": ["waits-q", "waits-level"] },
    },
    kept: {
      before: [...spare("kept"), rejecting("kept"), queue("kept-q"), between("kept", "kept-q")],
      edit: [...spare("kept"), rejecting("kept"), queue("kept-q")],
      told: [["unroutable-lost", "binding", wayOut("review-alternate")]],
      after: () => [...spare("kept"), rejecting("kept"), queue("kept-q"), toSpare("kept")],
      published: ["kept", "k"],
      left: { "kept-first": ["kept-first"], "kept-q": ["kept-q"], "kept-rest": ["kept-rest", "kept"] },
    },
    behind: {
      before: [...spare("behind"), toSpare("behind"), exchange("behind-out"), queue("behind-q")],
      edit: [
        ...[...spare("behind"), toSpare("behind"), exchange("behind-out"), queue("behind-q")],
        ...[onward, between("behind-out", "behind-q")],
      ],
      told: [["way-early", "binding", wayOut("review-depend")]],
      after: () => [
        ...[...spare("behind"), toSpare("behind"), exchange("behind-out"), queue("behind-q")],
        between("behind-out", "behind-q"),
        { ...onward, after: ["behind-out-behind-q"] },
      ],
      published: ["behind", "k"],
      left: { "behind-rest": ["behind-rest"], "behind-q": ["behind-q", "behind"] },
    },
    target: {
      before: [],
      edit: [queue("target", { "x-message-ttl": 1, "x-dead-letter-exchange": "target-next" })],
      told: [["target-missing", "queue target", wayOut("review-declare-target")]],
      after: () => [
        queue("target", { "x-message-ttl": 1, "x-dead-letter-exchange": "target-next" }),
        exchange("target-next", "fanout"),
        queue("target-q"),
        between("target-next", "target-q", ""),
      ],
      published: ["", "target"],
      left: { "target-q": [""] },
    },
    narrow: {
      before: [queue("narrow")],
      edit: [queue("narrow"), policy("narrow", { "message-ttl": 1 }, { pattern: "^narrow" })],
      told: [["policy-drops", "policy narrow", wayOut("review-narrow-policy")]],
      after: () => [queue("narrow"), policy("narrow", { "message-ttl": 1 }, { pattern: "^narrow-scratch" })],
      left: { narrow: ["narrow"] },
    },
    same: {
      before: [...spare("same"), toSpare("same")],
      edit: spare("same"),
      told: [["policy-protection-gone", "policy same", wayOut("review-same-policy")]],
      after: () => [...spare("same"), toSpare("same", "same-next", 2)],
      published: ["same", "none"],
      left: { "same-rest": ["same-rest", "same"] },
    },
    stepwise: {
      before: [...spare("stepwise"), toSpare("stepwise")],
      edit: [...spare("stepwise"), elsewhere("stepwise"), toSpare("stepwise", "stepwise-next", 2)],
      told: [["policy-protection-gone", "policy stepwise", wayOut("review-meanwhile")]],
      first: [...spare("stepwise"), toSpare("stepwise"), toSpare("stepwise", "stepwise-next", 2)],
      after: () => [...spare("stepwise"), elsewhere("stepwise"), toSpare("stepwise", "stepwise-next", 2)],
      published: ["stepwise", "none"],
      left: { "stepwise-rest": ["stepwise-rest", "stepwise"] },
    },
    enforced: {
      before: [exchange(`${ENFORCED}-delivery`, "topic", {}, "enforced-x"), queue("enforced-q"), unenforced],
      byHand: async () => {
        await channel.assertExchange(`${ENFORCED}-exact`, "topic");
        await bind("enforced-q", `${ENFORCED}-exact`);
      },
      edit: [exchange(`${ENFORCED}-delivery`, "topic", {}, "enforced-x"), queue("enforced-q")],
      told: [["unroutable-lost", "binding", wayOut("review-still-bound")]],
      after: () => [exchange(`${ENFORCED}-delivery`, "topic", {}, "enforced-x"), queue("enforced-q")],
      end: () => channel.unbindQueue("enforced-q", `${ENFORCED}-exact`, "k"),
      published: [`${ENFORCED}-exact`, "k"],
      left: { "enforced-q": ["enforced-q"] },
    },
    held: {
      before: [...spare("held"), toSpare("held")],
      edit: spare("held"),
      told: [["policy-protection-gone", "policy held", wayOut("review-retain-resource")]],
      first: [...spare("held"), toSpare("held", "held", 1, { retainOnDelete: true })],
      after: () => spare("held"),
      published: ["held", "none"],
      left: { "held-rest": ["held-rest", "held"] },
    },
    entity: {
      before: [queue("entity")],
      edit: [{ ...queue("entity", { "x-max-length": 9 }), name: "entity-second" }],
      told: [["declared-otherwise", "queue entity", wayOut("review-same-entity")]],
      retold: [{ ...queue("entity", { "x-max-length": 9 }, { aliases: [{ name: "entity" }] }), name: "entity-second" }],
      after: () => [{ ...queue("entity", {}, { aliases: [{ name: "entity" }] }), name: "entity-second" }],
      left: { entity: ["entity"] },
    },
    once: {
      before: [queue("once-q"), between(network.deliveryExchange, "once-q", "#.Sales")],
      edit: [
        queue("once-q"),
        between(network.deliveryExchange, "once-q", "#.Sales"),
        queue("once-eu"),
        between(network.deliveryExchange, "once-eu", "#.EU.Sales", {}, "once-second"),
      ],
      told: [["delivered-twice", "queue once-eu", wayOut("review-exact")]],
      after: () => [
        queue("once-q"),
        between(network.deliveryExchange, "once-q", "#.Sales"),
        queue("once-eu"),
        between(network.deliveryExchange, "once-eu", "*.*.SalesEU", {}, "once-second"),
      ],
      published: delayed("SalesEU"),
      left: { "once-q": ["once-q"], "once-eu": [delayed("SalesEU")[0]] },
    },
    front: {
      before: worked,
      edit: [...worked, queue("front-audit"), between("front", "front-audit", "#")],
      told: [["delivered-twice", "queue front-audit", wayOut("review-bind-in-front")]],
      after: () => [
        ...worked,
        queue("front-audit"),
        exchange("front-of-it", "fanout"),
        between("front-of-it", "front-audit", ""),
        binding("front-in", "", {}, { source: "front-of-it", destination: "front", destinationType: "exchange" }),
      ],
      deed: async () => {
        channel.sendToQueue("front.retry-500", Buffer.from("again"));
        await channel.waitForConfirms();
        await untilReady("front", 3);
      },
      published: ["front-of-it", "front"],
      left: { front: ["front", "front.retry-500", "again", "front-of-it"], "front-audit": ["front-of-it"] },
    },
    early: {
      before: [queue("early"), between(network.deliveryExchange, "early", "*.*.early", {}, "early-due")],
      edit: [
        queue("early"),
        between(network.deliveryExchange, "early", "*.*.early", {}, "early-due"),
        between(levelExchangeName(network, 1), "early", "*.*.early", {}, "early-second"),
      ],
      told: [["way-shortened", "binding", wayOut("review-bind-delivery")]],
      after: () => [queue("early"), between(network.deliveryExchange, "early", "*.*.early", {}, "early-due")],
      published: delayed("early"),
      left: { early: ["early", delayed("early")[0]] },
    },
    import: {
      before: [],
      byHand: async () => {
        await byHand("import-texts");
        await channel.assertQueue("import-json", { arguments: { "x-queue-type": "quorum", "x-max-length": 9 } });
      },
      edit: [queue("import-texts"), queue("import-json", { "x-max-length": 9 })],
      told: [["taken-over", "queue import-json", wayOut("review-import")]],
      after: () => [
        {
          type: "Queue",
          name: "import-texts",
          args: { name: "import-texts", settings: { durable: true, arguments: { "x-queue-type": "quorum" } } },
          opts: { import: `import-texts@${vhost}` },
        },
        queue("import-json", { "x-max-length": 9 }, { import: `import-json@${vhost}` }),
      ],
      left: { "import-texts": ["import-texts"], "import-json": ["import-json"] },
    },
    theirs: {
      before: [],
      byHand: () => byHand("theirs"),
      edit: [queue("theirs")],
      told: [["taken-over", "queue theirs", wayOut("review-other-name")]],
      after: () => [queue("theirs-not")],
      published: ["", "theirs-not"],
      left: { theirs: ["theirs"], "theirs-not": [""] },
    },
    later: {
      before: [queue("later", {}, { retainOnDelete: true })],
      edit: [queue("later")],
      told: [["no-longer-kept", "queue later", wayOut("review-later-updates")]],
      first: [queue("later")],
      retold: [],
      after: () => [queue("later")],
      left: { later: ["later"] },
    },
    idle: {
      before: [...spare("idle"), toSpare("idle"), ...idle, between("idle", "idle-q")],
      edit: [...spare("idle"), toSpare("idle"), ...idle],
      told: [["binding-gone", "binding", wayOut("review-nothing-due")]],
      deed: () => untilReady("idle-q", 2),
      after: () => [...spare("idle"), toSpare("idle"), ...idle],
      left: { "idle-q": ["idle-q", "idle-level"], "idle-rest": ["idle-rest"] },
    },
    compared: {
      before: comparedWith(),
      byHand: () =>
        broker.management.call("PUT", `policies/${vhost}/compared-theirs`, {
          pattern: "^compared-q$",
          "apply-to": "queues",
          definition: { "message-ttl": 500 },
        }),
      edit: comparedWith({ overflow: "reject-publish" }),
      told: [["policy-changed", "policy compared", wayOut("review-carry-over")]],
      after: () => comparedWith({ overflow: "reject-publish", "message-ttl": 500 }),
      published: ["", "compared-q"],
      left: { "compared-rest": ["compared-rest", "compared-q", ""] },
    },
    shovel: {
      before: [queue("shovel-q")],
      edit: [queue("shovel-q"), shovel],
      told: [["other-changed", "", wayOut("review-preview-diff")]],
      deed: async () => {
        stack.configure({ network: { resources: [shovel] } });
        const { output } = await stack.run(["preview", "--diff", "--stack", "test"]);
        assert.match(output, /destinationExchange\s*: "shovel-missing"/);
      },
      after: () => [queue("shovel-q")],
      left: { "shovel-q": ["shovel-q"] },
    },
    provider: {
      before: [ownProvider, { ...queue("provider-q"), by: "provider" }],
      edit: [queue("provider-q")],
      told: [["provider-gone", "", wayOut("review-keep-provider")]],
      first: [ownProvider, queue("provider-q")],
      deed: async () => {
        const { output } = await stack.run(["stack", "export", "--stack", "test"]);
        assert.doesNotMatch(output, /"provider": "\S+::provider::/);
      },
      after: () => [queue("provider-q")],
      left: { "provider-q": ["provider-q"] },
    },
    known: {
      before: [...spare("known"), toSpare("known")],
      edit: [...spare("known"), secretly(toSpare("known", "known", 2))],
      told: [["policy-unknown", "policy known", wayOut("review-known-policy")]],
      after: () => [...spare("known"), toSpare("known", "known", 2)],
      published: ["known", "none"],
      left: { "known-rest": ["known-rest", "known"] },
    },
    another: {
      before: [exchange("another", "topic", lasting), queue("another-q"), between("another", "another-q")],
      edit: [exchange("another", "direct", lasting), queue("another-q"), between("another", "another-q")],
      told: [["resource-kept-and-replaced", "exchange another", wayOut("review-another-component")]],
      after: () => [
        exchange("another", "topic", lasting),
        queue("another-q"),
        between("another", "another-q"),
        { ...exchange("another-next", "direct", lasting), isGrouped: true },
        { ...between("another-next", "another-q"), isGrouped: true },
      ],
      published: ["another-next", "k"],
      left: { "another-q": ["another-q", "another-next"] },
    },
    keep: {
      before: [queue("keep", {}, { retainOnDelete: true })],
      edit: [queue("keep")],
      told: [["no-longer-kept", "queue keep", wayOut("review-keep-retain-on-delete")]],
      after: () => [],
      left: { keep: ["keep"] },
    },
    unbound: {
      before: [exchange("unbound"), queue("unbound-q"), between("unbound", "unbound-q", "k", { retainOnDelete: true })],
      edit: [exchange("unbound"), queue("unbound-q")],
      told: [["binding-kept", "binding", wayOut("review-unbind")]],
      after: () => [exchange("unbound"), queue("unbound-q")],
      end: () => broker.management.call("DELETE", `bindings/${vhost}/e/unbound/q/unbound-q/k`),
      published: ["unbound", "k"],
      left: { "unbound-q": ["unbound-q"] },
    },
  };
}

describe("the way out that a review prints", () => {
  onEachBroker((broker) => {
    it("loses no message that it does not speak of, and ends the finding, once it is followed", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "plain"));
      const channel = await openChannel(broker(), vhost);
      const all = Object.entries(advices(broker(), stack, channel));
      const declare = (of: (advice: Advice, name: string) => Resource[]): void =>
        stack.configure({ network: { resources: all.flatMap(([name, advice]) => of(advice, name)) } });

      await management.declare(vhost, network, []);
      declare(({ before }) => before);
      await stack.up();
      for (const [, { byHand }] of all) await byHand?.();
      for (const { name } of await management.queues(vhost)) channel.sendToQueue(name, Buffer.from(name));
      await channel.waitForConfirms();

      declare(({ edit }) => edit);
      const { report, output } = await stack.review("--management", management.url);
      assert.ok(report, output);
      const found = new Map(
        all.map(([name, { told }]) => [
          name,
          told.map(([rule, entity, text]) => {
            const finding = report.findings.find(
              (one) => one.rule === rule && one.entity.startsWith(entity) && one.urn.includes(`::${name}`),
            );
            assert.ok(finding, `${name}: ${rule}\n${JSON.stringify(report.findings, undefined, 1)}`);
            assert.match(renderMarkdown({ ...report, findings: [finding] }, "test"), text);
            return finding;
          }),
        ]),
      );

      declare(({ before, first = before }) => first);
      await stack.up();
      for (const [name, { deed }] of all) await deed?.(found.get(name) as Finding[]);
      const asTold = ({ after }: Advice, name: string): Resource[] => after(found.get(name) as Finding[]);
      declare((advice, name) => advice.retold ?? asTold(advice, name));
      const { report: retold, output: shown } = await stack.review("--management", management.url);
      const retoldOf = (rule: Rule): string[] | undefined =>
        retold?.findings.filter((one) => one.rule === rule).map(({ entity }) => entity);
      assert.deepEqual(retoldOf("queue-replaced"), ["queue entity"], shown);
      assert.deepEqual(retoldOf("way-early"), [], shown);
      assert.ok(retoldOf("queue-deleted")?.includes("queue later"), shown);
      assert.ok(!retold?.findings.some(({ detail = "" }) => wayOut("review-meanwhile").test(detail)), shown);
      declare(asTold);
      await stack.up();
      for (const [, { end }] of all) await end?.();

      for (const [, { published }] of all) {
        if (published === undefined) continue;
        const [to, key] = published;
        channel.publish(to, key, Buffer.from(to));
      }
      await channel.waitForConfirms();
      const left = Object.fromEntries(all.flatMap(([, advice]) => Object.entries(advice.left)));
      const receiver = await Receiver.on(await openChannel(broker(), vhost), Object.keys(left));
      const arrivals = await receiver.until(Object.values(left).flat().length);
      const bodies = (name: string): string[] =>
        arrivals.filter((one) => one.queue === name).map(({ message }) => message.content.toString());
      assert.deepEqual(Object.fromEntries(Object.keys(left).map((name) => [name, bodies(name)])), left);
      const { report: last, output: end } = await stack.review("--management", management.url);
      assert.equal(last?.verdict, "nothing", end);
    });

    it("lets it compare all of the state with the broker, and believe its counts; each broker has what its own stack declares", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const program = join(__dirname, "programs", "plain");
      const stack = await TestStack.create(broker(), vhost, program);
      const declare = (...resources: Resource[]): void => stack.configure({ network: { resources } });
      const named = queue("named");
      const secretly = { ...named, args: { ...named.args, name: { secret: "named" } } };
      declare(queue("left"), secretly);
      await stack.up();
      const channel = await openChannel(broker(), vhost);
      channel.sendToQueue("left", Buffer.from("waiting"));
      await channel.waitForConfirms();
      const tunnel = new URL(management.url);
      tunnel.port = String((await TcpProxy.to(Number(tunnel.port), await freePort())).port);
      const file = join(temporaryFolder(), "preview.json");
      const review = async (url: string, ...flags: string[]): Promise<string> => {
        const { output } = await stack.run(["preview", "--json", "--stack", "test", ...flags]);
        writeFileSync(file, output);
        const { out, err } = await runCommand(["review", file, "--management", url]);
        return out + err;
      };
      declare(secretly);
      const ways = [wayOut("review-show-sames"), wayOut("review-own-address")];
      const told = async (...given: Parameters<typeof review>): Promise<boolean[]> => {
        const report = await review(...given);
        return ways.map((way) => way.test(report));
      };
      assert.deepEqual(await told(management.url), [true, false]);
      assert.deepEqual(await told(tunnel.href, "--show-sames"), [true, true], "for the secret name, too");

      declare(queue("left"), named);
      await stack.up();
      declare(named);
      while ((await management.queues(vhost)).find(({ name }) => name === "left")?.messages !== 1)
        await new Promise((resolve) => setTimeout(resolve, 200));
      assert.deepEqual(await told(management.url, "--show-sames"), [false, false]);
      assert.match(await review(management.url, "--show-sames"), /1 message now/);

      const other = await ownTestBroker(broker().node.installation);
      await other.management.call("PUT", `vhosts/${vhost}`);
      const elsewhere: StackConfig = {
        network: { resources: [queue("left"), named] },
        broker: { managementUrl: other.management.url },
      };
      stack.configure(elsewhere);
      const moved = await stack.reviewAsText("markdown", "--management", management.url);
      assert.match(moved.output, wayOut("review-stack-per-broker"));
      const second = await TestStack.create(other, vhost, program);
      second.configure(elsewhere);
      await second.up();
      declare(queue("left"), named);
      assert.deepEqual(await stack.preview("--refresh"), []);
      for (const api of [management, other.management])
        assert.deepEqual((await api.queues(vhost)).map(({ name }) => name).sort(), ["left", "named"]);
      assert.equal((await channel.checkQueue("left")).messageCount, 1);
    });

    it("keeps an endpoint's queue, and what is due once the endpoint has left", async () => {
      const { management } = broker();
      const stack = await TestStack.inNewVhost(broker());
      const shape = { preset: "custom", prefix: "due", radix: 4, levels: 2, unitMs: 10, queueType: "classic" } as const;
      const [sales, billing] = ["Sales", "Billing"].map((name) => ({ name, createQueue: true }));
      const declare = (removal: StackConfig["removal"], endpoints: unknown[], parking: boolean): void =>
        stack.configure({ network: { ...shape, parking }, endpoints, removal });
      const reviewed = async (): Promise<Review> => {
        const { report, output } = await stack.review("--management", management.url);
        assert.ok(report, output);
        return report;
      };
      const told = async (): Promise<string> => renderMarkdown(await reviewed(), "test");
      declare("retain", [sales, billing], false);
      await stack.up();
      const channel = await openChannel(broker(), stack.vhost);
      channel.sendToQueue("Billing", Buffer.from("waiting"), { persistent: true });
      await channel.waitForConfirms();
      declare("delete", [sales, billing], false);
      // "Nothing changes", though from then on each removal deletes messages.
      const released = await reviewed();
      assert.equal(released.verdict, "care");
      assert.match(renderMarkdown(released, "test"), wayOut("review-keep-removal"));
      declare("retain", [sales], false);
      const lost = await told();
      assert.match(lost, wayOut("review-parking"));
      assert.doesNotMatch(lost, wayOut("review-keep-removal"));

      declare("retain", [sales, billing], true);
      await stack.up();
      declare("retain", [sales], true);
      assert.doesNotMatch(await told(), wayOut("review-parking"));
      await stack.up();
      const { exchange: entry, routingKey } = encodeDelay(delayNetwork(shape), 100, "Billing");
      channel.publish(entry, routingKey, Buffer.from("due"), { persistent: true });
      const parking = delayNetwork(shape).parkingQueue as string;
      const receiver = await Receiver.on(channel, ["Billing", parking]);
      const arrivals = await receiver.until(2);
      assert.deepEqual(arrivals.map(({ queue, message }) => [queue, message.content.toString()]).sort(), [
        ["Billing", "waiting"],
        [parking, "due"],
      ]);
    });

    it("loses nothing of a store that left the program, and ends with nothing of it on the broker", async () => {
      const { management } = broker();
      const stack = await TestStack.inNewVhost(broker());
      const { vhost } = stack;
      const declare = (more: StackConfig = {}): void =>
        stack.configure({
          network: { preset: "custom", prefix: "due", radix: 4, levels: 2 },
          removal: "retain",
          ...more,
        });
      declare({ delayedStore: { storeName: "later", forwards: [{ exchange: "bills.delayed", delivery: "bills" }] } });
      await stack.up();
      const folder = temporaryFolder();
      const descriptor = join(folder, "outputs.json");
      const outputs = await stack.outputs();
      writeFileSync(descriptor, JSON.stringify(outputs));
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("bills of all");
      await channel.bindQueue("bills of all", "bills", "#");
      channel.publish("bills.delayed", "eu", Buffer.from("waiting"), { persistent: true, headers: { "x-delay": 500 } });
      await channel.waitForConfirms();

      declare();
      const { report, output } = await stack.review("--management", management.url);
      const kept = report?.findings.filter(({ rule }) => rule === "intake-kept") ?? [];
      // Consumers' queues are bound to exchange bills.
      assert.deepEqual(
        kept
          .map(({ entity }) => entity)
          .filter((entity) => entity.startsWith("exchange"))
          .sort(),
        ["exchange bills.delayed", "exchange later", "exchange later.control"],
        output,
      );
      assert.match(renderMarkdown(report as Review, "test"), wayOut("review-empty-intake"));
      await stack.up();
      const flags = ["--descriptor", descriptor, "--store", `sqlite:${join(folder, "later.db")}`];
      const service = await StoreProcess.ready(broker(), vhost, flags);
      const [arrival] = await (await Receiver.on(channel, ["bills of all"])).until(1);
      assert.equal(arrival?.message.content.toString(), "waiting");
      while ((await service.metrics()).get("rabbitmq_delay_store_pending") !== 0)
        await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(await service.stop(), 0);
      for (const { entity } of kept) {
        const [kind, name = ""] = entity.split(" ");
        if (kind === "exchange") await channel.deleteExchange(name);
        else assert.equal((await channel.deleteQueue(name)).messageCount, 0, entity);
      }
      const { report: last, output: end } = await stack.review("--management", management.url);
      assert.equal(last?.verdict, "nothing", end);
    });
  });
});
