import { strict as assert } from "node:assert";
import type { Socket } from "node:net";
import * as amqp from "amqplib";
import { TestBroker, onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { restoreState } from "../support/recordedState";
import { StackConfig, Step, TestStack } from "../support/stack";

/** Longer than any test, so that what waits in a queue is still there. */
const HOUR_MS = 3_600_000;

/** What the state in fixtures/state-0.1.0.json was recorded of, by version 0.1.0, on RabbitMQ 4.3: every kind of queue that components declare. */
const recorded: StackConfig = {
  removal: "retain",
  network: { preset: "custom", prefix: "orders", radix: 2, levels: 2, unitMs: HOUR_MS },
  endpoints: [
    { name: "Sales", createQueue: true, retries: true },
    { name: "Europe.Sales", createQueue: true },
  ],
  retryIntervals: { intervals: ["5h"], queueType: "quorum" },
  workQueues: [{ queue: "work", delays: ["2h"] }],
  holdQueues: { delays: ["3h"], destinations: [{ exchange: "", routingKey: "Sales" }], queueType: "quorum" },
  delayedRetryQueues: [
    { queue: "counted", minMs: 5000 },
    { queue: "counted-by-policy", minMs: 5000, settings: "policy" },
  ],
  delayedStore: { forwards: [{ exchange: "orders.delayed", delivery: "orders.due" }] },
};
/** Their delivery limit is what they are for. */
const COUNTED = ["counted", "counted-by-policy"];
/** More than the 20 after which RabbitMQ 4 gives a message up. */
const CRASHES = 25;

/** The delivery after which it is given up when that is not settled either. */
const LAST_DELIVERY = 21;
const RETURN_LIMIT_MS = 60_000;

interface FoundQueue {
  name: string;
  type: string;
  messages: number;
  policy: string | null;
  /** Left out while nobody has counted the queue. */
  effective_policy_definition?: Record<string, unknown>;
  arguments: Record<string, unknown>;
}

function kindsOf(steps: Step[]): string[] {
  return [...new Set(steps.map(({ op, urn }) => `${op} ${urn.split("$").at(-1)?.split("::")[0]}`))].sort();
}

describe("delivery limits", () => {
  onEachBroker((broker, { isNewest }) => {
    const queuesOf = (vhost: string): Promise<FoundQueue[]> => broker().management.get(`queues/${vhost}`);

    /** The management API shows a new policy some seconds later than it applies. */
    async function limitOf(vhost: string, name: string): Promise<unknown> {
      const end = Date.now() + RETURN_LIMIT_MS;
      for (;;) {
        const queue = (await queuesOf(vhost)).find((other) => other.name === name);
        const limit = queue?.effective_policy_definition?.["delivery-limit"];
        if (limit !== undefined || Date.now() > end) return limit;
      }
    }

    if (!isNewest) {
      it("before RabbitMQ 4.0 there is none, so nothing is declared against it", async () => {
        const stack = await TestStack.inNewVhost(broker());
        const { delayedRetryQueues, ...older } = recorded;
        assert.ok(delayedRetryQueues);
        stack.configure({ ...older, removal: "delete" });
        await stack.up();
        const policies = await broker().management.get<{ name: string }[]>(`policies/${stack.vhost}`);
        assert.deepEqual(
          policies.map(({ name }) => name),
          ["mt-delay-parking", "orders.r2x2u3600000.parking"],
        );
        for (const queue of await queuesOf(stack.vhost)) assert.equal(queue.policy ?? undefined, undefined, queue.name);
      });
      return;
    }

    it("a stack of 0.1.0 gets additions alone: no queue is replaced, and what waits in its queues still waits", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const { vhost } = stack;
      await restoreState(broker(), stack, "state-0.1.0.json");
      const before = await queuesOf(vhost);
      const channel = await openChannel(broker(), vhost);
      for (const { name } of before) channel.sendToQueue(name, Buffer.from(name), { persistent: true });
      await channel.waitForConfirms();

      stack.configure(recorded);
      const planned = await stack.preview();
      assert.deepEqual(kindsOf(planned.filter(({ op }) => op !== "create")), []);
      // Policies, claims of the endpoints, and the parking of what comes back from interval queues to no queue.
      const others = planned.filter(({ urn }) => !urn.includes("policy:Policy"));
      const added = others.filter(({ urn }) => !/owner-of-endpoint|mt-delay-parking/.test(urn)).map(({ urn }) => urn);
      assert.deepEqual(added, []);
      const { report, output } = await stack.review();
      assert.notEqual(report?.verdict, "loss", output);
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);

      const after = await queuesOf(vhost);
      assert.deepEqual(
        after.map(({ name }) => name).sort(),
        [...before.map(({ name }) => name), "mt-delay-parking"].sort(),
      );
      const kept = after.filter(({ name }) => name !== "mt-delay-parking");
      for (const queue of kept) {
        const old = before.find(({ name }) => name === queue.name);
        assert.deepEqual(queue.arguments, old?.arguments, queue.name);
        assert.equal((await channel.checkQueue(queue.name)).messageCount, 1, `${queue.name} still has its message`);
        if (COUNTED.includes(queue.name)) continue;
        assert.equal(await limitOf(vhost, queue.name), -1, queue.name);
      }
      const names = kept.map(({ name }) => name).filter((name) => !COUNTED.includes(name));
      for (let crash = 1; crash <= CRASHES; crash++) await crashWhileConsuming(broker(), vhost, names);
      for (const name of names) assert.equal((await untilReturned(channel, name))?.content.toString(), name);
    });

    it("no message is lost or moved by consumers that crash; without the policy it is", async function () {
      const stack = await TestStack.inNewVhost(broker());
      const { vhost } = stack;
      stack.configure(recorded);
      await stack.up();
      const channel = await openChannel(broker(), vhost);
      const unprotected = "unprotected";
      await channel.assertQueue(unprotected, { durable: true, arguments: { "x-queue-type": "quorum" } });
      const names = (await queuesOf(vhost)).map(({ name }) => name).filter((name) => !COUNTED.includes(name));
      assert.ok(names.length >= 12, "every kind of queue");
      for (const name of names) channel.sendToQueue(name, Buffer.from(`for ${name}`), { persistent: true });
      await channel.waitForConfirms();

      const protectedOnes = names.filter((name) => name !== unprotected);
      for (let crash = 1; crash <= CRASHES; crash++) {
        await crashWhileConsuming(broker(), vhost, crash <= LAST_DELIVERY ? names : protectedOnes);
      }

      for (const name of protectedOnes) {
        const found = await untilReturned(channel, name);
        assert.equal(found?.content.toString(), `for ${name}`, `${name} after ${CRASHES} crashes`);
        assert.equal(await channel.get(name), false, `${name} has nothing else`);
      }
      assert.equal(await channel.get(unprotected), false, "RabbitMQ 4 gives up a message after 20 returns");
    });

    it("a queue that NServiceBus consumes has the limit of 100,000 with which it starts, by its policy and no argument", async () => {
      const stack = await TestStack.inNewVhost(broker());
      stack.configure({ network: { preset: "nservicebus" }, endpoints: [{ name: "Sales+1", createQueue: true }] });
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      await limitOf(stack.vhost, "Sales+1");
      const queue = (await queuesOf(stack.vhost)).find(({ name }) => name === "Sales+1");
      assert.deepEqual(queue?.arguments, { "x-queue-type": "quorum" });
      assert.equal(queue?.policy, "nsb.Sales+1.delivery-limit");
      assert.deepEqual(queue?.effective_policy_definition, { "delivery-limit": 100_000 });
      const policy = await broker().management.get<Record<string, unknown>>(
        `policies/${stack.vhost}/${encodeURIComponent("nsb.Sales+1.delivery-limit")}`,
      );
      assert.equal(policy.pattern, "^Sales\\+1$");
      assert.equal(policy["apply-to"], "quorum_queues");
      assert.equal(policy.priority, 0);
      const channel = await openChannel(broker(), stack.vhost);
      channel.sendToQueue("Sales+1", Buffer.from("x"), { persistent: true });
      await channel.waitForConfirms();
      for (let crash = 1; crash <= CRASHES; crash++) await crashWhileConsuming(broker(), stack.vhost, ["Sales+1"]);
      assert.ok(await untilReturned(channel, "Sales+1"));
    });

    it("a classic queue counts nothing, and gets no policy", async () => {
      const stack = await TestStack.inNewVhost(broker());
      stack.configure({
        network: recorded.network,
        endpoints: [{ name: "Old", createQueue: true, queueType: "classic" }],
      });
      await stack.up();
      const queue = (await queuesOf(stack.vhost)).find(({ name }) => name === "Old");
      assert.equal(queue?.policy ?? undefined, undefined);
    });
  });
});

/** Takes a message of each queue and settles none; the connection ends without a word, as that of a killed process. */
async function crashWhileConsuming({ node }: TestBroker, vhost: string, queues: string[]): Promise<void> {
  const connection = await amqp.connect(`${node.amqpUrl}/${vhost}`);
  connection.on("error", () => undefined);
  const channel = await connection.createChannel();
  channel.on("error", () => undefined);
  for (const queue of queues) {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${queue} has nothing to deliver`)), RETURN_LIMIT_MS);
      const delivered = (): void => {
        clearTimeout(timer);
        resolve();
      };
      channel.consume(queue, delivered, { noAck: false }).catch(reject);
    });
  }
  const { stream } = (connection as unknown as { connection: { stream: Socket } }).connection;
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.destroy();
  await closed;
}

/** What a lost consumer had comes back when the broker has noticed. */
async function untilReturned(channel: amqp.Channel, queue: string): Promise<amqp.GetMessage | undefined> {
  const end = Date.now() + RETURN_LIMIT_MS;
  while (Date.now() < end) {
    const found = await channel.get(queue, { noAck: true });
    if (found !== false) return found;
  }
  return undefined;
}
