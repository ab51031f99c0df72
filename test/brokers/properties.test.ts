import { strict as assert } from "node:assert";
import { DelayPublisher, MessageRefusedError, createDelayPublisher } from "@rabbitmq-delay/publish";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { clients } from "../support/clients";
import { connect } from "../support/connect";
import { Receiver } from "../support/receive";

/** What a caller without a compiler may give, and what the error says of it. */
const impossible: [string, object, RegExp][] = [
  ["a priority over 255", { priority: 300 }, /^priority: 300 is not allowed; .* from 0 to 255$/],
  ["half a priority", { priority: 1.5 }, /^priority: 1.5 /],
  ["a negative timestamp", { timestamp: -1 }, /^timestamp: -1 is not allowed; it must be whole seconds since 1970/],
  ["a Date as timestamp", { timestamp: new Date() }, /^timestamp: a value of type object/],
  ["a long id", { messageId: "ß".repeat(128) }, /^messageId: it has 256 bytes, at most 255 bytes are allowed$/],
  ["a number as id", { messageId: 5 }, /^messageId: a value of type number is not allowed; it must be a text$/],
  ["headers that are a text", { headers: "a" }, /^headers: a String is not allowed/],
  ["a function in headers", { headers: { a: { b: [() => 1] } } }, /^headers\.a\.b\.0: a Function has no form in AMQP/],
  ["NaN in headers", { headers: { a: Number.NaN } }, /^headers\.a: NaN is not allowed/],
  ["infinity in headers", { headers: { a: -Infinity } }, /^headers\.a: -Infinity is not allowed/],
  ["a bigint over 64 bits", { headers: { a: 2n ** 63n } }, /^headers\.a: whole numbers have at most 64 bits/],
  ["undefined in a list", { headers: { a: [undefined] } }, /^headers\.a\.0: an Undefined has no form/],
  ["a Date in headers", { headers: { a: new Date() } }, /^headers\.a: a Date has no form in AMQP; give a text/],
  ["a long name", { headers: { ["n".repeat(256)]: 1 } }, /^headers\.n+: its name has 256 bytes/],
  ["a type of no kind", { headers: { a: { "!": "int99", value: 1 } } }, /^headers\.a: .*"!"/],
  ["headers over any frame", { headers: { a: "x".repeat(70_000) } }, /^headers: .* at most \d+/],
];

/** What one library alone can't write. */
const byLibrary: Record<string, typeof impossible> = {
  amqplib: [["a bigint over 2^53", { headers: { a: 2n ** 53n + 1n } }, /^headers\.a: amqplib can't write .* as text$/]],
  "rabbitmq-client": [
    ["bytes", { headers: { a: Buffer.from("a") } }, /^headers\.a: rabbitmq-client can't write bytes .* base64$/],
    ["a fraction of a large number", { headers: { a: 2 ** 50 + 0.5 } }, /^headers\.a: rabbitmq-client can't write/],
    ["a value with a type", { headers: { a: { "!": "double", value: 5 } } }, /^headers\.a: .*amqplib can$/],
  ],
};

describe("properties that can't be sent", () => {
  const network = delayNetwork({ preset: "custom", prefix: "own", radix: 4, levels: 4, unitMs: 10 });

  onEachBroker((broker) => {
    /** A publisher over a client library, and a receiver of what it sends to `Billing`. */
    const setUp = async (
      open: (typeof clients)[number][1],
      query = "",
    ): Promise<{ publisher: DelayPublisher; receiver: Receiver }> => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      await management.declare(vhost, network, ["Billing"]);
      const receiver = await Receiver.on(await (await connect(broker(), vhost)).createChannel(), ["Billing"]);
      const client = await open(broker(), `${node.amqpUrl}/${vhost}${query}`);
      afterThisTest(() => client.close());
      return { publisher: createDelayPublisher(client.channel, network), receiver };
    };

    for (const [library, open] of clients) {
      it(`are refused by name, and close no channel under other messages, with ${library}`, async () => {
        const { publisher, receiver } = await setUp(open);
        const all = [...impossible, ...(byLibrary[library] ?? [])];
        const others = all.map(async ([what, properties, message], index) => {
          const good = [0, 1].map(() => publisher.publish("Billing", what, { delayMs: index * 10 }));
          const refused = publisher.publish("Billing", "refused", { delayMs: 10, ...properties });
          const isRefused = (error: Error): boolean =>
            error instanceof MessageRefusedError && message.test(error.message) && error.message.length < 400;
          await assert.rejects(refused, isRefused, what);
          await Promise.all(good);
        });
        await Promise.all(others);
        await publisher.publish("Billing", "after", { delayMs: 10 });
        const arrivals = await receiver.until(2 * all.length + 1);
        assert.ok(arrivals.every(({ message }) => message.content.toString() !== "refused"));
      });

      it(`at their limits arrive as they were given, with ${library}`, async () => {
        // amqplib before 0.10.6 has frames of 4 KiB by default.
        const { publisher, receiver } = await setUp(open, library === "amqplib" ? "?frameMax=131072" : "");
        const headers = {
          text: "Größe".repeat(1000),
          numbers: [0, -1, 127, -129, 40_000, -(2 ** 40), 2 ** 53 - 1, 0.5, -1e-300, -(2 ** 63), 1e300],
          table: { deep: [{ yes: true, no: false, none: null }] },
        };
        const properties = { priority: 255, timestamp: 2 ** 40, messageId: "ß".repeat(127), replyTo: "" };
        await publisher.publish("Billing", "x", {
          ...properties,
          headers: { ...headers, big: 12n, gone: undefined },
          delayMs: 10,
        });
        // All that the library's frames hold, but for what the publisher adds itself.
        const large = { filler: "x".repeat(library === "amqplib" ? 65_000 : 7700) };
        await publisher.publish("Billing", "large", { headers: large, delayMs: 20 });
        const [first, second] = await receiver.until(2);
        const found = first?.message.properties;
        for (const [name, value] of Object.entries(properties))
          assert.equal((found as unknown as Record<string, unknown>)[name], value, name);
        const { text, numbers, table, big, gone } = found?.headers ?? {};
        assert.deepEqual({ text, numbers, table }, headers);
        assert.deepEqual([big, gone], [12, undefined]);
        assert.equal(second?.message.properties.headers?.filler, large.filler);
      });
    }
  });
});
