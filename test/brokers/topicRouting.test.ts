import { strict as assert } from "node:assert";
import * as fc from "fast-check";
import { topicMatches } from "@rabbitmq-delay/topology/stack";
import { regexOf } from "../../packages/topology/test/walk";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";

const PATTERNS = 150;
const KEYS = 60;

describe("topic matching", () => {
  onEachBroker((broker) => {
    it("agrees with the broker's, by our own rule and by the tests' regular expressions", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await channel.assertExchange("topics", "topic", { durable: false });
      // At most two # a pattern: newer brokers refuse more.
      const word = fc.constantFrom("a", "b", "*", "#", "");
      const pattern = fc
        .array(word, { minLength: 1, maxLength: 5 })
        .filter((words) => words.filter((w) => w === "#").length <= 2);
      const patterns = [...new Set(fc.sample(pattern, { numRuns: PATTERNS, seed: 7 }).map((words) => words.join(".")))];
      const key = fc.array(fc.constantFrom("a", "b", ""), { minLength: 1, maxLength: 6 });
      const keys = [...new Set(fc.sample(key, { numRuns: KEYS, seed: 11 }).map((words) => words.join(".")))];
      const queues = new Map<string, string>();
      for (const text of patterns) {
        const { queue } = await channel.assertQueue("", { exclusive: true });
        await channel.bindQueue(queue, "topics", text);
        queues.set(text, queue);
      }
      for (const text of keys) channel.publish("topics", text, Buffer.from(text));
      await channel.waitForConfirms();
      for (const [text, queue] of queues) {
        const found = new Set<string>();
        for (
          let message = await channel.get(queue, { noAck: true });
          message;
          message = await channel.get(queue, { noAck: true })
        ) {
          found.add(message.content.toString());
        }
        for (const candidate of keys) {
          assert.equal(topicMatches(text, candidate), found.has(candidate), `our rule: ${text} against ${candidate}`);
          assert.equal(
            regexOf(text).test(candidate),
            found.has(candidate),
            `the tests' rule: ${text} against ${candidate}`,
          );
        }
      }
    });
  });
});
