import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { RetryPolicy, consumeWithRetries, createDelayPublisher, throughDeclared } from "@rabbitmq-delay/publish";
import { errorHeaders } from "@rabbitmq-delay/publish/parts";
import { WorkRetry, delayNetwork, levelQueueName } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 } as const;
const network = delayNetwork(shape);
const password = (login: string): string => `the secret of ${login}`;

describe("a service's user", () => {
  onEachBroker((broker) => {
    it("may do what the service does, and nothing else; its password changes without a gap", async () => {
      const vhost = await broker().management.createVhost();
      const user = `service-${randomUUID()}`;
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "user"));
      const configure = (...suffixes: string[]): void => {
        const credentials = suffixes.map((suffix) => ({ suffix, password: password(suffix) }));
        stack.configure({ network: { ...shape, user, credentials } });
      };
      configure("a");
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      assert.deepEqual((await stack.outputs()).users, [`${user}-a`]);

      /** A channel of a login; a refusal closes it, so each attempt has its own. */
      const as = (login: string, at = vhost): Promise<ConfirmChannel> => {
        const { host } = new URL(broker().node.amqpUrl);
        const amqpUrl = `amqp://${user}-${login}:${encodeURIComponent(password(login))}@${host}`;
        // Who deletes a user closes its connections.
        const options = { isExpectedToBreak: true };
        return openChannel({ ...broker(), node: { ...broker().node, amqpUrl } }, at, options);
      };
      const refuses = (body: (channel: ConfirmChannel) => Promise<unknown>, message: RegExp): Promise<void> =>
        assert.rejects(as("a").then(body), message);
      const levelQueue = levelQueueName(network, 0, 1);

      const receiving = await as("a");
      const sales = await Receiver.on(receiving, ["Sales"]);
      await createDelayPublisher(await as("a"), network).publish("Sales", "x", { delayMs: 50 });
      await sales.until(1);
      await receiving.close();
      await refuses(
        (channel) => createDelayPublisher(channel, network).publish("Other", "x", { delayMs: 50 }),
        /the channel closed before the broker confirmed/,
      );
      await refuses((channel) => channel.consume(levelQueue, () => undefined), /ACCESS_REFUSED|refused/);
      await refuses((channel) => channel.consume("Other", () => undefined), /ACCESS_REFUSED|refused/);
      await refuses((channel) => channel.assertQueue("mine"), /ACCESS_REFUSED|refused/);
      await refuses((channel) => channel.bindQueue("Sales", network.deliveryExchange, "#"), /ACCESS_REFUSED|refused/);
      await refuses((channel) => channel.purgeQueue(levelQueue), /ACCESS_REFUSED|refused/);
      await assert.rejects(as("a", "%2F"), /ConnectionClose/);

      const { workRetry } = (await stack.outputs()) as { workRetry: WorkRetry };
      const options = { policy: RetryPolicy.declared(workRetry), mechanism: throughDeclared(workRetry) };
      const tries: number[] = [];
      const handler = ({ redeliveries }: { redeliveries: number }): void => {
        tries.push(redeliveries);
        throw new Error("never");
      };
      const consumer = await consumeWithRetries(await as("a"), "work", handler, options);
      afterThisTest(() => consumer.stop());
      const admin = await openChannel(broker(), vhost);
      admin.sendToQueue("work", Buffer.from("x"), { persistent: true });
      const [dead] = await (await Receiver.on(admin, [workRetry.deadQueue])).until(1);
      assert.equal(dead?.message.properties.headers?.[errorHeaders.tries], 2);
      assert.deepEqual(tries, [0, 1]);

      // The default exchange is closed to it: without an error exchange of its own, the message that used up its tries closed the
      // consumer, and came again at each restart.
      const byNetwork = await consumeWithRetries(await as("a"), "Sales", () => Promise.reject(new Error("never")), {
        policy: RetryPolicy.intervals([10]),
        mechanism: throughDeclared(network),
        errorQueue: "Sales_error",
        errorExchange: "Sales_error",
      });
      afterThisTest(() => byNetwork.stop());
      await createDelayPublisher(admin, network).publish("Sales", "fails", { delayMs: 10 });
      const [failed] = await (await Receiver.on(admin, ["Sales_error"])).until(1);
      assert.equal(failed?.message.content.toString(), "fails");
      assert.equal(failed.message.properties.headers?.[errorHeaders.tries], 2);

      configure("a", "b");
      const added = await stack.preview();
      assert.deepEqual([...new Set(added.map(({ op }) => op))], ["create"], "the old login stays as it is");
      const { report, output } = await stack.review();
      assert.equal(report?.verdict, "safe", output);
      assert.deepEqual(
        report.changes.map(({ subject, predicate }) => `${subject} ${predicate}`),
        [`service's user login ${user}-b added`],
      );
      await stack.up();
      await (await as("a")).checkQueue("Sales");
      await (await as("b")).checkQueue("Sales");
      configure("b");
      const gone = await stack.review();
      assert.equal(gone.report?.verdict, "care", gone.output);
      assert.ok(gone.report.findings.every(({ rule }) => rule === "access-changed"));
      await stack.up();
      await (await as("b")).checkQueue("Sales");
      await assert.rejects(as("a"), /403|ACCESS.REFUSED|refused/i);
      await stack.destroy();
    });
  });
});
