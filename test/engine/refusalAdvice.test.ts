import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { GetMessage } from "amqplib";
import {
  DelayNetwork,
  delayNetwork,
  delayedExchange,
  planDelayedExchange,
  planEntities,
  planWorkRetry,
  workRetry,
} from "@rabbitmq-delay/topology";
import { planOwnership } from "@rabbitmq-delay/topology/stack";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import { Advice, followAdvice } from "../support/followAdvice";
import { Receiver } from "../support/receive";
import { RunEnd, StackConfig, TestStack } from "../support/stack";
import { wayOut } from "../support/waysOut";

const shape = { preset: "custom", prefix: "orders", radix: 2, levels: 1, unitMs: 10 } as const;
const QUORUM = { "x-queue-type": "quorum" };

/** A component of the program "parts". */
interface Part {
  type: string;
  args: Record<string, unknown>;
}

describe("each refusal is gone once its advice is followed", () => {
  onEachBroker((broker, { isNewest }) => {
    const endpoint = (name: string, args: object = {}): Part => ({
      type: "EndpointDelayBinding",
      args: { endpoint: name, network: "$broker", createQueue: true, removal: "delete", ...args },
    });
    const small = (prefix: string, args: object = {}): Part => ({
      type: "DelayLevelTopology",
      args: { ...shape, prefix, removal: "delete", ...args },
    });
    const shop = (exchange: string, args: object = {}): Part => ({
      type: "DelayedExchange",
      args: { exchange, delays: [20], removal: "delete", ...args },
    });
    const work = (queue: string, args: object = {}): Part => ({
      type: "WorkRetryQueues",
      args: { queue, delays: [20], removal: "delete", ...args },
    });
    const user = (name: string, args: object = {}): Part => ({
      type: "EndpointUser",
      args: { user: name, credentials: [{ password: "the service's password" }], consumes: ["jobs"], ...args },
    });

    const raiseLimit = (line: string): Promise<string> => {
      const [, vhost = "", limits = ""] = /set_vhost_limits -p (\S+) '(.*?)'/.exec(line) ?? [];
      return rabbitmqctl(broker().node, "set_vhost_limits", "-p", vhost, limits);
    };

    it("in a program of one's own", async () => {
      // Beside the broker's own stack, which has the network and an endpoint, under a login of its own.
      const { management, node } = broker();
      const vhost = await management.createVhost();
      const owner = await TestStack.create(broker(), vhost);
      let owned = ["Billing", "Shipping"].map((name) => ({ name, createQueue: true }));
      await owner.bringUp({ network: shape, endpoints: owned, removal: "retain" });
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "parts"), owner);
      const id = randomUUID().slice(0, 8);
      const named = (name: string): string => {
        afterThisTest(async () => {
          await management.call("DELETE", `users/${name}`).catch(() => undefined);
        });
        return name;
      };
      const putUser = async (start: string, tags: string): Promise<string> => {
        const name = `${start}-${id}`;
        await management.call("PUT", `users/${name}`, { password: name, tags });
        return named(name);
      };
      const deployer = await putUser("deployer", "administrator");
      const put = (path: string, body: object): Promise<unknown> => management.call("PUT", path, body);
      const permit = (configure: string): Promise<unknown> =>
        put(`permissions/${vhost}/${deployer}`, { configure, write: ".*", read: ".*" });
      await permit(".*");
      const parts: Record<string, Part> = {};
      const configure = (): void =>
        stack.configure({
          broker: { username: deployer },
          brokerPassword: deployer,
          network: { parts: Object.entries(parts).map(([name, part]) => ({ name, ...part })) },
        });
      const succeed = async (...args: string[]): Promise<void> => {
        const { code, output } = await stack.run([...args, "--stack", "test"]);
        assert.equal(code, 0, output);
      };
      const remove = (path: string): Promise<unknown> => management.call("DELETE", path);
      const putQueue = (name: string, args: object): Promise<unknown> =>
        put(`queues/${vhost}/${name}`, { durable: true, arguments: args });
      const bind = (source: string, queue: string, key = ""): Promise<unknown> =>
        management.call("POST", `bindings/${vhost}/e/${source}/q/${queue}`, { routing_key: key });
      const putPolicy = (name: string, policy: object): Promise<unknown> => put(`policies/${vhost}/${name}`, policy);
      const preview = (): Promise<RunEnd> => {
        configure();
        return stack.run(["preview", "--stack", "test"]);
      };
      const up = (...args: string[]): Promise<RunEnd> => {
        configure();
        return stack.up(...args);
      };
      const channel = await openChannel(broker(), vhost);
      const plain = { ...delayNetwork({ ...shape, vhost }) };
      const version = await management.version();
      const levelOf = (prefix: string): string =>
        planEntities(delayNetwork({ ...shape, prefix })).queues.find((queue) => "x-message-ttl" in queue.arguments)
          ?.name as string;
      const policyOf = (name: string): Promise<{ definition: object }> => management.get(`policies/${vhost}/${name}`);

      // What the stack has before.
      const workQueue = planWorkRetry(workRetry({ queue: "jobs", delays: [20] })).queues.find(
        ({ name }) => name === "jobs",
      );
      const { arguments: values = {} } = workQueue ?? {};
      const asWorkQueue = Object.fromEntries(Object.entries(values).filter(([key]) => key !== "x-queue-type"));
      Object.assign(parts, {
        jobs: endpoint("jobs", { queueArguments: asWorkQueue }),
        keeping: shop("keeping"),
        giving: shop("giving"),
        one: small("one"),
        two: small("two"),
        three: small("three"),
        moved: endpoint("moved", { network: plain }),
        staying: endpoint("staying", { network: plain }),
      });
      await up();
      for (const exchange of ["keeping", "giving"]) {
        await putQueue(`of ${exchange}`, QUORUM);
        await bind(`${exchange}.delivery`, `of ${exchange}`, "paid");
      }
      for (const queue of ["jobs", "Shipping"])
        channel.sendToQueue(queue, Buffer.from(`for ${queue}`), { persistent: true });
      await channel.waitForConfirms();

      const faults: Advice[] = [];
      const forget = (line: string): Promise<void> =>
        succeed("state", "delete", "--target-dependents", "--yes", /urn:\S+$/.exec(line)?.[0] ?? "");
      const advise = (says: RegExp, of: string, deed: Advice["deed"]): void => void faults.push({ says, of, deed });

      // Versions.
      const other = version.startsWith("3.") ? "4.3.6" : "3.13.7";
      parts.given = small("given", { brokerVersion: other });
      parts.ungiven = small("ungiven", { brokerVersion: other });
      advise(wayOut("preflight-version"), `brokerVersion: ${other}`, (line) => {
        parts.given = small("given", { brokerVersion: /Set it to (\S+),/.exec(line)?.[1] });
        parts.ungiven = small("ungiven");
      });

      // Entities of others with other arguments.
      await putQueue("drained", { ...QUORUM, "x-max-length": 5 });
      await putQueue("taken", { ...QUORUM, "x-max-length": 5 });
      await putQueue(levelOf("prefixed"), { ...QUORUM, "x-max-length": 5 });
      await putQueue(levelOf("shaped"), { ...QUORUM, "x-max-length": 5 });
      parts.drained = work("drained");
      parts.renamed = work("taken");
      parts.prefixed = small("prefixed");
      parts.shaped = small("shaped");
      const differs = wayOut("preflight-differs-others");
      advise(differs, "queue drained exists", () => remove(`queues/${vhost}/drained`));
      advise(differs, "queue taken exists", () => (parts.renamed = work("taken by nobody")));
      advise(differs, `queue ${levelOf("prefixed")} exists`, () => (parts.prefixed = small("prefixed otherwise")));
      advise(differs, `queue ${levelOf("shaped")} exists`, () => (parts.shaped = small("shaped", { radix: 4 })));

      // Claims.
      parts.billing = endpoint("Billing", { formerOwners: ["rabbitmq-delay/test"] });
      parts.orders = endpoint("Orders", { formerOwners: ["gone/prod"] });
      const { name: claim, ...claimed } = planOwnership("endpoint", "Orders", "gone/prod");
      await put(`exchanges/${vhost}/${claim}`, claimed);
      await putQueue("Orders", QUORUM);
      await bind(plain.deliveryExchange, "Orders", "*.*.Orders");
      const newStack = wayOut("preflight-former-owner");
      const takeOut = (endpoint: string) => async () => {
        owned = owned.filter(({ name }) => name !== endpoint);
        owner.configure({ network: shape, endpoints: owned, removal: "retain" });
        await owner.up();
      };
      advise(newStack, '"Billing"', takeOut("Billing"));
      parts.shipping = endpoint("Shipping");
      advise(wayOut("refusal-out-under-retain"), '"Shipping"', takeOut("Shipping"));
      advise(newStack, '"Orders"', async () => {
        await remove(`exchanges/${vhost}/${claim}`);
        parts.orders = endpoint("Orders", { adopt: true });
      });

      // Delayed exchanges.
      parts.keeping = shop("keeping", { declareDelivery: false });
      parts.giving = shop("giving", { declareDelivery: false });
      advise(wayOut("preflight-delivery"), "delayed exchange keeping", () => (parts.keeping = shop("keeping")));
      advise(wayOut("preflight-delivery"), "delayed exchange giving", forget);
      const early = delayedExchange({ exchange: "early", delays: [20] });
      await declareOverAmqp(channel, { ...planDelayedExchange(early), bindings: [] });
      await putQueue("of early", QUORUM);
      await bind("early", "of early");
      parts.early = shop("early");
      advise(wayOut("preflight-bind-delivery"), "delayed exchange early", async () => {
        await bind("early.delivery", "of early", "paid");
        await channel.unbindQueue("of early", "early", "");
      });

      // Endpoints and queues of one program.
      parts.jobs = work("jobs");
      advise(wayOut("preflight-forget"), "pulumi state delete --target-dependents", forget);
      parts.moved = endpoint("moved", { network: undefined, furtherNetworks: [plain] });
      parts.staying = endpoint("staying", { network: undefined, furtherNetworks: [plain] });
      advise(wayOut("preflight-state-rename"), "as moved-moved,", (line) =>
        succeed("state", "rename", "--yes", ...(/state rename '(\S+)' '(\S+?)'/.exec(line) ?? []).slice(1)),
      );
      advise(wayOut("preflight-stay"), "as staying-staying,", () => {
        parts.staying = endpoint("staying", { network: plain });
      });
      const long = "l".repeat(256 - vhost.length);
      parts.long = endpoint(long);
      advise(wayOut("preflight-shorten"), long, () => (parts.long = endpoint(long.slice(0, -2))));

      // Users.
      const [boss, known, elsewhere] = [
        await putUser("boss", "administrator"),
        await putUser("known", ""),
        await putUser("elsewhere", ""),
      ];
      const otherVhost = await management.createVhost();
      const { name: userClaim, ...ofUser } = planOwnership("user", elsewhere, "others/prod");
      await put(`exchanges/${otherVhost}/${userClaim}`, ofUser);
      const twin = named(`twin-${deployer}`);
      Object.assign(parts, {
        first: user(twin),
        second: user(twin),
        own: user(deployer),
        strong: user(boss, { adopt: true }),
        known: user(known),
        elsewhere: user(elsewhere, { adopt: true }),
      });
      const anotherName = (part: string) => () => (parts[part] = user(named(`${part}-${deployer}`)));
      advise(wayOut("preflight-user-twice"), `"${twin}"`, anotherName("second"));
      advise(wayOut("preflight-user-deployer"), `"${deployer}"`, anotherName("own"));
      advise(wayOut("preflight-user-tag"), `"${boss}"`, anotherName("strong"));
      advise(wayOut("preflight-user-there"), `"${known}"`, anotherName("known"));
      advise(wayOut("preflight-user-elsewhere"), `"${elsewhere}"`, anotherName("elsewhere"));

      // Queues that refuse.
      const full = { "max-length": 5, overflow: "reject-publish" };
      const limit = async (queue: string, definition: object): Promise<void> => {
        await putPolicy(queue, { pattern: `^${queue}$`, "apply-to": "queues", priority: 0, definition });
        type Effective = { effective_policy_definition?: object };
        const read = (): Promise<Effective> => management.get(`queues/${vhost}/${queue}`);
        while (JSON.stringify((await read()).effective_policy_definition) !== JSON.stringify(definition))
          await new Promise((resolve) => setTimeout(resolve, 50));
      };
      for (const queue of ["unlimited", "dropping"]) {
        await putQueue(queue, QUORUM);
        await limit(queue, full);
        parts[queue] = endpoint(queue, { createQueue: undefined });
      }
      advise(wayOut("preflight-refusing"), "queue unlimited", () => limit("unlimited", { overflow: "reject-publish" }));
      advise(wayOut("preflight-refusing"), "queue dropping", () =>
        limit("dropping", { "max-length": 5, overflow: "drop-head" }),
      );

      // Policies.
      const parking = (prefix: string): string => delayNetwork({ ...shape, prefix }).parkingExchange as string;
      await putPolicy(parking("one"), { ...(await policyOf(parking("one"))), priority: 101 });
      advise(wayOut("preflight-policy-edited"), `policy ${parking("one")} is`, async () =>
        putPolicy(parking("one"), { ...(await policyOf(parking("one"))), priority: 100 }),
      );
      const { definition } = await policyOf(parking("two"));
      await putPolicy(parking("two"), {
        pattern: "^two",
        "apply-to": "all",
        priority: 100,
        definition: { ...definition, "message-ttl": 5 },
      });
      advise(wayOut("preflight-policy-back"), `policy ${parking("two")} (`, (line) => {
        const own = /its pattern (\S+), apply-to (\S+), priority (\d+) and definition (\{.*?\})/.exec(line) ?? [];
        const [, pattern, applyTo, priority, said = ""] = own;
        const back = {
          pattern,
          "apply-to": applyTo,
          priority: Number(priority),
          definition: JSON.parse(said) as object,
        };
        return putPolicy(parking("two"), back);
      });
      const rival = { "apply-to": "exchanges", priority: 200, definition: { "alternate-exchange": "amq.fanout" } };
      for (const prefix of ["lowered", "narrowed", "unparked"]) {
        parts[prefix] = small(prefix);
        await putPolicy(prefix, { ...rival, pattern: `^${prefix}` });
      }
      await putPolicy("led", { ...rival, pattern: "^led" });
      parts.led = shop("led");
      await putPolicy("limited", {
        pattern: "^limited$",
        "apply-to": "queues",
        priority: 200,
        definition: { "max-length": 500 },
      });
      parts.limited = endpoint("limited");
      const harming = { "apply-to": "queues", priority: 200, definition: { "message-ttl": 5 } };
      parts.harmed = small("harmed");
      await putPolicy("harming", { ...harming, pattern: "^harmed" });
      advise(wayOut("preflight-policy-narrow"), "policy harming (", () =>
        putPolicy("harming", { ...harming, pattern: "^harmed by nobody" }),
      );
      parts.sunk = small("sunk");
      await putPolicy("sunk", { ...harming, pattern: "^sunk" });
      const lower = wayOut("preflight-policy-lower").source;
      const sunk = new RegExp(`policy sunk \\([^;]* sets message-ttl [^;]*; narrow its pattern, or ${lower}`);
      advise(sunk, "policy sunk (", () => putPolicy("sunk", { ...harming, pattern: "^sunk", priority: 50 }));
      // A queue that no policy of this stack applies to.
      parts.outranked = {
        type: "RetryIntervalQueues",
        args: { prefix: "outranked", intervals: [20], parking: false, removal: "delete" },
      };
      await putPolicy("outranked", { ...harming, pattern: "^outranked" });
      advise(wayOut("preflight-policy-outrank"), "policy outranked (", () => {
        const better = { pattern: "^outranked", "apply-to": "queues", priority: 201 };
        return putPolicy("better", { ...better, definition: { overflow: "reject-publish" } });
      });
      const letters = { "apply-to": "queues", priority: 5, definition: { "dead-letter-exchange": "amq.fanout" } };
      for (const name of ["lettered", "forgone"]) await putPolicy(name, { ...letters, pattern: `^${name}$` });
      parts.lettered = endpoint("lettered");
      parts.forgone = { type: "ErrorQueues", args: { names: ["forgone"], removal: "delete" } };
      advise(wayOut("preflight-policy-argument"), "policy lettered does not apply", () => {
        parts.lettered = endpoint("lettered", { queueArguments: { "x-dead-letter-exchange": "amq.fanout" } });
      });
      advise(wayOut("preflight-policy-forgo"), "policy forgone does not apply", () =>
        putPolicy("forgone", { ...letters, pattern: "^forgone by nobody$" }),
      );
      for (const name of ["wide", "without"]) {
        const operators = { ...harming, pattern: `^${name}` };
        parts[name] = small(name);
        await put(`operator-policies/${vhost}/${name}`, operators);
        // Without its only key, it is no policy.
        advise(wayOut("preflight-policy-operator"), `operator policy ${name} (`, () =>
          name === "wide"
            ? put(`operator-policies/${vhost}/${name}`, { ...operators, pattern: "^wide to nobody" })
            : remove(`operator-policies/${vhost}/${name}`),
        );
      }
      const rivals = wayOut("preflight-policy-rival");
      advise(rivals, "policy lowered (", () => putPolicy("lowered", { ...rival, pattern: "^lowered", priority: 50 }));
      advise(rivals, "policy narrowed (", () => putPolicy("narrowed", { ...rival, pattern: "^narrowed\\.teams$" }));
      advise(wayOut("preflight-policy-parking"), "policy unparked (", () => {
        parts.unparked = small("unparked", { parking: false });
      });
      for (const [name, more] of [
        ["led", rival],
        ["limited", { "apply-to": "queues", priority: 200, definition: { "max-length": 500 } }],
      ] as const)
        advise(wayOut("preflight-policy-same"), `policy ${name} (`, (line) => {
          const same = new RegExp(`policy ${name} .*? give it the same: (\\S+) (\\S+?)(,|;|$)`);
          const [, key = "", value = ""] = same.exec(line) ?? [];
          const given = /^\d+$/.test(value) ? Number(value) : value;
          return putPolicy(name, { ...more, pattern: `^${name}`, definition: { ...more.definition, [key]: given } });
        });

      // What is adopted.
      const retire = async (name: string): Promise<void> => {
        await channel.assertExchange(name, "fanout");
        await putQueue(name, QUORUM);
        await putQueue(`${name} now`, QUORUM);
        await bind(name, `${name} now`);
        parts[name] = endpoint(name, {
          client: "masstransit",
          queueType: "quorum",
          createQueue: undefined,
          adopt: true,
        });
      };
      await retire("retired");
      await retire("rebound");
      const retired = wayOut("preflight-adopt-retired");
      advise(retired, "endpoint retired: ", () => delete parts.retired);
      advise(retired, "endpoint rebound: ", () => bind("rebound", "rebound"));
      const adoptNetwork = async (prefix: string): Promise<() => Promise<unknown>> => {
        const plan = planEntities(delayNetwork({ ...shape, prefix }));
        const declare = (): Promise<unknown> => declareOverAmqp(channel, plan);
        await declare();
        parts[prefix] = small(prefix, { adopt: true });
        await channel.deleteQueue(levelOf(prefix));
        return declare;
      };
      const completed = await adoptNetwork("completed");
      await adoptNetwork("unadopted");
      const anew = await adoptNetwork("anew");
      await putQueue(levelOf("anew"), { ...QUORUM, "x-max-length": 5 });
      advise(
        wayOut("preflight-adopt-missing-network"),
        `network ${delayNetwork({ ...shape, prefix: "completed" }).prefix}: queue`,
        completed,
      );
      advise(
        wayOut("preflight-adopt-leave-out"),
        `network ${delayNetwork({ ...shape, prefix: "unadopted" }).prefix}: queue`,
        () => {
          parts.unadopted = small("unadopted");
        },
      );
      advise(
        wayOut("preflight-adopt-network"),
        `network ${delayNetwork({ ...shape, prefix: "anew" }).prefix}: queue`,
        async () => {
          await channel.deleteQueue(levelOf("anew"));
          await anew();
        },
      );
      await putQueue("classic", { "x-queue-type": "classic" });
      await putQueue("bound", { ...QUORUM, "x-max-length": 5 });
      await putQueue("deleted", { ...QUORUM, "x-max-length": 5 });
      for (const name of ["classic", "bound", "deleted"]) parts[name] = endpoint(name, { adopt: true });
      advise(wayOut("preflight-adopt-option"), "endpoint classic: queue", (line) => {
        const [, option = ""] = /: give (\w+) as the broker has it/.exec(line) ?? [];
        parts.classic = endpoint("classic", { adopt: true, [option]: "classic" });
      });
      const unlike = wayOut("preflight-adopt-endpoint");
      advise(unlike, "endpoint bound: queue", () => {
        parts.bound = endpoint("bound", { adopt: true, createQueue: undefined });
      });
      advise(unlike, "endpoint deleted: queue", () => remove(`queues/${vhost}/deleted`));
      for (const name of ["emptied", "planned"]) {
        const pair = planWorkRetry(workRetry({ queue: name, delays: [20] }));
        await declareOverAmqp(channel, pair);
        await remove(`queues/${vhost}/${name}`);
        await putQueue(name, { ...QUORUM, "x-max-length": 5 });
        parts[name] = work(name, { adopt: true });
      }
      const pairs = wayOut("preflight-adopt-retry");
      advise(pairs, "work queue emptied: queue", () => remove(`queues/${vhost}/emptied`));
      advise(wayOut("preflight-adopt-leave-out"), "work queue emptied: queue emptied is missing", () => {
        parts.emptied = work("emptied");
      });
      advise(pairs, "work queue planned: queue", () => (parts.planned = work("planned otherwise", { adopt: true })));

      for (const name of ["unlike", "alike"]) {
        const plan = planWorkRetry(workRetry({ queue: name, delays: [20], patterns: ["first", "second"] }));
        await declareOverAmqp(channel, plan);
        parts[name] = work(name, { patterns: ["first"], adopt: true });
        const unplanned = `the binding of queue ${name} to exchange ${name} by "second"`;
        if (name === "unlike")
          advise(wayOut("refusal-unbind-strange"), unplanned, () => channel.unbindQueue(name, name, "second"));
        else
          advise(wayOut("preflight-adopt-patterns"), unplanned, () => {
            parts.alike = work(name, { patterns: ["first", "second"], adopt: true });
          });
      }

      // A descriptor from before the network was changed.
      const [older, newer] = (["exact", "enforced"] as const).map((matching) => ({
        ...delayNetwork({ preset: "nservicebus", matching, vhost }),
      }));
      await management.declare(vhost, newer as DelayNetwork, []);
      parts.late = endpoint("late", { network: older });
      advise(wayOut("preflight-descriptor"), "endpoint late would be bound", () => {
        parts.late = endpoint("late", { network: newer });
      });

      await followAdvice(preview, faults);
      await up();
      await putQueue("dead letters", QUORUM);
      await bind("amq.fanout", "dead letters");
      channel.sendToQueue("lettered", Buffer.from("rejected"), { persistent: true });
      await channel.waitForConfirms();
      channel.nack((await channel.get("lettered")) as GetMessage, false, false);
      const dead = await Receiver.on(channel, ["dead letters"]);
      const [rejected] = await dead.until(1);
      assert.equal(rejected?.message.content.toString(), "rejected");

      // What is looked at once nothing else is wrong.
      parts.five = small("five");
      parts.six = small("six");
      const count = (await management.queues(vhost)).length;
      await put(`vhost-limits/${vhost}/max-queues`, { value: count });
      await permit("^(?!five)");
      await followAdvice(preview, [
        {
          says: wayOut("preflight-raise-limit"),
          of: `vhost: ${vhost} may have ${count} queues`,
          deed: raiseLimit,
        },
        {
          says: wayOut("preflight-set-permissions"),
          of: `user ${deployer} may not configure five`,
          deed: () => rabbitmqctl(node, "set_permissions", "-p", vhost, deployer, ".*", ".*", ".*"),
        },
      ]);
      await putPolicy(parking("three"), { ...(await policyOf(parking("three"))), priority: 101 });
      assert.match((await preview()).output, wayOut("preflight-policy-edited"));
      await up("--refresh");
      const { output } = await preview();
      assert.doesNotMatch(output, wayOut("preflight-policy-edited"));
      assert.doesNotMatch(output, /\d+ to (create|update|delete|replace)/);

      // What others had there is there still.
      for (const exchange of ["keeping", "giving", "early"]) {
        const bound = await management.get<object[]>(`bindings/${vhost}/e/${exchange}.delivery/q/of%20${exchange}`);
        assert.equal(bound.length, 1, exchange);
      }
      for (const queue of ["jobs", "Shipping"]) {
        const message = await channel.get(queue, { noAck: true });
        assert.equal(message && message.content.toString(), `for ${queue}`);
      }
    });

    if (isNewest) {
      it("where the vhost makes quorum queues of those without a type, and of the broker's own delayed retry", async () => {
        const { management } = broker();
        const vhost = await management.createVhost();
        const setType = (type: string): Promise<unknown> =>
          management.call("PUT", `vhosts/${vhost}`, { default_queue_type: type });
        await setType("quorum");
        const rival = { pattern: "^native$", "apply-to": "queues", priority: 200, definition: { "max-length": 500 } };
        await management.call("PUT", `policies/${vhost}/teams`, rival);
        const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "parts"));
        const network = { ...delayNetwork({ ...shape, vhost }) };
        const nsb = (preset: string): Part => ({ type: "DelayLevelTopology", args: { preset } });
        const task = (queueType: string): Part =>
          endpoint("task", { network, client: "masstransit", queueType, createQueue: undefined });
        const native = (args: object): Part => ({
          type: "DelayedRetryQueue",
          args: { queue: "native", minMs: 40, deliveryLimit: 2, ...args },
        });
        const parts = { orders: small("orders"), nsb: nsb("nservicebus-v1"), task: task("classic") };
        const all: Record<string, Part> = { ...parts, native: native({ settings: "policy" }) };
        const preview = (): Promise<RunEnd> => {
          stack.configure({ network: { parts: Object.entries(all).map(([name, part]) => ({ name, ...part })) } });
          return stack.run(["preview", "--stack", "test"]);
        };
        const defaultType = wayOut("preflight-default-type");
        const untyped = wayOut("preflight-untyped");
        await followAdvice(preview, [
          { says: defaultType, of: "nsb.delay-level-", deed: () => (all.nsb = nsb("nservicebus")) },
          { says: untyped, of: "queue task is", deed: () => (all.task = task("quorum")) },
          {
            says: wayOut("preflight-policy-arguments"),
            of: "queue native",
            deed: () => (all.native = native({ settings: "arguments" })),
          },
        ]);
        Object.assign(all, parts);
        await followAdvice(preview, [
          { says: defaultType, of: "nsb.delay-level-", deed: () => setType("classic") },
          { says: untyped, of: "queue task is", deed: () => setType("classic") },
        ]);
      });
    }

    it("in the project's own program", async () => {
      const { management, node } = broker();
      const newVhost = (): string => {
        const name = `test-${randomUUID()}`;
        afterThisTest(async () => {
          await management.deleteVhost(name).catch(() => undefined);
        });
        return name;
      };
      const vhost = newVhost();
      const stack = await TestStack.create(broker(), vhost);
      const endpoints: object[] = [
        { name: "Sales" },
        { name: "Billing", createQueue: false },
        { name: "Audit", type: "exchange" },
      ];
      const delayedExchanges = [{ exchange: "shop", delays: [20], otherwise: "bazaar" }];
      const declareExchange = (name: string) => () =>
        management.call("PUT", `exchanges/${vhost}/${name}`, { type: "topic", durable: true });
      const preview = (one: TestStack, config: () => StackConfig) => () => {
        one.configure(config());
        return one.run(["preview", "--stack", "test"]);
      };
      await followAdvice(
        preview(stack, () => ({ network: shape, endpoints, delayedExchanges })),
        [
          {
            says: wayOut("preflight-declare-exchange"),
            of: "endpoints: there is no exchange Audit ",
            deed: declareExchange("Audit"),
          },
          {
            says: wayOut("preflight-declare-otherwise"),
            of: "delayedExchanges: there is no exchange bazaar ",
            deed: declareExchange("bazaar"),
          },
          {
            says: wayOut("preflight-add-vhost"),
            of: `there is no vhost ${vhost}`,
            deed: async () => {
              await rabbitmqctl(node, "add_vhost", vhost);
              await rabbitmqctl(node, "set_permissions", "-p", vhost, "guest", ".*", ".*", ".*");
            },
          },
          {
            says: wayOut("preflight-create-queue"),
            of: "there is no queue Sales ",
            deed: () => management.call("PUT", `queues/${vhost}/Sales`, { durable: true, arguments: QUORUM }),
          },
          {
            says: wayOut("preflight-create-queue"),
            of: "there is no queue Billing ",
            deed: async () => {
              endpoints[1] = { name: "Billing", createQueue: true };
              await management.call("PUT", `vhost-limits/${vhost}/max-queues`, { value: 1 });
            },
          },
          { says: wayOut("preflight-raise-limit"), of: `broker.vhost: ${vhost} may have 1 queues`, deed: raiseLimit },
        ],
      );
      await stack.up();

      const own = await TestStack.create(broker(), newVhost());
      let createVhost = false;
      const create = { says: wayOut("preflight-add-vhost"), of: own.vhost, deed: () => (createVhost = true) };
      await followAdvice(
        preview(own, () => ({ network: shape, createVhost })),
        [create],
      );
      await own.up();

      await management.call("DELETE", `vhost-limits/${vhost}/max-queues`);
      const imported = await TestStack.create(broker(), vhost);
      const network = { ...shape, prefix: "imported" };
      const use = { says: wayOut("preflight-use-vhost"), of: vhost, deed: () => (createVhost = false) };
      await followAdvice(
        preview(imported, () => ({ network, createVhost })),
        [use],
      );
      await imported.up();
      createVhost = true;
      const importVhost = async (line: string): Promise<void> => {
        const providers = (await imported.resources()).filter(({ type }) => type === "pulumi:providers:rabbitmq");
        const urn = providers.find((one) => one.urn.endsWith("::broker"))?.urn ?? "";
        const [, args = ""] = /pulumi (import .*?) \(/.exec(line.replace("URN", urn)) ?? [];
        const config = ["--config-file", imported.configFile];
        const { code, output } = await imported.run([...args.split(" "), "--yes", "--stack", "test", ...config]);
        assert.equal(code, 0, output);
      };
      await followAdvice(
        preview(imported, () => ({ network, createVhost })),
        [{ says: wayOut("preflight-import-vhost"), of: vhost, deed: importVhost }],
      );
      await imported.up();
      await management.get(`queues/${vhost}/Sales`);
      assert.deepEqual(await imported.preview(), []);
    });

    // The shell took the second word for another argument.
    it("is one argument of a shell where it names a vhost with a space", async () => {
      const { management } = broker();
      const vhost = `team's ${randomUUID()}`;
      const path = encodeURIComponent(vhost);
      await management.call("PUT", `vhosts/${path}`, {});
      try {
        await management.call("PUT", `vhost-limits/${path}/max-queues`, { value: 1 });
        const stack = await TestStack.create(broker(), vhost);
        for (const [createVhost, command] of [
          [true, /vHost:VHost vhost ('.*?') \(pulumi stack/],
          [false, /set_vhost_limits -p ('.*?') '\{/],
        ] as const) {
          stack.configure({ network: shape, createVhost });
          const { output } = await stack.run(["preview", "--stack", "test"]);
          const [, word = ""] = command.exec(output.replaceAll(/\s+/g, " ")) ?? [];
          assert.equal(execFileSync("sh", ["-c", `printf %s ${word}`], { encoding: "utf8" }), vhost, output);
        }
      } finally {
        await management.call("DELETE", `vhosts/${path}`);
      }
    });
  });
});
