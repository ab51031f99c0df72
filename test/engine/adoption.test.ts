import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual, promisify } from "node:util";
import type { Review } from "@rabbitmq-delay/review";
import {
  EntityPlan,
  RetryIntervalsOptions,
  delayNetwork,
  encodeDelay,
  planBinding,
  planEntities,
  planRetry,
  retryIntervals,
  workRetry,
} from "@rabbitmq-delay/topology";
import { boundType, planOwnEntities } from "@rabbitmq-delay/topology/stack";
import type { Channel } from "amqplib";
import { root } from "../../toolchain/dist/paths";
import { onEachBroker } from "../support/brokers";
import { assertNotEarly } from "../support/clock";
import { CommandEnd, runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { rounds } from "../support/length";
import { declareOverAmqp } from "../support/declare";
import {
  declareAsNServiceBus,
  generations,
  installEndpoint,
  publishDelayed,
  sendDelayed,
} from "../support/nserviceBus";
import { declareVendors } from "../support/nserviceBusVhosts";
import { Receiver } from "../support/receive";
import { StackConfig, TestStack } from "../support/stack";
import { temporaryFolder } from "../support/temporaryFolder";
import { wayOut } from "../support/waysOut";

const names = ["Sales", "Billing"];
const MESSAGES = { v1: 2000, v2: rounds(2000, 20_000) };
/** Longer than sending all of them and an update take on a busy machine. */
const SHORTEST_SECONDS = { v1: 120, v2: rounds(120, 240) };

describe("a network that NServiceBus has declared", () => {
  onEachBroker((broker, { isNewest }) => {
    for (const version of ["v1", "v2"] as const) {
      const generation = generations[version];
      it(`${version}: comes under a stack with its endpoints; what waits arrives, once and not early`, async () => {
        const { preset } = generation;
        const vhost = await broker().management.createVhost();
        const channel = await openChannel(broker(), vhost);
        await declareAsNServiceBus(channel, generation);
        for (const name of [...names, "error"]) await installEndpoint(channel, generation, name);
        const stack = await TestStack.create(broker(), vhost);
        const dueMs = new Map<string, number>();
        const sent = Array.from({ length: MESSAGES[version] }, (_, index) => {
          const [name, seconds] = [names[index % names.length] as string, SHORTEST_SECONDS[version] + (index % 7)];
          const body = `${name} ${index}`;
          dueMs.set(body, Date.now() + seconds * 1000);
          // Each send of its client binds before; a thousand of these are enough beside a broker that has other work.
          const send = index < 1000 ? sendDelayed : publishDelayed;
          return send(channel, generation, name, seconds, body);
        });
        await Promise.all(sent);

        const config: StackConfig = {
          network: { preset, adopt: true },
          // One of them is new.
          endpoints: [...names, "Shipping"].map((name) => ({
            name,
            client: "nservicebus",
            errorQueue: "error",
            adopt: true,
          })),
        };
        stack.configure(config);
        const { code, output } = await stack.up();
        assert.equal(code, 0, output);
        const prefix = generation.delivery.replace("-delivery", "");
        const there = "28 queues, 29 exchanges and 56 bindings are there as planned";
        assert.match(output, new RegExp(`network ${prefix} is adopted: ${there}; added: .*queue ${prefix}-parking`));
        assert.match(output, /endpoint Sales is adopted: 1 queue, 1 exchange and 1 binding are there as planned/);
        assert.match(output, /endpoint Shipping is made anew: there is nothing of it to adopt/);
        assert.ok(
          [...dueMs.values()].every((due) => Date.now() < due),
          "all of them waited meanwhile",
        );
        assert.deepEqual(await stack.preview("--refresh"), []);
        // The services' own set-up, if it still runs, finds what it declares.
        await declareAsNServiceBus(channel, generation);
        for (const name of [...names, "error"]) await installEndpoint(channel, generation, name);

        const receiver = await Receiver.on(await openChannel(broker(), vhost), names);
        await receiver.until(MESSAGES[version]);
        // What came twice comes before what is sent last.
        for (const name of names) {
          dueMs.set(`${name} last`, Date.now() + 1000);
          await sendDelayed(channel, generation, name, 1, `${name} last`);
        }
        const arrivals = await receiver.until(MESSAGES[version] + names.length);
        const bodies = arrivals.map(({ message }) => message.content.toString());
        assert.equal(new Set(bodies).size, MESSAGES[version] + names.length);
        assert.equal(bodies.length, MESSAGES[version] + names.length);
        for (const { queue, message, atMs } of arrivals) {
          const body = message.content.toString();
          assert.equal(queue, body.split(" ")[0]);
          assertNotEarly(body, atMs, dueMs.get(body) ?? Infinity);
        }
      });
    }

    // As docs/adopt.md says.
    it("is unbound when its stack is destroyed, though all else stays, until its client binds it again", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      const generation = generations.v2;
      await declareAsNServiceBus(channel, generation);
      await installEndpoint(channel, generation, "Sales");
      const keys = async (): Promise<string[]> =>
        (
          await management.get<{ source: string; routing_key: string }[]>(
            `exchanges/${vhost}/Sales/bindings/destination`,
          )
        )
          .filter(({ source }) => source === generation.delivery)
          .map(({ routing_key: key }) => key);
      assert.deepEqual(await keys(), ["#.Sales"]);
      const stack = await TestStack.create(broker(), vhost);
      stack.configure({
        network: { preset: generation.preset, matching: "suffix", adopt: true },
        endpoints: [{ name: "Sales", client: "nservicebus", adopt: true }],
        removal: "retain",
      });
      const { code, output } = await stack.up();
      assert.equal(code, 0, output);
      await stack.destroy();
      assert.deepEqual(await keys(), [], "the binding is gone");
      await channel.checkQueue("Sales");
      await channel.checkExchange(generation.delivery);
      await installEndpoint(channel, generation, "Sales");
      assert.deepEqual(await keys(), ["#.Sales"]);
    });

    const differences: [string, (channel: Channel) => Promise<unknown>, RegExp][] = [
      [
        "a level is missing",
        (channel) => channel.deleteQueue("nsb.v2.delay-level-14"),
        /queue nsb\.v2\.delay-level-14 is missing, while others .*: let whoever made the rest declare it, or leave adopt out/,
      ],
      [
        "a binding of a level is missing",
        (channel) => channel.unbindQueue("nsb.v2.delay-level-27", "nsb.v2.delay-level-27", "1.#"),
        /the binding of queue nsb\.v2\.delay-level-27 to exchange nsb\.v2\.delay-level-27 by "1\.#" is missing/,
      ],
      [
        "a level has a stranger",
        (channel) => channel.bindQueue("error", "nsb.v2.delay-level-03", "#"),
        /queue error to exchange nsb\.v2\.delay-level-03 by "#" is there, and not in the plan; .*unbind it/,
      ],
      [
        "a level has another time",
        async (channel) => {
          await channel.deleteQueue("nsb.v2.delay-level-02");
          const values = generations.v2.arguments(1, generations.v2.level(1));
          await channel.assertQueue("nsb.v2.delay-level-02", { durable: true, arguments: values });
          await channel.bindQueue("nsb.v2.delay-level-02", "nsb.v2.delay-level-02", `${"*.".repeat(25)}1.#`);
        },
        /queue nsb\.v2\.delay-level-02 exists with x-message-ttl 2000 \(declared here: 4000\): it can't be adopted as it is; drain it/,
      ],
      [
        "an endpoint is classic",
        async (channel) => {
          await channel.deleteQueue("Sales");
          await channel.assertQueue("Sales", { durable: true });
          await channel.bindQueue("Sales", "Sales", "");
        },
        /queue Sales exists with x-queue-type .*\(declared here: "quorum"\): give queueType as the broker has it/,
      ],
      [
        "an endpoint's queue goes with its connection",
        async (channel) => {
          await channel.deleteQueue("Sales");
          await channel.assertQueue("Sales", { exclusive: true });
          await channel.bindQueue("Sales", "Sales", "");
        },
        /queue Sales is exclusive: it goes with the connection that declared it/,
      ],
      [
        "an endpoint's queue was put out of use",
        async (channel) => {
          await channel.unbindQueue("Sales", "Sales", "");
          await channel.bindQueue("error", "Sales", "");
        },
        /endpoint Sales: exchange Sales leads to error and not to queue Sales: bound to both, each message would come twice/,
      ],
    ];

    it("says what takes messages of the endpoints besides, and binds no queue that goes with its connection", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      for (const name of ["Sales", "error"]) await installEndpoint(channel, generations.v2, name);
      await channel.bindQueue("error", "nsb.v2.delay-delivery", "#");
      await channel.assertQueue("reply", { exclusive: true });
      const stack = await TestStack.create(broker(), vhost);
      const endpoints = [{ name: "Sales", client: "nservicebus", adopt: true }];
      stack.configure({
        network: { preset: "nservicebus", adopt: true },
        endpoints: [...endpoints, { name: "reply", adopt: true }],
      });
      const refused = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(refused.code, 0);
      assert.match(refused.output, /endpoints: queue reply is exclusive: .* nothing was made/);
      stack.configure({ network: { preset: "nservicebus", adopt: true }, endpoints });
      const { code, output } = await stack.up();
      assert.equal(code, 0, output);
      assert.match(output, /queue error is bound to nsb\.v2\.delay-delivery with #, and so gets what is for Sales/);
    });

    for (const [what, change, message] of differences) {
      it(`is refused in words where ${what}, and nothing is declared`, async () => {
        const { management } = broker();
        const vhost = await management.createVhost();
        const channel = await openChannel(broker(), vhost);
        await declareAsNServiceBus(channel, generations.v2);
        for (const name of ["Sales", "error"]) await installEndpoint(channel, generations.v2, name);
        await change(channel);
        const look = async (): Promise<string[][]> => {
          const lists = ["bindings", "exchanges", "policies", "queues"];
          const all = await Promise.all(lists.map((list) => management.get<object[]>(`${list}/${vhost}`)));
          return all.map((list) => list.map(namesIn));
        };
        const before = await look();
        const stack = await TestStack.create(broker(), vhost);
        stack.configure({
          network: { preset: "nservicebus", adopt: true },
          endpoints: [{ name: "Sales", client: "nservicebus", adopt: true }],
        });
        const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(code, 0);
        assert.match(output, message);
        assert.deepEqual(await look(), before);
      });
    }

    it("an endpoint that routes directly gets its exchange", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await installEndpoint(channel, generations.v2, "Sales");
      await channel.deleteExchange("Sales");
      const stack = await TestStack.create(broker(), vhost);
      const sales = { name: "Sales", client: "nservicebus", adopt: true };
      stack.configure({ network: { preset: "nservicebus", adopt: true }, endpoints: [sales] });
      const { output } = await stack.up();
      assert.match(
        output,
        /endpoint Sales is adopted: 1 queue, 0 exchanges .*added: exchange Sales, the binding of queue Sales/,
      );
      assert.deepEqual(await stack.preview("--refresh"), []);
    });

    it("says when another stack has what it adopts, and what removal: delete would take", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      const stacks = [await TestStack.create(broker(), vhost), await TestStack.create(broker(), vhost)];
      const [first, second] = stacks as [TestStack, TestStack];
      const network = { preset: "nservicebus", adopt: true };
      const shared = /on the broker already, and not in this stack's state: if another stack has it, both have it/;
      for (const stack of stacks) stack.configure({ network, removal: "retain" });
      assert.doesNotMatch((await first.up()).output, shared);
      const { output } = await second.up();
      assert.match(output, shared);
      assert.match(output, wayOut("preflight-retain-both"));
      await installEndpoint(channel, generations.v2, "Sales");
      await sendDelayed(channel, generations.v2, "Sales", 600, "waits");
      await second.destroy();
      assert.equal((await channel.checkQueue("nsb.v2.delay-level-09")).messageCount, 1, "it still waits");
      await sendDelayed(channel, generations.v2, "Sales", 1, "arrives");
      await (await Receiver.on(await openChannel(broker(), vhost), ["Sales"])).until(1);
      assert.deepEqual(await first.preview("--refresh"), [], "all is there for the stack that stays");
      const third = await TestStack.create(broker(), await broker().management.createVhost());
      const other = await openChannel(broker(), third.vhost);
      await declareAsNServiceBus(other, generations.v2);
      third.configure({ network, removal: "delete" });
      assert.match((await third.up()).output, shared);
      // Somebody declares a level anew, with another time: the engine goes by its state.
      await other.deleteQueue("nsb.v2.delay-level-08");
      const values = { ...generations.v2.arguments(8, generations.v2.level(7)), "x-message-ttl": 5000 };
      await other.assertQueue("nsb.v2.delay-level-08", { durable: true, arguments: values });
      await other.bindQueue("nsb.v2.delay-level-08", "nsb.v2.delay-level-08", `${"*.".repeat(19)}1.#`);
      assert.match(
        (await third.up()).output,
        /declared it anew, and this stack's state does not know; .*until pulumi up --refresh/,
      );
      assert.match((await third.up("--refresh")).output, /nsb\.v2\.delay-level-08/);
      assert.deepEqual(await third.preview("--refresh"), []);
      const { arguments: after } = await broker().management.get<{ arguments: Record<string, unknown> }>(
        `queues/${third.vhost}/nsb.v2.delay-level-08`,
      );
      assert.equal(after["x-message-ttl"], 256_000);
    });

    it("comes under a program of one's own, which refuses what it can't compare", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await installEndpoint(channel, generations.v2, "Sales");
      await channel.bindQueue("Sales", "nsb.v2.delay-level-03", "#");
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "adopting"));
      const refused = async (network: Record<string, unknown>, message: RegExp): Promise<void> => {
        stack.configure({ network });
        const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(code, 0);
        assert.match(output, message);
        assert.deepEqual(await management.get<object[]>(`policies/${vhost}`), []);
      };
      await refused(
        { adopt: true },
        /queue Sales to exchange nsb\.v2\.delay-level-03 by "#" is there, and not in the plan/,
      );
      // Its address is nobody's: nothing may be sent there.
      const proxy = "http://127.0.0.1:9";
      await refused({ adopt: true, proxy }, /adopt: .* can't be compared with the broker, .*Nothing was made/);
      await channel.unbindQueue("Sales", "nsb.v2.delay-level-03", "#");
      stack.configure({ network: { adopt: true } });
      const { output } = await stack.up();
      assert.match(output, /network nsb\.v2\.delay is adopted: .*added: .*policy nsb\.v2\.delay-parking/);
      assert.match(output, /endpoint Sales is adopted: 1 queue, 1 exchange and 1 binding/);
      assert.deepEqual(await stack.preview("--refresh"), []);
    });

    it("comes under a program that can't ask the broker once adopt is left out, and what waits stays", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await installEndpoint(channel, generations.v2, "Sales");
      await sendDelayed(channel, generations.v2, "Sales", 600, "waits");
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "adopting"));
      // The management API answers what a proxy gets, too.
      const proxy = node.managementUrl;
      stack.configure({ network: { adopt: true, proxy } });
      const refused = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(refused.code, 0);
      assert.match(refused.output, wayOut("preflight-adopt-unseen"));
      const address = ["--management", proxy.replace("://", "://guest:guest@"), "--vhost", vhost];
      const { out } = await runCommand(["adopt", ...address]);
      assert.match(out, /name: Sales/);
      assert.doesNotMatch(out, /# (left out|differs)/);
      const queues = async (): Promise<string[]> => {
        const all = await management.get<object[]>(`queues/${vhost}`);
        return all.map(namesIn).filter((queue) => !queue.includes("parking"));
      };
      const before = await queues();
      stack.configure({ network: { proxy } });
      await stack.up();
      assert.deepEqual(await queues(), before);
      assert.deepEqual(await stack.preview("--refresh"), []);
      assert.equal((await channel.checkQueue("nsb.v2.delay-level-09")).messageCount, 1);
    });

    if (isNewest) {
      it("is refused where the vhost now makes another queue of one that was declared without a type", async () => {
        const { management } = broker();
        const vhost = await management.createVhost();
        const channel = await openChannel(broker(), vhost);
        await declareAsNServiceBus(channel, generations.v1);
        const stack = await TestStack.create(broker(), vhost);
        await management.call("PUT", `vhosts/${vhost}`, { default_queue_type: "quorum" });
        for (const adopt of [true, false]) {
          stack.configure({ network: { preset: "nservicebus-v1", adopt } });
          const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
          assert.notEqual(code, 0);
          assert.match(
            output,
            /nsb\.delay-level-\d\d exists with x-queue-type "classic" .*default_queue_type makes "quorum"/,
          );
          const [, type] = new RegExp(`${wayOut("preflight-set-type").source}(\\w+)`).exec(output) ?? [];
          assert.equal(type, "classic");
        }
        assert.deepEqual(await management.get<object[]>(`policies/${vhost}`), []);
        await management.call("PUT", `vhosts/${vhost}`, { default_queue_type: "classic" });
        stack.configure({ network: { preset: "nservicebus-v1", adopt: true } });
        await stack.up();
        assert.deepEqual(await stack.preview("--refresh"), []);
      });
    }

    it("comes under the stack whose config rabbitmq-delay adopt prints, with what waits in it", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      for (const name of names) await installEndpoint(channel, generations.v2, name);
      await declareOverAmqp(channel, planRetry(workRetry({ queue: "invoices", delays: ["20s"] })));
      for (let index = 0; index < 200; index += 1)
        await sendDelayed(channel, generations.v2, names[index % 2] as string, 15, `${index}`);
      const { node } = broker();
      const management = node.managementUrl.replace("://", "://guest:guest@");
      const command = join(root, "packages", "cli", "bin", "rabbitmq-delay.js");
      const { stdout } = await promisify(execFile)(process.execPath, [
        ...[command, "adopt", "--management", management, "--vhost", vhost, "--json"],
      ]);
      const { config } = JSON.parse(stdout) as { config: object };
      const stack = await TestStack.create(broker(), vhost);
      // The helper puts the project's name before each key, and says where the broker is.
      const keys = Object.entries(config).map(([key, value]) => [key.replace("rabbitmq-delay:", ""), value as unknown]);
      stack.configure(Object.fromEntries(keys.filter(([key]) => key !== "broker")) as StackConfig);
      const { output } = await stack.up();
      assert.match(output, /network nsb\.v2\.delay is adopted: .* as planned/);
      assert.match(
        output,
        /work queue invoices is adopted: .*; nothing is added|work queue invoices is adopted: .*delivery-limit/,
      );
      assert.deepEqual(await stack.preview("--refresh"), []);
      const receiver = await Receiver.on(await openChannel(broker(), vhost), names);
      const bodies = (await receiver.until(200)).map(({ message }) => message.content.toString());
      assert.equal(new Set(bodies).size, 200);
    });

    // A config without a network is refused, and adopt said to leave the network out.
    it("is left to the stack that has it where adopt says so: endpoints join it there, or from a service", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      const shape = { preset: "custom", prefix: "orders", radix: 2, levels: 2, unitMs: 10 } as const;
      const network = delayNetwork(shape);
      const owner = await TestStack.create(broker(), vhost);
      await owner.bringUp({ network: shape });
      for (const name of names) {
        await channel.assertQueue(name);
        await channel.bindQueue(name, network.deliveryExchange, `*.*.${name}`);
      }
      const [fast, slow] = ["fast", "slow"].map((prefix) => ({ prefix, intervals: ["10m"], parking: false }));
      for (const intervals of [fast, slow])
        await declareOverAmqp(channel, planRetry(retryIntervals(intervals as RetryIntervalsOptions)));
      channel.sendToQueue("slow-600000", Buffer.from("waits"));
      await channel.waitForConfirms();
      const address = node.managementUrl.replace("://", "://guest:guest@");
      const { out } = await runCommand(["adopt", "--management", address, "--vhost", vhost]);
      assert.match(out, wayOut("adopt-join-elsewhere"));
      assert.match(out, new RegExp(`interval queues slow .*${wayOut("adopt-more-intervals").source}`));

      owner.configure({ network: shape, endpoints: [{ name: "Sales", adopt: true }] });
      const service = await TestStack.create(broker(), vhost, join(__dirname, "programs", "parts"), owner);
      const parts = [
        {
          type: "EndpointDelayBinding",
          name: "billing",
          args: { endpoint: "Billing", network: "$broker", adopt: true },
        },
        { type: "RetryIntervalQueues", name: "slow", args: slow },
      ];
      service.configure({ network: { parts } });
      for (const stack of [owner, service]) {
        await stack.up();
        assert.deepEqual(await stack.preview("--refresh"), []);
      }
      for (const name of names) {
        const { exchange, routingKey } = encodeDelay(network, 20, name);
        channel.publish(exchange, routingKey, Buffer.from(name));
      }
      await (await Receiver.on(await openChannel(broker(), vhost), names)).until(names.length);
      assert.equal((await channel.checkQueue("slow-600000")).messageCount, 1);
    });

    // The check ended with errors, and the update took the team's policy off each queue.
    it("is checked before its first update, and keeps a team's policies on its queues", async () => {
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareVendors(broker(), vhost, "conventional", isNewest);
      await installEndpoint(channel, generations.v2, "Europe.Sales");
      const celery = delayNetwork({ preset: "celery", parking: false, matching: "suffix" });
      const orders = { name: "orders", client: "celery" } as const;
      await declareOverAmqp(channel, planEntities(celery));
      await declareOverAmqp(channel, planOwnEntities(orders) as EntityPlan);
      await declareOverAmqp(channel, {
        exchanges: [],
        queues: [],
        bindings: planBinding(celery, { ...orders, type: boundType(orders) }).bindings,
      });
      const full = { "max-length": 5000, overflow: "reject-publish" };
      const limited = { "delivery-limit": 5, "dead-letter-exchange": "dlx" };
      await channel.assertExchange("dlx", "fanout");
      // An older broker's update sets no policy that would push these off.
      const policies = [
        { name: "all", pattern: isNewest ? ".*" : "^Sales$", priority: 1, definition: full },
        { name: "orders", pattern: "^orders$", priority: 2, definition: limited },
      ];
      for (const { name, ...policy } of policies)
        await management.call("PUT", `policies/${vhost}/${name}`, { ...policy, "apply-to": "queues" });
      // The management API is up to 5 s late.
      const effective = async (queue: string, wanted: object): Promise<object> => {
        for (let looks = 1; ; looks++) {
          const { effective_policy_definition: found = {} } = await management.get<{
            effective_policy_definition?: object;
          }>(`queues/${vhost}/${queue}`);
          if (isDeepStrictEqual(found, wanted) || looks > 100) return found;
          await pause(200);
        }
      };
      for (const [queue, wanted] of Object.entries({ Sales: full, orders: limited }))
        assert.deepEqual(await effective(queue, wanted), wanted, queue);

      const address = ["--management", node.managementUrl.replace("://", "://guest:guest@"), "--vhost", vhost];
      const adopted = await runCommand(["adopt", ...address, "--json"]);
      const { config } = JSON.parse(adopted.out) as { config: Record<string, unknown> };
      // As its remark says.
      const whole: Record<string, unknown> = { ...config, "rabbitmq-delay:allow": ["Sales with Europe.Sales"] };
      const file = join(temporaryFolder(), "Pulumi.prod.yaml");
      writeFileSync(file, JSON.stringify({ config: whole }));
      const check = await runCommand(["check", "--stack-config", file, ...address]);
      assert.equal(check.code, 0, check.out + check.err);
      assert.match(
        check.out,
        /warning +network nsb\.v2\.delay: queue nsb\.v2\.delay-parking is not there yet; the update adds it/,
      );
      const bare = join(temporaryFolder(), "Pulumi.prod.yaml");
      writeFileSync(bare, JSON.stringify({ config }));
      const checkBare = (...more: string[]): Promise<CommandEnd> =>
        runCommand(["check", "--stack-config", bare, ...address, ...more]);
      assert.match((await checkBare()).out, /error +endpoint Europe\.Sales: exchange Sales is bound on the broker/);
      const flagged = await checkBare("--allow", "Sales with Europe.Sales");
      assert.equal(flagged.code, 0, flagged.out + flagged.err);

      const stack = await TestStack.create(broker(), vhost);
      const keys = Object.entries(whole).map(([key, value]) => [key.replace("rabbitmq-delay:", ""), value]);
      stack.configure(Object.fromEntries(keys.filter(([key]) => key !== "broker")) as StackConfig);
      const { report } = await stack.review("--management", address[1] as string);
      // Each endpoint was said to get what is for the engine's word for names that it does not know yet.
      const doubled = (report as Review).findings.filter(({ rule }) => rule === "delivered-twice");
      const [own, ...others] = doubled.map(({ parent }) => parent?.split("::").at(-1));
      assert.deepEqual(others, [], JSON.stringify(doubled));
      assert.match(own ?? "", /^(Europe\.)?Sales$/, "the allowed pair's");
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      for (const [queue, wanted] of [
        ["Sales", { ...full, ...(isNewest ? { "delivery-limit": 100_000 } : {}) }],
        ["orders", limited],
      ] as const)
        assert.deepEqual(await effective(queue, wanted), wanted, queue);
      const after = await runCommand(["check", "--stack-config", file, ...address]);
      assert.equal(after.code, 0, after.out + after.err);
      assert.doesNotMatch(after.out, /not there yet/);
    });

    it("a work queue and its retry queues that were made by hand, with what waits in them", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      const pair = { queue: "invoices", delays: ["20s"] };
      await declareOverAmqp(channel, planRetry(workRetry(pair)));
      for (let index = 0; index < 100; index += 1) channel.publish("", "invoices.retry-20000", Buffer.from(`${index}`));
      await channel.waitForConfirms();
      const stack = await TestStack.create(broker(), vhost);
      stack.configure({ network: { preset: "celery" }, workQueues: [{ ...pair, delays: ["30s"], adopt: true }] });
      const refused = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.match(refused.output, /queue invoices\.retry-30000 is missing, .*: give delays, rejected or patterns/);
      stack.configure({ network: { preset: "celery" }, workQueues: [{ ...pair, adopt: true }] });
      const { output } = await stack.up();
      assert.match(output, /work queue invoices is adopted: 3 queues, /);
      assert.deepEqual(await stack.preview("--refresh"), []);
      const receiver = await Receiver.on(await openChannel(broker(), vhost), ["invoices"]);
      assert.equal(new Set((await receiver.until(100)).map(({ message }) => message.content.toString())).size, 100);
    });
  });
});

/** What of an entity nobody changes but who declares it. */
function namesIn(entity: object): string {
  const { name, source, destination, routing_key: key, arguments: values } = entity as Record<string, unknown>;
  return JSON.stringify([name, source, destination, key, values]);
}
