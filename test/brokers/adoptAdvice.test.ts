import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { IncomingMessage, ServerResponse, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import timers, { setTimeout as pause } from "node:timers/promises";
import { ManagementApi } from "@rabbitmq-delay/broker";
import { enforceMatching } from "@rabbitmq-delay/operate";
import { DelayNetwork, delayNetwork } from "@rabbitmq-delay/topology";
import { planOwnership } from "@rabbitmq-delay/topology/stack";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { TestBroker, onEachBroker, ownTestBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { runCommand } from "../support/command";
import { connect, openChannel } from "../support/connect";
import { followAdvice } from "../support/followAdvice";
import { declareAsNServiceBus, generations, installEndpoint, publishDelayed } from "../support/nserviceBus";
import { Receiver } from "../support/receive";
import { wayOut } from "../support/waysOut";

/** Runs a verb of the command on a vhost. */
async function run(
  { node }: TestBroker,
  args: string[],
  login = "guest:guest",
): Promise<{ code: number; output: string }> {
  const management = ["--management", node.managementUrl.replace("://", `://${login}@`)];
  const { code, out, err } = await runCommand([...args, ...management]);
  return { code, output: out + err };
}

/** A broker whose management API is reached by a way on which something happens before a request goes on. */
async function interrupted(
  broker: TestBroker,
  before: (request: string) => Promise<unknown>,
  after: (request: string) => void = () => undefined,
): Promise<TestBroker> {
  const forward = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers } = incoming;
    const body = await text(incoming);
    await before(`${method} ${url} ${body}`);
    const outgoing = request(new URL(url, broker.node.managementUrl), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer).on("finish", () => after(`${method} ${url}`));
    });
    outgoing.on("error", () => answer.destroy());
    outgoing.end(body);
  };
  const server = createServer((incoming, answer) => {
    forward(incoming, answer).catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => void server.close());
  const managementUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { ...broker, node: { ...broker.node, managementUrl } };
}

/** Makes an object's function another one until the end of the test. */
function replace<T extends object>(object: T, functions: Partial<T>): void {
  const before = { ...functions };
  for (const key of Object.keys(functions) as (keyof T)[]) before[key] = object[key];
  Object.assign(object, functions);
  afterThisTest(() => void Object.assign(object, before));
}

describe("what adopt and enforce advise", () => {
  onEachBroker((broker, { isNewest }) => {
    it("adopt finds nothing left out or different once its advice is followed", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      const networkOf = (prefix: string): DelayNetwork =>
        delayNetwork({ preset: "custom", prefix, radix: 2, levels: 2, unitMs: 10 });
      const [orders, invoices, left] = [networkOf("orders"), networkOf("invoices"), networkOf("left")];
      await management.declare(vhost, orders, ["Claimed", "Both", "All", "Suffix", "Alike"]);
      await management.declare(vhost, invoices, ["Other"]);
      const queue = (name: string, exchange: string, key: string): Promise<unknown> =>
        channel.bindQueue(name, exchange, key);
      const { deliveryExchange: delivery } = orders;

      const { name: claim, ...claimed } = planOwnership("endpoint", "Claimed", "gone/prod");
      await management.call("PUT", `exchanges/${vhost}/${claim}`, claimed);
      await channel.assertExchange("Both", "fanout");
      await channel.bindExchange("Both", delivery, "*.*.Both");
      await queue("All", delivery, "#");
      await queue("Suffix", delivery, "#.Suffix");
      await queue("Alike", invoices.deliveryExchange, "*.*.Unlike");
      await channel.assertExchange(left.deliveryExchange, "topic");

      const output = await followAdvice(
        () => run(broker(), ["adopt", "--vhost", vhost]),
        [
          {
            says: wayOut("adopt-claimed"),
            of: "endpoint Claimed ",
            deed: (line) => channel.deleteExchange(/delete exchange (\S+),/.exec(line)?.[1] ?? ""),
          },
          {
            says: wayOut("adopt-unbind-other"),
            of: "exchange Both and to queue Both",
            deed: (line) =>
              line.endsWith("queue")
                ? channel.unbindQueue("Both", delivery, "*.*.Both")
                : channel.unbindExchange("Both", delivery, "*.*.Both"),
          },
          {
            says: wayOut("adopt-unbind-wide"),
            of: "queue All ",
            deed: () => channel.unbindQueue("All", delivery, "#"),
          },
          {
            says: wayOut("adopt-unbind-suffix"),
            of: "queue Suffix ",
            deed: () => channel.unbindQueue("Suffix", delivery, "#.Suffix"),
          },
          {
            says: wayOut("adopt-bind-alike"),
            of: "bound to network ",
            deed: async () => {
              await queue("Alike", invoices.deliveryExchange, "*.*.Alike");
              await channel.unbindQueue("Alike", invoices.deliveryExchange, "*.*.Unlike");
            },
          },
          {
            says: wayOut("adopt-delete-left"),
            of: `of network ${left.prefix} `,
            deed: () => channel.deleteExchange(left.deliveryExchange),
          },
        ],
      );
      assert.doesNotMatch(output, /# (left out|differs)/);
      for (const name of ["Claimed", "Both", "All", "Suffix", "Alike", "Other"])
        assert.match(output, new RegExp(`name: ${name}\n`));
    });

    it("adopt finds nothing that went away while it reads, once it is run again, as it says", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      const network = delayNetwork({ preset: "custom", prefix: "orders", radix: 2, levels: 2, unitMs: 10 });
      await management.declare(vhost, network, ["Stays", "Goes"]);
      let isFirst = true;
      let tellBindings = (): void => undefined;
      const bindingsRead = new Promise<void>((resolve) => (tellBindings = resolve));
      const way = await interrupted(
        broker(),
        async (request) => {
          if (!isFirst || !request.startsWith("GET /api/queues/")) return;
          isFirst = false;
          await bindingsRead;
          await channel.deleteQueue("Goes");
        },
        (request) => {
          if (request.startsWith("GET /api/bindings/")) tellBindings();
        },
      );
      const output = await followAdvice(
        () => run(way, ["adopt", "--vhost", vhost]),
        [{ says: wayOut("adopt-run-again"), of: "queue Goes", deed: () => undefined }],
      );
      assert.doesNotMatch(output, /Goes|# (left out|differs)/);
      assert.match(output, /name: Stays\n/);
    });

    it("enforce finds nothing stuck once messages are let out, and ends once statistics are switched on, as it says", async () => {
      const on = await ownTestBroker(broker().node.installation);
      // The broker by itself tries again after three minutes.
      const timeout = "application:set_env(rabbit, dead_letter_worker_publisher_confirm_timeout, 1000).";
      await rabbitmqctl(on.node, "eval", timeout);
      const { management } = on;
      const vhost = await management.createVhost();
      const channel = await openChannel(on, vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await publishDelayed(channel, generations.v2, "Nobody", 1, "let out");
      const untilStuck = async (count: number): Promise<void> => {
        const path = `queues/${vhost}/${generations.v2.level(0)}?columns=messages_dlx`;
        while ((await management.get<{ messages_dlx?: number }>(path)).messages_dlx !== count) await pause(200);
      };
      await untilStuck(1);
      await followAdvice(
        () => run(on, ["enforce", "--vhost", vhost, "--preset", "nservicebus", "--dry-run"]),
        [
          {
            says: wayOut("enforce-let-out"),
            of: "messages that no queue takes",
            deed: async (line) => {
              const [, from = "", to = ""] = /the alternate exchange of (\S+) and (\S+) by/.exec(line) ?? [];
              await channel.assertExchange("let-out", "fanout");
              await channel.assertQueue("let-out");
              await channel.bindQueue("let-out", "let-out", "");
              const definition = { "alternate-exchange": "let-out" };
              const policy = { pattern: `^(${from}|${to})$`, "apply-to": "exchanges", priority: 0, definition };
              await management.call("PUT", `policies/${vhost}/let-out`, policy);
              const [out] = await (await Receiver.on(channel, ["let-out"])).until(1);
              assert.equal(out?.message.content.toString(), "let out");
              await untilStuck(0);
            },
          },
        ],
      );

      // RabbitMQ 3.10 counts nothing at all then, and enforce waits until its timeout.
      if (!isNewest) return;
      const setStatistics = async (isOff: boolean): Promise<void> => {
        for (const key of ["disable_management_stats", "enable_queue_totals"])
          await rabbitmqctl(on.node, "eval", `application:set_env(rabbitmq_management, ${key}, ${isOff}).`);
      };
      let isSilent = false;
      const way = await interrupted(on, async (request) => {
        if (isSilent || !/^GET \/api\/queues\/[^/]+\/[^/]+\/bindings/.test(request)) return;
        isSilent = true;
        await setStatistics(true);
      });
      // Seven counts are half a minute.
      const { setTimeout: wait } = timers;
      replace(timers, { setTimeout: (ms = 0, ...more) => wait(ms / 20, ...more) });
      await followAdvice(
        () => run(way, ["enforce", "--vhost", vhost, "--preset", "nservicebus"]),
        [
          {
            says: wayOut("enforce-statistics"),
            of: "those past their time",
            deed: () => setStatistics(false),
          },
        ],
      );
    });

    it("enforce goes through once its advice is followed, and when it is run again after what came in between", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      const { delivery, level } = generations.v2;
      await declareAsNServiceBus(channel, generations.v2);
      await installEndpoint(channel, generations.v2, "Sales");
      for (const name of ["All", "Some", "Skipping"]) await channel.assertQueue(name);
      for (const name of ["All", "Some"]) await channel.bindQueue(name, delivery, "#");
      await channel.bindQueue("Skipping", level(0), "#");
      const connection = await connect(broker(), vhost, { isExpectedToBreak: true });
      const other = await connection.createChannel();
      await other.assertQueue("reply", { exclusive: true, durable: false });
      await other.bindQueue("reply", delivery, "#.reply");
      const put = (kind: string, name: string, policy: object): Promise<unknown> =>
        management.call("PUT", `${kind}/${vhost}/${name}`, policy);
      const high = {
        pattern: "^nsb",
        "apply-to": "queues",
        priority: 2_000_000_000,
        definition: { "max-length": 100_000 },
      };
      await put("policies", "lowered", high);
      await put("policies", "narrowed", high);
      const parked = {
        pattern: `^${delivery}$`,
        "apply-to": "exchanges",
        priority: 0,
        definition: { "alternate-exchange": "amq.fanout" },
      };
      await put("policies", "widened", parked);
      const operators = { pattern: "detour", "apply-to": "queues", priority: 0, definition: { "max-length": 200_000 } };
      await put("operator-policies", "operators", operators);

      const deployer = `deployer-${randomUUID()}`;
      afterThisTest(() => management.call<void>("DELETE", `users/${deployer}`));
      const all = { configure: ".*", write: ".*", read: ".*" };
      const permit = (more: object): Promise<unknown> =>
        management.call("PUT", `permissions/${vhost}/${deployer}`, { ...all, ...more });
      const tag = (tags: string): Promise<unknown> =>
        management.call("PUT", `users/${deployer}`, { password: "secret", tags });
      await tag("policymaker");
      await permit({});
      const enforce = ["enforce", "--vhost", vhost, "--preset", "nservicebus"];
      const login = wayOut("enforce-login");
      const dry = (password: string): ReturnType<typeof run> =>
        run(broker(), [...enforce, "--dry-run"], `${deployer}:${password}`);
      assert.match((await dry("wrong")).output, login);
      await tag("");
      assert.match((await dry("secret")).output, login);
      await tag("policymaker");
      assert.doesNotMatch((await dry("secret")).output, login);

      /** Goes on with the change, in less time than a queue takes to be counted as empty. */
      const hurry = async (): Promise<void> => {
        const login = { username: "guest", password: "guest" };
        const api = new ManagementApi({ managementUrl: management.url, ...login });
        const network = { ...delayNetwork({ preset: "nservicebus", parking: false }), vhost };
        await assert.rejects(enforceMatching(api, network, { timeoutMs: 1 }), wayOut("enforce-timeout"));
      };
      const now = Date.now;

      // Each before the first of these requests alone; whether a user has a right is tried by others.
      const urgent = { ...high, pattern: "^nsb.v2" };
      const between = new Map<RegExp, (...words: string[]) => Promise<unknown>>([
        [/^PUT \/api\/exchanges\/\S+ \{"type":"topic"/, () => permit({ configure: "^$" })],
        [/^PUT \/api\/policies\//, () => tag("management")],
        [/^POST \/api\/bindings\/\S+ \{"routing_key":"[^"]/, () => permit({ write: "^$" })],
        [
          /^GET \/api\/exchanges\/[^/?]+\/[^/? ]+ /,
          async () => {
            const policies = await management.get<{ name: string }[]>(`policies/${vhost}`);
            for (const { name } of policies.filter((policy) => policy.name.startsWith("nsb")))
              await management.call("DELETE", `policies/${vhost}/${name}`);
          },
        ],
        [
          /^GET \/api\/queues\/[^/]+\/([^/]+)\/bindings/,
          (queue) => channel.bindQueue(queue, level(0), `${"*.".repeat(27)}1.#`),
        ],
        // As if the process had been stopped for a minute.
        [/^GET \/api\/bindings\/\S+\/e\/\S+\/[eq]\//, async () => replace(Date, { now: () => now() + 60_000 })],
        [/^DELETE \/api\/queues\//, () => put("policies", "urgent", urgent)],
      ]);
      const way = await interrupted(broker(), async (request) => {
        for (const [pattern, deed] of between) {
          const found = pattern.exec(request);
          if (found === null) continue;
          between.delete(pattern);
          await deed(...found.slice(1));
        }
      });

      await followAdvice(
        () => run(way, enforce, `${deployer}:secret`),
        [
          { says: wayOut("enforce-configure"), of: "PUT exchanges/", deed: () => permit({}) },
          { says: wayOut("enforce-tag"), of: "PUT policies/", deed: () => tag("policymaker") },
          { says: wayOut("enforce-bind"), of: "POST bindings/", deed: () => permit({}) },
          { says: wayOut("enforce-deleted"), of: "somebody deleted the policy ", deed: () => undefined },
          { says: wayOut("enforce-held-up"), of: "this run ", deed: () => undefined },
          { says: wayOut("enforce-installers"), of: "is bound to queue ", deed: hurry },
          {
            says: wayOut("enforce-at-once"),
            of: "policy urgent ",
            deed: () => put("policies", "urgent", { ...urgent, priority: 1 }),
          },
          {
            says: wayOut("enforce-wide"),
            of: "queue All ",
            deed: () => channel.unbindQueue("All", delivery, "#"),
          },
          {
            says: wayOut("enforce-wide"),
            of: "queue Some ",
            deed: async (line) => {
              const [, end = ""] = /bind Some to exchange (\S+) as/.exec(line) ?? [];
              await channel.assertExchange(end, "topic");
              await channel.bindQueue("Some", end, `${"*.".repeat(28)}Some`);
            },
          },
          { says: wayOut("enforce-exclusive"), of: '"reply"', deed: () => connection.close() },
          {
            says: wayOut("enforce-unbind"),
            of: "queue Skipping ",
            deed: () => channel.unbindQueue("Skipping", level(0), "#"),
          },
          {
            says: wayOut("enforce-lower"),
            of: "policy lowered ",
            deed: (line) => {
              const [, most = ""] = /give it one below (\d+),/.exec(line) ?? [];
              return put("policies", "lowered", { ...high, priority: Number(most) - 1 });
            },
          },
          {
            says: wayOut("enforce-lower"),
            of: "policy narrowed ",
            deed: () => put("policies", "narrowed", { ...high, pattern: "^nsb.teams" }),
          },
          {
            says: wayOut("enforce-widen"),
            of: "policy widened ",
            deed: (line) => {
              const [, end = ""] = /and not to (\S+),/.exec(line) ?? [];
              return put("policies", "widened", { ...parked, pattern: `^(${delivery}|${end})$` });
            },
          },
          {
            says: wayOut("enforce-operator"),
            of: "operator policy operators ",
            deed: async (line) => {
              await put("operator-policies", "operators", { ...operators, pattern: "^teams" });
              const [, queue = ""] = /on queue (\S+),/.exec(line) ?? [];
              type Settings = { effective_policy_definition?: object };
              const read = (): Promise<Settings> => management.get(`queues/${vhost}/${queue}`);
              // The broker applies it some time after.
              while ("max-length" in ((await read()).effective_policy_definition ?? {})) await pause(50);
            },
          },
        ],
      );
    });
  });
});
