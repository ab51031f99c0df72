import { strict as assert } from "node:assert";
import { join } from "node:path";
import { createDelayPublisher } from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";
import type { Review, Verdict } from "@rabbitmq-delay/review";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { rounds } from "../support/length";
import { Receiver } from "../support/receive";
import { StackConfig, TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 6, unitMs: 10 } as const;
const network = delayNetwork(shape);
const before: StackConfig = {
  network: shape,
  workQueues: [{ queue: "work", delays: [60_000] }],
  endpoints: [
    { name: "Sales", createQueue: true },
    { name: "Billing", createQueue: true },
  ],
};
const [sales] = before.endpoints as [unknown];
/** Delays of a message that waits during an update, in durations of the review; the next one if the update took longer. */
const TIMES_LONGER = [3, 10];
/** Longest delay of a message, just below what the network can delay. */
const LONGEST_MS = 40_000;

/** An edit, what the review has to say of it, and what then has to become of what waited. */
interface Edit {
  after: Partial<StackConfig>;
  verdict: Verdict;
  /** What the report has to name. */
  rule?: string;
  cause?: string;
  change?: RegExp;
  /** Where the delayed message for Billing is found after the update: in its queue, in the parking, or nowhere. */
  delayed: "Billing" | "parking" | "lost";
  /** Whether what waits in the work queue is still there. */
  work: "kept" | "lost";
  removal?: "retain";
}

const edits: Record<string, Edit> = {
  nothing: { after: {}, verdict: "nothing", delayed: "Billing", work: "kept" },
  "a new endpoint": {
    after: { endpoints: [...(before.endpoints as unknown[]), { name: "Shipping", createQueue: true }] },
    verdict: "safe",
    change: /endpoint Shipping joins orders\.r4x6u10/,
    delayed: "Billing",
    work: "kept",
  },
  "another retry delay": {
    after: { workQueues: [{ queue: "work", delays: [60_000, 90_000], maxRetries: 1 }] },
    verdict: "safe",
    change: /work queue work 90s added|work queue work 1\.5m added|work queue work 90000ms added/,
    delayed: "Billing",
    work: "kept",
  },
  "an endpoint less": {
    after: { endpoints: [sales] },
    verdict: "loss",
    rule: "queue-deleted",
    change: /endpoint Billing leaves orders\.r4x6u10/,
    delayed: "parking",
    work: "kept",
  },
  "an endpoint less, retained": {
    after: { endpoints: [sales] },
    removal: "retain",
    verdict: "care",
    rule: "endpoint-unbound",
    delayed: "parking",
    work: "kept",
  },
  "another radix": {
    after: { network: { ...shape, radix: 2 } },
    verdict: "loss",
    rule: "queue-deleted",
    change: /network orders\.r2x6u10 is a new network instead of orders\.r4x6u10: radix 4 → 2/,
    delayed: "lost",
    work: "kept",
  },
  "another radix, retained": {
    after: { network: { ...shape, radix: 2 } },
    removal: "retain",
    verdict: "care",
    rule: "network-changed",
    change: /network orders\.r2x6u10 is a new network beside orders\.r4x6u10/,
    delayed: "parking",
    work: "kept",
  },
  "another target of rejected messages": {
    after: { workQueues: [{ queue: "work", delays: [60_000], rejected: "retry" }] },
    verdict: "loss",
    rule: "queue-replaced",
    cause: "x-dead-letter-exchange work.dead → work.retry-60000",
    delayed: "Billing",
    work: "lost",
  },
  "a work queue less": {
    after: { workQueues: [] },
    verdict: "loss",
    rule: "queue-deleted",
    change: /work queue work is deleted/,
    delayed: "Billing",
    work: "lost",
  },
};

describe("a review of a change", () => {
  onEachBroker((broker, { isNewest }) => {
    let vhost: string;

    beforeEach(async () => {
      vhost = await broker().management.createVhost();
    });

    for (const [name, edit] of Object.entries(edits)) {
      it(`foretells what becomes of waiting messages: ${name}`, async () => {
        for (const timesLonger of TIMES_LONGER) {
          const vhost = await broker().management.createVhost();
          if (await isForetold(vhost, edit, timesLonger)) return;
        }
        assert.fail("no update was over before the message was due");
      });
    }

    /** Reviews an edit, makes it, and compares. @returns false if the message was due before the update was over */
    async function isForetold(vhost: string, edit: Edit, timesLonger: number): Promise<boolean> {
      const stack = await TestStack.create(broker(), vhost);
      const { removal = "delete" } = edit;
      await stack.bringUp({ ...before, removal });
      const channel = await openChannel(broker(), vhost);
      channel.sendToQueue("work", Buffer.from("waiting"), { persistent: true });
      stack.configure({ ...before, removal, ...edit.after });

      // Loss fails it without being asked to.
      const startMs = Date.now();
      const { report, output, code } = await stack.review();
      const delayMs = Math.min(timesLonger * (Date.now() - startMs), LONGEST_MS);
      assert.ok(report, output);
      assert.equal(report.verdict, edit.verdict, output);
      assert.equal(code, edit.verdict === "loss" ? 1 : 0);
      if (edit.rule !== undefined)
        assert.ok(
          report.findings.some(({ rule }) => rule === edit.rule),
          output,
        );
      if (edit.cause !== undefined) assert.ok(causesOf(report).includes(edit.cause), output);
      if (edit.change !== undefined)
        assert.ok(
          linesOf(report).some((line) => edit.change?.test(line)),
          output,
        );

      const publisher = createDelayPublisher(channel, network);
      const { dueAt } = await publisher.publish("Billing", "pending", { delayMs });
      await stack.up();
      if (Date.now() >= dueAt.getTime()) return false;
      const names = (await broker().management.queues(vhost)).map((queue) => queue.name);
      const waiting = names.includes("work") ? (await channel.checkQueue("work")).messageCount : 0;
      assert.equal(waiting, edit.work === "kept" ? 1 : 0);
      if (edit.delayed === "lost") {
        assert.ok(!names.some((queue) => queue.startsWith(network.prefix)), "with the queues that it waited in");
        return true;
      }
      const queue = edit.delayed === "Billing" ? "Billing" : (network.parkingQueue as string);
      const [arrival] = await (await Receiver.on(channel, [queue])).until(1);
      assert.equal(arrival?.message.content.toString(), "pending");
      return true;
    }

    it("knows every edit of a network as another network, and a renamed endpoint as another endpoint", async () => {
      const stack = await TestStack.create(broker(), vhost);
      await stack.bringUp({ ...before, removal: "delete" });
      const edits = [{ unitMs: 20 }, { levels: 5 }, { prefix: "other" }, { queueType: "classic" }, undefined];
      for (const edit of edits) {
        const other = edit === undefined ? { preset: "celery" } : { ...shape, ...edit };
        stack.configure({ ...before, network: other, removal: "delete" });
        const { report, output } = await stack.review();
        assert.equal(report?.verdict, "loss", output);
        assert.ok(
          report?.findings.some(({ rule }) => rule === "network-changed"),
          output,
        );
      }
      const renamed = [sales, { name: "Invoicing", createQueue: true }];
      stack.configure({ ...before, endpoints: renamed, removal: "delete" });
      const { report, output } = await stack.review();
      assert.equal(report?.verdict, "loss", output);
      assert.deepEqual(linesOf(report as Review), [
        "endpoint Invoicing joins orders.r4x6u10",
        "endpoint Billing leaves orders.r4x6u10",
      ]);
    });

    if (isNewest) {
      const many = rounds(300, 1000);
      it(`stays readable with ${many} endpoints`, async () => {
        const stack = await TestStack.create(broker(), vhost);
        const endpoints = Array.from({ length: many }, (_, index) => ({ name: `E${index}`, createQueue: true }));
        stack.configure({ ...before, endpoints });
        const { output, code } = await stack.reviewAsText("markdown");
        assert.equal(code, 0);
        assert.ok(output.length < 10_000, `${output.length} characters`);
        assert.match(output, /## 🟢 Safe/);
        assert.match(output, new RegExp(`${many} × endpoint <code>E0</code>.*and ${many - 20} more: joins orders`));
      });
    }

    it("says how many messages are in question, until when, and what it lets pass", async () => {
      const stack = await TestStack.create(broker(), vhost);
      const slow = { ...shape, unitMs: 1000 };
      await stack.bringUp({ ...before, network: slow });
      const network = delayNetwork(slow);
      const channel = await openChannel(broker(), vhost);
      const publisher = createDelayPublisher(channel, network);
      await Promise.all([1, 2, 3].map(() => publisher.publish("Billing", "x", { delayMs: 4_000_000 })));
      await broker().management.untilCounted(vhost, 3);
      await channel.bindQueue("Sales", network.deliveryExchange, "*.*.*.*.*.*.Forgotten");
      stack.configure({ ...before, network: { ...shape, unitMs: 2000 } });

      const asked = ["--management", broker().management.url];
      const { report, output } = await stack.review(...asked);
      assert.ok(report, output);
      assert.equal(report.verdict, "loss");
      assert.equal(report.messagesAtRisk, 3);
      const losses = report.findings.filter(({ severity }) => severity === "loss");
      const found = losses.map((finding) => finding.found ?? "");
      assert.deepEqual(
        losses.map(({ rule }) => rule),
        ["queue-deleted", "bindings-of-others-gone"],
        `queues that are empty lose nothing: ${[...new Set(found)].join("; ")}`,
      );
      assert.match(found[1] as string, /queue Sales is bound to orders\S+ by "[*.]+Forgotten"/);
      assert.match(found[0] as string, /3 messages now; at most 3072 s old; the last is due by \d{4}-.*Z/);
      const rules = new Set(report.findings.map(({ rule }) => rule));
      assert.ok(rules.has("no-consumer") && rules.has("foreign-binding"), output);

      const [danger] = report.findings;
      const accept = ["--fail-on", "loss", "--accept", danger?.parent as string, "--because", "they are tests"];
      const accepted = await stack.review(...asked, ...accept);
      assert.equal(accepted.code, 0);
      assert.equal(accepted.report?.findings.find(({ urn }) => urn === danger?.urn)?.accepted, "they are tests");
      const refused = await stack.review("--accept", danger?.urn as string);
      assert.equal(refused.code, 2);
      assert.match(refused.output, /each --accept URN needs a reason/);
    });

    it("knows drift, down to the argument that somebody changed", async () => {
      const stack = await TestStack.create(broker(), vhost);
      await stack.bringUp(before);
      const channel = await openChannel(broker(), vhost);
      await channel.unbindQueue("Billing", network.deliveryExchange, "*.*.*.*.*.*.Billing");
      const gone = await stack.review("--refresh");
      assert.equal(gone.report?.verdict, "safe", gone.output);
      assert.deepEqual(linesOf(gone.report as Review), ["endpoint Billing 1 binding created"]);

      const { name, arguments: values } = (await broker().management.queues(vhost)).find(
        (queue) => queue.name === "work.retry-60000",
      ) as { name: string; arguments: Record<string, unknown> };
      await channel.deleteQueue(name);
      await channel.assertQueue(name, { durable: true, arguments: { ...values, "x-message-ttl": 5000 } });
      const changed = await stack.review("--refresh");
      assert.equal(changed.report?.verdict, "loss", changed.output);
      assert.ok(causesOf(changed.report as Review).includes("x-message-ttl 5000 → 60000"), changed.output);
    });

    // Without --refresh, the engine asks nobody: a queue that was gone was "nothing changes", and stayed away.
    it("knows what of the stack is gone, by the program's warning and from the broker", async () => {
      const stack = await TestStack.create(broker(), vhost);
      await stack.bringUp(before);
      const channel = await openChannel(broker(), vhost);
      await channel.deleteQueue("work.retry-60000");
      const alone = await stack.review();
      assert.equal(alone.report?.verdict, "care", alone.output);
      const warned = alone.report?.findings.find(({ rule }) => rule === "program-warned");
      assert.match(
        warned?.entity ?? "none",
        /queue work\.retry-60000 is in this stack's state, and not in vhost .* pulumi up --refresh/,
      );
      const asked = await stack.review("--management", broker().management.url);
      const missing = asked.report?.findings.filter(({ rule }) => rule === "missing-on-broker") ?? [];
      assert.ok(
        missing.some(({ entity }) => entity === "queue work.retry-60000"),
        asked.output,
      );
      await stack.up("--refresh");
      const again = await stack.review("--management", broker().management.url);
      assert.equal(again.report?.verdict, "nothing", again.output);
    });

    it("knows a preview that failed, and, once what it says is mended, a first update of an empty stack", async () => {
      const stack = await TestStack.create(broker(), vhost);
      stack.configure({ ...before, network: { ...shape, radix: 3 } });
      const failed = await stack.review("--fail-on", "care");
      assert.equal(failed.code, 1, failed.output);
      assert.equal(failed.report?.findings[0]?.rule, "preview-failed", failed.output);
      assert.match(failed.report?.findings[0]?.entity ?? "", /radix: 3 is not allowed/);
      const unasked = await stack.review();
      assert.equal(unasked.code, 3, "what was not reviewed is not passed");
      assert.equal(unasked.report?.verdict, "unknown", unasked.output);
      stack.configure(before);
      const first = await stack.review();
      assert.equal(first.report?.verdict, "safe", first.output);
      assert.match(
        linesOf(first.report as Review).join("\n"),
        /network orders\.r4x6u10 is declared: radix 4, 6 levels of 10ms/,
      );
    });

    it("passes nothing while the broker is down, and says so in the comment", async () => {
      const stack = await TestStack.create(broker(), vhost);
      stack.configure({ ...before, broker: { managementUrl: "http://127.0.0.1:4" } });
      const { code, report, output } = await stack.review("--fail-on", "loss");
      assert.equal(code, 3, output);
      assert.equal(report?.verdict, "unknown", output);
      const comment = await stack.reviewAsText("markdown");
      assert.equal(comment.code, 3, comment.output);
      assert.match(comment.output, /## ⛔ Could not be reviewed: stack <code>test<\/code>[\s\S]*127\.0\.0\.1/);
    });

    it("believes no broker that has nothing of what the state has", async () => {
      const stack = await TestStack.create(broker(), vhost);
      await stack.bringUp(before);
      await broker().management.untilCounted(vhost, 0);
      stack.configure({ ...before, workQueues: [] });
      const right = await stack.review("--management", broker().management.url);
      assert.equal(right.report?.verdict, "care", right.output);
      const wrong = await stack.review("--management", `${broker().management.url}/nothing`);
      assert.equal(wrong.code, 3, wrong.output);
      assert.equal(wrong.report?.verdict, "loss", wrong.output);
    });

    it("keeps what the network parks: a policy that goes is a loss, and one that stays is none, though its limit is back", async () => {
      for (const [removal, verdict] of [
        ["delete", "loss"],
        ["retain", isNewest ? "care" : "safe"],
      ] as const) {
        const stack = await TestStack.inNewVhost(broker());
        await stack.bringUp({ ...before, removal });
        stack.configure({ ...before, removal, network: { ...shape, parking: false } });
        const { report, output } = await stack.review();
        assert.equal(report?.verdict, verdict, output);
        const rules = report?.findings.map(({ rule }) => rule) ?? [];
        assert.equal(rules.includes("policy-protection-gone"), removal === "delete", output);
      }
    });

    // "The network parks it", of an endpoint whose queue got each message.
    it("knows that an endpoint gets the same by its queue as by its client's exchange, and back", async () => {
      const common = { network: { preset: "nservicebus" }, errorQueues: ["error"] };
      const { deliveryExchange, parkingQueue } = delayNetwork({ preset: "nservicebus" });
      const [byClient, byQueue] = [{ client: "nservicebus" }, { createQueue: true }];
      const stack = await TestStack.inNewVhost(broker());
      const declare = (more: object): void => stack.configure({ ...common, endpoints: [{ name: "Sales", ...more }] });
      declare(byClient);
      await stack.up();
      const channel = await openChannel(broker(), stack.vhost);
      let published = 0;
      for (const [more, ...expected] of [[byQueue, "exchange-gone"], [byClient]] as const) {
        declare(more);
        const { report, output } = await stack.review("--management", broker().management.url);
        const told = report?.findings.filter(({ severity }) => severity !== "note").map(({ rule }) => rule);
        assert.deepEqual(told, expected, output);
        let isMade = false;
        const made = stack.up().finally(() => (isMade = true));
        for (; !isMade; published++) {
          channel.publish(deliveryExchange, `${"0.".repeat(28)}Sales`, Buffer.from(""), { persistent: true });
          await channel.waitForConfirms();
        }
        await made;
      }
      const counts = ["Sales", parkingQueue as string].map(
        async (name) => (await channel.checkQueue(name)).messageCount,
      );
      assert.deepEqual(await Promise.all(counts), [published, 0]);
    });

    it("knows a rename without an alias as the deletion of what is live, and one with an alias as nothing", async () => {
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "renamed"));
      stack.configure({ network: { ...shape, name: "before" } });
      await stack.up();
      stack.configure({ network: { ...shape, name: "after", alias: "before" } });
      const alias = await stack.review();
      assert.ok(["nothing", "safe"].includes(alias.report?.verdict ?? ""), alias.output);
      stack.configure({ network: { ...shape, name: "after" } });
      const { report, output } = await stack.review();
      assert.equal(report?.verdict, "loss", output);
      const live = report?.findings.filter(({ rule }) => rule === "live-deleted") ?? [];
      const queues = (await broker().management.queues(vhost)).map(({ name }) => name);
      assert.deepEqual(live.flatMap(({ queue }) => queue?.name ?? []).sort(), queues.sort());

      const channel = await openChannel(broker(), vhost);
      await createDelayPublisher(channel, network).publish("Sales", "x", { delayMs: 40_000 });
      const { code, output: refusal } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0, "what is foretold is refused");
      assert.match(
        refusal.replaceAll(/\s+/g, " "),
        /is in this stack's state as before-.*rename a component by aliases/,
      );
      assert.deepEqual((await broker().management.queues(vhost)).map(({ name }) => name).sort(), queues.sort());
    });
  });

  function causesOf({ findings }: Review): string[] {
    return findings.flatMap(({ causes }) =>
      causes.map(({ property, before: one, after }) => `${property} ${one} → ${after}`),
    );
  }

  function linesOf({ changes }: Review): string[] {
    return changes.map(({ subject, name, predicate }) => `${subject} ${name} ${predicate}`);
  }
});
