import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as amqp from "amqplib";
import { fetch } from "undici";
import { delayNetwork, encodeDelay } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 } as const;
const network = delayNetwork(shape);
const password = "the password of all";

/** What each user may write to and read from; everything else is refused. */
const table: Record<string, { writes: string[]; reads: string[] }> = {
  limited: { writes: [...network.entryExchanges, "work.retry-30", "work.dead"], reads: ["Sales", "work"] },
  publisher: { writes: network.entryExchanges, reads: [] },
  consumer: { writes: ["mt-delay-30"], reads: ["Other"] },
  idle: { writes: [], reads: [] },
  // Its answers go to queues that ask, by the default exchange.
  store: { writes: ["", "out", "later.error"], reads: ["later.intake", "later.control"] },
};

describe("what each user may do", () => {
  onEachBroker((broker) => {
    it("is what its part needs: each exchange, each queue, and each way to change something was tried", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const prefix = `u${randomUUID().slice(0, 8)}`;
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "users"));
      stack.configure({ network: { ...shape, prefix, password } });
      await stack.up();
      const exchanges = (await management.get<{ name: string }[]>(`exchanges/${vhost}`)).map(({ name }) => name);
      const queues = (await management.queues(vhost)).map(({ name }) => name);
      const { host } = new URL(node.amqpUrl);

      for (const [part, { writes, reads }] of Object.entries(table)) {
        const user = `${prefix}-${part}`;
        const connection = await amqp.connect(`amqp://${user}:${encodeURIComponent(password)}@${host}/${vhost}`);
        connection.on("error", () => undefined);
        afterThisTest(() => connection.close().catch(() => undefined));
        /** A refusal closes the channel, so each attempt has its own. */
        const may = async (attempt: (channel: amqp.ConfirmChannel) => Promise<unknown>): Promise<boolean> => {
          const channel = await connection.createConfirmChannel();
          let refusal = "";
          channel.on("error", (error: Error) => (refusal = error.message));
          try {
            await attempt(channel);
            await channel.close();
            return true;
          } catch (error) {
            const message = `${refusal} ${(error as Error).message}`;
            assert.match(message, /ACCESS_REFUSED|ACCESS-REFUSED|access to .* refused/i, `${part}: ${message}`);
            return false;
          }
        };
        const publish = (exchange: string, key: string) => (channel: amqp.ConfirmChannel) => {
          channel.publish(exchange, key, Buffer.from("x"));
          return channel.waitForConfirms();
        };

        const { routingKey } = encodeDelay(network, 10, "Sales");
        const written = await filter(exchanges, (name) => may(publish(name, routingKey)));
        assert.deepEqual(written.sort(), [...writes].sort(), `${part} writes`);
        const read = await filter(queues, (name) =>
          may(async (channel) => channel.cancel((await channel.consume(name, () => undefined)).consumerTag)),
        );
        assert.deepEqual(read.sort(), [...reads].sort(), `${part} reads`);

        const level = queues.find((name) => name.includes(".level-")) as string;
        const changes: Record<string, (channel: amqp.ConfirmChannel) => Promise<unknown>> = {
          "declare a queue": (channel) => channel.assertQueue(`${user}-new`, { durable: true }),
          "declare an exchange": (channel) => channel.assertExchange(`${user}-new`, "topic"),
          "delete its own queue": (channel) => channel.deleteQueue(reads[0] ?? "Sales"),
          "delete a level queue": (channel) => channel.deleteQueue(level),
          "delete an exchange": (channel) => channel.deleteExchange(network.deliveryExchange),
          "bind its queue": (channel) => channel.bindQueue(reads[0] ?? "Sales", network.deliveryExchange, "#"),
          "bind an exchange": (channel) => channel.bindExchange("work", network.deliveryExchange, "#"),
          "unbind the other": (channel) => channel.unbindQueue("Other", network.deliveryExchange, "*.*.Other"),
          "purge a level queue": (channel) => channel.purgeQueue(level),
          "publish to a queue of others": publish("", "Other"),
        };
        const changed = await filter(Object.keys(changes), (name) => may(changes[name] as never));
        assert.deepEqual(changed, writes.includes("") ? ["publish to a queue of others"] : [], part);
        if (part === "limited")
          assert.equal(await may(publish(network.entryExchanges[0] as string, "1.0.Other")), false);

        const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
        for (const path of ["overview", `queues/${vhost}`, "users", `definitions/${vhost}`]) {
          const { status } = await fetch(`${node.managementUrl}/api/${path}`, { headers: { authorization } });
          assert.ok(status === 401 || status === 403, `${part} ${path}: ${status}`);
        }
        await assert.rejects(
          amqp.connect(`amqp://${user}:${encodeURIComponent(password)}@${host}/%2F`),
          `${part} in /`,
        );
      }
      await stack.destroy();
    });
  });
});

async function filter(names: string[], isTrue: (name: string) => Promise<boolean>): Promise<string[]> {
  const kept: string[] = [];
  for (const name of names) if (await isTrue(name)) kept.push(name);
  return kept;
}
