import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { parseDelayedExchange } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { runCommand } from "../support/command";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";
import { StoreProcess } from "../support/storeService";
import { temporaryFolder } from "../support/temporaryFolder";
import { wayOut } from "../support/waysOut";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 };
const DELAYS_MS = [300, 1500];

/** Publishes as any client does that knew the plugin: a header, and nothing else. */
function publish(channel: ConfirmChannel, key: string, body: string, headers: Record<string, unknown>): Promise<void> {
  return new Promise((resolve, reject) =>
    channel.publish("shop", key, Buffer.from(body), { headers, mandatory: true, persistent: true }, (error: unknown) =>
      error ? reject(error as Error) : resolve(),
    ),
  );
}

describe("an exchange that delays by x-delay", () => {
  onEachBroker((broker, { isNewest }) => {
    it("delays declared delays of each kind of number, delivers 0 at once, and parks the rest; the key stays", async () => {
      const stack = await TestStack.inNewVhost(broker());
      stack.configure({ network, delayedExchanges: [{ exchange: "shop", delays: DELAYS_MS, type: "direct" }] });
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const { shop } = (await stack.outputs()).delayedExchanges as Record<string, unknown>;
      const { delivery, parkingQueue } = parseDelayedExchange(shop);
      const channel = await openChannel(broker(), stack.vhost);
      for (const key of ["paid", "sent"]) {
        await channel.assertQueue(key, { durable: true, arguments: { "x-queue-type": "quorum" } });
        await channel.bindQueue(key, delivery, key);
      }
      // A client that declares the exchanges itself, with their types and no arguments, is not refused.
      await channel.assertExchange("shop", "headers", { durable: true });
      await channel.assertExchange(delivery, "direct", { durable: true });

      const receiver = await Receiver.on(channel, ["paid", "sent", parkingQueue]);
      const numbers: ((delayMs: number) => unknown)[] = [
        (value) => value,
        (value) => `${value}`,
        (value) => ({ "!": "int16", value }),
        (value) => ({ "!": "int32", value }),
        (value) => ({ "!": "long", value }),
        // RabbitMQ 4.3 no longer takes 300.0 for 300; a binding by 300.0 can't be made by the management API's client.
        ...(isNewest ? [] : ["double", "float"].map((type) => (value: number) => ({ "!": type, value }))),
      ];
      const wanted = new Map<string, { queue: string; notBeforeMs: number }>();
      for (const [kind, numberOf] of numbers.entries()) {
        for (const delayMs of [0, ...DELAYS_MS, 1501]) {
          for (const key of ["paid", "sent"]) {
            const body = `${key} after ${delayMs} of kind ${kind}`;
            const queue = delayMs === 1501 ? parkingQueue : key;
            wanted.set(body, { queue, notBeforeMs: Date.now() + (delayMs === 1501 ? 0 : delayMs) });
            await publish(channel, key, body, { "x-delay": numberOf(delayMs), other: 1 });
          }
        }
      }
      for (const headers of [{}, { "x-delay": -300 }, { "x-delay": "300ms" }, { "x-delay": true }]) {
        const body = `parked ${JSON.stringify(headers)}`;
        wanted.set(body, { queue: parkingQueue, notBeforeMs: 0 });
        await publish(channel, "paid", body, headers);
      }
      if (isNewest) {
        wanted.set("a double", { queue: parkingQueue, notBeforeMs: 0 });
        await publish(channel, "paid", "a double", { "x-delay": { "!": "double", value: 300 } });
      }
      // A key that nobody is bound by: in time, and not lost.
      wanted.set("nobody's", { queue: parkingQueue, notBeforeMs: Date.now() + 300 });
      await publish(channel, "nobody", "nobody's", { "x-delay": 300 });

      const arrivals = await receiver.until(wanted.size);
      assert.equal(new Set(arrivals.map(({ message }) => message.content.toString())).size, wanted.size);
      for (const { queue, message, atMs } of arrivals) {
        const body = message.content.toString();
        const { queue: expected, notBeforeMs } = wanted.get(body) as { queue: string; notBeforeMs: number };
        assert.equal(queue, expected, body);
        assertNotEarly(body, atMs, notBeforeMs);
        if (queue !== parkingQueue) assert.equal(message.fields.routingKey, queue, "under its own key");
      }
      assert.equal(receiver.arrivals.length, wanted.size);

      const removed = { exchange: "shop", delays: [300], type: "direct" };
      stack.configure({ network, delayedExchanges: [removed] });
      const { report } = await stack.review();
      assert.equal(report?.verdict, "loss", "a queue that may hold messages goes with its delay");
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const queues = (await broker().management.queues(stack.vhost)).map(({ name }) => name);
      assert.ok(queues.includes("shop.delay-300") && !queues.includes("shop.delay-1500"));
      await stack.destroy();
    });

    it("leads other delays, and none, to a store, which delivers them in time, also what came while it was not there", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const user = `store-${randomUUID()}`;
      const storePassword = "a password of the store";
      const forwards = [{ exchange: "shop", delivery: "shop.delivery", declare: false }];
      stack.configure({
        network,
        delayedExchanges: [{ exchange: "shop", delays: DELAYS_MS, otherwise: "later" }],
        delayedStore: { storeName: "later", forwards, toQueues: false, user },
        storePassword,
      });
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const channel = await openChannel(broker(), stack.vhost);
      await channel.assertQueue("bills", { durable: true });
      await channel.bindQueue("bills", "shop.delivery", "eu.#");
      const receiver = await Receiver.on(channel, ["bills", "shop.parking", "later.error"]);
      const due = new Map<string, number>();
      const send = async (body: string, delayMs: number | undefined): Promise<void> => {
        due.set(body, Date.now() + (delayMs ?? 0));
        await publish(channel, "eu.1", body, delayMs === undefined ? {} : { "x-delay": delayMs });
      };
      await send("before the store", 777);
      const folder = temporaryFolder();
      writeFileSync(join(folder, "outputs.json"), JSON.stringify(await stack.outputs()));
      const flags = ["--descriptor", join(folder, "outputs.json"), "--store", `sqlite:${join(folder, "later.db")}`];
      const { host } = new URL(broker().node.amqpUrl);
      const amqpUrl = `amqp://${user}:${encodeURIComponent(storePassword)}@${host}`;
      const service = await StoreProcess.ready(
        { ...broker(), node: { ...broker().node, amqpUrl } },
        stack.vhost,
        flags,
      );
      await send("declared", 300);
      await send("another", 555);
      await send("at once", undefined);
      await send("zero", 0);
      const arrivals = await receiver.until(due.size);
      for (const { queue, message, atMs } of arrivals) {
        const body = message.content.toString();
        assert.deepEqual([queue, message.fields.routingKey], ["bills", "eu.1"], body);
        assertNotEarly(body, atMs, due.get(body) ?? Infinity);
      }
      assert.equal(new Set(arrivals.map(({ message }) => message.content.toString())).size, due.size);
      assert.equal(await service.stop(), 0);
      await stack.destroy();
    });

    it("leads to others' exchanges again once they and its bindings are declared again, as check says", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const { vhost, configFile } = stack;
      const channel = await openChannel(broker(), vhost);
      const declare = async (): Promise<void> => {
        for (const name of ["due", "later"]) {
          await channel.assertExchange(name, "fanout");
          await channel.bindQueue(`of ${name}`, name, "");
        }
      };
      for (const name of ["due", "later"]) await channel.assertQueue(`of ${name}`);
      await declare();
      const shop = { exchange: "shop", delays: [300], delivery: "due", declareDelivery: false, otherwise: "later" };
      stack.configure({ network, delayedExchanges: [shop] });
      await stack.up();
      const { management } = broker();
      const told = async (): Promise<string[]> => {
        const args = ["--stack-config", configFile, "--management", management.url, "--json"];
        const { out, err } = await runCommand(["check", ...args]);
        assert.match(out, /^\[/, err);
        return (JSON.parse(out) as { rule: string; message: string }[])
          .filter(({ rule }) => rule === "missing-part")
          .map(({ message }) => message);
      };
      assert.deepEqual(await told(), []);
      for (const name of ["due", "later"]) await channel.deleteExchange(name);
      const advised = (await told()).filter((message) => wayOut("check-declare-target-again").test(message));
      assert.deepEqual(advised.map((message) => message.split(",")[0]).sort(), ["exchange due", "exchange later"]);
      await publish(channel, "", "parked", { "x-delay": 999 });
      await declare();
      await stack.up("--refresh");
      assert.deepEqual(await told(), []);
      for (const delayMs of [0, 300, 999]) await publish(channel, "", `after ${delayMs}`, { "x-delay": delayMs });
      const receiver = await Receiver.on(channel, ["of due", "of later", "shop.parking"]);
      const arrivals = await receiver.until(4);
      assert.deepEqual(arrivals.map(({ queue, message }) => `${queue}: ${message.content.toString()}`).sort(), [
        "of due: after 0",
        "of due: after 300",
        "of later: after 999",
        "shop.parking: parked",
      ]);
    });

    // An exchange that led to another one before that was there dropped what came meanwhile; the former way, left there, delivered twice.
    for (const removal of ["retain", "delete"] as const) {
      it(`changes under traffic, with removal: ${removal}: nothing is lost, early, doubled or elsewhere`, async () => {
        const stack = await TestStack.inNewVhost(broker());
        const shop = { exchange: "shop", delays: DELAYS_MS, type: "direct" };
        const channel = await openChannel(broker(), stack.vhost);
        for (const name of ["one", "other"]) {
          await channel.assertExchange(name, "fanout", { durable: true });
          await channel.assertQueue(name, { durable: true });
          await channel.bindQueue(name, name, "");
        }
        const more = { ...shop, delays: [...DELAYS_MS, 700] };
        // Under removal: delete, a delay that leaves takes what waits along, as the review says.
        const less = removal === "retain" ? shop : more;
        const changes = [
          shop,
          { ...shop, otherwise: "one" },
          { ...more, otherwise: "other" },
          less,
          { ...more, otherwise: "one" },
        ];
        stack.configure({ network, removal, delayedExchanges: [changes[0]] });
        await stack.up();
        await channel.assertQueue("paid", { durable: true });
        await channel.bindQueue("paid", "shop.delivery", "paid");
        const receiver = await Receiver.on(await openChannel(broker(), stack.vhost), ["paid", "one", "other"]);
        const sent = new Map<string, { delayMs: number | undefined; atMs: number }>();
        let isOver = false;
        const publishing = (async () => {
          for (let index = 0; !isOver; index++) {
            const delayMs = [300, 1500, 0, 700, undefined, 999][index % 6];
            const body = `${index} after ${delayMs}`;
            sent.set(body, { delayMs, atMs: Date.now() });
            await publish(channel, "paid", body, delayMs === undefined ? {} : { "x-delay": delayMs });
          }
        })();
        for (const change of changes.slice(1)) {
          stack.configure({ network, removal, delayedExchanges: [change] });
          await stack.up();
          assert.deepEqual(await stack.preview("--refresh"), []);
        }
        isOver = true;
        await publishing;
        // The provider can't read a queue of the stack while its consumer is not counted yet.
        await receiver.add("shop.parking");
        const arrivals = await receiver.until(sent.size);
        // What is delivered twice would come before a message that is sent last and waits longest.
        await publish(channel, "paid", "last", { "x-delay": 1500 });
        await receiver.until(sent.size + 1);
        assert.equal(new Set(arrivals.map(({ message }) => message.content.toString())).size, sent.size + 1);
        assert.equal(arrivals.length, sent.size + 1);
        for (const { queue, message, atMs } of arrivals) {
          const one = sent.get(message.content.toString());
          if (one === undefined) continue;
          if ([300, 1500].includes(one.delayMs ?? -1)) assert.equal(queue, "paid", message.content.toString());
          if (one.delayMs === undefined || one.delayMs === 999) assert.notEqual(queue, "paid");
          if (queue === "paid") assertNotEarly(message.content.toString(), atMs, one.atMs + (one.delayMs ?? Infinity));
        }
        if (removal === "delete") {
          stack.configure({
            network,
            removal,
            delayedExchanges: [{ ...more, type: undefined, declareDelivery: false }],
          });
          const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
          assert.notEqual(code, 0, output);
          assert.match(output.replaceAll(/\s+/g, " "), /would delete it with all bindings of its consumers/);
        }
        await stack.destroy();
      });
    }

    it("is not made where the exchange for other delays is nobody's, or where a part of it is there otherwise", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const { management } = broker();
      const shop = { exchange: "shop", delays: DELAYS_MS };
      const refused = async (given: object, message: RegExp): Promise<void> => {
        stack.configure({ network, delayedExchanges: [given] });
        const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(code, 0, output);
        assert.match(output.replaceAll(/\s+/g, " "), message);
        assert.deepEqual(await management.queues(stack.vhost), []);
      };
      await refused({ ...shop, otherwise: "nobody" }, /there is no exchange nobody in vhost .*, to which shop leads/);
      await refused(
        { ...shop, delivery: "nobody", declareDelivery: false },
        /there is no exchange nobody in vhost .*, to which shop leads/,
      );
      await refused({ ...shop, delays: ["5x"] }, /delayedExchanges\[0\]\.delays\[0\]: "5x" is not allowed/);
      await refused(
        { ...shop, delivery: "amq.topic", declareDelivery: true },
        /delayedExchanges\[0\]\.delivery: "amq\.topic" is not allowed/,
      );
      const channel = await openChannel(broker(), stack.vhost);
      await channel.assertExchange("shop", "headers", { durable: true });
      // The plugin's consumers bound their queues there: each message would come at once, and again when its time is over.
      await channel.bindExchange("amq.fanout", "shop", "paid");
      await refused(
        shop,
        /exchange amq\.fanout is bound to exchange shop by "paid", and gets messages before .*shop\.delivery instead/,
      );
      await channel.deleteExchange("shop");
      await channel.assertExchange("shop", "topic", { durable: true });
      await refused(shop, /exchange shop exists with type "topic" \(declared here: "headers"\)/);
    });
  });
});
