import { strict as assert } from "node:assert";
import {
  RetryPolicy,
  consumeWithRetries,
  createDelayPublisher,
  nserviceBusDelayHeader,
  throughDeclared,
} from "@rabbitmq-delay/publish";
import { DelayNetworkOptions, delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { clients } from "../support/clients";
import { amqplibFor, connect } from "../support/connect";
import { Receiver } from "../support/receive";
import { headersNamed, tapOf } from "../support/tap";

/** The tool of NServiceBus casts to a 32-bit integer, and reads the time by this form alone. */
const TIME_SENT = "NServiceBus.TimeSent";
const WIRE_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{6} Z$/;
const seconds = (value: number): Buffer => {
  const field = Buffer.alloc(5);
  field.write("I");
  field.writeInt32BE(value, 1);
  return field;
};
const textOf = (field: Buffer): string => field.subarray(5).toString();
const wireTimes = (sent: Buffer): string[] => headersNamed(sent, TIME_SENT, 4 + 28).map(textOf);

describe("on the wire, a network of NServiceBus", () => {
  onEachBroker((broker) => {
    for (const preset of ["nservicebus", "nservicebus-v1"] as const) {
      for (const [library, open] of clients) {
        it(`${preset}, ${library}: delay as a 32-bit integer, and the time sent; else its tool ends for the whole network`, () =>
          publishAndRead({ preset }, open));
      }
    }

    async function publishAndRead(options: DelayNetworkOptions, open: (typeof clients)[number][1]): Promise<void> {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const network = delayNetwork(options);
      await management.declare(vhost, network, ["Billing"]);
      const receiver = await Receiver.on(await (await connect(broker(), vhost)).createChannel(), ["Billing"]);
      const url = new URL(node.amqpUrl);
      const tap = await tapOf(Number(url.port));
      url.port = String(tap.port);
      const client = await open(broker(), `${url.href.replace(/\/$/, "")}/${vhost}`);
      afterThisTest(() => client.close());
      const publisher = createDelayPublisher(client.channel, network);
      const before = Date.now();
      // One for each width that a library would choose: 8, 16 and 32 bits.
      const published = [
        publisher.publish("Billing", "short", { delayMs: 1000, contentType: "text/plain", contentEncoding: "utf-8" }),
        publisher.publish("Billing", "longer", { delayMs: 300_000, headers: { "1": "first", deep: { a: [1] } } }),
        publisher.publish("Billing", "longest", { delayMs: 70_000_000 }),
        publisher.publish("Billing", "plain", { delayMs: 0, headers: { [nserviceBusDelayHeader]: 5 } }),
      ];
      await Promise.all(published);
      // What is published again brings the time at which it was sent first; its delay is counted from now.
      const old = "2020-01-02 03:04:05:678901 Z";
      await publisher.publish("Billing", "again", { delayMs: 0, headers: { [TIME_SENT]: old } });
      assert.deepEqual(headersNamed(tap.sent(), nserviceBusDelayHeader, 4), [1, 300, 70_000].map(seconds));
      const times = wireTimes(tap.sent());
      assert.equal(times.length, 5);
      for (const time of times) assert.match(time, WIRE_TIME);
      assert.notEqual(times[4], old);
      const sentMs = Date.parse((times[0] as string).replace(/^(\S+) (\S+):(\d{3})\d{3} Z$/, "$1T$2.$3Z"));
      assert.ok(sentMs >= before && sentMs <= Date.now(), `sent at ${times[0]}`);
      const arrivals = await receiver.until(3);
      const short = arrivals.find(({ message }) => message.content.toString() === "short")?.message.properties;
      assert.equal(short?.headers?.[nserviceBusDelayHeader], 1);
      assert.deepEqual([short?.contentType, short?.contentEncoding], ["text/plain", "utf-8"]);
      const plain = arrivals.find(({ message }) => message.content.toString() === "plain")?.message.properties;
      assert.equal(plain?.headers?.[nserviceBusDelayHeader], undefined);
    }

    it("retries through it carry both, and give the handler the message as it was sent", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const network = delayNetwork({ preset: "nservicebus" });
      await management.declare(vhost, network, ["Billing", "Billing_error"]);
      const url = new URL(node.amqpUrl);
      const tap = await tapOf(Number(url.port));
      url.port = String(tap.port);
      const connection = await amqplibFor(broker()).connect(`${url.href.replace(/\/$/, "")}/${vhost}`);
      afterThisTest(() => connection.close());
      const channel = await connection.createConfirmChannel();
      const sentAt = "2020-01-02 03:04:05:678901 Z";
      const seen: unknown[] = [];
      let done: () => void = () => undefined;
      const second = new Promise<void>((resolve) => (done = resolve));
      const consumer = await consumeWithRetries(
        channel,
        "Billing",
        ({ properties }) => {
          seen.push([properties.headers?.[TIME_SENT], properties.headers?.[nserviceBusDelayHeader]]);
          if (seen.length === 1) throw new Error("later");
          done();
        },
        { policy: RetryPolicy.intervals([1000]), mechanism: throughDeclared(network) },
      );
      const headers = { [TIME_SENT]: sentAt, [nserviceBusDelayHeader]: 9 };
      const publisher = await (await connect(broker(), vhost)).createConfirmChannel();
      publisher.publish("", "Billing", Buffer.from("x"), { persistent: true, headers });
      await second;
      await consumer.stop();
      assert.deepEqual(headersNamed(tap.sent(), nserviceBusDelayHeader, 4)[0], seconds(1));
      const [time] = wireTimes(tap.sent());
      assert.match(time as string, WIRE_TIME);
      assert.notEqual(time, sentAt);
      assert.deepEqual(seen, [
        [sentAt, 9],
        [sentAt, 9],
      ]);
    });
  });
});
