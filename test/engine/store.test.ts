import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { DelayedStore, parseDelayedStore } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";
import { StoreProcess } from "../support/storeService";
import { temporaryFolder } from "../support/temporaryFolder";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 };
const storePassword = "a password of the store";

describe("an external store of a stack", () => {
  onEachBroker((broker) => {
    it("runs with the stack's output and user, who may do nothing else", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const { vhost } = stack;
      const user = `store-${randomUUID()}`;
      const forwards = [{ exchange: "bills.delayed", delivery: "bills" }];
      stack.configure({
        network,
        delayedStore: { storeName: "later", forwards, toQueues: false, user },
        storePassword,
      });
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const outputs = await stack.outputs();
      const descriptor: DelayedStore = parseDelayedStore(outputs.delayedStore);
      assert.deepEqual([descriptor.name, outputs.storeUsers], ["later", [user]]);

      const { host } = new URL(broker().node.amqpUrl);
      const amqpUrl = `amqp://${user}:${encodeURIComponent(storePassword)}@${host}`;
      const asUser = { ...broker(), node: { ...broker().node, amqpUrl } };
      const folder = temporaryFolder();
      writeFileSync(join(folder, "outputs.json"), JSON.stringify(outputs));
      const flags = ["--descriptor", join(folder, "outputs.json"), "--store", `sqlite:${join(folder, "later.db")}`];
      const service = await StoreProcess.ready(asUser, vhost, flags);

      const admin = await openChannel(broker(), vhost);
      await admin.assertQueue("bills");
      await admin.bindQueue("bills", "bills", "eu.#");
      await admin.assertQueue("others");
      const receiver = await Receiver.on(admin, ["bills", "later.error"]);
      admin.publish("bills.delayed", "eu.1", Buffer.from("due"), { headers: { "x-delay": 200 } });
      // To a queue, which this store was not allowed to send to.
      admin.publish("later", "others", Buffer.from("refused"), { headers: { "x-delay": 1 } });
      const arrivals = await receiver.until(2);
      assert.deepEqual(arrivals.map(({ queue, message }) => [queue, message.content.toString()]).sort(), [
        ["bills", "due"],
        ["later.error", "refused"],
      ]);
      assert.equal(await service.stop(), 0);

      const refuses = (body: (channel: ConfirmChannel) => Promise<unknown>): Promise<void> =>
        assert.rejects(openChannel(asUser, vhost, { isExpectedToBreak: true }).then(body), /ACCESS_REFUSED|refused/);
      await refuses((channel) => channel.consume("others", () => undefined));
      await refuses((channel) => channel.consume("later.error", () => undefined));
      await refuses((channel) => channel.assertQueue("mine"));
      await refuses((channel) => channel.purgeQueue("others"));
      await refuses((channel) => channel.deleteQueue("later.intake"));
      await refuses((channel) => channel.bindQueue("later.intake", "amq.topic", "#"));
      await refuses(
        (channel) =>
          new Promise((_, reject) => {
            channel.once("error", reject);
            channel.publish("later", "", Buffer.from("x"));
          }),
      );
      stack.configure({ network });
      const { report, output } = await stack.review();
      assert.equal(report?.verdict, "loss", output);
      assert.deepEqual(
        report.changes.map(({ subject, predicate }) => `${subject} ${predicate}`),
        ["external store is deleted"],
      );
      for (const queue of ["later.intake", "later.error", "later.control"]) {
        assert.ok(
          report.findings.some(({ entity }) => entity === `queue ${queue}`),
          `${queue}: ${output}`,
        );
      }
      await stack.destroy();
    });

    it("is refused without a password, and where its names are taken by something else", async () => {
      const stack = await TestStack.inNewVhost(broker());
      stack.configure({ network, delayedStore: { user: "store" } });
      const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      assert.match(output, /delayedStore\.user: store needs a password/);
      const channel = await openChannel(broker(), stack.vhost);
      await channel.assertExchange("delayed", "topic");
      stack.configure({ network, delayedStore: { storeName: "delayed" } });
      const taken = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.match(taken.output, /delayed.*topic/);
      assert.deepEqual(await broker().management.queues(stack.vhost), []);
    });
  });
});
