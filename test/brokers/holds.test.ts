import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import type { ConfirmChannel, ConsumeMessage } from "amqplib";
import {
  HoldOptions,
  HoldQueueUse,
  MessageRefusedError,
  RetryConsumer,
  RetryPolicy,
  consumeWithRetries,
  dueHeader,
  holdFor,
  PublishChannel,
  throughHoldsOnDemand,
} from "@rabbitmq-delay/publish";
import { holdQueues, planRetry } from "@rabbitmq-delay/topology";
import { TestBroker, crashAndRestart, onEachBroker, ownTestBroker, restart } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { assertNotEarly } from "../support/clock";
import { rounds } from "../support/length";
import { clients } from "../support/clients";
import { amqplibFor, connect, openPublishChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { Receiver } from "../support/receive";

const sales = { exchange: "sales", routingKey: "eu.paid" };
/** Short enough to see its end, and long enough for a busy broker's confirm, which has to come sooner. */
const lease = { leaseMs: 4000, confirmTimeoutMs: 3500 };
/** So short that publishers meet its end. */
const shortLease = { leaseMs: 1000, confirmTimeoutMs: 950 };

describe("holdFor", () => {
  onEachBroker((broker) => {
    for (const [library, open] of clients) {
      it(`holds messages for their delay and destination, with ${library}`, async () => {
        const { vhost, receiver } = await setUp(broker());
        const client = await open(broker(), `${broker().node.amqpUrl}/${vhost}`);
        afterThisTest(() => client.close());
        const uses: HoldQueueUse[] = [];
        const prefix = `hold-${randomUUID()}`;
        const options = { prefix, onQueue: (use: HoldQueueUse) => uses.push(use) };
        const message = { body: { total: 5 }, type: "invoice", headers: { tenant: "a" }, messageId: "m-1" };
        const receipt = await holdFor(client.channel, { delayMs: 80, ...sales }, message, options);
        await holdFor(client.channel, { delayMs: 80, ...sales }, message, options);
        await holdFor(client.channel, { delayMs: 10, exchange: "", routingKey: "sink" }, { body: "x" }, options);
        const arrivals = await receiver.until(3);
        const first = arrivals.filter(({ message: { fields } }) => fields.routingKey === "eu.paid")[0];
        assert.equal(first?.message.content.toString(), '{"total":5}');
        assert.equal(first?.message.properties.type, "invoice");
        assert.equal(first?.message.properties.headers?.tenant, "a");
        assert.equal(first?.message.properties.headers?.[dueHeader], receipt.dueAt.toISOString());
        assertNotEarly("the message", first?.atMs ?? 0, receipt.dueAt.getTime());
        assert.equal(receipt.messageId, "m-1");
        assert.deepEqual(uses.map(({ queue, isNew }) => [queue, isNew]).slice(1), [
          [receipt.queue, false],
          [`${prefix}.10+600000.0::sink`, true],
        ]);
      });
    }

    for (const [library, open] of clients) {
      // A message for an exchange or a queue that was mistyped was confirmed as held, and dropped when it was due.
      it(`refuses a destination that is not there, on a channel that stays open, with ${library}`, async () => {
        const { vhost, channel, receiver } = await setUp(broker());
        const client = await open(broker(), `${broker().node.amqpUrl}/${vhost}`);
        afterThisTest(() => client.close());
        const hold = (exchange: string, routingKey: string, options?: HoldOptions): Promise<unknown> =>
          holdFor(client.channel, { delayMs: 20, exchange, routingKey }, { body: "x" }, options);
        const isMissing = (property: string) => (error: Error) =>
          error instanceof MessageRefusedError && error.property === property && /that exists/.test(error.message);
        const before = await broker().management.queues(vhost);
        await assert.rejects(hold("slaes", "eu.paid"), isMissing("exchange"));
        await assert.rejects(hold("", "sinc"), isMissing("routingKey"));
        const declared = holdQueues({ delays: [20], destinations: [{ exchange: "slaes", routingKey: "eu.paid" }] });
        await assert.rejects(hold("slaes", "eu.paid", { declared }), isMissing("exchange"));
        assert.deepEqual(
          (await broker().management.queues(vhost)).map(({ name }) => name),
          before.map(({ name }) => name),
        );
        // What is declared later is found, and what was found is not asked for again.
        await channel.assertExchange("slaes", "topic");
        await channel.bindQueue("sink", "slaes", "eu.*");
        const many = Array.from({ length: 50 }, () => hold("slaes", "eu.paid"));
        await Promise.all([...many, hold("", "sink"), hold("", "sink")]);
        await receiver.until(52);
      });
    }

    for (const [library, open] of clients) {
      // Each destination was looked at over a channel of its own, and a message was sent unchecked if no channel was left.
      it(`refuses many destinations that are not there at once, on a connection with two channels, with ${library}`, async () => {
        const { vhost } = await setUp(broker());
        const client = await open(broker(), `${broker().node.amqpUrl}/${vhost}?channelMax=2&channel_max=2`);
        afterThisTest(() => client.close());
        const holds = Array.from({ length: 30 }, (_, index) =>
          holdFor(client.channel, { delayMs: 1, exchange: "", routingKey: `gone${index}` }, { body: "x" }),
        );
        await Promise.all(holds.map((held) => assert.rejects(held, /routingKey: "gone\d+" .*a queue that exists/)));
        await holdFor(client.channel, { delayMs: 1, exchange: "", routingKey: "sink" }, { body: "x" });
      });
    }

    for (const [library, open] of clients) {
      // The broker closes the connection that opens a channel beyond the limit of its user: no message was held.
      it(`holds many messages at once for a user who may have two channels, with ${library}`, async () => {
        const { vhost, channel } = await setUp(broker());
        const { user, node } = await addUser(broker(), vhost, { configure: ".*", write: ".*", read: ".*" });
        await broker().management.call("PUT", `user-limits/${user}/max-channels`, { value: 2 });
        const client = await open(broker(), `${node.amqpUrl}/${vhost}`);
        afterThisTest(() => client.close());
        const names = Array.from({ length: 20 }, (_, index) => `q${index}`);
        for (const name of names) await channel.assertQueue(name, { durable: true });
        const hold = (routingKey: string): Promise<unknown> =>
          holdFor(client.channel, { delayMs: 1, exchange: "", routingKey }, { body: "x" });
        await Promise.all([
          ...names.map(hold),
          assert.rejects(hold("gone"), /routingKey: "gone" .*a queue that exists/),
        ]);
        await hold("sink");
      });
    }

    // Each channel had a second one, which stayed open for a moment, and each start of a consumer a further one.
    it("holds over two channels, and starts consumers, for a user who may have three channels", async () => {
      const { vhost, channel } = await setUp(broker());
      for (const name of ["work", "work_error"]) await channel.assertQueue(name, { durable: true });
      const { user, node } = await addUser(broker(), vhost, { configure: ".*", write: ".*", read: ".*" });
      await broker().management.call("PUT", `user-limits/${user}/max-channels`, { value: 3 });
      const connection = await connect({ ...broker(), node }, vhost, { library: amqplibFor(broker()) });
      const channels = [await connection.createConfirmChannel(), await connection.createConfirmChannel()];
      const options = {
        policy: RetryPolicy.interval(1, 40),
        mechanism: throughHoldsOnDemand(),
        errorQueue: "work_error",
      };
      for (const one of channels) await holdFor(one, { delayMs: 1, exchange: "", routingKey: "sink" }, { body: "x" });
      const start = (one: ConfirmChannel): Promise<RetryConsumer> =>
        consumeWithRetries(one, "work", () => undefined, options);
      for (const consumer of await Promise.all([...channels, ...channels].map(start))) await consumer.stop();
    });

    it("renews the lease with each message; the queue goes when it is over", async () => {
      const { vhost, channel, receiver } = await setUp(broker());
      const { queue } = await holdFor(channel, { delayMs: 100, ...sales }, { body: "0" }, lease);
      // A queue that went and came again would not have it.
      await channel.bindQueue(queue, "amq.fanout", "mark");
      const end = Date.now() + 1.5 * lease.leaseMs;
      let sent = 1;
      for (; Date.now() < end; sent++) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        await holdFor(channel, { delayMs: 100, ...sales }, { body: String(sent) }, lease);
      }
      const path = `queues/${vhost}/${encodeURIComponent(queue)}/bindings`;
      const bindings = await broker().management.get<{ source: string }[]>(path);
      assert.ok(bindings.some(({ source }) => source === "amq.fanout"));
      await receiver.until(sent);
      while ((await broker().management.queues(vhost)).some(({ name }) => name === queue))
        await new Promise((resolve) => setTimeout(resolve, 50));
    });

    it("loses nothing when publishers come just as the lease ends", async () => {
      const { vhost, receiver } = await setUp(broker());
      const [sent, unsure] = [new Set<string>(), new Set<string>()];
      const hold = { delayMs: 20, exchange: "", routingKey: "sink" };
      // Few declares of thousands come at the very moment.
      const queues = rounds(2, 60);
      const publishThroughout = async (prefix: string): Promise<void> => {
        const open = (): Promise<ConfirmChannel> => openPublishChannel(broker(), vhost);
        const channels = await Promise.all([open(), open(), open()]);
        // The queue goes 1020 ms after its last declare; each round comes a little earlier or later than that.
        for (let round = 0; round < rounds(12, 120); round++) {
          const publishers = channels.map(async (publisher, index) => {
            await new Promise((resolve) => setTimeout(resolve, index * 3));
            const body = `${prefix} ${round} ${index}`;
            // On a busy machine the broker's answer may come after the lease; then nobody knows.
            const isSent = await holdFor(publisher, hold, { body }, { ...shortLease, prefix }).then(
              () => true,
              (error: Error) => {
                if (error.name !== "PublishTimeoutError") throw error;
                return false;
              },
            );
            (isSent ? sent : unsure).add(body);
          });
          await Promise.all(publishers);
          await new Promise((resolve) => setTimeout(resolve, 1014 + (round % 12)));
        }
      };
      await Promise.all(Array.from({ length: queues }, (_, index) => publishThroughout(`end-${index}`)));
      const arrived = (): Set<string> => new Set(receiver.arrivals.map(({ message }) => message.content.toString()));
      for (let now = arrived(); [...sent].some((body) => !now.has(body)); now = arrived())
        await receiver.until(receiver.arrivals.length + 1);
      assert.ok([...arrived()].every((body) => sent.has(body) || unsure.has(body)));
      assert.ok(sent.size > unsure.size, `${unsure.size} publishers were not answered in time`);
    });

    it("publishes again when somebody deletes the queue in between", async () => {
      const { vhost, channel, receiver } = await setUp(broker());
      const hold = { delayMs: 50, exchange: "", routingKey: "sink" };
      let deletions = 0;
      // Beside the channel the queue is declared, too, so it goes between the last declare and the message.
      const cut = new Proxy(channel, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (name !== "publish") return typeof value === "function" ? (value.bind(target) as unknown) : value;
          return (...message: Parameters<typeof channel.publish>) => {
            const queue = message[1];
            const isGone =
              deletions++ > 0
                ? Promise.resolve()
                : broker().management.call("DELETE", `queues/${vhost}/${encodeURIComponent(queue)}`);
            void isGone.then(() => target.publish(...message));
            return true;
          };
        },
      });
      await holdFor(cut, hold, { body: "x" });
      await receiver.until(1);
      assert.equal(deletions, 2);
    });

    it("another vhost's hold queues, and those whose lease is over, are neither known nor counted", async () => {
      const uses: HoldQueueUse[] = [];
      const prefix = `own-${randomUUID()}`;
      const options = { ...lease, prefix, maxQueues: 1, onQueue: (use: HoldQueueUse) => uses.push(use) };
      const hold = { delayMs: 20, exchange: "", routingKey: "sink" };
      const first = await setUp(broker());
      const { queue } = await holdFor(first.channel, hold, { body: "1" }, options);
      await assert.rejects(holdFor(first.channel, { ...hold, delayMs: 21 }, { body: "x" }, options), /maxQueues: /);
      // A service with a second broker was refused its first hold queue there, because of those that it had on this one.
      const second = await setUp(broker());
      await holdFor(second.channel, { ...hold, delayMs: 21 }, { body: "2" }, options);
      await holdFor(second.channel, { ...hold, delayMs: 21 }, { body: "3" }, options);
      while ((await broker().management.queues(first.vhost)).some(({ name }) => name === queue))
        await new Promise((resolve) => setTimeout(resolve, 20));
      await holdFor(first.channel, { ...hold, delayMs: 21 }, { body: "4" }, options);
      assert.deepEqual(
        uses.map(({ isNew, queues }) => [isNew, queues]),
        [
          [true, 1],
          [true, 1],
          [false, 1],
          [true, 1],
        ],
      );
      await Promise.all([first.receiver.until(2), second.receiver.until(2)]);
    });

    it("holds a message that was held before, with all its headers, over two hold queues: it is no loop, and not dropped", async () => {
      const { vhost, channel } = await setUp(broker());
      await channel.assertQueue("once", { durable: true });
      const once = await Receiver.on(await openPublishChannel(broker(), vhost), ["once"]);
      const { queue } = await holdFor(channel, { delayMs: 10, exchange: "", routingKey: "once" }, { body: "0" });
      let { message } = (await once.until(1))[0] as { message: ConsumeMessage };
      for (let round = 1; round <= 3; round++) {
        const { headers } = message.properties;
        assert.ok(headers?.["x-death"] !== undefined, "the broker's account of the round before");
        await holdFor(channel, { delayMs: 20, exchange: "", routingKey: queue }, { body: message.content, headers });
        message = ((await once.until(round + 1))[round] as { message: ConsumeMessage }).message;
      }
    });

    it("does not listen to its channel again for each further timeout", async () => {
      const { channel, receiver } = await setUp(broker());
      const hold = { delayMs: 1, exchange: "", routingKey: "sink" };
      const listeners = (): number[] => ["close", "return", "drain"].map((event) => channel.listenerCount(event));
      await holdFor(channel, hold, { body: "0" }, { confirmTimeoutMs: 30_000 });
      const before = listeners();
      for (let more = 1; more <= 12; more++)
        await holdFor(channel, hold, { body: String(more) }, { confirmTimeoutMs: 30_000 + more });
      assert.deepEqual(listeners(), before);
      await receiver.until(13);
    });

    for (const [library, open] of clients) {
      // The promise said that the channel closed; only the connection's event named the limit.
      it(`names the limit if a connection may have one channel alone, with ${library}`, async () => {
        const { vhost } = await setUp(broker());
        const { user, node } = await addUser(broker(), vhost, { configure: ".*", write: ".*", read: ".*" });
        await broker().management.call("PUT", `user-limits/${user}/max-channels`, { value: 1 });
        const client = await open(broker(), `${node.amqpUrl}/${vhost}`);
        afterThisTest(() => client.close().catch(() => undefined));
        await assert.rejects(
          holdFor(client.channel, { delayMs: 1, exchange: "", routingKey: "sink" }, { body: "x" }),
          /^MessageRefusedError: channel: .*second channel.*limit of \(?1\b.*; allow at least 2 channels: max-channels of the user/,
        );
        // The client's own limit ends nothing: the message is held, and its destination is not looked at.
        const narrow = await open(broker(), `${broker().node.amqpUrl}/${vhost}?channelMax=1&channel_max=1`);
        afterThisTest(() => narrow.close());
        await holdFor(narrow.channel, { delayMs: 1, exchange: "", routingKey: "sink" }, { body: "x" });
      });
    }

    it("a broker killed while messages are held loses none", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const vhost = await own.management.createVhost();
      const declaring = await openPublishChannel(own, vhost, { isExpectedToBreak: true });
      await declaring.assertQueue("sink", { durable: true, arguments: { "x-queue-type": "classic" } });
      // A message that leaves its queue as the broker ends can be lost, so all are held for longer than it takes to kill it.
      const hold = { delayMs: 20_000, exchange: "", routingKey: "sink" };
      const bodies = Array.from({ length: 300 }, (_, index) => String(index));
      await holdFor(declaring, hold, { body: bodies[0] as string });
      while ((await declaring.checkQueue("sink")).messageCount === 0) await new Promise((go) => setTimeout(go, 100));
      // A broker that is killed in a queue's first seconds may forget the queue, which nobody promises to prevent.
      await restart(own);
      const channel = await openPublishChannel(own, vhost, { isExpectedToBreak: true });
      await Promise.all(bodies.slice(1).map((body) => holdFor(channel, hold, { body })));
      await crashAndRestart(own);
      const receiver = await Receiver.on(await openPublishChannel(own, vhost), ["sink"]);
      const arrivals = await receiver.until(bodies.length);
      assert.deepEqual(new Set(arrivals.map(({ message }) => message.content.toString())), new Set(bodies));
    });

    it("uses what a stack declared, without the right to declare", async () => {
      const { vhost, channel, receiver } = await setUp(broker());
      const declared = holdQueues({ delays: [30, 60], destinations: [sales], prefix: "own", queueType: "quorum" });
      await declareOverAmqp(channel, planRetry(declared));
      const { node } = await addUser(broker(), vhost, { configure: "^$", write: "^amq\\.default$", read: "^$" });
      const restricted = await (await connect({ ...broker(), node }, vhost)).createConfirmChannel();
      await holdFor(restricted, { delayMs: 60, ...sales }, { body: "x" }, { declared });
      await receiver.until(1);
      await assert.rejects(holdFor(restricted, { delayMs: 70, ...sales }, { body: "x" }, { declared }), /30, 60 ms/);
      await assert.rejects(
        holdFor(restricted, { delayMs: 60, ...sales }, { body: "x" }, { declared, leaseMs: 5 }),
        /leaseMs: the declared hold queues say it/,
      );
    });

    it("refuses what could lose a message, or make too many queues", async () => {
      const { channel } = await setUp(broker());
      const hold = { delayMs: 50, ...sales };
      const refuses = (
        message: RegExp,
        options: HoldOptions = {},
        given = {},
        on: PublishChannel = channel,
      ): Promise<void> => assert.rejects(holdFor(on, { ...hold, ...given }, { body: "x", ...given }, options), message);
      await refuses(/leaseMs: 250 .*longer than confirmTimeoutMs, 250/, { leaseMs: 250, confirmTimeoutMs: 250 });
      await refuses(/leaseMs: 600 .*quorum queue's lease/, { leaseMs: 600, queueType: "quorum" });
      await refuses(/delayMs: 0 is not allowed/, {}, { delayMs: 0 });
      await refuses(/expiration: the lower/, {}, { expiration: "5" });
      await refuses(/routingKey: "é+" .*256 bytes/, {}, { routingKey: "é".repeat(128) });
      await refuses(/channel: it must be/, {}, {}, { publish: () => true } as never);
      const prefix = `cap-${randomUUID()}`;
      await refuses(/maxQueues: this connection has 0 hold queues/, { prefix, maxQueues: 0 });
      // Node's timers would fire at once: every message would be reported as unconfirmed, and published again.
      for (const confirmTimeoutMs of [2 ** 31, 0, Number.NaN, 1.5])
        await refuses(/confirmTimeoutMs: .* is not allowed; .*to 2147483647/, { confirmTimeoutMs, leaseMs: 2 ** 32 });
    });
  });

  interface SetUp {
    vhost: string;
    channel: ConfirmChannel;
    receiver: Receiver;
  }

  /** A user with some rights in a vhost until the end of the test, and the broker's node as that user reaches it. */
  async function addUser(
    { node, management }: TestBroker,
    vhost: string,
    rights: { configure: string; write: string; read: string },
  ): Promise<{ user: string; node: TestBroker["node"] }> {
    const user = `publisher-${randomUUID()}`;
    await management.call("PUT", `users/${user}`, { password: "secret", tags: "" });
    afterThisTest(() => management.call("DELETE", `users/${user}`));
    await management.call("PUT", `permissions/${vhost}/${user}`, rights);
    return { user, node: { ...node, amqpUrl: `amqp://${user}:secret@${new URL(node.amqpUrl).host}` } };
  }

  /** An exchange `sales` with a queue `sink`, from which all that arrives is collected. */
  async function setUp(broker: TestBroker): Promise<SetUp> {
    const vhost = await broker.management.createVhost();
    const channel = await openPublishChannel(broker, vhost);
    await channel.assertExchange("sales", "topic");
    await channel.assertQueue("sink", { durable: true });
    await channel.bindQueue("sink", "sales", "eu.*");
    const receiver = await Receiver.on(await openPublishChannel(broker, vhost), ["sink"]);
    return { vhost, channel, receiver };
  }
});
