import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ConfirmChannel, MessageFields, Options } from "amqplib";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { TestBroker, onEachBroker, ownTestBroker } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { Shop, delayed, firstQueue, openShop, publish, shape, silenceOf, startUsed } from "../support/gatewayShop";
import { Arrival, Receiver } from "../support/receive";
import { ServiceHealth, StoreProcess } from "../support/storeService";
import { temporaryFolder } from "../support/temporaryFolder";
import { MARK, deepLists, receivedBytes, sendDeepLists, sendWithoutUtf8, withoutUtf8 } from "../support/withoutUtf8";

const MIB = 1 << 20;
const LARGE = 4 * MIB;

interface Container {
  env: { name: string; value: string }[];
  resources: { limits: { memory: string } };
}

/** The container of a Deployment, as the component makes it. */
function deployedContainer(stack: string): Container {
  const file = join(__dirname, "../../components/test/kubernetesObjects.snapshot.json");
  const objects = JSON.parse(readFileSync(file, "utf8")) as Record<string, { type: string; inputs: Deployment }[]>;
  const deployment = objects[stack]?.find(({ type }) => type.endsWith(":Deployment"));
  return deployment?.inputs.spec.template.spec.containers[0] as Container;
}

interface Deployment {
  spec: { template: { spec: { containers: Container[] } } };
}

/** A shop with a gateway that may have two large bodies in hand. */
async function openBounded(broker: TestBroker): Promise<Shop & { startBounded: () => Promise<StoreProcess> }> {
  const shop = await openShop(broker);
  const environment = {
    RABBITMQ_DELAY_GATEWAY_BODY_MEMORY_BYTES: String(2 * LARGE),
    RABBITMQ_DELAY_GATEWAY_NUMBER_OF_RETRIES: "0",
  };
  return { ...shop, startBounded: () => StoreProcess.ready(broker, shop.vhost, shop.flags, environment, "gateway") };
}

async function publishLarge(channel: ConfirmChannel, key: string, count: number, delay: unknown = 10): Promise<void> {
  const options = { ...delayed(delay), persistent: true };
  for (let index = 0; index < count; index++) channel.publish("shop", key, Buffer.alloc(LARGE), options);
  await channel.waitForConfirms();
}

/** Has a channel send the property `cluster-id`, which amqplib never does, from now on. */
function sendWithClusterId(channel: ConfirmChannel, clusterId: string): void {
  const sender = channel as unknown as {
    sendMessage: (fields: object, properties: object, content: Buffer) => boolean;
  };
  const send = sender.sendMessage.bind(channel);
  sender.sendMessage = (fields, properties, content) => send(fields, { ...properties, clusterId }, content);
}

/** Has the error queue refuse what is published to it, until it has a consumer. */
async function fillErrorQueue({ management }: TestBroker, vhost: string, channel: ConfirmChannel): Promise<void> {
  const definition = { "max-length": 0, overflow: "reject-publish" };
  const policy = { pattern: "^gateway.error$", "apply-to": "queues", definition, priority: 999 };
  await management.call("PUT", `policies/${vhost}/full`, policy);
  const isTaken = (): Promise<boolean> =>
    new Promise((resolve) =>
      channel.publish("gateway.error", "", Buffer.from("x"), {}, (error: unknown) => resolve(error === null)),
    );
  while (await isTaken()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Messages of its intake queue that a gateway has in hand, as of a few seconds ago. */
async function countInHand({ management }: TestBroker, vhost: string): Promise<number> {
  const queue = await management.get<{ messages_unacknowledged: number }>(`queues/${vhost}/gateway.intake`);
  return queue.messages_unacknowledged;
}

describe("a gateway", function () {
  onEachBroker((broker, { isNewest }) => {
    it("delays by any x-delay, and delivers each message once, not early, as it was published", async () => {
      const { channel, start } = await openShop(broker(), { queues: ["work", "copies"] });
      await start();
      const receiver = await Receiver.on(channel, ["work", "copies"]);
      const sentMs = Date.now();
      const delays: Record<string, number> = { "no header": 0, negative: 0, text: 455, fraction: 301 };
      await publish(channel, "work", "no header");
      await publish(channel, "work", "negative", delayed(-5));
      await publish(channel, "work", "text", delayed("455"));
      await publish(channel, "work", "fraction", delayed(300.5));
      for (let index = 0; index < 50; index++) {
        const delayMs = (index * 397) % 3000;
        delays[`delay ${index}`] = delayMs;
        await publish(channel, "work", `delay ${index}`, delayed(delayMs));
      }
      delays.everything = 700;
      sendWithClusterId(channel, "a cluster");
      await publish(channel, "work", "everything", {
        ...delayed(700, { CC: ["copies"], tenant: { id: 7 }, list: [1, "two"] }),
        expiration: "60000",
        messageId: "an id",
        correlationId: "a correlation",
        contentType: "text/plain",
        type: "a type",
        priority: 3,
      });
      const arrivals = await receiver.until(Object.keys(delays).length + 1);
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.deepEqual(
        arrivals.map(({ queue, message }) => `${queue}: ${message.content.toString()}`).sort(),
        [...Object.keys(delays).map((body) => `work: ${body}`), "copies: everything"].sort(),
      );
      for (const { message, atMs } of arrivals) {
        const body = message.content.toString();
        assertNotEarly(body, atMs, sentMs + (delays[body] as number));
        assert.equal(message.fields.exchange, "shop.delivery");
        assert.equal(message.fields.routingKey, "work");
        assert.equal(message.properties.headers?.["rabbitmq-delay.gateway"], undefined);
        assert.equal(message.properties.headers?.["x-death"], undefined);
      }
      const last = arrivals.find(({ queue }) => queue === "copies")?.message.properties;
      assert.deepEqual(
        { ...last?.headers, expiration: last?.expiration, id: last?.messageId, type: last?.type },
        {
          "x-delay": -700,
          CC: ["copies"],
          tenant: { id: 7 },
          list: [1, "two"],
          expiration: "60000",
          id: "an id",
          type: "a type",
        },
      );
      assert.deepEqual(
        [last?.correlationId, last?.contentType, last?.priority, last?.deliveryMode],
        ["a correlation", "text/plain", 3, 2],
      );
      assert.equal(last?.clusterId, undefined);
      const ids = arrivals.map(({ message }) => message.properties.messageId as string);
      assert.ok(ids.every((id) => id !== ""));
      assert.equal(new Set(ids).size, Object.keys(delays).length, "one of its own for each message without");
      channel.sendToQueue("work", Buffer.from("without the gateway"));
      const direct = (await receiver.until(arrivals.length + 1)).at(-1);
      assert.equal(direct?.message.properties.clusterId, "a cluster");
    });

    // It was delivered at once.
    it("by the plugin's rules delays an x-delay sent as bytes, as pika does, and refuses bytes that are no integer", async () => {
      const { channel, start } = await openShop(broker(), { flags: ["--delay-rules", "plugin"] });
      await start();
      const receiver = await Receiver.on(channel, ["work", "gateway.error"]);
      const sentMs = Date.now();
      await publish(channel, "work", "delayed", delayed(Buffer.from("1500")));
      await publish(channel, "work", "refused", delayed(Buffer.from("soon")));
      const arrivals = (await receiver.until(2)).slice();
      const told = arrivals.map(({ queue, message }) => `${queue}: ${message.content.toString()}`);
      assert.deepEqual(told.sort(), ["gateway.error: refused", "work: delayed"]);
      const late = arrivals.find(({ queue }) => queue === "work");
      assertNotEarly("delayed", late?.atMs ?? 0, sentMs + 1500);
      assert.equal(late?.message.properties.headers?.["x-delay"], -1500);
    });

    // It said that it runs, and tried for ever.
    it("ends as publish does where the broker refuses its login or vhost, and where its network is in another vhost", async () => {
      const { vhost, flags } = await openShop(broker());
      const { node, management } = broker();
      const network = join(temporaryFolder(), "network.json");
      const refused = { management, node: { ...node, amqpUrl: `amqp://nobody:hidden@${new URL(node.amqpUrl).host}` } };
      for (const [on, at, declaredIn, wantedCode, reason] of [
        [refused, vhost, vhost, 3, /refuses the user or the password/],
        [broker(), `${vhost}-gone`, `${vhost}-gone`, 3, /refuses vhost \S+-gone: there is none of that name/],
        [broker(), vhost, `${vhost}-other`, 2, /leads to vhost \S+, .* declared in vhost \S+-other;/],
      ] as const) {
        writeFileSync(network, JSON.stringify(delayNetwork({ ...shape, parking: false, vhost: declaredIn })));
        const service = await StoreProcess.start(on, at, ["--network", network, ...flags.slice(2)], {}, "gateway");
        const code = await service.ended;
        const message = ["--destination", "work", "--delay", "1s", "--body", "x"];
        const amqp = `${on.node.amqpUrl}/${at}`;
        const publishing = await runCommand(["publish", "--network", network, "--amqp", amqp, ...message]);
        assert.deepEqual([code, publishing.code], [wantedCode, wantedCode], service.errors + publishing.err);
        const text = publishing.err.replace("--amqp", "amqp");
        assert.match(text, reason);
        assert.equal(service.errors.replace("--amqp", "amqp"), text);
        assert.doesNotMatch(JSON.stringify(service.log), /running|hidden/);
      }
    });

    // It ended with 3, as for a vhost that does not exist.
    it("is unhealthy while its vhost, its user or the node is at its limit of connections, and names that, as publish does", async () => {
      // RabbitMQ 3.10 has no limit for a node; on the newest broker, which other tests share, theirs would not connect either.
      const on = isNewest ? await ownTestBroker(broker().node.installation) : broker();
      const { vhost, flags } = await openShop(on);
      const { node, management } = on;
      const user = `gateway-${randomUUID().slice(0, 8)}`;
      await management.call("PUT", `users/${user}`, { password: "hidden", tags: "policymaker" });
      await management.call("PUT", `permissions/${vhost}/${user}`, { configure: ".*", write: ".*", read: ".*" });
      const limited = {
        management,
        node: { ...node, amqpUrl: `amqp://${user}:hidden@${new URL(node.amqpUrl).host}` },
      };
      const message = ["--destination", "work", "--delay", "1s", "--body", "x"];
      const publishing = ["publish", ...flags.slice(0, 2), "--amqp", `${limited.node.amqpUrl}/${vhost}`, ...message];
      const environment = { RABBITMQ_DELAY_GATEWAY_TIME_TO_TRIGGER_NETWORK_BREAKER_MS: "500" };
      type Limit = (value: number | undefined) => Promise<unknown>;
      const limitBy =
        (path: string): Limit =>
        (value) =>
          management.call(value === undefined ? "DELETE" : "PUT", `${path}/max-connections`, { value });
      const limitNode: Limit = (value) =>
        rabbitmqctl(node, "eval", `application:set_env(rabbit, connection_max, ${value ?? "infinity"}).`);
      const limits: [Limit, RegExp][] = [
        [limitBy(`vhost-limits/${vhost}`), /access to vhost '\S+' refused: connection limit \(0\) is reached/],
        [limitBy(`user-limits/${user}`), /connection refused: user connection limit \(0\) is reached/],
      ];
      if (isNewest) limits.push([limitNode, /connection refused: node connection limit \(0\) is reached/]);
      for (const [limit, reason] of limits) {
        await limit(0);
        // The broker applies a limit a moment later.
        let end = await runCommand(publishing);
        while (end.code === 0) end = await runCommand(publishing);
        assert.equal(end.code, 3);
        assert.match(end.err, /the broker at \S+ opens no connection at the moment: /);
        assert.match(end.err, reason);
        const service = await StoreProcess.start(limited, vhost, flags, environment, "gateway");
        await service.untilHealth(({ reasons }) => reason.test(reasons.network ?? ""));
        assert.ok(service.log.some((line) => reason.test(String(line.reason))));
        await limit(undefined);
        await service.untilHealth(({ status, isReady }) => status === "green" && isReady);
        assert.equal(await service.stop(), 0);
        assert.doesNotMatch(JSON.stringify([service.log, end.err]), /hidden/);
      }
    });

    it("lets a message wait in rounds beyond the network's longest delay, and again if something shortens its wait", async () => {
      const { vhost, channel, start } = await openShop(broker(), {
        network: { radix: 2, levels: 3, unitMs: 100 },
      });
      const service = await start();
      const receiver = await Receiver.on(channel, ["work"]);
      const longMs = Date.now();
      await publish(channel, "work", "long", delayed(2950));
      const [long] = await receiver.until(1);
      assertNotEarly("long", long?.atMs as number, longMs + 2950);
      const shortening = {
        pattern: "^wait\\.",
        "apply-to": "queues",
        definition: { "message-ttl": 20 },
        priority: 9,
      };
      await broker().management.call("PUT", `policies/${vhost}/shorter`, shortening);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const shortMs = Date.now();
      await publish(channel, "work", "shortened", delayed(8000));
      const shortened = (await receiver.until(2))[1];
      assertNotEarly("shortened", shortened?.atMs as number, shortMs + 8000);
      await service.untilMetric("further_rounds_total", 5);
    });

    it("tries a failed delivery again, and puts what nobody takes, or what can't be read, into the error queue", async () => {
      const { channel, start } = await openShop(broker(), { flags: ["--number-of-retries", "4"] });
      await channel.assertQueue("late", { durable: true });
      const service = await start();
      await publish(channel, "late", "bound later", delayed(100));
      await publish(channel, "nobody", "for nobody", delayed(100));
      await publish(channel, "work", "unreadable", delayed("soon"));
      await publish(channel, "work", "elsewhere", delayed(1, { "x-deliver-exchange": "wait.r8x4u10.level-00" }));
      channel.sendToQueue("gateway.return", Buffer.from("forged"), {});
      await service.untilMetric("retries_total", 2);
      await channel.bindQueue("late", "shop.delivery", "late");
      const receiver = await Receiver.on(channel, ["late", "gateway.error"]);
      const arrivals = await receiver.until(5);
      const told = arrivals.map(({ queue, message }) => {
        const headers = message.properties.headers ?? {};
        return `${queue}: ${message.content.toString()} ${String(headers["x-deliver-exchange"])}`;
      });
      assert.deepEqual(told.sort(), [
        "gateway.error: elsewhere wait.r8x4u10.level-00",
        "gateway.error: for nobody shop.delivery",
        "gateway.error: forged undefined",
        "gateway.error: unreadable shop.delivery",
        "late: bound later undefined",
      ]);
      // The broker gives a message away before it confirms it, and only then is it counted.
      const metrics = await service.untilMetric("parked_total", 2);
      assert.equal(metrics.get("rabbitmq_delay_gateway_parked_total"), 2);
    });

    it("takes nothing while its network would lead nothing back, and what waited meanwhile then", async () => {
      const { vhost, channel, start, flags } = await openShop(broker());
      await (await start()).stop();
      await channel.unbindQueue("gateway.return", "wait.r8x4u10.delivery", `${"*.".repeat(4)}gateway.return`);
      const declareless = flags.filter((flag) => flag !== "--declare");
      const service = await StoreProcess.start(broker(), vhost, declareless, {}, "gateway");
      await publish(channel, "work", "waits", delayed(10));
      while (!service.log.some(({ reason }) => /wait.* does not take messages/.test(String(reason))))
        await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(await service.statusOf("/readyz"), 503);
      assert.equal((await channel.checkQueue("gateway.intake")).messageCount, 1);
      await channel.bindQueue("gateway.return", "wait.r8x4u10.delivery", `${"*.".repeat(4)}gateway.return`);
      const receiver = await Receiver.on(channel, ["work"]);
      await receiver.until(1);
      assert.equal(await service.stop(), 0);
    });

    // Sent again at each try, it would come once for each, as soon as the queue works again.
    it("sends a message once to a queue of the network that does not answer, and others after it", async () => {
      const shop = await openShop(broker());
      const { vhost, channel } = shop;
      const { service, receiver } = await startUsed(broker(), shop, 3000);
      const silence = await silenceOf(broker(), vhost, firstQueue.name);
      await silence.turnOn();
      try {
        await publish(channel, "work", "held up", delayed(firstQueue.delayMs));
        for (let index = 0; index < 20; index++) await publish(channel, "work", `free ${index}`, delayed(0));
        const isTold = ({ reason }: Record<string, unknown>): boolean =>
          /no answer for 1 messages/.test(String(reason));
        // Each line is a try that would have sent a copy.
        while (service.log.filter(isTold).length < 5) await new Promise((resolve) => setTimeout(resolve, 50));
        assert.equal(await service.statusOf("/readyz"), 503);
      } finally {
        await silence.turnOff();
      }
      await receiver.until(22);
      await publish(channel, "work", "last", delayed(100));
      const arrivals = await receiver.until(23);
      const bodies = arrivals.map(({ message }) => message.content.toString());
      const expected = ["first", "held up", "last", ...Array.from({ length: 20 }, (_, index) => `free ${index}`)];
      assert.deepEqual(bodies.slice().sort(), expected.sort());
      assert.equal(bodies.at(-1), "last");
      assert.equal(await service.stop(), 0);
    });

    // Each try gives the messages back, and they come again as other objects of this process.
    it("sends a further round and a retry once, too, to a queue of the network that does not answer", async () => {
      const { vhost, channel, flags } = await openShop(broker(), {
        network: { radix: 2, levels: 3, unitMs: 100 },
        flags: ["--number-of-retries", "2"],
      });
      const environment = {
        RABBITMQ_DELAY_GATEWAY_CONFIRM_TIMEOUT_MS: "3000",
        RABBITMQ_DELAY_GATEWAY_RETRY_DELAY_MS: "500",
      };
      const service = await StoreProcess.ready(broker(), vhost, flags, environment, "gateway");
      const receiver = await Receiver.on(channel, ["work", "gateway.error"]);
      const silence = await silenceOf(broker(), vhost, "wait.r2x3u100.level-02-1");
      const sentMs = Date.now();
      await publish(channel, "work", "long", delayed(4000));
      await service.untilMetric("further_rounds_total", 1);
      await silence.turnOn();
      assert.equal(receiver.arrivals.length, 0, "it is underway");
      try {
        for (let index = 0; index < 10; index++) await publish(channel, "nobody", `nobody ${index}`, delayed(100));
        await service.untilMetric("retries_total", 10);
        const isTold = ({ reason }: Record<string, unknown>): boolean =>
          /no answer for \d+ messages/.test(String(reason));
        while (service.log.filter(isTold).length < 4) await new Promise((resolve) => setTimeout(resolve, 50));
        // Between two tries of the intake it may be ready for a moment.
        while ((await service.statusOf("/readyz")) !== 503) await new Promise((resolve) => setTimeout(resolve, 20));
      } finally {
        await silence.turnOff();
      }
      await receiver.until(11);
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const told = receiver.arrivals.map((arrival) => `${arrival.queue}: ${arrival.message.content.toString()}`);
      const refused = Array.from({ length: 10 }, (_, index) => `gateway.error: nobody ${index}`);
      assert.deepEqual(told.sort(), [...refused, "work: long"].sort());
      const long = receiver.arrivals.find((arrival) => arrival.queue === "work");
      assertNotEarly("long", long?.atMs as number, sentMs + 4000);
      assert.equal((await service.metrics()).get("rabbitmq_delay_gateway_retries_total"), 20);
      assert.equal(await service.stop(), 0);
    });

    it("delivers to all others while a destination does not answer, and to that one then", async () => {
      const { vhost, channel, flags } = await openShop(broker(), { queues: ["work", "other"] });
      const environment = { RABBITMQ_DELAY_GATEWAY_CONFIRM_TIMEOUT_MS: "500" };
      const service = await StoreProcess.ready(broker(), vhost, flags, environment, "gateway");
      const quorum = { "x-queue-type": "quorum", "x-overflow": "reject-publish" };
      await channel.assertQueue("hung", { durable: true, arguments: quorum });
      await channel.bindQueue("hung", "shop.delivery", "hung");
      const receiver = await Receiver.on(channel, ["work", "other", "gateway.error"]);
      const bodies = Array.from({ length: 40 }, (_, index) => `free ${index}`);
      const silence = await silenceOf(broker(), vhost, "hung");
      await silence.turnOn();
      try {
        for (const [index, body] of bodies.entries()) {
          await publish(channel, "hung", `hung ${index}`, delayed(10));
          await publish(channel, index % 2 === 0 ? "work" : "other", body, delayed(10));
        }
        const arrived = (): Set<string> => new Set(receiver.arrivals.map(({ message }) => message.content.toString()));
        while (arrived().size < bodies.length) await new Promise((resolve) => setTimeout(resolve, 50));
        assert.deepEqual([...arrived()].sort(), [...bodies].sort());
      } finally {
        await silence.turnOff();
      }
      const hung = await Receiver.on(channel, ["hung"]);
      const came = (): Set<string> => new Set(hung.arrivals.map(({ message }) => message.content.toString()));
      while (came().size < bodies.length) await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(receiver.arrivals.filter(({ queue }) => queue === "gateway.error").length, 0);
      assert.equal(await service.stop(), 0);
    });

    it("is not held up by a message that can't be sent with its headers, not even to the error queue", async () => {
      const { channel, start } = await openShop(broker());
      await start();
      // As text shorter than as AMQP: the check of their size lets them pass.
      const poison = Array.from({ length: 12_000 }, () => ({ "!": "float", value: 0.5 }));
      await publish(channel, "work", "poison", delayed(10, { poison }));
      for (let index = 0; index < 50; index++) await publish(channel, "work", `refused ${index}`, delayed("soon"));
      await publish(channel, "work", "good", delayed(10));
      const receiver = await Receiver.on(channel, ["work", "gateway.error"]);
      const arrivals = await receiver.until(52);
      const at = (body: string): string[] =>
        arrivals.filter(({ message }) => message.content.toString() === body).map(({ queue }) => queue);
      assert.deepEqual([at("poison"), at("good"), at("refused 49")], [["gateway.error"], ["work"], ["gateway.error"]]);
    });

    // A copy without its headers was there, x-delay included, and the original was acknowledged.
    it("has the broker move what can't be sent again to the error queue, with all that it has", async () => {
      const { channel, start } = await openShop(broker());
      await start();
      const nested = Array.from({ length: 60 }).reduce<unknown>((inner) => ({ a: inner }), 1);
      const odd: Record<string, Record<string, unknown>> = {
        "no texts": { CC: [1] },
        "too large": { large: "x".repeat(50_100) },
        "too many": { list: Array<string>(12_800).fill("") },
        "too deep": { nested },
        "a replacement character": { text: "J\uFFFDrgen" },
      };
      for (const [body, headers] of Object.entries(odd))
        await publish(channel, "work", body, { ...delayed(5000, headers), correlationId: "c", expiration: "600000" });
      const receiver = await Receiver.on(channel, ["work", "gateway.error"]);
      for (const { queue, message } of (await receiver.until(Object.keys(odd).length)).slice()) {
        const body = message.content.toString();
        const { headers = {}, correlationId } = message.properties;
        const [death] = headers["x-death"] ?? [];
        assert.deepEqual([queue, correlationId, headers["x-delay"]], ["gateway.error", "c", 5000], body);
        assert.deepEqual(
          [death?.reason, death?.exchange, death?.["routing-keys"]],
          ["rejected", "shop", ["work"]],
          body,
        );
        for (const [name, value] of Object.entries(odd[body] as object)) assert.deepEqual(headers[name], value, body);
      }
    });

    it("delivers by its forward what the broker or the gateway put into the error queue, and is published once more as the docs say", async () => {
      const { channel, start } = await openShop(broker());
      await start();
      const receiver = await Receiver.on(channel, ["work", "gateway.error"]);
      const replay = async (body: string, options: Options.Publish, mended: object): Promise<MessageFields> => {
        const count = receiver.arrivals.length;
        await publish(channel, "work", body, options);
        const { queue, message } = (await receiver.until(count + 1))[count] as Arrival;
        assert.deepEqual([queue, message.fields.routingKey], ["gateway.error", "work"]);
        const { headers = {} } = message.properties;
        const exchange = (headers["x-first-death-exchange"] as string | undefined) ?? "gateway";
        channel.publish(exchange, message.fields.routingKey, message.content, {
          ...(message.properties as Options.Publish),
          headers: { ...headers, ...mended },
        });
        const again = (await receiver.until(count + 2))[count + 1] as Arrival;
        assert.deepEqual([again.queue, again.message.content.toString()], ["work", body]);
        const arrived = again.message.properties.headers as Record<string, unknown>;
        assert.deepEqual([arrived["x-delay"], arrived.tenant, arrived["x-death"]], [-20, 7, undefined]);
        return again.message.fields;
      };
      const unsendable = delayed(20, { text: "J\uFFFDrgen", tenant: 7 });
      assert.equal((await replay("moved", unsendable, { text: "Jürgen" })).exchange, "shop.delivery");
      const unreadable = delayed("soon", { tenant: 7 });
      assert.equal((await replay("refused", unreadable, { "x-delay": 20 })).exchange, "shop.delivery");
    });

    // It was delivered as U+FFFD, and a header named __proto__ was not delivered at all.
    it("delivers no text that is not UTF-8 as another one: it is in the error queue, byte for byte", async () => {
      const { vhost, channel, start } = await openShop(broker());
      await start();
      sendWithoutUtf8(channel);
      await publish(channel, "work", "value", delayed(10, { author: `J${MARK}rgen` }));
      await publish(channel, "work", "name", delayed(10, { [`gr${MARK}n`]: 1 }));
      await publish(channel, "work", "deep", delayed(10, { list: [{ author: `B${MARK}rbel` }] }));
      await publish(channel, "work", "property", { ...delayed(10), correlationId: `M${MARK}ller` });
      await publish(channel, "work", "prototype", delayed(10, { ["__proto__"]: { street: "Allee" } }));
      await publish(channel, "work", "prototype text", delayed(10, { ["__proto__"]: "Gasse" }));
      await publish(channel, "work", "prototype in a list", delayed(10, { list: [{ ["__proto__"]: 1 }] }));
      await publish(channel, "work", "good", delayed(10, { author: "Jürgen" }));
      const other = await openChannel(broker(), vhost);
      const seen = receivedBytes(other);
      const receiver = await Receiver.on(other, ["work", "gateway.error"]);
      const told = (await receiver.until(8)).map(({ queue, message }) => `${queue}: ${message.content.toString()}`);
      const prototypes = ["prototype", "prototype in a list", "prototype text"];
      assert.deepEqual(told.sort(), [
        ...["deep", "name", "property", ...prototypes, "value"].map((body) => `gateway.error: ${body}`),
        "work: good",
      ]);
      const bytes = Buffer.concat(seen);
      for (const text of [`J${MARK}rgen`, `gr${MARK}n`, `B${MARK}rbel`, `M${MARK}ller`, "Allee", "Gasse"]) {
        assert.ok(bytes.includes(withoutUtf8(Buffer.from(text))), text);
      }
    });

    it("starts with all in hand that it may have, and delivers, within its Deployment's memory", async () => {
      const { vhost, channel, flags, start } = await openShop(broker());
      await (await start()).stop();
      await fillErrorQueue(broker(), vhost, channel);
      const { env, resources } = deployedContainer("a gateway's process");
      const limitMiB = Number(/^(\d+)Mi$/.exec(resources.limits.memory)?.[1]);
      // Together more than the whole limit.
      const [count, bytes] = [100, Math.ceil((1.2 * limitMiB * MIB) / 100)];
      for (let index = 0; index < count; index++) {
        channel.publish("shop", "work", Buffer.alloc(bytes), { ...delayed("soon"), persistent: true });
        if (index % 10 === 9) await channel.waitForConfirms();
      }
      await publish(channel, "work", "good", delayed(10));
      const service = await StoreProcess.start(
        broker(),
        vhost,
        flags,
        {
          ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
          RABBITMQ_DELAY_GATEWAY_INTAKE_PREFETCH: String(count),
        },
        "gateway",
      );
      while ((await countInHand(broker(), vhost)) < count) await new Promise((resolve) => setTimeout(resolve, 100));
      await service.untilHealth(({ isReady, reasons }) => !isReady && reasons.refuse !== undefined);
      // A consumer makes room.
      const receiver = await Receiver.on(channel, ["work", "gateway.error"]);
      const arrived = (queue: string, length: number): number =>
        receiver.arrivals.filter((one) => one.queue === queue && one.message.content.length === length).length;
      while (arrived("gateway.error", bytes) < count || arrived("work", "good".length) < 1)
        await new Promise((resolve) => setTimeout(resolve, 20));
      assert.ok(service.peakMemoryMiB() < limitMiB, `${Math.round(service.peakMemoryMiB())} MiB`);
      assert.equal(await service.stop(), 0);
    });

    // 150 messages of 10 MB took 2.5 GB, and a process of 512 MiB did not get up again.
    it("has no more bytes in hand than it may, whether they wait at its start or come at once", async () => {
      const { channel, start, startBounded } = await openBounded(broker());
      await (await start()).stop();
      const receiver = await Receiver.on(channel, ["work", "gateway.error"]);
      await publishLarge(channel, "work", 40);
      const service = await startBounded();
      await receiver.until(40);
      for (let index = 0; index < 500; index++) await publish(channel, "work", "small", delayed(0));
      await receiver.until(540);
      await publishLarge(channel, "work", 40);
      const arrivals = await receiver.until(580);
      assert.ok(arrivals.every(({ queue }) => queue === "work"));
      assert.ok(service.peakMemoryMiB() < 300, `${Math.round(service.peakMemoryMiB())} MiB`);
      assert.equal(await service.stop(), 0);
    });

    it("takes on and delivers while the error queue does not take more bytes than it may have in hand", async () => {
      const { channel, startBounded } = await openBounded(broker());
      const service = await startBounded();
      await channel.deleteQueue("gateway.error");
      await publishLarge(channel, "work", 5, "soon");
      await publishLarge(channel, "nobody", 1);
      await service.untilMetric("stuck_total", 2);
      const receiver = await Receiver.on(channel, ["work"]);
      for (let index = 0; index < 50; index++) await publish(channel, "work", "small", delayed(10));
      await receiver.until(50);
      await channel.assertQueue("gateway.error", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await channel.bindQueue("gateway.error", "gateway.error", "");
      const refused = await Receiver.on(channel, ["gateway.error"]);
      const arrivals = await refused.until(6);
      assert.ok(arrivals.every(({ message }) => message.content.length === LARGE));
      assert.equal(arrivals.filter(({ message }) => message.properties.headers?.["x-delay"] === "soon").length, 5);
      assert.ok(service.peakMemoryMiB() < 300, `${Math.round(service.peakMemoryMiB())} MiB`);
      assert.equal(await service.stop(), 0);
    });

    // It was counted as put there, health was green, and the message came minutes later.
    it("is unhealthy while the error queue does not take what the broker moves there, and counts what it has taken", async () => {
      const { vhost, channel, flags } = await openShop(broker());
      const environment = { RABBITMQ_DELAY_GATEWAY_TIME_TO_TRIGGER_CONSUME_BREAKER_MS: "500" };
      const service = await StoreProcess.ready(broker(), vhost, flags, environment, "gateway");
      const publishUnsendable = (body: string): Promise<void> =>
        publish(channel, "work", body, delayed(10, { text: "J\uFFFDrgen" }));
      const isRed = ({ status, triggered }: ServiceHealth): boolean => status === "red" && triggered.includes("refuse");
      const refused = async (): Promise<number | undefined> =>
        (await service.metrics()).get("rabbitmq_delay_gateway_refused_total");
      await channel.deleteQueue("gateway.error");
      await publishUnsendable("gone");
      await service.untilHealth(isRed);
      await service.untilMetric("stuck_total", 2);
      assert.equal(await refused(), 0);
      await channel.assertQueue("gateway.error", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await channel.bindQueue("gateway.error", "gateway.error", "");
      await service.untilMetric("refused_total", 1);
      await service.untilHealth(({ status }) => status === "green");
      assert.equal((await channel.checkQueue("gateway.error")).messageCount, 1);
      await fillErrorQueue(broker(), vhost, channel);
      await publishUnsendable("full");
      await service.untilHealth(isRed);
      for (let index = 0; index < 14; index++) await publishUnsendable(`waits ${index}`);
      assert.equal(await refused(), 1);
      // Ten stay in hand, of which one is offered again and again; the broker has what comes beyond. It counts every five seconds.
      while (![9, 10].includes(await countInHand(broker(), vhost)))
        await new Promise((resolve) => setTimeout(resolve, 100));
      assert.ok(
        service.log.some(({ reason }) =>
          /does not have more messages, though the broker moves 1 there \(headers.text/.test(String(reason)),
        ),
      );
      // A consumer makes room. What stayed in hand comes at once, and the others when the broker tries again.
      const receiver = await Receiver.on(channel, ["gateway.error"]);
      await service.untilMetric("refused_total", 16);
      await service.untilHealth(({ status }) => status === "green");
      const isWaiting = ({ message }: (typeof receiver.arrivals)[number]): boolean =>
        message.content.toString().startsWith("waits ");
      while (receiver.arrivals.filter(isWaiting).length < 9) await new Promise((resolve) => setTimeout(resolve, 20));
    });

    // 10,000 messages to nobody were 10,000 lines.
    it("writes a few lines of messages that it can't take or deliver, and counts the others, but each reason that is nowhere else", async () => {
      const { channel, start } = await openShop(broker());
      const service = await start();
      const count = 40;
      for (let index = 0; index < count; index++) {
        await publish(channel, "nobody", "x", delayed(0));
        await publish(channel, "work", "x", delayed("soon"));
        await publish(channel, "work", "x", { ...delayed(0, { text: "J\uFFFDrgen" }), messageId: `moved ${index}` });
      }
      await service.untilMetric("parked_total", count);
      await service.untilMetric("refused_total", 2 * count);
      assert.equal(await service.stop(), 0);
      const counted = (told: string): number[] =>
        service.log.filter(({ text }) => text === told).map((line) => line.count as number);
      const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);
      const isMoved = ({ messageId }: Record<string, unknown>): boolean => String(messageId).startsWith("moved");
      for (const told of ["put into the error queue", "refused, put into the error queue"]) {
        const lines = service.log.filter((line) => line.msg === told && !isMoved(line));
        assert.equal(lines.length + sum(counted(told)), count, told);
        assert.ok(lines.length >= 10 && lines.length < count, `${lines.length} lines of ${told}`);
        assert.ok(lines.every(({ reason }) => reason !== undefined));
      }
      const moved = service.log.filter((line) => line.msg === "refused, put into the error queue" && isMoved(line));
      assert.equal(new Set(moved.map(({ messageId }) => messageId)).size, count);
      assert.ok(moved.every(({ reason }) => /headers\.text/.test(String(reason))));
    });

    // Health was green for half a minute more by default.
    it("is unhealthy as soon as a message waits for an error queue that is gone, silent or full, and takes on and delivers", async () => {
      const { vhost, channel, flags } = await openShop(broker());
      const environment = {
        RABBITMQ_DELAY_GATEWAY_CONFIRM_TIMEOUT_MS: "3000",
        RABBITMQ_DELAY_GATEWAY_TIME_TO_TRIGGER_CONSUME_BREAKER_MS: "3600000",
        RABBITMQ_DELAY_GATEWAY_TIME_TO_TRIGGER_DISPATCH_BREAKER_MS: "3600000",
      };
      const service = await StoreProcess.ready(broker(), vhost, flags, environment, "gateway");
      const receiver = await Receiver.on(channel, ["work"]);
      let deliveredCount = 0;
      const refuses = async (key: string, delay: unknown, breaker: string, reason: RegExp): Promise<void> => {
        const stuck = (await service.metrics()).get("rabbitmq_delay_gateway_stuck_total") ?? 0;
        await publish(channel, key, "refused", delayed(delay));
        await service.untilMetric("stuck_total", stuck + 1);
        const { status, triggered, reasons } = (await service.health()) as ServiceHealth;
        assert.deepEqual([status, triggered, Object.keys(reasons)], ["red", [], [breaker]]);
        assert.match(reasons[breaker] as string, reason);
        assert.deepEqual(
          [await service.statusOf("/healthz"), await service.statusOf("/healthz?triggered")],
          [503, 200],
        );
        await publish(channel, "work", "good", delayed(10));
        await receiver.until(++deliveredCount);
        await service.untilHealth(({ isReady }) => isReady);
      };
      const untilGreen = (): Promise<void> =>
        service.untilHealth(({ status, reasons }) => status === "green" && Object.keys(reasons).length === 0);
      await channel.deleteQueue("gateway.error");
      await refuses("work", "soon", "refuse", /no queue is bound/);
      await channel.assertQueue("gateway.error", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await channel.bindQueue("gateway.error", "gateway.error", "");
      await untilGreen();
      const silence = await silenceOf(broker(), vhost, "gateway.error");
      await silence.turnOn();
      await refuses("nobody", 10, "recovery", /did not confirm the message for nobody/);
      await silence.turnOff();
      await untilGreen();
      await fillErrorQueue(broker(), vhost, channel);
      await refuses("work", "soon", "refuse", /\(nack\)/);
      // A consumer makes room.
      await Receiver.on(channel, ["gateway.error"]);
      await untilGreen();
    });

    it("is not ready, and takes nothing more, once its network leads nothing back; what comes then waits", async () => {
      const { channel, start } = await openShop(broker());
      const service = await start();
      const receiver = await Receiver.on(channel, ["work"]);
      await publish(channel, "work", "before", delayed(10));
      await receiver.until(1);
      const key = `${"*.".repeat(4)}gateway.return`;
      await channel.unbindQueue("gateway.return", "wait.r8x4u10.delivery", key);
      await service.untilHealth(({ isReady }) => !isReady);
      for (let index = 0; index < 10; index++) await publish(channel, "work", `meanwhile ${index}`, delayed(10));
      await new Promise((resolve) => setTimeout(resolve, 1000));
      assert.equal(receiver.arrivals.length, 1);
      await channel.bindQueue("gateway.return", "wait.r8x4u10.delivery", key);
      await receiver.until(11);
      await service.untilHealth(({ isReady }) => isReady);
    });

    // amqplib's decoder ran out of stack, and ended the connection before each delivery: nothing behind such a message came any more.
    it("puts headers in more levels than amqplib can read into the error queue, and goes on", async () => {
      const { channel, start } = await openShop(broker());
      await start();
      sendDeepLists(channel);
      await publish(channel, "work", "deep", delayed(10, deepLists(8000)));
      await publish(channel, "work", "good", delayed(10));
      await new Promise((resolve) =>
        channel.sendToQueue("gateway.return", Buffer.from("returned"), { headers: deepLists(8000) }, resolve),
      );
      const receiver = await Receiver.on(channel, ["work"]);
      await receiver.until(1);
      while ((await channel.checkQueue("gateway.error")).messageCount < 2)
        await new Promise((resolve) => setTimeout(resolve, 20));
    });

    it("puts what it may not deliver any more into the error queue as it was published", async () => {
      const { vhost, channel, start, flags } = await openShop(broker());
      const service = await start();
      await publish(channel, "work", "orphan", { ...delayed(10_000, { tenant: 7 }), messageId: "an id" });
      await service.untilMetric("taken_total", 1);
      await service.stop();
      const changed = flags.map((flag) => (flag === "shop=shop.delivery" ? "shop=other.delivery" : flag));
      const other = await StoreProcess.readyGateway(broker(), vhost, changed);
      const receiver = await Receiver.on(channel, ["gateway.error"]);
      const [orphan] = await receiver.until(1);
      const { headers, messageId } = orphan?.message.properties ?? {};
      assert.equal(orphan?.message.fields.routingKey, "work");
      assert.deepEqual(
        [messageId, headers?.tenant, headers?.["x-deliver-exchange"], headers?.["x-deliver-routing-key"]],
        ["an id", 7, "shop.delivery", "work"],
      );
      // Published once more as it is, where the gateway may deliver it again.
      await other.stop();
      await StoreProcess.readyGateway(broker(), vhost, flags);
      const work = await Receiver.on(channel, ["work"]);
      await publish(channel, "work", "orphan", { headers: { ...headers, "x-delay": 10 } });
      const [replayed] = await work.until(1);
      assert.deepEqual(
        [replayed?.message.fields.exchange, replayed?.message.properties.headers?.tenant],
        ["shop.delivery", 7],
      );
    });

    it("keeps the order of one delay with one active process of two, and the other takes over", async () => {
      const { channel, start } = await openShop(broker(), { flags: ["--single-active-consumer"] });
      const [first, second] = [await start(), await start()];
      const receiver = await Receiver.on(channel, ["work"]);
      const bodies = Array.from({ length: 400 }, (_, index) => String(index));
      await Promise.all(bodies.map((body) => publish(channel, "work", body, delayed(300))));
      const arrivals = await receiver.until(bodies.length);
      assert.deepEqual(
        arrivals.map(({ message }) => message.content.toString()),
        bodies,
      );
      await first.stop();
      await publish(channel, "work", "afterwards", delayed(50));
      await receiver.until(bodies.length + 1);
      await second.stop();
    });
  });
});
