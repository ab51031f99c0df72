import { strict as assert } from "node:assert";
import type { ConfirmChannel } from "amqplib";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestBroker, crashAndRestart, onEachBroker, ownTestBroker, untilRegistered } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { openChannel } from "../support/connect";
import { Receiver } from "../support/receive";
import { TestStack } from "../support/stack";
import { runCommand } from "../support/command";
import { StoreProcess } from "../support/storeService";
import { temporaryFolder } from "../support/temporaryFolder";

const network = { preset: "custom", prefix: "waiting", radix: 8, levels: 5, unitMs: 10 };
const WAITING = "waiting.r8x5u10";
const password = "a password of the gateway";
const shop = { exchange: "shop", delays: [300], otherwise: "gateway" };
const forwards = [{ exchange: "shop", delivery: "shop.delivery", declare: false }];

/** Publishes to the delayed exchange, and waits for the confirm. */
function publish(channel: ConfirmChannel, key: string, body: string, delayMs: number | undefined): Promise<void> {
  const headers = delayMs === undefined ? {} : { "x-delay": delayMs };
  return new Promise((resolve, reject) =>
    channel.publish("shop", key, Buffer.from(body), { headers, persistent: true, mandatory: true }, (error: unknown) =>
      error instanceof Error ? reject(error) : resolve(),
    ),
  );
}

/** Waits until a message is in a level's queue. */
async function untilWaiting(broker: TestBroker, vhost: string): Promise<void> {
  const levels = (await broker.management.queues(vhost))
    .map(({ name }) => name)
    .filter((name) => /level-\d/.test(name));
  const channel = await openChannel(broker, vhost);
  for (;;) {
    for (const name of levels) if ((await channel.checkQueue(name)).messageCount > 0) return channel.close();
  }
}

describe("a gateway behind an exchange that delays by x-delay", function () {
  onEachBroker((broker) => {
    /** Brings up a stack with a gateway and its user; `start` runs it as that user. */
    async function bringUp(own: TestBroker): Promise<{
      stack: TestStack;
      start: () => Promise<StoreProcess>;
      configure: (more: object) => void;
    }> {
      const stack = await TestStack.inNewVhost(own);
      const user = `gateway-${randomUUID()}`;
      const config = { network, delayedExchanges: [shop], delayGateway: { forwards, toQueues: false, user } };
      const configure = (more: object): void => stack.configure({ ...config, gatewayPassword: password, ...more });
      configure({});
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const folder = temporaryFolder();
      const file = join(folder, "outputs.json");
      const start = async (): Promise<StoreProcess> => {
        writeFileSync(file, JSON.stringify(await stack.outputs()));
        const { host } = new URL(own.node.amqpUrl);
        const amqpUrl = `amqp://${user}:${encodeURIComponent(password)}@${host}`;
        return StoreProcess.readyGateway({ ...own, node: { ...own.node, amqpUrl } }, stack.vhost, [
          "--descriptor",
          file,
        ]);
      };
      return { stack, start, configure };
    }

    // Only the descriptor changes, of which a plan shows nothing: "nothing changes", and ten of ten waiting messages went to the error queue.
    it("warns that it may do less with what waits: a review then needs care", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const ways = [
        { exchange: "shop", delivery: "shop.out" },
        { exchange: "orders", delivery: "orders.out" },
      ];
      stack.configure({ network, delayGateway: { forwards: ways, exchanges: ["others"], toQueues: true } });
      await stack.up();
      const warnings = async (delayGateway: Record<string, unknown>): Promise<string[]> => {
        stack.configure({ network, delayGateway });
        const { report, output } = await stack.review();
        assert.ok(report, output);
        return report.findings.filter(({ rule }) => rule === "program-warned").map(({ entity }) => entity);
      };
      assert.deepEqual(await warnings({ forwards: ways, exchanges: ["others", "more"], toQueues: true }), []);
      const [toQueues, ...none] = await warnings({ forwards: ways, exchanges: ["others"], toQueues: false });
      assert.match(
        toQueues ?? "",
        /^delayGateway gateway may no longer publish to queues: .* in its intake and its network goes to gateway\.error/,
      );
      assert.deepEqual(none, []);
      const [fewer] = await warnings({ forwards: ways.slice(0, 1), toQueues: true });
      assert.match(fewer ?? "", /publish to exchange orders\.out, and 2 more:/);
    });

    it("delays what no delay is declared for, as a user of least rights; the checks know it, and the review what its end takes", async () => {
      const { stack, start } = await bringUp(broker());
      const channel = await openChannel(broker(), stack.vhost);
      await channel.assertQueue("bills", { durable: true });
      await channel.bindQueue("bills", "shop.delivery", "eu.#");
      const receiver = await Receiver.on(channel, ["bills", "shop.parking", "gateway.error"]);
      const due = new Map<string, number>();
      const send = async (body: string, delayMs: number | undefined): Promise<void> => {
        due.set(body, Date.now() + Math.max(0, delayMs ?? 0));
        await publish(channel, "eu.1", body, delayMs);
      };
      await send("before the gateway", 777);
      const service = await start();
      await send("declared", 300);
      await send("another", 555);
      await send("at once", undefined);
      await send("zero", 0);
      await send("negative", -1);
      const arrivals = await receiver.until(due.size);
      for (const { queue, message, atMs } of arrivals) {
        const body = message.content.toString();
        assert.deepEqual([queue, message.fields.routingKey], ["bills", "eu.1"], body);
        assertNotEarly(body, atMs, due.get(body) ?? Infinity);
      }
      assert.equal(new Set(arrivals.map(({ message }) => message.content.toString())).size, due.size);
      assert.equal(await service.stop(), 0);
      assert.ok(!JSON.stringify(service.log).includes("a password"), "its log has no password");

      const management = broker().node.managementUrl.replace("://", "://guest:guest@");
      const check = (): Promise<{ code: number | null; out: string }> =>
        runCommand(["check", "--stack-config", stack.configFile, "--management", management, "--vhost", stack.vhost]);
      const found = await check();
      assert.equal(found.code, 0, found.out);
      await channel.unbindQueue("gateway.return", "waiting.r8x5u10.delivery", `${"*.".repeat(5)}gateway.return`);
      const unbound = await check();
      assert.match(unbound.out, /error .*gateway\.return/);
      await stack.up("--refresh");
      assert.equal((await check()).code, 0);

      stack.configure({ network, delayedExchanges: [{ exchange: "shop", delays: [300] }], removal: "delete" });
      const { report } = await stack.review();
      assert.equal(report?.verdict, "loss", "its queues may hold messages");
      await stack.destroy();
    });

    it("gets back what waits in the network before, when another one becomes the current one, and back again", async () => {
      const { stack, start, configure } = await bringUp(broker());
      const channel = await openChannel(broker(), stack.vhost);
      await channel.assertQueue("bills", { durable: true });
      await channel.bindQueue("bills", "shop.delivery", "eu.#");
      const receiver = await Receiver.on(channel, ["bills"]);
      const [finer, both] = [
        { preset: "custom", prefix: "finer", radix: 8, levels: 5, unitMs: 10 },
        [WAITING, "finer"],
      ];
      const ways = async (): Promise<string[]> => {
        const bound = await broker().management.get<{ source: string }[]>(
          `queues/${stack.vhost}/gateway.return/bindings`,
        );
        return bound
          .map(({ source }) => source)
          .filter((source) => /delivery/.test(source))
          .sort();
      };
      const due = new Map<string, number>();
      const send = async (delayMs: number): Promise<void> => {
        const body = `${due.size}`;
        due.set(body, Date.now() + delayMs);
        await publish(channel, "eu.se", body, delayMs);
      };
      for (const current of ["finer", WAITING]) {
        let process = await start();
        // It waits past the update, in the network that is the current one before it.
        await send(20_000);
        await untilWaiting(broker(), stack.vhost);
        await process.stop();
        configure({ networks: { finer }, current });
        await stack.up();
        assert.deepEqual(await stack.preview("--refresh"), []);
        assert.deepEqual((await ways()).length, both.length, (await ways()).join(", "));
        process = await start();
        await send(700);
        const arrivals = await receiver.until(due.size);
        assert.equal(arrivals.length, due.size);
        await process.stop();
      }
      for (const { message, atMs } of receiver.arrivals) {
        const body = message.content.toString();
        assertNotEarly(body, atMs, due.get(body) ?? Infinity);
      }
      configure({});
      await stack.up();
      assert.equal((await ways()).length, 1);
      // As a stack has it that was brought up before bindings were named by their networks.
      const isBack = ({ urn }: { urn: string }): boolean => /Binding::gateway-gateway\.return/.test(urn);
      const made = (await stack.resources()).find(isBack);
      assert.match(made?.urn ?? "none", /::gateway-gateway\.return@waiting/);
      await stack.run(["state", "rename", made?.urn ?? "", "gateway-gateway.return", "--yes", "--stack", "test"]);
      assert.match((await stack.resources()).find(isBack)?.urn ?? "none", /::gateway-gateway\.return$/);
      configure({ networks: { finer }, current: "finer" });
      await stack.up();
      assert.equal((await ways()).length, both.length);
      assert.deepEqual(await stack.preview("--refresh"), []);
    });

    it("loses nothing, and delivers nothing early or elsewhere, while it and the broker are killed", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const { stack, start } = await bringUp(own);
      const opening = await openChannel(own, stack.vhost, { isExpectedToBreak: true });
      await opening.assertQueue("bills", { durable: true, arguments: { "x-queue-type": "quorum" } });
      await opening.bindQueue("bills", "shop.delivery", "bills");
      await untilRegistered(own, stack.vhost);
      let services = [await start(), await start()];
      const due = new Map<string, number>();
      const arrived = new Map<string, number[]>();
      const take = async (): Promise<void> => {
        const receiver = await openChannel(own, stack.vhost, { isExpectedToBreak: true });
        await receiver.consume("bills", (message) => {
          if (message === null) return;
          const body = message.content.toString();
          arrived.set(body, [...(arrived.get(body) ?? []), Date.now()]);
          receiver.ack(message);
        });
      };
      await take();
      for (let round = 0; round < 6; round++) {
        const channel = await openChannel(own, stack.vhost, { isExpectedToBreak: true });
        const sending = Array.from({ length: 40 }, (_, index) => {
          const [body, delayMs] = [`${round}-${index}`, (index * 173) % 3000];
          due.set(body, Date.now() + delayMs);
          return publish(channel, "bills", body, delayMs);
        });
        await Promise.all(sending);
        if (round === 3) {
          await crashAndRestart(own);
          await take();
        } else {
          const [killed, ...others] = services as [StoreProcess, ...StoreProcess[]];
          await killed.kill();
          services = [...others, await start()];
        }
      }
      while (arrived.size < due.size) await new Promise((resolve) => setTimeout(resolve, 100));
      assert.deepEqual([...arrived.keys()].sort(), [...due.keys()].sort());
      for (const [body, [firstMs = 0]] of arrived) assertNotEarly(body, firstMs, due.get(body) as number);
      const reading = await openChannel(own, stack.vhost);
      for (const queue of ["gateway.error", "gateway.intake", "gateway.return", "shop.parking"])
        assert.equal((await reading.checkQueue(queue)).messageCount, 0, queue);
      for (const service of services) assert.equal(await service.stop(), 0);
    });
  });
});
