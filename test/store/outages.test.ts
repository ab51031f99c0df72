import { strict as assert } from "node:assert";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ConfirmChannel } from "amqplib";
import { Client } from "pg";
import { DelayedMessageStore, delayedMessage } from "@rabbitmq-delay/store";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { killNode, startNode } from "../../toolchain/dist/brokerNode";
import { freePort } from "../../toolchain/dist/ports";
import { launch, stopPostgres } from "../../toolchain/dist/postgresServer";
import { TestBroker, onEachBroker, ownTestBroker, untilRegistered } from "../support/brokers";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { onEachDatabase, ownEndpoint, ownPostgres, readyStore } from "../support/databases";
import { skipUnless } from "../support/missingPrograms";
import { Receiver } from "../support/receive";
import { StoreProcess } from "../support/storeService";
import { TcpProxy } from "../support/tcpProxy";
import { TinyDisk } from "../support/tinyDisk";
import { temporaryFolder } from "../support/temporaryFolder";

/** Half a minute would say no more. */
const quickBreakers = Object.fromEntries(
  ["STORE", "FETCH", "DISPATCH"].map((name) => [`RABBITMQ_DELAY_STORE_TIME_TO_TRIGGER_${name}_BREAKER_MS`, "500"]),
);

describe("outages of what a store stands on", () => {
  onEachBroker((broker) => {
    const declare = async (on: TestBroker, options = {}): Promise<{ vhost: string; channel: ConfirmChannel }> => {
      const vhost = await on.management.createVhost();
      const channel = await openChannel(on, vhost, options);
      await channel.assertQueue("work", { durable: true, arguments: { "x-queue-type": "quorum" } });
      return { vhost, channel };
    };
    const start = (
      on: TestBroker,
      vhost: string,
      address: string,
      name: string,
      more: string[] = [],
    ): Promise<StoreProcess> =>
      StoreProcess.ready(on, vhost, ["--store", address, "--declare", "--name", name, ...more], quickBreakers);
    const publish = (
      channel: ConfirmChannel,
      name: string,
      ids: string[],
      delayMs: number,
      body = Buffer.from("x"),
    ): Promise<void> => {
      for (const messageId of ids) {
        channel.publish(name, "work", body, { messageId, persistent: true, headers: { "x-delay": delayMs } });
      }
      return channel.waitForConfirms();
    };
    const untilPending = async (store: DelayedMessageStore, count: number): Promise<void> => {
      while ((await store.count()).pending !== count) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);
    const arrived = ({ arrivals }: Receiver): string[] =>
      [...new Set(arrivals.map(({ message }) => message.properties.messageId as string))].sort();

    onEachDatabase((database) => {
      it("the broker away: red after a while, green again and all delivered when it is back", async () => {
        const own = await ownTestBroker(broker().node.installation);
        const { vhost } = await declare(own, { isExpectedToBreak: true });
        const [address, name] = [await database.address(), ownEndpoint()];
        const service = await start(own, vhost, address, name);
        const store = await readyStore(address, name);
        await untilRegistered(own, vhost);
        await killNode(own.node);
        await store.storeAll(
          idsOf(200).map((messageId) => delayedMessage({ messageId, routingKey: "work", body: "x", delayMs: 0 })),
        );
        await service.untilHealth(({ status, triggered }) => status === "red" && triggered.includes("dispatch"));
        assert.deepEqual([await service.statusOf("/healthz"), await service.statusOf("/readyz")], [503, 503]);
        assert.equal((await store.count()).failed, 0, "the broker's fault is no message's");
        own.node = await startNode(own.node);
        await service.untilHealth(({ status, isReady }) => status === "green" && isReady);
        const receiver = await Receiver.on(await openChannel(own, vhost), ["work"]);
        await receiver.until(200);
        await untilPending(store, 0);
        assert.deepEqual(arrived(receiver), idsOf(200).sort());
        assert.ok(service.log.some(({ level, breaker }) => level === 60 && breaker === "dispatch"));
        assert.ok(service.log.length < 500, "no busy loop");
        assert.equal(await service.stop(), 0);
      });

      // Only a delivery told that the broker was back, and there was none to come.
      it("the broker away, and what was due cancelled meanwhile: green again when it is back", async () => {
        const own = await ownTestBroker(broker().node.installation);
        const { vhost } = await declare(own, { isExpectedToBreak: true });
        const [address, name] = [await database.address(), ownEndpoint()];
        const service = await start(own, vhost, address, name);
        const store = await readyStore(address, name);
        await untilRegistered(own, vhost);
        await killNode(own.node);
        await store.storeAll([delayedMessage({ messageId: "m", routingKey: "work", body: "x", delayMs: 0 })]);
        await service.untilHealth(({ triggered }) => triggered.includes("dispatch"));
        assert.equal(await store.cancel("m"), 1);
        await new Promise((resolve) => setTimeout(resolve, 6000));
        assert.ok((await service.health())?.triggered.includes("dispatch"), "the broker is still away");
        own.node = await startNode(own.node);
        await service.untilHealth(({ status, isReady }) => status === "green" && isReady);
        assert.equal(await service.stop(), 0);
      });

      it("a broker that is short of disk: messages wait, and are delivered when it takes them again", async () => {
        const own = await ownTestBroker(broker().node.installation);
        const { vhost } = await declare(own);
        const [address, name] = [await database.address(), ownEndpoint()];
        // Small batches, of which two are on their way at most; a confirm that is late on a slow machine makes no copies.
        const environment = {
          ...quickBreakers,
          RABBITMQ_DELAY_STORE_CONFIRM_TIMEOUT_MS: "5000",
          RABBITMQ_DELAY_STORE_BATCH_SIZE: "40",
        };
        const flags = ["--store", address, "--declare", "--name", name];
        const service = await StoreProcess.ready(own, vhost, flags, environment);
        const store = await readyStore(address, name);
        await rabbitmqctl(own.node, "set_disk_free_limit", "1000000GB");
        // More than the socket takes.
        const body = Buffer.alloc(100_000);
        const messages = idsOf(400).map((messageId) =>
          delayedMessage({ messageId, routingKey: "work", body, delayMs: 0 }),
        );
        await store.storeAll(messages.slice(0, 100));
        await store.storeAll(messages.slice(100));
        await service.untilHealth(({ triggered }) => triggered.includes("dispatch"));
        assert.ok(
          service.log.some(({ msg, reason }) => msg === "broker takes no messages" && /disk/.test(String(reason))),
        );
        await rabbitmqctl(own.node, "set_disk_free_limit", "1MB");
        await service.untilHealth(({ status }) => status === "green");
        const receiver = await Receiver.on(await openChannel(own, vhost), ["work"]);
        while (arrived(receiver).length < 400) await receiver.until(receiver.arrivals.length + 1);
        await untilPending(store, 0);
        assert.deepEqual(arrived(receiver), idsOf(400).sort());
        const copies = receiver.arrivals.length - 400;
        assert.ok(copies <= 2 * 40, `${copies} copies: no more than one try of each batch under way`);
        assert.equal(await service.stop(), 0);
      });

      // Messages in hand that were not stored came back, and were taken for equal ones that were stored and acknowledged: up to 50 were lost.
      it("a connection that breaks: of equal messages none is lost, whether they have an id or not", async () => {
        const { vhost, channel } = await declare(broker());
        const { node } = broker();
        const proxy = await TcpProxy.to(node.ports.amqp, await freePort());
        const behind = { ...broker(), node: { ...node, amqpUrl: node.amqpUrl.replace(/\d+$/, String(proxy.port)) } };
        const [address, name] = [await database.address(), ownEndpoint()];
        const service = await start(behind, vhost, address, name);
        const receiver = await Receiver.on(await openChannel(broker(), vhost), ["work"]);
        let sent = 0;
        for (const messageId of ["same", undefined])
          for (let cuts = 0; cuts < 3; cuts++) {
            const until = sent + 1000;
            for (; sent < until; sent += 25) {
              for (let index = 0; index < 25; index++)
                channel.publish(name, "work", Buffer.from("equal"), { messageId, headers: { "x-delay": 100 } });
              await channel.waitForConfirms();
            }
            await proxy.cut();
            await proxy.open();
            await service.untilHealth(({ isReady }) => isReady);
          }
        await receiver.until(sent);
        assert.equal(await service.stop(), 0);
      });

      it("ends with 3 when it was told to, and loses nothing", async () => {
        const { vhost } = await declare(broker());
        const { node } = broker();
        const proxy = await TcpProxy.to(node.ports.amqp, await freePort());
        const behind = { ...broker(), node: { ...node, amqpUrl: node.amqpUrl.replace(/\d+$/, String(proxy.port)) } };
        const [address, name] = [await database.address(), ownEndpoint()];
        const service = await start(behind, vhost, address, name, ["--exit-on-critical"]);
        const store = await readyStore(address, name);
        await proxy.cut();
        await store.store(delayedMessage({ routingKey: "work", body: "x", delayMs: 0 }));
        assert.equal(await service.ended, 3);
        assert.match(service.errors, /nothing but failures of dispatch/);
        assert.equal((await store.count()).pending, 1);
      });

      it("SIGTERM in the middle: what is in hand is finished, the rest stays, nothing twice", async () => {
        const { vhost, channel } = await declare(broker());
        const [address, name] = [await database.address(), ownEndpoint()];
        // Small ones, so that there is a middle.
        const environment = { ...quickBreakers, RABBITMQ_DELAY_STORE_BATCH_SIZE: "20" };
        const flags = ["--store", address, "--declare", "--name", name];
        const service = await StoreProcess.ready(broker(), vhost, flags, environment);
        const store = await readyStore(address, name);
        const receiver = await Receiver.on(channel, ["work"]);
        await store.storeAll(
          idsOf(5000).map((messageId) => delayedMessage({ messageId, routingKey: "work", body: "x", delayMs: 0 })),
        );
        await receiver.until(1);
        assert.equal(await service.stop(), 0);
        const { pending } = await store.count();
        assert.ok(pending > 0 && pending < 5000, `${pending} were left: that was no middle`);
        await receiver.until(5000 - pending);
        assert.equal((await channel.checkQueue("work")).messageCount, 0);
        assert.equal(arrived(receiver).length, receiver.arrivals.length);
        assert.equal(receiver.arrivals.length + pending, 5000);
      });
    });

    // A process that waited for the broker's answer was killed by whoever runs it, in an alarm of all times.
    it("told to stop while the broker takes nothing: it ends, and nothing is lost", async () => {
      const own = await ownTestBroker(broker().node.installation);
      const { vhost } = await declare(own);
      const [address, name] = [`sqlite:${join(temporaryFolder(), "delayed.db")}`, ownEndpoint()];
      const service = await start(own, vhost, address, name);
      const store = await readyStore(address, name);
      await rabbitmqctl(own.node, "set_disk_free_limit", "1000000GB");
      const body = Buffer.alloc(100_000);
      await store.storeAll(
        idsOf(100).map((id) => delayedMessage({ messageId: id, routingKey: "work", body, delayMs: 0 })),
      );
      await service.untilHealth(({ triggered }) => triggered.includes("dispatch"));
      const toldMs = Date.now();
      assert.equal(await service.stop(), 0);
      assert.ok(Date.now() - toldMs < 60_000, `it took ${Date.now() - toldMs} ms`);
      await rabbitmqctl(own.node, "set_disk_free_limit", "1MB");
      await start(own, vhost, address, name);
      const receiver = await Receiver.on(await openChannel(own, vhost), ["work"]);
      while (arrived(receiver).length < 100) await receiver.until(receiver.arrivals.length + 1);
      await untilPending(store, 0);
    });

    it("a connection that breaks without a word: its heartbeat tells, it is not ready then, and delivers when it is back", async () => {
      const { vhost, channel } = await declare(broker());
      const { node } = broker();
      const proxy = await TcpProxy.to(node.ports.amqp, await freePort());
      const behind = { ...broker(), node: { ...node, amqpUrl: node.amqpUrl.replace(/\d+$/, String(proxy.port)) } };
      const [address, name] = [`sqlite:${join(temporaryFolder(), "delayed.db")}`, ownEndpoint()];
      const flags = ["--store", address, "--declare", "--name", name];
      const service = await StoreProcess.ready(behind, `${vhost}?heartbeat=3`, flags);
      proxy.stopPassing();
      while ((await service.statusOf("/readyz")) === 200) await new Promise((resolve) => setTimeout(resolve, 20));
      const isTold = ({ purpose, reason }: Record<string, unknown>): boolean =>
        purpose === "intake" && reason === "Heartbeat timeout";
      while (!service.log.some(isTold)) await new Promise((resolve) => setTimeout(resolve, 20));
      proxy.passNew();
      await service.untilHealth(({ status, isReady }) => status === "green" && isReady);
      await publish(channel, name, ["m"], 10);
      await (await Receiver.on(channel, ["work"])).until(1);
      assert.equal(await service.stop(), 0);
    });

    it("PostgreSQL away: messages wait in the broker, and all are delivered when it is back", async () => {
      const server = await ownPostgres();
      const { vhost, channel } = await declare(broker());
      const name = ownEndpoint();
      const service = await start(broker(), vhost, server.url, name);
      await stopPostgres(server, "SIGKILL");
      await publish(channel, name, idsOf(300), 1);
      await service.untilHealth(({ triggered }) => triggered.includes("store") && triggered.includes("fetch"));
      Object.assign(server, await launch(server));
      await service.untilHealth(({ status, isReady }) => status === "green" && isReady);
      const receiver = await Receiver.on(channel, ["work"]);
      await receiver.until(300);
      assert.deepEqual(arrived(receiver), idsOf(300).sort());
      assert.ok(service.log.length < 500, "no busy loop");
    });

    it("PostgreSQL away from the start: red, and the end where it was told to", async () => {
      const { vhost } = await declare(broker());
      const flags = ["--store", `postgres://nobody@127.0.0.1:${await freePort()}/none`, "--name", ownEndpoint()];
      const patient = await StoreProcess.start(broker(), vhost, flags, quickBreakers);
      await patient.untilHealth(({ triggered, isReady }) => triggered.includes("fetch") && !isReady);
      assert.equal(await patient.stop(), 0);
      const other = await StoreProcess.start(broker(), vhost, [...flags, "--exit-on-critical"], quickBreakers);
      assert.equal(await other.ended, 3);
      assert.match(other.errors, /nothing but failures of fetch: .*ECONNREFUSED/);
    });

    it("PostgreSQL without a free connection: it waits, and goes on", async () => {
      const server = await ownPostgres();
      const admin = new Client({ connectionString: server.url });
      await admin.connect();
      await admin.query("CREATE ROLE limited LOGIN SUPERUSER");
      await admin.query("ALTER ROLE limited NOSUPERUSER CONNECTION LIMIT 0");
      await admin.query("GRANT CREATE ON SCHEMA public TO limited");
      const { vhost, channel } = await declare(broker());
      const name = ownEndpoint();
      const address = server.url.replace("postgres@", "limited@");
      const service = await StoreProcess.start(
        broker(),
        vhost,
        ["--store", address, "--declare", "--name", name],
        quickBreakers,
      );
      while (!service.log.some(({ reason }) => /too many connections/.test(String(reason))))
        await new Promise((resolve) => setTimeout(resolve, 20));
      await admin.query("ALTER ROLE limited CONNECTION LIMIT -1");
      await admin.end();
      await service.untilHealth(({ isReady }) => isReady);
      await publish(channel, name, idsOf(10), 1);
      await (await Receiver.on(channel, ["work"])).until(10);
    });

    it("a full disk under the database: what does not fit waits in the broker", async function () {
      skipUnless(process.getuid?.() === 0, this, "only root can mount a small disk");
      for (const kind of ["SQLite", "PostgreSQL"] as const) {
        const folder = join(temporaryFolder(), "disk");
        mkdirSync(folder);
        const disk = TinyDisk.mount(folder, 24 << 20);
        const { vhost, channel } = await declare(broker());
        const name = ownEndpoint();
        const address = kind === "SQLite" ? `sqlite:${join(folder, "delayed.db")}` : await onTinyDisk(folder);
        const service = await start(broker(), vhost, address, name);
        await publish(channel, name, ["first"], 1);
        const receiver = await Receiver.on(channel, ["work"]);
        await receiver.until(1);
        // Due while the disk is full: it goes out, or waits until there is room.
        await publish(channel, name, ["due"], 3000);
        await service.untilMetric("stored_total", 2);
        disk.fill(100_000);
        // Bytes that PostgreSQL can't compress.
        await publish(channel, name, idsOf(100), 1, randomBytes(30_000));
        await service.untilHealth(({ triggered }) => triggered.includes("store"));
        disk.free();
        await receiver.until(102);
        await service.untilHealth(({ status }) => status === "green");
        assert.deepEqual(arrived(receiver), ["first", "due", ...idsOf(100)].sort(), kind);
        assert.equal(await service.stop(), 0);
      }
    });

    // SQLite sorted due messages with their bodies in a temporary file, so none of them was delivered, and readyz stayed 200.
    it("a folder for temporary files with less room than the bodies: all are rescheduled and delivered", async function () {
      skipUnless(process.getuid?.() === 0, this, "only root can mount a small disk");
      const { vhost, channel } = await declare(broker());
      const [name, address] = [ownEndpoint(), `sqlite:${join(temporaryFolder(), "delayed.db")}`];
      const store = await readyStore(address, name);
      const body = Buffer.alloc(1_000_000);
      const messages = idsOf(20).map((messageId) =>
        delayedMessage({ routingKey: "work", body, messageId, delayMs: 0 }),
      );
      await store.storeAll(messages);
      const retryAt = new Date(Date.now() + 3_600_000);
      await store.inLock(async (due) => {
        const failures = (await due.fetchDue(retryAt, 20)).map((message) => ({ message, retryAt }));
        for (let failure = 1; failure <= 3; failure++) await due.incrementFailureCounts(failures);
      });
      const { folder } = TinyDisk.mount(temporaryFolder(), 4 << 20);
      const flags = ["--store", address, "--declare", "--name", name];
      const service = await StoreProcess.ready(broker(), vhost, flags, { TMPDIR: folder });
      const where = ["--amqp", `${broker().node.amqpUrl}/${vhost}`, "--name", name, "--exchange", ""];
      const moved = await runCommand(["store", "reschedule", ...where, "--delay", "0s"]);
      assert.deepEqual(moved, { code: 0, out: "rescheduled 20 messages\n", err: "" });
      const receiver = await Receiver.on(channel, ["work"]);
      await receiver.until(20);
      assert.deepEqual(arrived(receiver), idsOf(20).sort());
      assert.equal(await service.stop(), 0);
    });
  });
});

/** A PostgreSQL server whose new tables lie on a disk. */
async function onTinyDisk(folder: string): Promise<string> {
  const server = await ownPostgres();
  chmodSync(dirname(folder), 0o755);
  const { uid, gid } = statSync(server.folder);
  const space = join(folder, "space");
  mkdirSync(space);
  chownSync(space, uid, gid);
  const admin = new Client({ connectionString: server.url });
  admin.on("error", () => undefined);
  await admin.connect();
  await admin.query(`CREATE TABLESPACE tiny LOCATION '${space}'`);
  await admin.query("ALTER DATABASE postgres SET default_tablespace = tiny");
  await admin.end();
  return server.url;
}
