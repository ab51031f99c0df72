import { strict as assert } from "node:assert";
import { setTimeout as pause } from "node:timers/promises";
import { DelayNetwork, delayNetwork } from "@rabbitmq-delay/topology";
import { planOwnership } from "@rabbitmq-delay/topology/stack";
import { TestBroker, onEachBroker } from "../support/brokers";
import { runCommand } from "../support/command";
import { connect, openChannel } from "../support/connect";
import { followAdvice } from "../support/followAdvice";
import { declareAsNServiceBus, generations, installEndpoint } from "../support/nserviceBus";
import { wayOut } from "../support/waysOut";

/** Runs a verb of the command on a vhost. */
async function run({ node }: TestBroker, ...args: string[]): Promise<{ code: number; output: string }> {
  const management = ["--management", node.managementUrl.replace("://", "://guest:guest@")];
  const { code, out, err } = await runCommand([...args, ...management]);
  return { code, output: out + err };
}

describe("what adopt and enforce advise", () => {
  onEachBroker((broker) => {
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
        () => run(broker(), "adopt", "--vhost", vhost),
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

    it("enforce goes through once its advice is followed", async () => {
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

      await followAdvice(
        () => run(broker(), "enforce", "--vhost", vhost, "--preset", "nservicebus"),
        [
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
