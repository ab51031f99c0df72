import { strict as assert } from "node:assert";
import { join } from "node:path";
import { delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { onEachBroker } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { delayed, firstQueue, openShop, publish, shape, silenceOf, startUsed } from "../support/gatewayShop";
import { Receiver } from "../support/receive";
import { StoreProcess } from "../support/storeService";
import { temporaryFolder } from "../support/temporaryFolder";

/** Longer than it takes to see the first rounds, and to silence a queue, on a busy machine. */
const LONG_MS = 12_000;
const sleep = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

const bodiesOf = (receiver: Receiver): string[] => receiver.arrivals.map(({ message }) => message.content.toString());

/** Until all of these have come, whatever else has. */
async function untilAll(receiver: Receiver, bodies: readonly string[]): Promise<void> {
  while (!bodies.every((body) => bodiesOf(receiver).includes(body))) await sleep(50);
}

const numbered = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

describe("what does not answer", function () {
  onEachBroker((broker) => {
    // They were in hand with the message in its later round, and waited with it.
    it("as a queue of a gateway's network, holds no delivery up, and gets one copy of each further round", async () => {
      const { vhost, channel, flags } = await openShop(broker(), {
        network: { radix: 2, levels: 3, unitMs: 100 },
      });
      const environment = { RABBITMQ_DELAY_GATEWAY_CONFIRM_TIMEOUT_MS: "3000" };
      const service = await StoreProcess.ready(broker(), vhost, flags, environment, "gateway");
      const receiver = await Receiver.on(channel, ["work"]);
      const queue = "wait.r2x3u100.level-02-1";
      const silence = await silenceOf(broker(), vhost, queue);
      const sentMs = Date.now();
      const longs = numbered("long", 8);
      // Spread over a round, so that the queue holds some of them, and the others come back while it does not answer.
      for (const body of longs) {
        await publish(channel, "work", body, delayed(LONG_MS));
        await sleep(100);
      }
      await service.untilMetric("further_rounds_total", 8);
      await silence.turnOn();
      assert.ok(receiver.arrivals.length < longs.length, "some are underway");
      const free = numbered("free", 100);
      try {
        // Each comes by itself, so that a stop of all deliveries would show.
        for (const body of free) {
          await publish(channel, "work", body, delayed(100));
          await sleep(50);
        }
        await untilAll(receiver, free);
        await service.untilHealth(({ isReady }) => !isReady);
      } finally {
        await silence.turnOff();
      }
      await untilAll(receiver, longs);
      await service.untilHealth(({ isReady }) => isReady);
      await sleep(2000);
      assert.deepEqual(bodiesOf(receiver).sort(), [...free, ...longs].sort());
      const long = receiver.arrivals.filter(({ message }) => message.content.toString().startsWith("long"));
      for (const { message, atMs } of long) assertNotEarly(message.content.toString(), atMs, sentMs + LONG_MS);
      assert.equal(await service.stop(), 0);
    });

    /** Deletes a queue that does not answer, and declares it anew. @returns whether the gateway itself had to find that */
    async function replaceSilentQueue(): Promise<boolean> {
      const shop = await openShop(broker());
      const { vhost, channel } = shop;
      const { service, receiver } = await startUsed(broker(), shop, 3000);
      const queue = firstQueue.name;
      await (await silenceOf(broker(), vhost, queue)).turnOn();
      await publish(channel, "work", "held up", delayed(firstQueue.delayMs));
      await service.untilHealth(({ isReady }) => !isReady);
      const found = `{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"${vhost}">>, queue, <<"${queue}">>))`;
      await rabbitmqctl(broker().node, "eval", `${found}, rabbit_amqqueue:delete(Q, false, false, <<"test">>).`);
      const network = delayNetwork({ ...shape, parking: false, vhost });
      await declareOverAmqp(await openChannel(broker(), vhost), planEntities(network));
      await publish(channel, "work", "behind it", delayed(20));
      await untilAll(receiver, ["held up", "behind it"]);
      await service.untilHealth(({ isReady }) => isReady);
      assert.deepEqual(bodiesOf(receiver).sort(), ["behind it", "first", "held up"]);
      assert.equal(await service.stop(), 0);
      return service.log.some(({ msg }) => /were declared anew/.test(String(msg)));
    }

    // The old queue owed an answer for ever, and the gateway had to be started anew.
    it("as a queue of the network that is deleted and declared anew, is sent again what it owes an answer to", async function () {
      // A broker under load now and then nacks for the queue that goes, or closes the connection with 541: then nothing is left to find.
      for (let count = 0; !(await replaceSilentQueue()); count++) assert.ok(count < 5, "the gateway found it in none");
    });

    const byHeaders = { type: "headers", options: (to: string) => ({ "x-delay": 100, to }), key: () => "any" };
    const byKey = { type: "topic", options: () => ({ "x-delay": 100 }), key: (to: string) => to };
    for (const verb of ["store", "gateway"] as const)
      for (const [by, { type, options, key }] of Object.entries({ CC: byKey, headers: byHeaders }))
        it(`as a ${verb}'s destination by ${by}, is no other message's destination`, async () => {
          const flags = { store: [] as string[], gateway: [] as string[] };
          const shop = await openShop(broker(), { queues: [] });
          const { vhost, channel } = shop;
          const folder = temporaryFolder();
          const [forward, network] = [["--forward", `shop=by.${type}:${type}`], shop.flags.slice(0, 2)];
          const management = ["--declare", "--management", broker().node.managementUrl];
          flags.store = ["--store", `sqlite:${join(folder, "a.db")}`, "--name", "delayed", ...forward, ...management];
          flags.gateway = [...network, ...forward, ...management];
          await channel.assertExchange(`by.${type}`, type, { durable: true });
          for (const queue of ["work", "hung"]) {
            await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
            await channel.bindQueue(
              queue,
              `by.${type}`,
              queue,
              type === "headers" ? { "x-match": "all", to: queue } : {},
            );
          }
          const environment = {
            RABBITMQ_DELAY_STORE_CONFIRM_TIMEOUT_MS: "1000",
            RABBITMQ_DELAY_GATEWAY_CONFIRM_TIMEOUT_MS: "1000",
          };
          const service = await StoreProcess.ready(broker(), vhost, flags[verb], environment, verb);
          const receiver = await Receiver.on(channel, ["work"]);
          const silence = await silenceOf(broker(), vhost, "hung");
          await silence.turnOn();
          const free = numbered("free", 20);
          try {
            const cc = by === "CC" ? { CC: ["hung"] } : {};
            const hung = { headers: { ...options("hung"), ...cc } };
            await publish(channel, key(by === "CC" ? "work" : "hung"), "for the hung one", hung);
            for (const body of free) {
              await publish(channel, key("work"), body, { headers: options("work") });
              await sleep(250);
            }
            await untilAll(receiver, free);
          } finally {
            await silence.turnOff();
          }
          const hung = await Receiver.on(channel, ["hung"]);
          await untilAll(hung, ["for the hung one"]);
          assert.equal(await service.stop(), 0);
        });

    // The fault of the second ended the session, which waited for the trial of the first.
    it("as one of two destinations of a gateway, does not hold up the others while the other one is tried", async () => {
      const { vhost, channel, flags } = await openShop(broker(), { queues: ["work", "first", "second"] });
      const environment = { RABBITMQ_DELAY_GATEWAY_CONFIRM_TIMEOUT_MS: "5000" };
      const service = await StoreProcess.ready(broker(), vhost, flags, environment, "gateway");
      const receiver = await Receiver.on(channel, ["work"]);
      const isTold = (what: RegExp): boolean => service.log.some(({ reason }) => what.test(String(reason)));
      const silences = [await silenceOf(broker(), vhost, "first"), await silenceOf(broker(), vhost, "second")];
      for (const silence of silences) await silence.turnOn();
      const endedMs = await (async () => {
        try {
          await publish(channel, "first", "for the first", delayed(10));
          while (!isTold(/did not confirm the message for first/)) await sleep(50);
          // Its next message is tried when a pause is over, and for as long as a confirm may take.
          await sleep(6500);
          await publish(channel, "second", "for the second", delayed(10));
          while (!isTold(/did not confirm the message for second/)) await sleep(50);
          for (const body of numbered("free", 10)) await publish(channel, "work", body, delayed(10));
          await untilAll(receiver, numbered("free", 10));
          const beginMs = Date.now();
          assert.equal(await service.stop(), 0);
          return Date.now() - beginMs;
        } finally {
          for (const silence of silences) await silence.turnOff();
        }
      })();
      // A pod has sixty seconds.
      assert.ok(endedMs < 30_000, `it took ${endedMs} ms to end`);
    });

    // Its answer came after the message was put off, and was forgotten.
    it("in time, and takes a message of a store after all, gets it once", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost, { isExpectedToBreak: true });
      const folder = temporaryFolder();
      await channel.assertQueue("hung", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await channel.assertQueue("work", { durable: true, arguments: { "x-queue-type": "quorum" } });
      const flags = ["--store", `sqlite:${join(folder, "a.db")}`, "--name", "delayed", "--declare"];
      const environment = { RABBITMQ_DELAY_STORE_CONFIRM_TIMEOUT_MS: "3000" };
      const service = await StoreProcess.ready(broker(), vhost, flags, environment);
      const send = (key: string, body: string): Promise<void> =>
        new Promise((resolve, reject) =>
          channel.publish("delayed", key, Buffer.from(body), { ...delayed(10), messageId: body }, (error: unknown) =>
            error instanceof Error ? reject(error) : resolve(),
          ),
        );
      const receiver = await Receiver.on(channel, ["work", "hung"]);
      for (const key of ["work", "hung"]) await send(key, `${key} first`);
      await receiver.until(2);
      const silence = await silenceOf(broker(), vhost, "hung");
      await silence.turnOn();
      const [held, free] = [numbered("held", 5), numbered("free", 20)];
      try {
        for (const body of held) await send("hung", body);
        // In one batch, those for others would be late by them.
        while (!service.log.some(({ reason }) => /did not confirm/.test(String(reason)))) await sleep(50);
        for (const body of free) {
          await send("work", body);
          await sleep(200);
        }
        await untilAll(receiver, free);
      } finally {
        await silence.turnOff();
      }
      await untilAll(receiver, held);
      await service.untilMetric("delivered_total", 27);
      // What is delivered is not in the store any more.
      assert.equal(await service.stop(), 0);
      const again = await StoreProcess.ready(broker(), vhost, flags, environment);
      assert.equal((await again.metrics()).get("rabbitmq_delay_store_pending"), 0);
      await sleep(2000);
      assert.deepEqual(bodiesOf(receiver).sort(), ["work first", "hung first", ...held, ...free].sort());
      assert.equal(await again.stop(), 0);
    });
  });
});

describe("an error queue that takes nothing", function () {
  onEachBroker((broker) => {
    // With as many in hand as the broker hands over at once, nothing else was delivered.
    it("keeps a gateway from delivering nothing, and gets each message once when it takes them again", async () => {
      const { vhost, channel, flags } = await openShop(broker());
      const environment = { RABBITMQ_DELAY_GATEWAY_INTAKE_PREFETCH: "50" };
      const service = await StoreProcess.ready(broker(), vhost, flags, environment, "gateway");
      await channel.unbindQueue("gateway.error", "gateway.error", "");
      const receiver = await Receiver.on(channel, ["work"]);
      const failing = numbered("for nobody", 120);
      for (const body of failing) await publish(channel, "nobody", body, delayed(10));
      await service.untilMetric("stuck_total", 60);
      const good = numbered("good", 20);
      for (const body of good) await publish(channel, "work", body, delayed(10));
      await untilAll(receiver, good);
      await channel.bindQueue("gateway.error", "gateway.error", "");
      const errors = await Receiver.on(channel, ["gateway.error"]);
      await untilAll(errors, failing);
      await sleep(1000);
      assert.deepEqual(bodiesOf(errors).sort(), failing.sort());
      assert.deepEqual(bodiesOf(receiver).sort(), good.sort());
      assert.equal(await service.stop(), 0);
    });
  });
});
