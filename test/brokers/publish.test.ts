import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import * as amqp from "amqplib";
import {
  ChannelClosedError,
  MessageNackedError,
  MessageRefusedError,
  MessageReturnedError,
  createDelayPublisher,
  dueHeader,
  nserviceBusDelayHeader,
} from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { Client, clients } from "../support/clients";
import { connect } from "../support/connect";
import { Receiver } from "../support/receive";

describe("publishing", () => {
  const network = delayNetwork({ preset: "custom", prefix: "own", radix: 4, levels: 4, unitMs: 10 });
  const bare = delayNetwork({ preset: "custom", prefix: "bare", radix: 4, levels: 4, unitMs: 10, parking: false });

  onEachBroker((broker) => {
    for (const [library, open] of clients) {
      describe(`with ${library}`, () => {
        let vhost: string;
        let client: Client;
        let reader: amqp.ChannelModel;

        beforeEach(async () => {
          const { management, node } = broker();
          vhost = await management.createVhost();
          await management.declare(vhost, network, ["Billing"]);
          await management.declare(vhost, bare, ["Billing"]);
          client = await open(broker(), `${node.amqpUrl}/${vhost}`);
          afterThisTest(() => client.close());
          reader = await connect(broker(), vhost);
        });

        it("passes all properties through, persistent, with the due time", async () => {
          const receiver = await Receiver.on(await reader.createChannel(), ["Billing"]);
          const properties = {
            contentType: "text/plain",
            contentEncoding: "utf-8",
            priority: 3,
            correlationId: "c-1",
            replyTo: "answers",
            messageId: "m-1",
            timestamp: 1_700_000_000,
            type: "invoice",
            userId: "guest",
            appId: "shop",
          };
          const before = Date.now();
          const publisher = createDelayPublisher(client.channel, network);
          const receipt = await publisher.publish("Billing", "hello", {
            ...properties,
            headers: { tenant: "a" },
            delayMs: 35,
          });
          assert.equal(receipt.delayMs, 40);
          assert.ok(receipt.dueAt.getTime() >= before + 40);
          const [arrival] = await receiver.until(1);
          const { headers, deliveryMode, ...found } = arrival?.message.properties ?? {};
          for (const [name, value] of Object.entries(properties))
            assert.equal((found as Record<string, unknown>)[name], value, name);
          assert.equal(deliveryMode, 2);
          assert.equal(headers?.tenant, "a");
          assert.equal(headers?.[dueHeader], receipt.dueAt.toISOString());
          assert.equal(arrival?.message.content.toString(), "hello");
        });

        it("takes a due time, and the past is now", async () => {
          const publisher = createDelayPublisher(client.channel, network);
          const receiver = await Receiver.on(await reader.createChannel(), ["Billing"]);
          const at = new Date(Date.now() + 200);
          assert.equal((await publisher.publish("Billing", "past", { at: new Date(0) })).delayMs, 0);
          await publisher.publish("Billing", "future", { at });
          const arrivals = await receiver.until(2);
          assert.ok((arrivals[1]?.atMs ?? 0) >= at.getTime());
        });

        it("rejects a returned message where nothing is bound and nothing parks", async () => {
          const publisher = createDelayPublisher(client.channel, bare);
          await assert.rejects(publisher.publish("Nobody", "x", { delayMs: 0 }), MessageReturnedError);
          await publisher.publish("Billing", "x", { delayMs: 0 });
          assert.equal(publisher.unconfirmed, 0);
        });

        it("confirms a delayed message that nobody will take: whether somebody is bound shows when it is due", async () => {
          const receiver = await Receiver.on(await reader.createChannel(), ["Billing"]);
          const publisher = createDelayPublisher(client.channel, bare);
          const receipt = await publisher.publish("Nobody", "later", { delayMs: 30 });
          assert.equal(receipt.delayMs, 30);
          await publisher.publish("Billing", "after", { delayMs: 60 });
          const arrivals = await receiver.until(1);
          assert.deepEqual(
            arrivals.map(({ message }) => message.content.toString()),
            ["after"],
          );
        });

        it("parks what nobody takes instead, also without a delay", async () => {
          const receiver = await Receiver.on(await reader.createChannel(), [network.parkingQueue as string]);
          const publisher = createDelayPublisher(client.channel, network);
          await publisher.publish("Nobody", "now", { delayMs: 0 });
          await publisher.publish("Nobody", "later", { delayMs: 30 });
          const arrivals = await receiver.until(2);
          assert.deepEqual(
            arrivals.map(({ message }) => message.content.toString()),
            ["now", "later"],
          );
        });

        it("rejects what the broker nacks", async () => {
          const channel = await reader.createChannel();
          await channel.assertQueue("Full", {
            durable: true,
            arguments: { "x-max-length": 1, "x-overflow": "reject-publish" },
          });
          await channel.bindQueue("Full", network.deliveryExchange, `${"*.".repeat(4)}Full`);
          const publisher = createDelayPublisher(client.channel, network);
          await publisher.publish("Full", "fits", { delayMs: 0 });
          await assert.rejects(publisher.publish("Full", "does not", { delayMs: 0 }), MessageNackedError);
        });

        it("rejects when the channel closes, also what comes after", async () => {
          const missing = delayNetwork({ preset: "custom", prefix: "missing", radix: 2, levels: 2, unitMs: 10 });
          const publisher = createDelayPublisher(client.channel, missing);
          await assert.rejects(publisher.publish("Billing", "x", { delayMs: 10 }), ChannelClosedError);
          await assert.rejects(publisher.publish("Billing", "x", { delayMs: 10 }), ChannelClosedError);
        });

        it("loses none of many at once, with few of them on their way, and counts those that wait", async () => {
          const receiver = await Receiver.on(await reader.createChannel(), ["Billing"]);
          const publisher = createDelayPublisher(client.channel, network, { maxUnconfirmed: 10 });
          const publishing = Array.from({ length: 500 }, (_, index) =>
            publisher.publish("Billing", String(index), { delayMs: index % 100 }),
          );
          assert.equal(publisher.unconfirmed, 500);
          await Promise.all(publishing);
          assert.equal(publisher.unconfirmed, 0);
          await receiver.until(500);
          assert.equal(new Set(receiver.arrivals.map(({ message }) => message.content.toString())).size, 500);
        });
      });
    }

    // The process of a service that caught each rejection, but listened to no event of its channel, was ended by the broker's refusal.
    it("rejects with the broker's refusal, and ends no process whose channels nobody listens to", async () => {
      const { management, node } = broker();
      const [vhost, wrongVhost] = [await management.createVhost(), await management.createVhost()];
      await management.declare(vhost, network, ["Billing"]);
      const channel = await (await connect(broker(), vhost)).createConfirmChannel();
      await channel.assertQueue("Billing_error", { durable: true });
      channel.sendToQueue("Billing", Buffer.from("x"));
      await channel.waitForConfirms();
      const user = `bare-${randomUUID()}`;
      await management.call("PUT", `users/${user}`, { password: "secret", tags: "" });
      afterThisTest(() => management.call("DELETE", `users/${user}`));
      const rights = { configure: "^$", write: "^(amq\\.default|Billing_error)$", read: ".*" };
      await management.call("PUT", `permissions/${vhost}/${user}`, rights);
      const consumerUrl = `amqp://${user}:secret@${new URL(node.amqpUrl).host}/${vhost}`;
      const program = join(__dirname, "programs", "bareChannel.js");
      const urls = [consumerUrl, `${node.amqpUrl}/${wrongVhost}`];
      const { stdout } = await promisify(execFile)(process.execPath, [program, ...urls, JSON.stringify(network)]);
      const [published, ended, last] = stdout.trim().split("\n");
      assert.match(published ?? "", /^publish: the channel closed .*404 .*no exchange 'own\./i);
      assert.match(ended ?? "", /^ended: the channel that consumes Billing closed: .*403 /);
      assert.equal(last, "alive");
    });

    it("carries NServiceBus's own delay header", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const nservicebus = delayNetwork({ preset: "nservicebus" });
      await management.declare(vhost, nservicebus, ["Billing"]);
      const connection = await connect(broker(), vhost);
      const receiver = await Receiver.on(await connection.createChannel(), ["Billing"]);
      await createDelayPublisher(await connection.createConfirmChannel(), nservicebus).publish(
        "Billing",
        { a: 1 },
        { delayMs: 900 },
      );
      const [arrival] = await receiver.until(1);
      assert.equal(arrival?.message.properties.headers?.[nserviceBusDelayHeader], 1);
      assert.equal(arrival?.message.properties.contentType, "application/json");
    });
  });

  it("refuses a channel without confirms", () => {
    assert.throws(() => createDelayPublisher({ publish: () => true } as never, network), MessageRefusedError);
  });
});
