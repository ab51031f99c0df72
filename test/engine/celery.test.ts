import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { parseDelayNetwork } from "@rabbitmq-delay/topology";
import { planAccess } from "@rabbitmq-delay/topology/stack";
import { TestBroker, onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { CeleryAttempts, CeleryWorker, sendTasks, sendWithoutDeclaring } from "../support/celery";
import { bringUpExample } from "../support/clientExample";
import { assertNotEarly } from "../support/clock";

/** What a vhost has, as far as a client may change it. */
async function listed({ management }: TestBroker, vhost: string): Promise<object> {
  const [exchanges, queues, bindings] = await Promise.all([
    management.get<object[]>(`exchanges/${vhost}?columns=name,type,durable,auto_delete,internal,arguments`),
    management.get<object[]>(`queues/${vhost}?columns=name,durable,auto_delete,exclusive,arguments`),
    management.get<object[]>(`bindings/${vhost}?columns=source,destination,destination_type,routing_key,arguments`),
  ]);
  const sorted = (list: object[]): string[] => list.map((one) => JSON.stringify(one)).sort();
  return { exchanges: sorted(exchanges), queues: sorted(queues), bindings: sorted(bindings) };
}

describe("a stack of a team that runs Celery", () => {
  onEachBroker((broker) => {
    it("its worker and its sender find everything declared, and add nothing; tasks run once, and none early", async () => {
      const { stack, url } = await bringUpExample(broker(), "celery");
      assert.deepEqual(await stack.preview("--refresh"), []);
      const declared = await listed(broker(), stack.vhost);
      const worker = await CeleryWorker.start({ url: url("worker") });
      await worker.until(/ ready\./);
      const countdowns = { "at-once": 0, "after-1": 1, "after-3": 3 };
      const dueMs = new Map<string, number>();
      // A worker sends, too: when a task calls or retries another one.
      for (const from of ["web", "worker"]) {
        const tasks = Object.entries(countdowns).map(([order, seconds]) => [`${order}-of-${from}`, seconds]);
        const sent = await sendTasks({ url: url(from) }, Object.fromEntries(tasks) as Record<string, number>);
        for (const [order, atMs] of sent) dueMs.set(order, atMs);
      }
      await worker.until(/reminded /, 6);
      // What came twice comes before what is sent last.
      for (const [order, atMs] of await sendTasks({ url: url("web") }, { last: 0 })) dueMs.set(order, atMs);
      await worker.until(/reminded last /);
      const reminded = worker.reminded();
      assert.equal(reminded.length, 7, worker.output);
      for (const { order, atMs } of reminded) assertNotEarly(order, atMs, dueMs.get(order) ?? Infinity);
      assert.doesNotMatch(worker.output, /Failed|ERROR|CRITICAL/);
      assert.deepEqual(await listed(broker(), stack.vhost), declared);
      await worker.stop();
      await stack.destroy();
    });

    it("its users have no right that the library does not need: without each of them, something fails", async () => {
      const { stack, url, logins } = await bringUpExample(broker(), "celery");
      const { management } = broker();
      const { vhost } = stack;
      const names = (right: string): string[] =>
        right === "^$" ? [] : right.slice("^(?:".length, -")$".length).split("|");
      const oneOf = (list: string[]): string => (list.length === 0 ? "^$" : `^(?:${list.join("|")})$`);
      for (const [login, role] of [
        ["worker", "worker"],
        ["web", "sender"],
      ] as const) {
        const { user } = logins[login] as { user: string };
        const { tags } = await management.get<{ tags: string[] | string }>(`users/${user}`);
        assert.deepEqual(
          [tags].flat().filter((tag) => tag !== ""),
          [],
        );
        const path = `permissions/${vhost}/${user}`;
        const rights = await management.get<{ configure: string; write: string; read: string }>(path);
        const library = await CeleryAttempts.of(role, { url: url(login) }, [0, 100_000]);
        assert.equal(await library.attempt(), "ok");
        for (const kind of ["configure", "write", "read"] as const) {
          for (const name of names(rights[kind])) {
            const others = names(rights[kind]).filter((other) => other !== name);
            await management.call("PUT", path, { ...rights, [kind]: oneOf(others) });
            assert.equal(await library.attempt(), "refused", `${role} without ${kind} ${name}`);
          }
          await management.call("PUT", path, rights);
        }
        assert.equal(await library.attempt(), "ok");
      }
      await stack.destroy();
    });

    it("a sender that declares nothing needs no client, and may neither read nor declare its destination", async () => {
      const { stack, url } = await bringUpExample(broker(), "celery");
      const { management, node } = broker();
      const network = parseDelayNetwork((await stack.outputs()).delayNetwork as object);
      const { topics, tags, ...rights } = planAccess({ network, destinations: ["orders"], publishes: ["orders"] });
      assert.deepEqual([rights.configure, rights.read, tags], ["^$", "^$", []]);
      const user = `sender-${randomUUID()}`;
      await management.call("PUT", `users/${user}`, { password: "x", tags: "" });
      afterThisTest(() => management.call("DELETE", `users/${user}`));
      await management.call("PUT", `permissions/${stack.vhost}/${user}`, rights);
      for (const limit of topics) await management.call("PUT", `topic-permissions/${stack.vhost}/${user}`, limit);
      const worker = await CeleryWorker.start({ url: url("worker") });
      await worker.until(/ ready\./);
      await sendWithoutDeclaring({ url: `amqp://${user}:x@${new URL(node.amqpUrl).host}/${stack.vhost}` });
      await worker.until(/reminded delayed/);
      assert.deepEqual(
        worker.reminded().map(({ order }) => order),
        ["at-once", "delayed"],
      );
      await worker.stop();
      await stack.destroy();
    });

    it("a worker process without one of its rights says so, or ends", async () => {
      const { stack, url, logins } = await bringUpExample(broker(), "celery");
      const { management } = broker();
      const path = `permissions/${stack.vhost}/${logins.worker?.user}`;
      const rights = await management.get<{ configure: string; write: string; read: string }>(path);
      const without: ["configure" | "write" | "read", string][] = [
        ["configure", "celery_delayed_13"],
        ["write", "celery_delayed_delivery"],
        ["read", "orders"],
      ];
      for (const [kind, name] of without) {
        const less = rights[kind].replace(new RegExp(`\\b${name}(\\||(?=\\)))`), "").replace("|)", ")");
        assert.notEqual(less, rights[kind]);
        await management.call("PUT", path, { ...rights, [kind]: less });
        const worker = await CeleryWorker.start({ url: url("worker") });
        await worker.until(/Native delayed delivery will not be available|Unrecoverable error: AccessRefused/);
        await worker.stop();
      }
      await stack.destroy();
    });

    it("its users reach no other destination: neither by a binding nor by a delayed task", async () => {
      const { stack, channelOf } = await bringUpExample(broker(), "celery");
      for (const key of ["#", "#.billing", "#.eu.orders"]) {
        const channel = await channelOf("worker");
        await assert.rejects(channel.bindExchange("orders", "celery_delayed_delivery", key), /ACCESS_REFUSED/, key);
      }
      for (const [name, key] of [
        ["worker", "billing"],
        ["web", "billing"],
      ] as const) {
        const channel = await channelOf(name);
        const refused = new Promise<string>((resolve) =>
          channel.once("error", (error: Error) => resolve(error.message)),
        );
        channel.publish("celery_delayed_27", `${"0.".repeat(27)}1.${key}`, Buffer.from("x"));
        assert.match(await refused, /ACCESS_REFUSED/);
      }
      const sender = await channelOf("web");
      await assert.rejects(
        sender.checkQueue("celery_delayed_0").then(() => sender.consume("celery_delayed_0", () => undefined)),
        /ACCESS_REFUSED/,
      );
      await stack.destroy();
    });
  });
});
