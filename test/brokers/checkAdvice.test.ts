import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GetMessage } from "amqplib";
import { brokerFaultIds, checkVersion } from "@rabbitmq-delay/broker";
import {
  DelayNetworkOptions,
  HoldQueuesOptions,
  PolicyPlan,
  RetryIntervalsOptions,
  delayNetwork,
  delayedExchange,
  encodeDelay,
  holdQueues,
  planDelayedExchange,
  planEntities,
  planRetry,
  retryIntervals,
} from "@rabbitmq-delay/topology";
import { networkPlan } from "rabbitmq-delay/testing";
import { disablePlugin, enablePlugin, rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { onEachBroker, ownTestBroker, restart } from "../support/brokers";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { Receiver } from "../support/receive";
import { temporaryFolder } from "../support/temporaryFolder";
import { wayOut } from "../support/waysOut";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 } as const;
const network = delayNetwork(shape);
const enforced = delayNetwork({ preset: "nservicebus", matching: "enforced" });
const left = delayNetwork({ ...shape, prefix: "left" });
const allowed = brokerFaultIds.flatMap((id) => ["--allow", id]);

interface Finding {
  rule: string;
  subject: string;
  message: string;
}

/** What somebody has made, what is said of it with the way out, and how that is gone. */
interface Fault {
  make: () => Promise<unknown>;
  rule: string;
  subject: string;
  text: RegExp;
  doAsTold: () => Promise<unknown>;
}

describe("what rabbitmq-delay check finds", () => {
  onEachBroker((broker, { isNewest }) => {
    it("is gone once somebody does as it says, and what waited comes where it should", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      for (const [one, endpoints] of [
        [network, ["Europe.Sales"]],
        [enforced, ["Billing"]],
        [left, []],
      ] as const)
        await management.declare(vhost, one, [...endpoints]);
      const channel = await openChannel(broker(), vhost);
      const level = `${network.prefix}.level-01-2`;
      const file = join(temporaryFolder(), "Pulumi.prod.yaml");
      const config = {
        "rabbitmq-delay:network": shape,
        "rabbitmq-delay:broker": { vhost },
        "rabbitmq-delay:endpoints": [{ name: "Europe.Sales" }],
      };
      const shop = { exchange: "shop", delays: [500], type: "direct" } as const;
      const lent = { exchange: "lent", delays: [20], type: "direct" as const };
      const configure = (...delayedExchanges: object[]): void =>
        writeFileSync(
          file,
          JSON.stringify({
            config: { ...config, "rabbitmq-delay:delayedExchanges": JSON.stringify(delayedExchanges) },
          }),
        );
      configure(shop, lent);

      type Arguments = Record<string, unknown>;
      const queue = (name: string, values: Arguments = {}): Promise<unknown> =>
        channel.assertQueue(name, { durable: true, arguments: values });
      const bind = (name: string, exchange: string, key: string): Promise<unknown> =>
        channel.bindQueue(name, exchange, key);
      const anew = async (name: string, values: Arguments): Promise<void> => {
        await channel.deleteQueue(name);
        await queue(name, values);
      };
      const wait = (ttlMs: number, exchange: string, more: Arguments = {}): Arguments => ({
        "x-message-ttl": ttlMs,
        "x-dead-letter-exchange": exchange,
        ...more,
      });
      const quorum = { "x-queue-type": "quorum" };
      // The broker counts every five seconds.
      const untilCounted = async (name: string, what: "messages" | "consumers", count: number): Promise<void> => {
        while (!(await management.queues(vhost)).some((found) => found.name === name && found[what] === count))
          await new Promise((resolve) => setTimeout(resolve, 200));
      };
      const held = planDelayedExchange(delayedExchange(lent)).queues.find((one) => "x-message-ttl" in one.arguments)
        ?.name as string;
      /** Bindings at the parts of a delayed exchange, which another fault has made. */
      const shortcuts = (
        [
          ["queue former ", wayOut("check-unbind-former"), "lent", "former", "x-delay.0"],
          ["queue copied ", wayOut("check-unbind-copied"), "lent.parking", "copied", ""],
          [`queue ${held} `, wayOut("check-unbind-delayed"), "amq.direct", held, "lent"],
        ] as const
      ).map(([subject, told, source, name, key]): Fault => ({
        make: async () => {
          if (name !== held) await queue(name);
          await bind(name, source, key);
        },
        rule: "shortcut",
        subject: `delayed exchange lent: ${subject}`,
        text: told,
        doAsTold: () => channel.unbindQueue(name, source, key),
      }));
      const parking = networkPlan(network, []).policies.find(
        ({ definition }) => "alternate-exchange" in definition,
      ) as PolicyPlan;
      /** Leaves a policy as a broker that is interrupted while it sets it: among its parameters, and applied to nothing. */
      const setUnapplied = async (name: string): Promise<void> => {
        const place = `<<"${vhost}">>, <<"policy">>, <<"${name}">>`;
        const set = isNewest
          ? `rabbit_db_rtparams:set(${place}, Value)`
          : `mnesia:dirty_write(rabbit_runtime_parameters, {runtime_parameters, {${place}}, Value})`;
        const deleted = `rabbit_policy:delete(<<"${vhost}">>, <<"${name}">>, <<"tests">>)`;
        const value = `Value = rabbit_runtime_parameters:value(${place})`;
        await rabbitmqctl(broker().node, "eval", `${value}, ok = ${deleted}, ${set}.`);
      };
      let consumerTag = "";
      const faults: Fault[] = [
        {
          make: async () => {
            ({ consumerTag } = await channel.consume(level, () => undefined));
            await untilCounted(level, "consumers", 1);
          },
          rule: "consumed",
          subject: `network ${network.prefix}: queue ${level} `,
          text: wayOut("check-stop-consumer"),
          doAsTold: async () => {
            await channel.cancel(consumerTag);
            await untilCounted(level, "consumers", 0);
          },
        },
        {
          make: async () => {
            await queue("Sales");
            await bind("Sales", network.deliveryExchange, "#.Sales");
          },
          rule: "collision",
          subject: "endpoint Europe.Sales: queue Sales ",
          text: wayOut("check-unbind"),
          doAsTold: async () => {
            await channel.unbindQueue("Sales", network.deliveryExchange, "#.Sales");
            await bind("Sales", network.deliveryExchange, "*.*.Sales");
          },
        },
        {
          make: async () => {
            for (const [name, key] of [
              ["all", "*.*.shop.*"],
              ["paid", "*.*.*.paid"],
            ] as const) {
              await queue(name);
              await bind(name, network.deliveryExchange, key);
            }
          },
          rule: "collision",
          subject: "queue paid: ",
          text: wayOut("check-patterns-apart"),
          doAsTold: () => channel.unbindQueue("all", network.deliveryExchange, "*.*.shop.*"),
        },
        {
          make: async () => {
            await queue("Late");
            await bind("Late", enforced.deliveryExchange, "#.Late");
          },
          rule: "unbound",
          subject: "queue Late: ",
          text: wayOut("check-declare-binding"),
          doAsTold: async () => {
            await channel.unbindQueue("Late", enforced.deliveryExchange, "#.Late");
            await management.declare(vhost, enforced, ["Late"]);
          },
        },
        {
          make: async () => undefined,
          rule: "unclaimed",
          subject: "queue Billing: ",
          text: wayOut("check-unbind-unclaimed"),
          doAsTold: () => channel.unbindQueue("Billing", enforced.bindingExchange, `${"*.".repeat(28)}Billing`),
        },
        {
          make: () => queue("expiring", wait(500, "amq.direct", { ...quorum, "x-expires": 30_000 })),
          rule: "expiring-delay-queue",
          subject: "queue expiring: ",
          text: wayOut("check-classic"),
          doAsTold: () => anew("expiring", wait(500, "amq.direct", { "x-queue-type": "classic", "x-expires": 30_000 })),
        },
        {
          make: () => queue("short", wait(600_000, "amq.direct", { "x-queue-type": "classic", "x-expires": 500_000 })),
          rule: "expiring-delay-queue",
          subject: "queue short: ",
          text: wayOut("check-longer-expiry"),
          doAsTold: () => anew("short", wait(600, "amq.direct", { "x-queue-type": "classic", "x-expires": 900_000 })),
        },
        {
          make: () => queue("unread", { "x-message-ttl": 600_000 }),
          rule: "no-target",
          subject: "queue unread: ",
          text: wayOut("check-dead-letter-exchange"),
          doAsTold: () => anew("unread", wait(500, "amq.direct")),
        },
        {
          make: () => queue("itself", wait(600_000, "", { "x-dead-letter-routing-key": "itself" })),
          rule: "missing-target",
          subject: "queue itself: ",
          text: wayOut("check-other-target"),
          doAsTold: () => anew("itself", wait(500, "amq.direct")),
        },
        {
          make: () => queue("to-exchange", wait(500, "later")),
          rule: "missing-target",
          subject: "queue to-exchange: ",
          text: wayOut("check-declare-exchange"),
          doAsTold: async () => {
            await channel.assertExchange("later", "fanout", { durable: true });
            await bind("arrived", "later", "");
          },
        },
        {
          make: () => queue("to-queue", wait(500, "", { "x-dead-letter-routing-key": "later-queue" })),
          rule: "missing-target",
          subject: "queue to-queue: ",
          text: wayOut("check-declare-queue"),
          doAsTold: () => queue("later-queue"),
        },
        {
          make: () => queue("to-nothing", wait(500, "amq.fanout")),
          rule: "missing-target",
          subject: "queue to-nothing: ",
          text: wayOut("check-bind-something"),
          doAsTold: () => bind("arrived", "amq.fanout", ""),
        },
        {
          make: async () => {
            await queue("by-key", wait(500, "amq.topic", { "x-dead-letter-routing-key": "by.key" }));
            await bind("arrived", "amq.topic", "other");
          },
          rule: "missing-target",
          subject: "queue by-key: ",
          text: wayOut("check-bind-by-key"),
          doAsTold: () => bind("arrived", "amq.topic", "by.*"),
        },
        {
          make: () => management.call("PUT", `exchanges/${vhost}/shop`, { type: "headers", durable: true }),
          rule: "missing-part",
          subject: "delayed exchange shop: exchange shop.delivery ",
          text: wayOut("check-declare-missing"),
          doAsTold: () => channel.assertExchange("shop.delivery", "direct", { durable: true }),
        },
        {
          make: async () => {
            const { exchange, routingKey } = encodeDelay(network, 10, "Nobody");
            channel.publish(exchange, routingKey, Buffer.from("parked"), { persistent: true });
            await channel.waitForConfirms();
            await untilCounted(network.parkingQueue as string, "messages", 1);
          },
          rule: "parked",
          subject: `queue ${network.parkingQueue}: `,
          text: wayOut("check-bind-parked"),
          doAsTold: async () => {
            await management.declare(vhost, network, ["Nobody"]);
            const parked = await channel.get(network.parkingQueue as string, { noAck: false });
            assert.ok(parked);
            channel.sendToQueue("Nobody", parked.content, { persistent: true });
            await channel.waitForConfirms();
            channel.ack(parked);
            await untilCounted(network.parkingQueue as string, "messages", 0);
          },
        },
        {
          make: async () => {
            const plan = planDelayedExchange(delayedExchange(lent));
            await declareOverAmqp(channel, plan);
            for (const { name, applyTo, ...policy } of plan.policies)
              await management.call("PUT", `policies/${vhost}/${name}`, { ...policy, "apply-to": applyTo });
            for (const [key, delayMs] of [
              ["nobody", 20],
              ["lend", 30],
            ] as const)
              channel.publish("lent", key, Buffer.from(key), { persistent: true, headers: { "x-delay": delayMs } });
            await channel.waitForConfirms();
            await untilCounted("lent.parking", "messages", 2);
          },
          rule: "parked",
          subject: "queue lent.parking: ",
          text: wayOut("check-bind-parked-exchange"),
          doAsTold: async () => {
            const more = { ...lent, delays: [20, 30] };
            configure(shop, more);
            await declareOverAmqp(channel, planDelayedExchange(delayedExchange(more)));
            await queue("returned");
            for (const key of ["nobody", "lend"]) await bind("returned", "lent.delivery", key);
            for (let moved = 0; moved < 2; moved++) {
              const parked = await channel.get("lent.parking", { noAck: false });
              assert.ok(parked);
              const { content, fields, properties } = parked;
              const { headers } = properties;
              const isOver = headers?.["x-delay"] === 20;
              const [exchange, key] = isOver ? ["", "returned"] : ["lent", fields.routingKey];
              channel.publish(exchange, key, content, { persistent: true, ...(isOver ? {} : { headers }) });
              await channel.waitForConfirms();
              channel.ack(parked);
            }
            await untilCounted("lent.parking", "messages", 0);
          },
        },
        {
          make: async () => {
            for (const [name, key] of [
              ["Invoice", "#.Invoice"],
              ["EU.Invoice", "*.*.EU.Invoice"],
            ] as const) {
              await queue(name);
              await bind(name, left.deliveryExchange, key);
            }
          },
          rule: "collision",
          subject: "queue Invoice: ",
          text: wayOut("check-bind-exactly"),
          doAsTold: async () => {
            await channel.unbindQueue("Invoice", left.deliveryExchange, "#.Invoice");
            await bind("Invoice", left.deliveryExchange, "*.*.Invoice");
          },
        },
        ...shortcuts,
        {
          make: () => channel.bindExchange("lent", "lent.delivery", "round"),
          rule: "shortcut",
          subject: "delayed exchange lent: exchange lent ",
          text: wayOut("check-unbind-back"),
          doAsTold: () => channel.unbindExchange("lent", "lent.delivery", "round"),
        },
        {
          make: async () => undefined,
          rule: "unknown-network",
          subject: "network of left",
          text: wayOut("check-remove-empty"),
          doAsTold: async () => {
            for (const name of left.entryExchanges.concat(left.bindingExchange, left.deliveryExchange))
              await channel.deleteExchange(name);
          },
        },
        {
          make: () => setUnapplied(parking.name),
          rule: "missing-part",
          subject: `network ${network.prefix}: policy ${parking.name} has no effect `,
          text: wayOut("check-policy-priority"),
          doAsTold: async () => {
            const { name, applyTo, priority, ...policy } = parking;
            for (const one of [priority + 1, priority])
              await management.call("PUT", `policies/${vhost}/${name}`, {
                ...policy,
                "apply-to": applyTo,
                priority: one,
              });
          },
        },
      ];
      const arrivals = await Receiver.on(await openChannel(broker(), vhost), []);
      await queue("arrived");
      for (const { make } of faults) await make();
      const look = async (): Promise<string[]> => {
        const { out, err } = await runCommand([
          "check",
          "--stack-config",
          file,
          "--management",
          management.url,
          "--json",
          ...allowed,
        ]);
        assert.match(out, /^\[/, err);
        return (JSON.parse(out) as Finding[]).map(({ rule, subject, message }) => `${rule} ${subject}: ${message}`);
      };
      const found = async ({ rule, subject, text }: Fault): Promise<string[]> =>
        (await seen).filter((one) => one.startsWith(`${rule} ${subject}`) && text.test(one));
      let seen = look();
      for (const fault of faults)
        assert.equal((await found(fault)).length, 1, `${String(fault.text)}\n${(await seen).join("\n")}`);
      for (const { doAsTold } of faults) await doAsTold();
      seen = look();
      for (const fault of faults) assert.deepEqual(await found(fault), []);

      const waiting = ["expiring", "short", "unread", "itself", "to-exchange", "to-queue", "to-nothing", "by-key"];
      for (const name of waiting) {
        await bind("arrived", "amq.direct", name);
        channel.sendToQueue(name, Buffer.from(name), { persistent: true });
      }
      for (const name of ["arrived", "later-queue", "Nobody", "returned"]) await arrivals.add(name);
      const others = ["parked", "nobody", "lend"];
      const bodies = (await arrivals.until(waiting.length + others.length)).map(({ message }) =>
        message.content.toString(),
      );
      assert.deepEqual(bodies.sort(), [...waiting, ...others].sort());
    });

    // A quorum queue was to become one, a lease was refused with it, and NServiceBus's older network was to have another type.
    it("is gone from a plan that does as it says, and what can't be passed on is kept from then on", async () => {
      const { management } = broker();
      const file = join(temporaryFolder(), "Pulumi.prod.yaml");
      const hold = { prefix: "held", delays: [20], destinations: [{ exchange: "", routingKey: "nowhere" }] };
      const once = { prefix: "retry", intervals: [20], parking: false };
      interface Plan {
        network: DelayNetworkOptions;
        retryIntervals: RetryIntervalsOptions;
        holdQueues: HoldQueuesOptions;
      }
      const risky: Plan = {
        network: { ...shape, parking: false, queueType: "classic" },
        retryIntervals: { ...once, queueType: "quorum", atLeastOnce: false },
        holdQueues: { ...hold, leaseMs: 60_000 },
      };
      const told: Plan = {
        network: { ...shape, parking: false, queueType: "quorum" },
        retryIntervals: { ...once, queueType: "quorum", atLeastOnce: true },
        holdQueues: { ...hold, queueType: "quorum" },
      };
      const atMostOnce = async (plan: object): Promise<string[]> => {
        const values = Object.entries(plan).map(([key, value]) => [`rabbitmq-delay:${key}`, JSON.stringify(value)]);
        writeFileSync(file, JSON.stringify({ config: Object.fromEntries(values) as object }));
        const { out, err } = await runCommand(["check", "--stack-config", file, "--json"]);
        assert.match(out, /^\[/, err);
        const found = (JSON.parse(out) as Finding[]).filter(({ rule }) => rule === "at-most-once");
        return found.map(({ message }) => message);
      };
      const [ofNetwork = "", ofInterval = "", ofHold = "", ...others] = await atMostOnce(risky);
      assert.deepEqual(others, []);
      assert.match(ofNetwork, wayOut("check-quorum-network"));
      assert.match(ofInterval, wayOut("check-at-least-once"));
      for (const text of [wayOut("check-quorum-queue"), wayOut("check-without-lease")]) assert.match(ofHold, text);
      assert.deepEqual(await atMostOnce(told), []);
      const [ofOlder = ""] = await atMostOnce({ network: { preset: "nservicebus-v1" } });
      assert.match(ofOlder, wayOut("check-quorum-preset"));
      assert.deepEqual(await atMostOnce({ network: { preset: "nservicebus" } }), []);

      type Counted = { name: string; messages?: number; messages_dlx?: number; message_stats?: { publish?: number } };
      const send = async (plan: Plan, kept: number): Promise<void> => {
        const vhost = await management.createVhost();
        const channel = await openChannel(broker(), vhost);
        const { queues, ...rest } = planEntities(delayNetwork(plan.network));
        await declareOverAmqp(channel, { ...rest, queues });
        const retries = [retryIntervals(plan.retryIntervals), holdQueues(plan.holdQueues)].map(planRetry);
        for (const retry of retries) await declareOverAmqp(channel, retry);
        const waiting = [...queues, ...retries.flatMap((retry) => retry.queues)].map(({ name }) => name);
        for (const name of waiting) channel.sendToQueue(name, Buffer.from("for nobody"), { persistent: true });
        await channel.waitForConfirms();
        const isSettled = ({ messages, messages_dlx: held = 0, message_stats: stats }: Counted): boolean =>
          messages === kept && held === kept && stats?.publish === 1;
        for (;;) {
          const found = await management.get<Counted[]>(`queues/${vhost}`);
          if (waiting.every((name) => found.some((one) => one.name === name && isSettled(one)))) break;
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      };
      await Promise.all([send(risky, 0), send(told, 1)]);
    });

    it("of consumers is known once the broker's statistics are switched on, and of a broker once its plugin is, as it says", async () => {
      const on = await ownTestBroker(broker().node.installation);
      const { management } = on;
      const vhost = await management.createVhost();
      await (await openChannel(on, vhost)).assertQueue("counted");
      const setStatistics = async (isOff: boolean): Promise<void> => {
        for (const key of ["disable_management_stats", "enable_queue_totals"])
          await rabbitmqctl(on.node, "eval", `application:set_env(rabbitmq_management, ${key}, ${isOff}).`);
      };
      const uncounted = async (): Promise<string[]> => {
        const { out, err } = await runCommand(["check", "--management", management.url, "--vhost", vhost, "--json"]);
        assert.match(out, /^\[/, err);
        return (JSON.parse(out) as Finding[]).filter(({ rule }) => rule === "uncounted").map(({ message }) => message);
      };
      await setStatistics(true);
      const [message = ""] = await uncounted();
      assert.match(message, wayOut("check-statistics"));
      await setStatistics(false);
      // The broker counts a new queue some seconds later.
      while ((await uncounted()).length > 0) await new Promise((resolve) => setTimeout(resolve, 200));

      // A broker without the plugin was to be started, and another service to get the plugin.
      const version = (path = ""): Promise<string> =>
        checkVersion({ managementUrl: `${management.url}${path}`, username: "guest", password: "guest" });
      await assert.rejects(version("/path"), wayOut("check-management-address"));
      await disablePlugin(on.node, "rabbitmq_management");
      await assert.rejects(version(), wayOut("check-management-plugin"));
      await enablePlugin(on.node, "rabbitmq_management");
      assert.equal(await version(), await management.version());
    });

    it("goes on by itself once somebody does as it says, where the broker could not pass messages on", async () => {
      const on = await ownTestBroker(broker().node.installation);
      // The broker by itself tries again after three minutes.
      const timeout = "application:set_env(rabbit, dead_letter_worker_publisher_confirm_timeout, 1000).";
      await rabbitmqctl(on.node, "eval", timeout);
      const { management } = on;
      const vhost = await management.createVhost();
      let channel = await openChannel(on, vhost, { isExpectedToBreak: !isNewest });
      const stopping = delayNetwork({ ...shape, parking: false });
      const parking = delayNetwork({ ...shape, prefix: "parking", parking: false });
      for (const one of [stopping, parking]) await management.declare(vhost, one, ["Billing"]);
      const looping = delayNetwork({ ...shape, prefix: "looping", parking: false });
      const looped = `${looping.prefix}.level-01-1`;
      const taken = async (queue: string): Promise<GetMessage> => {
        for (;;) {
          const message = await channel.get(queue, { noAck: true });
          if (message !== false) return message;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      const loop = async (): Promise<void> => {
        await management.declare(vhost, looping, ["Looping"]);
        const { exchange, routingKey } = encodeDelay(looping, 50, "Looping");
        channel.publish(exchange, routingKey, Buffer.from("looping"), { persistent: true });
        const { headers } = (await taken("Looping")).properties;
        channel.publish(exchange, routingKey, Buffer.from("looping"), { persistent: true, headers });
      };
      /** Takes the message out of its loop as docs/check.md says. */
      const free = async (message: string): Promise<void> => {
        const [, next = ""] = /pass them on to exchange (\S+) in/.exec(message) ?? [];
        type Bound = { destination: string; routing_key: string };
        const bound = (await management.get<Bound[]>(`exchanges/${vhost}/${next}/bindings/source`)).filter(
          ({ destination }) => destination === `${looping.prefix}.level-00-1`,
        );
        await channel.assertQueue("own");
        await channel.bindQueue("own", next, "#");
        for (const { destination, routing_key: key } of bound) await channel.unbindQueue(destination, next, key);
        await restart(on);
        channel = await openChannel(on, vhost);
        const { content, fields } = await taken("own");
        for (const { destination, routing_key: key } of bound) await channel.bindQueue(destination, next, key);
        channel.publish(next, fields.routingKey, content, { persistent: true });
        assert.equal((await taken("Looping")).content.toString(), "looping");
      };
      const levels = [stopping, parking].map(({ prefix }) => `${prefix}.level-00-1`);
      for (const one of [stopping, parking]) {
        const { exchange, routingKey } = encodeDelay(one, 10, "Sales");
        channel.publish(exchange, routingKey, Buffer.from(one.prefix), { persistent: true });
      }
      for (const name of ["missing", "unbound"]) {
        if (name === "unbound") await channel.assertExchange(name, "fanout");
        await channel.assertQueue(`to ${name}`, {
          arguments: {
            "x-queue-type": "quorum",
            "x-dead-letter-exchange": name,
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
            "x-message-ttl": 10,
          },
        });
        channel.sendToQueue(`to ${name}`, Buffer.from(name), { persistent: true });
      }
      // Later brokers don't read the header.
      if (!isNewest) await loop();
      await channel.waitForConfirms();
      const told: [queue: string, text: RegExp][] = [
        ["to missing", wayOut("check-stalled-exchange")],
        ["to unbound", wayOut("check-stalled-unbound")],
        ...levels.map((level): [string, RegExp] => [level, wayOut("check-stalled-key")]),
      ];
      const loops: typeof told = isNewest ? [] : [[looped, wayOut("check-stalled-loop")]];
      const stalled = async (count: number): Promise<Map<string, string>> => {
        type Counted = { name: string; messages_dlx?: number };
        const keeping = async (): Promise<unknown[]> =>
          (await management.get<Counted[]>(`queues/${vhost}?columns=name,messages_dlx`)).filter(
            ({ messages_dlx: kept = 0 }) => kept > 0,
          );
        while ((await keeping()).length !== count) await new Promise((resolve) => setTimeout(resolve, 200));
        const { out, err } = await runCommand([
          ...["check", "--management", management.url, "--vhost", vhost, "--json"],
          ...allowed,
        ]);
        assert.match(out, /^\[/, err);
        const found = (JSON.parse(out) as Finding[]).filter(({ rule }) => rule === "stalled");
        return new Map(found.map(({ subject, message }) => [subject, message]));
      };
      const findings = await stalled(told.length + loops.length);
      for (const [queue, text] of [...told, ...loops]) assert.match(findings.get(`queue ${queue}`) ?? "", text);

      await channel.assertQueue("arrived");
      await channel.assertExchange("missing", "fanout");
      for (const name of ["missing", "unbound"]) await channel.bindQueue("arrived", name, "");
      await management.declare(vhost, stopping, ["Sales"]);
      const parked = delayNetwork({ ...shape, prefix: "parking" });
      await management.declare(vhost, parked, ["Billing"]);
      const receiver = await Receiver.on(channel, ["arrived", "Sales", parked.parkingQueue as string]);
      const arrivals = await receiver.until(told.length);
      assert.deepEqual(arrivals.map(({ queue, message }) => [queue, message.content.toString()]).sort(), [
        ["Sales", stopping.prefix],
        ["arrived", "missing"],
        ["arrived", "unbound"],
        [parked.parkingQueue, parking.prefix],
      ]);
      for (const [queue] of loops) await free(findings.get(`queue ${queue}`) ?? "");
      assert.equal((await stalled(0)).size, 0);
    });
  });
});
