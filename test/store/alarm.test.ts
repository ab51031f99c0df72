import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { delayedStore, planDelayedStore } from "@rabbitmq-delay/topology";
import { onEachBroker, ownTestBroker } from "../support/brokers";
import { memoryAlarm } from "../support/brokerSwitch";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { delayed, openShop, publish, startUsed } from "../support/gatewayShop";
import { temporaryFolder } from "../support/temporaryFolder";
import { command } from "../support/command";

const descriptor = delayedStore({});
/** Kubernetes' own grace period. */
const GRACE_MS = 30_000;

describe("a broker that has an alarm", () => {
  onEachBroker((broker) => {
    // What was on its way when the alarm came was sent again after each confirm timeout, and came twice when it was over.
    it("gets each message of a gateway once, though it takes none for longer than that waits for an answer", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const shop = await openShop(own);
      const { service, receiver } = await startUsed(own, shop, 5000);
      const alarm = await memoryAlarm(own);
      const bodies = Array.from({ length: 200 }, (_, index) => `due ${index}`);
      await Promise.all(bodies.map((body) => publish(shop.channel, "work", body, delayed(20_000))));
      await service.untilMetric("taken_total", 201);
      await alarm.turnOn();
      assert.ok(receiver.arrivals.length < 201, "nothing waits for the end of the alarm");
      // The gateway has tried, and waited for the answers in vain.
      while (!service.log.some(({ reason }) => /did not confirm/.test(String(reason)))) await pause(200);
      await pause(4000);
      await alarm.turnOff();
      const arrivals = await receiver.until(201);
      await publish(shop.channel, "work", "last", delayed(10));
      await receiver.until(arrivals.length + 1);
      await pause(3000);
      const came = receiver.arrivals.map(({ message }) => message.content.toString());
      assert.deepEqual(came.sort(), ["first", "last", ...bodies].sort());
      await service.stop();
    });

    // It had published an answer on the connection that consumes. The broker reads nothing from that in an alarm, and the end waited for it.
    it("lets a store end at SIGTERM, though that has answered a request meanwhile", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const vhost = await own.management.createVhost();
      const channel = await openChannel(own, vhost);
      await declareOverAmqp(channel, planDelayedStore(descriptor));
      await channel.assertQueue("replies", { durable: true });
      const later = { headers: { "x-delay": 600_000 }, persistent: true };
      for (let index = 0; index < 20; index++)
        channel.publish("delayed", "replies", Buffer.from("x"), { ...later, messageId: `m${index}` });
      const request = Buffer.from(JSON.stringify({ operation: "stats" }));
      channel.sendToQueue(descriptor.controlQueue, request, { replyTo: "replies", correlationId: "1" });
      await channel.waitForConfirms();
      await (await memoryAlarm(own)).turnOn();

      const file = join(temporaryFolder(), "delayed.db");
      const amqp = `${own.node.amqpUrl}/${vhost}`;
      const args = [command, "store", "run", "--store", `sqlite:${file}`, "--amqp", amqp, "--http", "off"];
      const child = spawn(process.execPath, args, { stdio: "ignore" });
      afterThisTest(() => void child.kill("SIGKILL"));
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
      while (!(await hasAnswered())) await new Promise((resolve) => setTimeout(resolve, 200));
      child.kill("SIGTERM");
      const limit = new Promise<string>((resolve) => setTimeout(() => resolve("it still runs"), GRACE_MS).unref());
      assert.equal(await Promise.race([ended, limit]), 0);

      /** Nobody else publishes during the alarm, and the broker blocks whoever does. */
      async function hasAnswered(): Promise<boolean> {
        const connections = await own.management.get<{ state: string }[]>("connections");
        return connections.some(({ state }) => state === "blocked");
      }
    });
  });
});
