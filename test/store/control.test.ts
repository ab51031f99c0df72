import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import * as amqp from "amqplib";
import type { ConfirmChannel } from "amqplib";
import { StoreMismatchError, askStore } from "@rabbitmq-delay/store";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { wayOut } from "../support/waysOut";

const events = ["error", "close", "return"];
const listenersOf = (channel: ConfirmChannel): number[] => events.map((event) => channel.listenerCount(event));

describe("askStore", () => {
  onEachBroker((broker) => {
    /** A channel, and something that answers like a store, each request with its own number. */
    const open = async (answer: (body: string) => string | undefined, vhost?: string): Promise<ConfirmChannel> => {
      vhost ??= await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await channel.assertExchange("control", "fanout");
      await channel.assertQueue("control");
      await channel.bindQueue("control", "control", "");
      const server = await openChannel(broker(), vhost);
      await server.consume(
        "control",
        (message) => {
          const { replyTo, correlationId } = message?.properties ?? {};
          const reply = answer(String(message?.content));
          if (reply === undefined) return;
          server.sendToQueue(replyTo as string, Buffer.from(reply), { correlationId: correlationId as string });
        },
        { noAck: true },
      );
      return channel;
    };

    it("several ask over one channel at once: each gets its own answer, and nothing stays behind", async () => {
      const channel = await open((body) => JSON.stringify({ ok: true, answer: { echo: JSON.parse(body) as object } }));
      const before = listenersOf(channel);
      for (let round = 0; round < 5; round++) {
        const answers = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            askStore(channel, "control", { operation: "list", limit: index + 1 }),
          ),
        );
        const echoed = answers.map((answer) => (answer as unknown as { echo: { limit: number } }).echo.limit);
        assert.deepEqual(echoed, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        // The next one asks while the last consumer goes.
      }
      assert.deepEqual(listenersOf(channel), before);
    });

    it("a failure is one for who asked alone, and is never unhandled", async () => {
      const channel = await open((body) =>
        body.includes("stats") ? "no JSON" : JSON.stringify({ ok: true, answer: {} }),
      );
      await channel.assertExchange("nowhere", "fanout");
      const unhandled: unknown[] = [];
      const note = (reason: unknown): void => void unhandled.push(reason);
      process.on("unhandledRejection", note);
      try {
        const before = listenersOf(channel);
        const asked = [
          askStore(channel, "nowhere", { operation: "list" }),
          askStore(channel, "control", { operation: "list" }),
          askStore(channel, "control", { operation: "stats" }),
        ];
        const results = await Promise.allSettled(asked);
        assert.deepEqual(
          results.map(({ status }) => status),
          ["rejected", "fulfilled", "rejected"],
        );
        assert.match(String((results[0] as PromiseRejectedResult).reason), /exchange nowhere leads to no queue/);
        assert.match(String((results[2] as PromiseRejectedResult).reason), /the answer is not JSON/);
        assert.deepEqual(listenersOf(channel), before);
        // The time is over, or the channel gone, before there is a consumer.
        await assert.rejects(
          askStore(channel, "nowhere", { operation: "list" }, 1),
          /no store answered within 1 ms|no queue/,
        );
        const closing = channel.close();
        await assert.rejects(askStore(channel, "control", { operation: "list" }), /clos/i);
        await closing;
        await new Promise((resolve) => setImmediate(resolve));
        assert.deepEqual(unhandled, []);
      } finally {
        process.off("unhandledRejection", note);
      }
    });

    it("a change without an answer may be done nevertheless, and another look shows that", async () => {
      const cancelled: string[] = [];
      const channel = await open((body) => {
        const { operation, filter } = JSON.parse(body) as { operation: string; filter?: { messageId: string } };
        if (operation !== "cancel") return JSON.stringify({ ok: true, answer: { cancelled } });
        cancelled.push(String(filter?.messageId));
        return undefined;
      });
      const cancel = { operation: "cancel", filter: { messageId: "one" } } as const;
      await assert.rejects(askStore(channel, "control", cancel, 2000), wayOut("refusal-look-again"));
      assert.deepEqual(await askStore(channel, "control", { operation: "list" }), { cancelled: ["one"] });
    });

    it("needs no right but to write to the control exchange", async () => {
      const [vhost, user] = [await broker().management.createVhost(), `asks-${randomUUID()}`];
      await open(() => JSON.stringify({ ok: true, answer: {} }), vhost);
      await broker().management.call("PUT", `users/${user}`, { password: "x", tags: "" });
      const rights = { configure: "^$", write: "^control$", read: "^$" };
      await broker().management.call("PUT", `permissions/${vhost}/${user}`, rights);
      const { host } = new URL(broker().node.amqpUrl);
      const own = await amqp.connect(`amqp://${user}:x@${host}/${vhost}`);
      const asking = await own.createConfirmChannel();
      assert.deepEqual(await askStore(asking, "control", { operation: "stats" }), {});
      await own.close();
    });

    it("a time that no timer takes is refused; it would be over at once", async () => {
      const channel = await open(() => JSON.stringify({ ok: true, answer: {} }));
      for (const timeoutMs of [2 ** 31, 0, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await assert.rejects(
          askStore(channel, "control", { operation: "stats" }, timeoutMs),
          (error: Error) => error instanceof StoreMismatchError && /timeoutMs: .* 1 to 2147483647/.test(error.message),
        );
      }
      assert.deepEqual(await askStore(channel, "control", { operation: "stats" }, 2 ** 31 - 1), {});
    });
  });
});
