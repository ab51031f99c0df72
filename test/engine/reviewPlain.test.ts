import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Review, Verdict, renderMarkdown } from "@rabbitmq-delay/review";
import { onEachBroker } from "../support/brokers";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { TestStack } from "../support/stack";
import { temporaryFolder } from "../support/temporaryFolder";
import { wayOut } from "../support/waysOut";
import { Resource, binding, exchange, operatorPolicy, policy, queue } from "./plainResources";

const ends = [exchange("in"), queue("q")];

/** An edit of a program, what the review says of it, and what then is on the broker. */
interface Edit {
  before: Resource[];
  after: Resource[];
  verdict: Verdict;
  rule?: string;
  /** Routing keys of bindings, and names of queues, exchanges and policies, that `up` leaves; undefined: chance decides. */
  left?: string[];
  /** Whether the update itself fails, half-way. */
  isFailing?: boolean;
  /** The same edit by the way out that the report prints, which loses nothing. */
  wayOut?: { told: RegExp; after: Resource[]; verdict: Verdict; left: string[] };
}

const edits: Record<string, Edit> = {
  "a list of bindings by index that is reordered": {
    before: [...ends, binding("b-0", "a"), binding("b-1", "b")],
    after: [...ends, binding("b-0", "b"), binding("b-1", "a")],
    verdict: "loss",
    rule: "live-deleted",
    left: ["in", "q"],
    wayOut: {
      told: wayOut("review-name-by-content"),
      after: [
        ...ends,
        binding("b-b", "b", { aliases: [{ name: "b-1" }] }),
        binding("b-a", "a", { aliases: [{ name: "b-0" }] }),
      ],
      verdict: "nothing",
      left: ["a", "b", "in", "q"],
    },
  },
  "a list of exchanges by index that is reordered": {
    before: [exchange("a", "topic", {}, "x-0"), exchange("b", "topic", {}, "x-1")],
    after: [exchange("b", "topic", {}, "x-0"), exchange("a", "topic", {}, "x-1")],
    verdict: "loss",
    rule: "live-deleted",
    // The provider deletes each before the new one, and both at the same time: which of them is left is chance.
  },
  "arguments written as JSON": {
    before: [
      exchange("in", "headers"),
      queue("q"),
      binding("b", "", {}, { arguments: { "x-match": "all", a: "1", b: 2.5 } }),
    ],
    after: [
      exchange("in", "headers"),
      queue("q"),
      binding("b", "", {}, { argumentsJson: '{"x-match":"all","a":"1","b":"2"}' }),
    ],
    verdict: "loss",
    rule: "replaced-by-itself",
    left: ["in", "q"],
    wayOut: {
      told: wayOut("review-delete-first"),
      after: [
        exchange("in", "headers"),
        queue("q"),
        binding("b", "", { deleteBeforeReplace: true }, { argumentsJson: '{"x-match":"all","a":"1","b":"2"}' }),
      ],
      verdict: "care",
      left: ["", "in", "q"],
    },
  },
  "a policy that is replaced because of its priority": {
    before: [queue("q"), policy("p", { "max-length": 5 }, {}, { replaceOnChanges: ["policy.priority"] })],
    after: [queue("q"), policy("p", { "max-length": 5 }, { priority: 2 }, { replaceOnChanges: ["policy.priority"] })],
    verdict: "loss",
    rule: "replaced-by-itself",
    left: ["q"],
  },
  "a second resource of a new queue": {
    before: [exchange("in")],
    after: [exchange("in"), queue("q"), { ...queue("q"), name: "again" }],
    verdict: "care",
    rule: "declared-twice",
    left: ["in", "q"],
    wayOut: {
      told: wayOut("review-declare-once"),
      after: [exchange("in"), queue("q")],
      verdict: "safe",
      left: ["in", "q"],
    },
  },
  "a widened key": {
    before: [...ends, binding("b", "a.b")],
    after: [...ends, binding("b", "a.*")],
    verdict: "safe",
    left: ["a.*", "in", "q"],
  },
  "an exchange of another type": {
    before: [exchange("in")],
    after: [exchange("in", "direct", { replaceOnChanges: ["settings"] })],
    verdict: "care",
    rule: "exchange-refused",
    isFailing: true,
    left: ["in"],
    wayOut: {
      told: wayOut("review-delete-exchange-first"),
      after: [exchange("in", "direct", { replaceOnChanges: ["settings"], deleteBeforeReplace: true })],
      verdict: "care",
      left: ["in"],
    },
  },
  "a queue that moves under a component": {
    before: [queue("q")],
    after: [{ ...queue("q", {}, { aliases: [{ name: "q" }] }), isGrouped: true }],
    verdict: "loss",
    rule: "live-deleted",
    left: [],
    wayOut: {
      told: wayOut("review-alias"),
      after: [{ ...queue("q", {}, { aliases: [{ name: "q", wasAlone: true }] }), isGrouped: true }],
      verdict: "nothing",
      left: ["q"],
    },
  },
  "a retained queue that gets another name": {
    before: [queue("q", {}, { retainOnDelete: true })],
    after: [{ ...queue("q2", { "x-max-length": 5 }, { retainOnDelete: true }), name: "q" }],
    verdict: "safe",
    rule: "queue-kept",
    left: ["q", "q2"],
  },
  "a retained exchange that gets another name": {
    before: [exchange("in", "topic", { retainOnDelete: true })],
    after: [exchange("in2", "fanout", { retainOnDelete: true }, "in")],
    verdict: "safe",
    rule: "resource-kept",
    left: ["in", "in2"],
  },
  "a queue that is kept no longer": {
    before: [queue("q", {}, { retainOnDelete: true })],
    after: [queue("q")],
    verdict: "care",
    rule: "no-longer-kept",
    left: ["q"],
  },
};

describe("a review of a program's own resources", () => {
  onEachBroker((broker, { isNewest }) => {
    let vhost: string;
    let stack: TestStack;

    beforeEach(async () => {
      vhost = await broker().management.createVhost();
      stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "plain"));
    });

    const declare = (resources: Resource[]): void => stack.configure({ network: { resources } });
    const asked = (): string[] => ["--management", broker().management.url];

    const onBroker = async (): Promise<string[]> => {
      const { management } = broker();
      const list = async (kind: string): Promise<{ name: string; source: string; routing_key: string }[]> =>
        management.get(`${kind}/${vhost}`);
      const named = (await Promise.all(["exchanges", "queues", "policies"].map(list))).flat().map(({ name }) => name);
      const bound = (await list("bindings")).filter(({ source }) => source !== "").map((one) => one.routing_key);
      return [...named.filter((name) => name !== "" && !name.startsWith("amq.")), ...bound].sort();
    };

    async function apply(
      resources: Resource[],
      verdict: Verdict,
      left: string[] | undefined,
      isFailing = false,
    ): Promise<Review> {
      declare(resources);
      const { report, output } = await stack.review(...asked());
      assert.equal(report?.verdict, verdict, output);
      if (left === undefined) return report;
      const { code, output: run } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.equal(code !== 0, isFailing, run);
      assert.deepEqual(await onBroker(), left);
      return report;
    }

    for (const [name, { before, after, verdict, rule, left, isFailing, wayOut: way }] of Object.entries(edits)) {
      it(`foretells what the engine does: ${name}`, async () => {
        declare(before);
        await stack.up();
        const report = await apply(after, verdict, left, isFailing);
        if (rule !== undefined) assert.equal(report.findings[0]?.rule, rule);
        if (way !== undefined) assert.match(renderMarkdown(report, "test"), way.told);
      });

      if (way === undefined) continue;
      it(`has a way out that loses nothing: ${name}`, async () => {
        declare(before);
        await stack.up();
        await apply(way.after, way.verdict, way.left);
      });
    }

    it("foretells that a resource which is replaced by the user's wish is gone", async () => {
      for (const [resources, name, rule, count] of [
        [[...ends, binding("b", "a")], "b", "replaced-by-itself", 0],
        [[queue("q")], "q", "replaced-by-itself", 0],
        [[queue("q", {}, { deleteBeforeReplace: true })], "q", "queue-replaced", 1],
      ] as const) {
        const place = await broker().management.createVhost();
        const own = await TestStack.create(broker(), place, join(__dirname, "programs", "plain"));
        own.configure({ network: { resources } });
        await own.up();
        // An empty queue needs care alone, as soon as the management API has counted it.
        if (rule === "queue-replaced") await fill(place, name);
        const urn = (await own.resources()).find((one) => one.urn.endsWith(`::${name}`))?.urn as string;
        const flags = ["--json", "--show-sames", "--show-replacement-steps", "--replace", urn];
        const { output } = await own.run(["preview", ...flags, "--stack", "test"]);
        const file = join(temporaryFolder(), "plan.json");
        writeFileSync(file, output);
        const { out } = await runCommand(["review", file, "--format", "json", ...asked()]);
        const report = JSON.parse(out) as { verdict: Verdict; findings: { rule: string }[] };
        assert.deepEqual([report.verdict, report.findings[0]?.rule], ["loss", rule], out);
        await own.up("--replace", urn);
        const kind = name === "q" ? "queues" : "bindings";
        const left = await broker().management.get<{ source?: string }[]>(`${kind}/${place}`);
        assert.equal(left.filter(({ source }) => source !== "").length, count);
      }
    });

    /** Puts a message into a queue, and waits until the management API counts it. */
    const fill = async (place: string, name: string): Promise<void> => {
      const channel = await openChannel(broker(), place);
      channel.sendToQueue(name, Buffer.from("x"));
      await channel.waitForConfirms();
      const isCounted = async (): Promise<boolean> =>
        (await broker().management.get<{ messages?: number }>(`queues/${place}/${name}`)).messages === 1;
      while (!(await isCounted())) await new Promise((resolve) => setTimeout(resolve, 200));
    };

    it("foretells that users end without rights whose list is reordered", async () => {
      const users = ["ann", "bob"].map((user) => `${user}-${vhost}`);
      const rights = (logical: string, user: string): Resource => ({
        type: "Permissions",
        name: logical,
        args: { user, permissions: { configure: "", write: ".*", read: "" } },
      });
      const people = users.map((name): Resource => ({ type: "User", name, args: { name, password: "p", tags: [] } }));
      declare([...people, ...users.map((user, index) => rights(`r-${index}`, user))]);
      await stack.up();
      declare([...people, ...[...users].reverse().map((user, index) => rights(`r-${index}`, user))]);
      const { report, output } = await stack.review(...asked());
      assert.deepEqual([report?.verdict, report?.findings[0]?.rule], ["loss", "live-deleted"], output);
      await stack.up();
      assert.deepEqual(
        (await broker().management.get<{ user: string }[]>(`vhosts/${vhost}/permissions`)).map(({ user }) => user),
        ["guest"],
      );
      declare([]);
      await stack.up();
    });

    it("finds a user that the broker has already under the new name of the stack's own", async () => {
      const { management } = broker();
      const [own, theirs] = ["own", "theirs"].map((name) => `${name}-${vhost}`) as [string, string];
      const declareAs = (name: string): void =>
        declare([{ type: "User", name: "own", args: { name, password: "p", tags: [] } }]);
      declareAs(own);
      await stack.up();
      await management.call("PUT", `users/${theirs}`, { password: "q", tags: "monitoring" });
      declareAs(theirs);
      const { report, output } = await stack.review(...asked());
      const told = report?.findings.find(({ entity }) => entity === `user ${theirs}`);
      assert.match(told?.found ?? "", /^it is on the broker already, with the tags monitoring:/, output);
      await stack.up();
      const users = await management.get<{ name: string; tags: unknown }[]>("users");
      assert.deepEqual(
        users.filter(({ name }) => [own, theirs].includes(name)).map(({ name, tags }) => [name, [tags].flat().join()]),
        [[theirs, ""]],
      );
      declare([]);
      await stack.up();
    });

    it("finds a dead-letter exchange that exists nowhere, and none that the program or the broker has", async () => {
      const dying = queue("q", { "x-dead-letter-exchange": "dlx" });
      declare([dying]);
      const missing = await stack.review(...asked());
      assert.deepEqual(
        [missing.report?.verdict, missing.report?.findings[0]?.rule],
        ["loss", "target-missing"],
        missing.output,
      );
      const unasked = await stack.review();
      assert.deepEqual([unasked.report?.verdict, unasked.report?.findings[0]?.rule], ["care", "target-unknown"]);
      assert.match(renderMarkdown(unasked.report as Review, "test"), wayOut("review-ask-broker"));
      // The same setting in a policy of the new queue was care.
      const byPolicy = [queue("q"), policy("p", { "dead-letter-exchange": "dlx" })];
      declare(byPolicy);
      const misled = await stack.review(...asked());
      assert.deepEqual([misled.report?.verdict, misled.report?.findings[0]?.rule], ["loss", "target-missing"]);
      assert.equal((await stack.review()).report?.verdict, "care");
      declare([...byPolicy, exchange("dlx")]);
      assert.equal((await stack.review(...asked())).report?.verdict, "care");
      declare([dying, exchange("dlx")]);
      assert.equal((await stack.review(...asked())).report?.verdict, "safe");
      const channel = await openChannel(broker(), vhost);
      await channel.assertExchange("dlx", "fanout");
      declare([dying]);
      assert.equal((await stack.review(...asked())).report?.verdict, "safe");
      declare([queue("q")]);
      await stack.up();
      declare([queue("q", { "x-dead-letter-exchange": "none" })]);
      const changed = await stack.review(...asked());
      assert.ok(
        changed.report?.findings.some(({ rule }) => rule === "target-missing"),
        changed.output,
      );
    });

    it("finds a queue that the broker has already, as it is declared or otherwise", async () => {
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("q", { durable: true, arguments: { "x-queue-type": "quorum" } });
      channel.sendToQueue("q", Buffer.from("somebody's"));
      await channel.waitForConfirms();
      declare([queue("q")]);
      const same = await stack.review(...asked());
      assert.deepEqual([same.report?.verdict, same.report?.findings[0]?.rule], ["care", "taken-over"], same.output);
      await channel.assertExchange("x", "fanout");
      declare([queue("q", { "x-max-length": 5 }), exchange("x", "topic")]);
      const other = await stack.review(...asked());
      assert.deepEqual(
        [other.report?.verdict, other.report?.findings.map(({ rule, entity }) => `${rule} ${entity}`).sort()],
        ["care", ["declared-otherwise exchange x", "declared-otherwise queue q"]],
        other.output,
      );
      const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0, output);
      assert.equal((await channel.checkQueue("q")).messageCount, 1);
    });

    // "All messages that wait in a deleted queue are lost", and the update fails without a deletion.
    it("says that the engine refuses an import of arguments in another writing, at each try", async () => {
      const channel = await openChannel(broker(), vhost);
      const quorum = { "x-queue-type": "quorum" };
      const there = { texts: quorum, numbers: { ...quorum, "x-max-length": 9 } };
      for (const [name, values] of Object.entries(there)) {
        await channel.assertQueue(name, { durable: true, arguments: values });
        channel.sendToQueue(name, Buffer.from(name), { persistent: true });
      }
      await channel.waitForConfirms();
      const counts = async (): Promise<number[]> =>
        Promise.all(Object.keys(there).map(async (name) => (await channel.checkQueue(name)).messageCount));
      const imported = (name: string, settings: object, id = `${name}@${vhost}`): Resource => ({
        ...{ type: "Queue", name, args: { name, settings: { durable: true, ...settings } } },
        opts: id === "" ? {} : { import: id },
      });
      const asJson = { argumentsJson: JSON.stringify(quorum) };
      const asTexts = { arguments: { ...quorum, "x-max-length": "9" } };
      const refused = ["import-refused queue numbers", "import-refused queue texts"];
      for (const attempt of ["first", "second"]) {
        declare([imported("texts", asJson), imported("numbers", asTexts)]);
        const { report, output } = await stack.review(...asked());
        const told = report?.findings.filter(({ severity }) => severity !== "note") ?? [];
        assert.deepEqual(
          [report?.verdict, ...told.map(({ rule, entity }) => `${rule} ${entity}`).sort()],
          ["care", ...refused],
          `${attempt}: ${output}`,
        );
        const text = renderMarkdown(report as Review, "test");
        assert.match(text, wayOut("review-import-settings"));
        assert.match(text, wayOut("review-import-writing"));
        const { code, output: run } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(code, 0, run);
        assert.deepEqual(await counts(), [1, 1]);
      }
      declare([imported("texts", { arguments: quorum }), imported("numbers", asTexts, "")]);
      const { report, output } = await stack.review(...asked(), "--amqp", `${broker().node.amqpUrl}/${vhost}`);
      assert.deepEqual([report?.verdict, report?.findings[0]?.rule], ["loss", "queue-replaced"], output);
      declare([
        imported("texts", { arguments: quorum }),
        imported("numbers", { argumentsJson: JSON.stringify(there.numbers) }),
      ]);
      assert.equal((await stack.review(...asked())).report?.verdict, "nothing");
      await stack.up();
      assert.deepEqual(await counts(), [1, 1]);
    });

    // The update deleted the queue and failed; the review had said "needs care" of the deletion alone.
    it("finds a queue and an exchange that the broker has already under the new names of the stack's own", async () => {
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("q2", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await channel.assertExchange("in2", "topic");
      declare(ends);
      await stack.up();
      const judged = async (...resources: [Resource, Resource]): Promise<string[]> => {
        declare(resources.map((one, index) => ({ ...one, name: ends[index]?.name as string })));
        const { report, output } = await stack.review(...asked());
        assert.ok(report, output);
        return report.findings.flatMap(({ rule, entity }) => (/2$/.test(entity) ? [`${rule} ${entity}`] : [])).sort();
      };
      assert.deepEqual(await judged(exchange("in2"), queue("q2")), ["taken-over exchange in2", "taken-over queue q2"]);
      const imported = exchange("in2", "topic", { import: `in2@${vhost}` });
      assert.deepEqual(await judged(imported, queue("q2")), ["taken-over queue q2"]);
      assert.deepEqual(await judged(exchange("in2", "fanout"), queue("q2", { "x-max-length": 5 })), [
        "declared-otherwise exchange in2",
        "declared-otherwise queue q2",
      ]);
      const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0, output);
    });

    // "Empty at the last count", for five messages that were seven seconds old.
    it("counts messages of this moment over AMQP, which the management API does not know yet", async () => {
      const address = `${broker().node.amqpUrl}/${vhost}`;
      declare([queue("q")]);
      await stack.up();
      // A broker may count messages before it counts consumers.
      const isCounted = ({ messages, consumers }: { messages?: number; consumers?: number }): boolean =>
        messages === 0 && consumers === 0;
      while (!(await broker().management.queues(vhost)).every(isCounted))
        await new Promise((resolve) => setTimeout(resolve, 100));
      declare([]);
      const empty = await stack.review(...asked(), "--amqp", address);
      assert.match(empty.report?.findings[0]?.found ?? "", /^empty just now; what arrives/, empty.output);
      const channel = await openChannel(broker(), vhost);
      for (let count = 0; count < 5; count++) channel.sendToQueue("q", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      const { report, output } = await stack.review(...asked(), "--amqp", address);
      assert.deepEqual([report?.verdict, report?.messagesAtRisk], ["loss", 5], output);
    });

    // The provider declares them as texts: the binding was missing on the broker, and the same one in JSON was another.
    it("knows a binding by numbers in its plain arguments", async () => {
      const [headers, q] = [exchange("in", "headers"), queue("q")];
      const plain = binding("b", "", {}, { arguments: { "x-match": "all", n: 5, f: true } });
      declare([headers, q, plain]);
      await stack.up();
      const { report, output } = await stack.review(...asked());
      assert.deepEqual([report?.verdict, report?.findings], ["nothing", []], output);
      declare([headers, q, binding("b", "", {}, { argumentsJson: '{"x-match":"all","n":"5","f":"true"}' })]);
      const rewritten = await stack.review(...asked());
      assert.equal(rewritten.report?.findings[0]?.rule, "replaced-by-itself", rewritten.output);
    });

    // Ten messages became one.
    it("foretells what policies of the broker's own do once the plan's are gone, or where their targets go", async () => {
      const { management } = broker();
      const put = (name: string, body: object): Promise<void> =>
        management.call("PUT", `policies/${vhost}/${name}`, body);
      await put("teams", { pattern: "^q$", "apply-to": "queues", priority: 0, definition: { "max-length": 1 } });
      const kept = [queue("q"), policy("p", { "max-length": 100 })];
      declare([...kept, exchange("dlx"), exchange("spare", "fanout"), exchange("in")]);
      await stack.up();
      const verdictOf = async (resources: Resource[]): Promise<[string | undefined, string | undefined, string]> => {
        declare(resources);
        const { report, output } = await stack.review(...asked());
        return [report?.verdict, report?.findings[0]?.rule, output];
      };
      const gone = await verdictOf([queue("q"), exchange("dlx"), exchange("spare", "fanout"), exchange("in")]);
      assert.deepEqual(gone.slice(0, 2), ["loss", "policy-drops"], gone[2]);
      const channel = await openChannel(broker(), vhost);
      for (let count = 0; count < 10; count++) channel.sendToQueue("q", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      await stack.up();
      while ((await channel.checkQueue("q")).messageCount !== 1)
        await new Promise((resolve) => setTimeout(resolve, 100));

      await put("teams", {
        pattern: "^in$",
        "apply-to": "exchanges",
        priority: 0,
        definition: { "alternate-exchange": "spare" },
      });
      const targetGone = await verdictOf([queue("q"), exchange("dlx"), exchange("in")]);
      assert.deepEqual(targetGone.slice(0, 2), ["loss", "unroutable-lost"], targetGone[2]);
      const outranked = await verdictOf([
        queue("q"),
        exchange("dlx"),
        exchange("spare", "fanout"),
        exchange("in"),
        policy("own", { "max-length": 3 }, { pattern: "^in$", applyTo: "all" }),
      ]);
      assert.equal(outranked[0], "loss", outranked[2]);
      const sameName = await verdictOf([
        queue("q"),
        exchange("dlx"),
        exchange("spare", "fanout"),
        exchange("in"),
        policy("teams", { "max-length": 3 }, { pattern: "^other$" }),
      ]);
      assert.equal(sameName[0], "loss", sameName[2]);
    });

    // Twenty messages became ten, one and six, and five after the advice to declare what is missing.
    it("judges a policy that was changed or deleted by hand by what the broker has", async () => {
      const { management } = broker();
      const put = (name: string, pattern: string, priority: number, definition: object): Promise<void> =>
        management.call("PUT", `policies/${vhost}/${name}`, { pattern, "apply-to": "queues", priority, definition });
      const judged = async (limit: number): Promise<[Review | undefined, string]> => {
        declare([queue("q"), queue("r"), policy("p", { "max-length": limit })]);
        const { report, output } = await stack.review(...asked());
        const told = report?.findings.filter(({ rule }) => rule.startsWith("policy-")) ?? [];
        return [report, told.map(({ rule, detail }) => `${rule}: ${detail}`).join() + (told.length > 0 ? "" : output)];
      };
      await judged(5);
      await stack.up();
      await put("team", ".*", 0, { "max-length": 1 });
      await put("p", "^[qr]$", 1, { "max-length": 5 });
      const narrowed = await judged(6);
      assert.deepEqual([narrowed[0]?.verdict, narrowed[0]?.findings[0]?.rule], ["loss", "policy-drops"], narrowed[1]);
      assert.match(narrowed[1], /max-length: 1\b/);
      await put("p", "^q$", 1, { "max-length": 100 });
      assert.match((await judged(10))[1], /^policy-drops: It says max-length: 10 for queue q\.$/);
      assert.match((await judged(101))[1], /^policy-changed/);
      assert.match(
        (await judged(5))[1],
        /^policy-drops: It says max-length: 5 for queue q\. .*--refresh` would declare it/,
      );
      // Messages that somebody led to a queue by the policy would be lost with the queue.
      await put("p", "^q$", 1, { "max-length": 5, "dead-letter-exchange": "", "dead-letter-routing-key": "r" });
      declare([queue("q"), policy("p", { "max-length": 5 })]);
      const led = (await stack.review(...asked())).report;
      // A queue that nobody has counted yet is a loss of its own, and comes first.
      const lost = led?.findings.filter(({ rule }) => rule === "unroutable-lost");
      assert.deepEqual([led?.verdict, lost?.map(({ severity }) => severity)], ["loss", ["loss"]]);
      await management.call("DELETE", `policies/${vhost}/team`);
      await management.call("DELETE", `policies/${vhost}/p`);
      assert.match((await judged(6))[1], /^policy-drops: It says max-length: 6 for queue q\.$/);
      const missing = await judged(5);
      assert.match(missing[1], /^policy-drops: It says max-length: 5 for queue q\. .*--refresh` would declare it/);
      assert.equal(missing[0]?.verdict, "care");
      assert.equal((await stack.review("--refresh", ...asked())).report?.verdict, "loss");
      declare([queue("q"), queue("r")]);
      const { report, output } = await stack.review(...asked());
      assert.equal(report?.verdict, "care", output);
      const channel = await openChannel(broker(), vhost);
      for (let count = 0; count < 20; count++) channel.sendToQueue("q", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      declare([queue("q"), queue("r"), policy("p", { "max-length": 6 })]);
      await stack.up();
      while ((await channel.checkQueue("q")).messageCount !== 6)
        await new Promise((resolve) => setTimeout(resolve, 100));
    });

    // Ten messages became one: the team's policy applied until the second part was declared.
    it("foretells what a weaker policy drops between two steps of an update", async () => {
      const definition = { "max-length": 1 };
      const team = { pattern: ".*", "apply-to": "queues", priority: 0, definition };
      await broker().management.call("PUT", `policies/${vhost}/team`, team);
      const part = (name: string, pattern: string, after: string[] = []): Resource => ({
        ...policy(name, { "max-length": 100 }, { pattern, priority: 5 }),
        after,
      });
      const queues = [queue("qa"), queue("qb")];
      declare([...queues, part("p", "^q[ab]$")]);
      await stack.up();
      const judged = async (...policies: Resource[]): Promise<string> => {
        declare([...queues, ...policies]);
        const { report, output } = await stack.review(...asked());
        const told = report?.findings.filter(({ rule }) => rule.startsWith("policy-")) ?? [];
        return (
          [report?.verdict, ...told.map(({ rule, detail }) => `${rule} ${detail}`)].join() + (report ? "" : output)
        );
      };
      const lost = /^loss,policy-drops For queue qb another policy then says max-length: 1\. .*while the update runs/;
      const second = part("pb", "^qb$");
      assert.match(await judged(part("p", "^qa$"), { ...second, after: ["p"] }), lost);
      // The engine may take the steps in any order.
      assert.match(await judged(part("p", "^qa$"), second), lost);
      assert.match(await judged(second, part("p", "^qa$", ["pb"])), /^care(,policy-changed [^,]*){2}$/);
      declare([...queues, part("p", "^qa$"), { ...second, after: ["p"] }]);
      const channel = await openChannel(broker(), vhost);
      for (let count = 0; count < 10; count++) channel.sendToQueue("qb", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      await stack.up();
      while ((await channel.checkQueue("qb")).messageCount !== 1)
        await new Promise((resolve) => setTimeout(resolve, 100));
    });

    // Each was care, and ten messages became one.
    it("foretells what operator policies drop that apply instead of a stronger one", async () => {
      const { management } = broker();
      const put = (name: string, pattern: string, priority: number, limit: number): Promise<void> =>
        management.call("PUT", `operator-policies/${vhost}/${name}`, {
          pattern,
          "apply-to": "queues",
          priority,
          definition: { "max-length": limit },
        });
      await put("team", ".*", 3, 1);
      await put("one", "^s$", 9, 100);
      const strong = (more: object = {}, opts: object = {}, name = "p"): Resource => ({
        ...operatorPolicy(name, { "max-length": 100 }, { pattern: "^[qr]$", priority: 5, ...more }, opts),
        name: "p",
      });
      const queues = [queue("q"), queue("r"), queue("s")];
      declare([...queues, strong()]);
      await stack.up();
      const judged = async (...resources: Resource[]): Promise<string> => {
        declare([...queues, ...resources]);
        const { report, output } = await stack.review(...asked());
        return `${report?.verdict} ${report?.findings[0]?.detail ?? output}`;
      };
      const lost = (name: string): RegExp =>
        new RegExp(`^loss For queue ${name} another policy then says max-length: 1\\.`);
      // The engine lists queues in any order.
      assert.match(await judged(), lost("[qr]"));
      assert.match(await judged(strong({ priority: 2 })), lost("[qr]"));
      assert.match(await judged(strong({}, { deleteBeforeReplace: true }, "p-2")), lost("[qr]"));
      const other = operatorPolicy("one", { "max-length": 100 }, { pattern: "^other$", priority: 9 });
      assert.match(await judged(strong(), other), lost("s"));
      assert.match(await judged(strong({ pattern: "^r$" })), lost("q"));
      const channel = await openChannel(broker(), vhost);
      for (let count = 0; count < 10; count++) channel.sendToQueue("q", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      await stack.up();
      while ((await channel.checkQueue("q")).messageCount !== 1)
        await new Promise((resolve) => setTimeout(resolve, 100));
    });

    // Four messages were lost; the report said care.
    it("finds a queue of others whose dead letters come to a deleted queue by their own keys", async () => {
      const channel = await openChannel(broker(), vhost);
      const verdicts = async (): Promise<[string | undefined, boolean]> => {
        const { report } = await stack.review(...asked());
        return [report?.verdict, report?.findings.some(({ rule }) => rule === "unroutable-lost") === true];
      };
      declare([queue("q")]);
      await stack.up();
      await channel.assertExchange("wait", "topic");
      await channel.assertQueue("theirs", { durable: true, arguments: { "x-dead-letter-exchange": "" } });
      await channel.bindQueue("theirs", "wait", "other");
      declare([]);
      assert.equal((await verdicts())[1], false);
      await channel.bindQueue("theirs", "wait", "q");
      assert.deepEqual(await verdicts(), ["loss", true]);
    });

    it("finds a queue that is declared to have no delivery limit, and would have one", async () => {
      const asking = queue("q", { "x-delivery-limit": -1 });
      const judged = async (resource: Resource, ...more: Resource[]): Promise<string> => {
        declare([resource, ...more]);
        const { report, output } = await stack.review(...asked());
        assert.ok(report, output);
        return `${report.verdict}\n${renderMarkdown(report, "test")}`;
      };
      declare([queue("r")]);
      await stack.up();
      // Replaced under its own name, the queue was told as replaced and no more.
      const replaced = queue("r", { "x-delivery-limit": -1 });
      if (!isNewest) {
        assert.match(await judged(replaced), wayOut("review-leave-limit-out"));
        assert.match(await judged(asking, queue("r")), wayOut("review-leave-limit-out"));
        assert.match(await judged(queue("q"), queue("r")), /^safe\n/);
        return;
      }
      assert.match(await judged(asking, queue("r")), /^safe\n/);
      const put = (pattern: string): Promise<void> =>
        broker().management.call("PUT", `policies/${vhost}/team`, {
          ...{ pattern, "apply-to": "queues", priority: 0 },
          definition: { "delivery-limit": 5 },
        });
      await put(".*");
      const found = await judged(asking, queue("r"));
      assert.match(found, wayOut("review-take-limit-out"));
      assert.match(found, /^care\n[^]*Policy team says delivery-limit: 5/);
      await put("^r$");
      assert.match(await judged(replaced), wayOut("review-take-limit-out"));
      assert.match(await judged(asking, queue("r")), /^safe\n/);
    });

    it("tells a policy's edit by which messages are dropped from one by which none is", async () => {
      const { management } = broker();
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("theirs", { durable: true, arguments: { "x-queue-type": "quorum" } });
      const limit = { "max-length": 3 };
      await management.call("PUT", `policies/${vhost}/team`, {
        pattern: "^theirs$",
        "apply-to": "queues",
        priority: 0,
        definition: limit,
      });
      const refusing = { "max-length": 5, overflow: "reject-publish" };
      const onR = { pattern: "^r$" };
      const onTheirs = { pattern: "^theirs$", priority: 7 };
      const counted = policy("counted", { "delivery-limit": 1000 });
      const full = policy("full", refusing, { pattern: "^full$" });
      const aged = policy("aged", { "max-age": "1D" }, { pattern: "^aged$" });
      const classic = { "x-queue-type": "classic" };
      const dead = { "max-length": 5, overflow: "reject-publish-dlx" };
      const refused = policy("refused", dead, { pattern: "^refused$" });
      const led = policy("led", { ...dead, "dead-letter-exchange": "dlx" }, { pattern: "^led$" });
      const most = operatorPolicy("most", { "max-length": 50 }, { pattern: "^most$" });
      // The broker passes over this policy, because a quorum queue refuses its second setting.
      const over = policy("over", { ...limit, "queue-mode": "lazy" }, { pattern: "^over$" });
      const holding = { "x-dead-letter-strategy": "at-least-once", "x-dead-letter-exchange": "dlx" };
      const held = policy("held", { overflow: "reject-publish" }, { pattern: "^held$" });
      // Before 4.0, it is a classic queue; from then on, the engine replaces it.
      const untyped: Resource = { ...queue("plain"), args: { name: "plain", settings: { durable: true } } };
      const base = [
        ...[queue("q"), queue("full"), queue("most"), queue("refused", classic), queue("led", classic)],
        ...[queue("aged", { "x-queue-type": "stream" }), exchange("dlx")],
        ...[queue("over"), queue("held", holding), ...(isNewest ? [] : [untyped])],
        ...[counted, full, aged, refused, led, most, over, held],
      ];
      declare(base);
      await stack.up();
      const judged = async (resources: Resource[]): Promise<string> => {
        declare(resources);
        const { report, output } = await stack.review(...asked());
        assert.ok(report, output);
        const told = report.findings.filter(({ rule }) => rule.startsWith("policy-"));
        return `${report.verdict} ${told.map(({ rule }) => rule).join()}`;
      };
      const without = (gone: Resource): Resource[] => base.filter((one) => one !== gone);
      const instead = (old: Resource, ...more: Parameters<typeof policy>): Promise<string> =>
        judged([...without(old), policy(...more)]);
      // A message that was given out 25 times was dropped by the default limit of 20.
      const gone = "loss policy-protection-gone";
      const harmless = "care policy-changed";
      // Before 4.0, a queue counts no deliveries unless somebody sets a limit.
      const dropping = "loss policy-drops";
      const [lifted, limited, other] = isNewest ? [gone, harmless, gone] : [harmless, dropping, dropping];
      assert.equal(await judged(without(counted)), lifted);
      assert.equal(await instead(counted, "counted", { "max-length": 1e6 }), other);
      assert.equal(await instead(counted, "counted", { "delivery-limit": 1000 }, { pattern: "^other$" }), lifted);
      assert.equal(await instead(counted, "counted", { "delivery-limit": 999 }), other);
      const raised = { ...limit, "delivery-limit": 21 };
      assert.equal(await judged([...base, policy("new", raised, onTheirs)]), limited);
      assert.equal(await instead(full, "full", { "max-length": 5 }, { pattern: "^full$" }), gone);
      assert.equal(await judged([...base, policy("new", { "max-length": 2 }, onTheirs)]), dropping);
      // A weaker policy applied while this one was away, and the update left a message of ten.
      await management.call("PUT", `policies/${vhost}/weak`, {
        pattern: "^q$",
        "apply-to": "queues",
        priority: 0,
        definition: { "max-length": 1 },
      });
      const renamed = policy("counted-2", { "delivery-limit": 1000 }, {}, { deleteBeforeReplace: true });
      assert.equal(await judged([...without(counted), { ...renamed, name: "counted" }]), other);
      await management.call("DELETE", `policies/${vhost}/weak`);
      // Each of these was a loss.
      assert.equal(await instead(counted, "counted", { "delivery-limit": 1001 }), harmless);
      assert.equal(await instead(counted, "counted", { "delivery-limit": 1000 }, { priority: 7 }), harmless);
      assert.equal(await instead(full, "full", refusing, { pattern: "^full$", priority: 7 }), harmless);
      assert.equal(await judged(without(full)), harmless);
      assert.equal(await judged([...base, queue("r"), policy("new", refusing, onR)]), harmless);
      assert.equal(await judged([...base, policy("new", limit, onTheirs)]), harmless);
      const onCounted = (definition: object): Promise<string> =>
        instead(counted, "counted", { "delivery-limit": 1000, ...definition });
      assert.equal(await onCounted({ "dead-letter-exchange": "dlx", "dead-letter-routing-key": "k" }), harmless);
      assert.equal(await onCounted({ "dead-letter-exchange": "none" }), dropping);
      assert.equal(await onCounted({ overflow: "drop-head", "dead-letter-strategy": "at-most-once" }), harmless);
      assert.equal(await instead(aged, "aged", { "max-age": "7D" }, { pattern: "^aged$" }), harmless);
      assert.equal(await instead(aged, "aged", { "max-age": "90m" }, { pattern: "^aged$" }), dropping);
      const refusal = { overflow: "reject-publish" };
      assert.equal(await instead(refused, "refused", { ...dead, ...refusal }, { pattern: "^refused$" }), harmless);
      const ledOn = { ...dead, ...refusal, "dead-letter-exchange": "dlx" };
      assert.equal(await instead(led, "led", ledOn, { pattern: "^led$" }), gone);
      const operators = (max: number, more: object): Promise<string> =>
        judged([...without(most), operatorPolicy("most", { "max-length": max }, more)]);
      assert.equal(await operators(80, { pattern: "^(most)$", priority: 3 }), harmless);
      assert.equal(await operators(49, { pattern: "^(most)$", priority: 3 }), dropping);
      assert.equal(await operators(50, { pattern: "^(most|theirs)$" }), harmless);
      assert.equal(await operators(50, { pattern: "^(most|q)$" }), dropping);
      assert.equal(await judged(without(held)), gone);
      const unheeded = { overflow: "reject-publish", "queue-mode": "lazy" };
      assert.equal(await instead(held, "held", unheeded, { pattern: "^held$" }), gone);
      const onRefused = policy("new", { "delivery-limit": 2, "max-length": 2 }, { pattern: "^refused$", priority: 7 });
      const onAged = policy("new-2", { "message-ttl": 500 }, { pattern: "^aged$", priority: 7 });
      const onPlain = policy("new-3", { "delivery-limit": 2 }, { pattern: "^plain$" });
      const all = [...base, onRefused, onAged, onPlain];
      assert.equal(await judged(all), `${harmless},policy-changed,policy-changed`);
      for (let count = 0; count < 10; count++) channel.sendToQueue("over", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      assert.equal((await channel.checkQueue("over")).messageCount, 10);
      assert.equal(await instead(over, "over", limit, { pattern: "^over$" }), dropping);
      await stack.up();
      const isCut = async (): Promise<boolean> => (await channel.checkQueue("over")).messageCount === 3;
      while (!(await isCut())) await new Promise((resolve) => setTimeout(resolve, 50));
    });

    // Both were care. Five of eight confirmed messages were dropped, and those that no queue took.
    it("foretells that a policy's overflow goes before a quorum queue's own", async () => {
      const refusing = { "x-overflow": "reject-publish" };
      const dying = { "x-message-ttl": 100, "x-dead-letter-exchange": "in", "x-dead-letter-strategy": "at-least-once" };
      const base = [
        ...[exchange("in"), queue("full", { ...refusing, "x-max-length": 3 })],
        ...["level", "held"].map((name) => queue(name, { ...refusing, ...dying })),
      ];
      declare(base);
      await stack.up();
      const dropping = policy("p", { overflow: "drop-head" }, { pattern: "^(full|level)$" });
      declare([...base, dropping]);
      const { report, output } = await stack.review(...asked());
      assert.deepEqual([report?.verdict, report?.findings[0]?.rule], ["loss", "policy-drops"], output);
      assert.match(report?.findings[0]?.detail ?? "", /^It says overflow: drop-head for queue (full|level)\.$/);
      await stack.up();
      const { management } = broker();
      const stateOf = async (name: string): Promise<Record<string, unknown>> =>
        management.get(`queues/${vhost}/${name}`);
      while ((await stateOf("level")).policy !== "p") await new Promise((resolve) => setTimeout(resolve, 100));
      const channel = await openChannel(broker(), vhost);
      for (const name of ["level", "held", ...Array<string>(8).fill("full")])
        channel.sendToQueue(name, Buffer.from(name), { persistent: true });
      await channel.waitForConfirms();
      assert.equal((await channel.checkQueue("full")).messageCount, 3);
      while ((await stateOf("held")).messages_dlx !== 1) await new Promise((resolve) => setTimeout(resolve, 200));
      // The broker counts every queue in turn.
      while ((await stateOf("level")).messages !== 0) await new Promise((resolve) => setTimeout(resolve, 200));
      assert.ok(((await stateOf("level")).messages_dlx ?? 0) === 0);
    });

    // Each of the harmless ones was a loss.
    it("lets a policy pass that says nothing new of a queue with arguments of its own, and of an exchange", async () => {
      const classic: Resource = {
        type: "Queue",
        name: "cl",
        args: { name: "cl", settings: { durable: true, arguments: { "x-queue-type": "classic" } } },
      };
      const refusing = (overflow: string): Resource =>
        policy("full", { "max-length": 5, overflow }, { pattern: "^(cl|full)$" });
      const led = policy("led", { "dead-letter-exchange": "in" }, { pattern: "^own$" });
      const lone = [exchange("in"), exchange("dlx"), queue("lim", { "x-max-length": 5 }), classic];
      const base = [...lone, queue("own", { "x-dead-letter-exchange": "dlx" })];
      declare([...base, refusing("reject-publish"), led]);
      await stack.up();
      const judged = async (...resources: Resource[]): Promise<string> => {
        declare([...base, ...resources]);
        const { report, output } = await stack.review(...asked());
        assert.ok(report, output);
        return `${report.verdict} ${report.findings.map(({ rule }) => rule).join()}`;
      };
      const same = refusing("reject-publish");
      const harmless = "care policy-changed";
      const limit = (max: number): Resource => policy("new", { "max-length": max }, { pattern: "^lim$" });
      assert.equal(await judged(same), harmless);
      assert.equal(await judged(refusing("reject-publish-dlx"), led), harmless);
      const onExchange = policy("new", { "max-length": 9 }, { pattern: "^in", applyTo: "all" });
      assert.equal(await judged(same, led, onExchange), harmless);
      assert.equal(await judged(same, led, limit(4)), "loss policy-drops");
      assert.equal(await judged(same, led, limit(100)), harmless);
      const channel = await openChannel(broker(), vhost);
      for (let count = 0; count < 5; count++) channel.sendToQueue("lim", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      await stack.up();
      assert.equal((await channel.checkQueue("lim")).messageCount, 5);
      // A quorum queue does not support the setting.
      declare([...base, queue("full"), same]);
      await stack.up();
      const dropping = await judged(queue("full"), refusing("reject-publish-dlx"));
      assert.equal(dropping, "loss policy-protection-gone");
    });

    if (isNewest) {
      // The report told to write "classic" for a queue that the vhost had made quorum: the next update would have replaced it.
      it("says how a queue without a type is not replaced by each update", async () => {
        const declareAs = (given: object): void =>
          declare([{ type: "Queue", name: "q", args: { name: "q", settings: { durable: true, ...given } } }]);
        for (const defaults of [{}, { default_queue_type: "quorum" }]) {
          const place = await broker().management.createVhost();
          await broker().management.call("PUT", `vhosts/${place}`, defaults);
          stack = await TestStack.create(broker(), place, join(__dirname, "programs", "plain"));
          declareAs({ autoDelete: false });
          await stack.up();
          await stack.refresh();
          const { report, output } = await stack.review(...asked());
          assert.deepEqual(report?.findings[0]?.rule, "queue-type-left-out", output);
          const text = renderMarkdown(report, "test");
          assert.match(text, wayOut("review-write-type"));
          const type = /"x-queue-type": "(\w+)"/.exec(text)?.[1];
          declareAs({ autoDelete: false, arguments: { "x-queue-type": type } });
          assert.equal((await stack.review(...asked())).report?.verdict, "nothing", type);
        }
      });
    }
  });
});
