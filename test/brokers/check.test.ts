import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brokerFaultIds, faultsOf } from "@rabbitmq-delay/broker";
import {
  delayNetwork,
  delayedStore,
  encodeDelay,
  levelQueueName,
  planDelayedStore,
  planRetry,
  retryIntervals,
} from "@rabbitmq-delay/topology";
import { networkLimitPolicies } from "@rabbitmq-delay/topology/stack";
import { onEachBroker } from "../support/brokers";
import { runCommand } from "../support/command";
import { openChannel } from "../support/connect";
import { declareOverAmqp } from "../support/declare";
import type { Management } from "../support/management";
import { Receiver } from "../support/receive";
import { temporaryFolder } from "../support/temporaryFolder";
import { wayOut } from "../support/waysOut";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2 } as const;
const network = delayNetwork(shape);

const allowed = brokerFaultIds.flatMap((id) => ["--allow", id]);

interface CheckEnd {
  code: number;
  output: string;
}

interface FoundFinding {
  rule: string;
  severity: string;
  subject: string;
  message: string;
}

/** Declares a network with all its policies, as a stack does; the definitions alone lift no delivery limit. */
async function declareAll(management: Management, vhost: string, endpoints: string[]): Promise<void> {
  await management.declare(vhost, network, endpoints);
  const limits = networkLimitPolicies(network, { brokerVersion: await management.version() });
  for (const { name, pattern, applyTo, priority, definition } of limits)
    await management.call("PUT", `policies/${vhost}/${name}`, { pattern, "apply-to": applyTo, priority, definition });
}

function configFile(config: object): string {
  const file = join(temporaryFolder(), "Pulumi.prod.yaml");
  writeFileSync(file, JSON.stringify({ config }));
  return file;
}

describe("rabbitmq-delay check", () => {
  onEachBroker((broker, { isNewest }) => {
    /** What a look at a vhost alone, or with more flags, finds. */
    async function look(vhost: string, ...more: string[]): Promise<FoundFinding[]> {
      const args = ["--management", broker().management.url, "--vhost", vhost, "--json", ...allowed, ...more];
      const { output } = await check(...args);
      assert.match(output, /^\[/, output);
      return JSON.parse(output) as FoundFinding[];
    }

    function texts(findings: FoundFinding[], rule: string): string[] {
      return findings
        .filter((finding) => finding.rule === rule)
        .map(({ subject, message }) => `${subject}: ${message}`);
    }

    /** The broker counts messages every five seconds, and those past their TTL (`messages_dlx`) apart from all of a queue. */
    async function untilCounted(
      vhost: string,
      queue: string,
      count: number,
      counter: "messages" | "messages_dlx" = "messages",
    ): Promise<void> {
      const { management } = broker();
      while (!(await management.queues(vhost)).some((found) => found.name === queue && found[counter] === count))
        await new Promise((resolve) => setTimeout(resolve, 200));
    }

    it("compares a stack's config with the broker", async () => {
      const vhost = await broker().management.createVhost();
      const folder = temporaryFolder();
      const file = join(folder, "Pulumi.prod.yaml");
      const config = {
        "rabbitmq-delay:network": shape,
        "rabbitmq-delay:broker": { vhost },
        "rabbitmq-delay:endpoints": [{ name: "Sales" }, { name: "Billing", createQueue: true }],
        "rabbitmq-delay:retryIntervals": JSON.stringify({ intervals: ["5s"] }),
      };
      writeFileSync(file, JSON.stringify({ config }));
      const url = broker().management.url;
      const alone = await check("--stack-config", file, "--json");
      assert.deepEqual([alone.code, rulesOf(alone.output)], [0, ["at-most-once"]]);

      await declareAll(broker().management, vhost, ["Sales"]);
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("Old", { durable: true });
      await channel.bindQueue("Old", network.deliveryExchange, "#.Sales");
      const compared = await check("--stack-config", file, "--json", "--management", url, ...allowed);
      assert.equal(compared.code, 1, compared.output);
      assert.deepEqual(rulesOf(compared.output), ["at-most-once", "collision", "missing-endpoint", "missing-queues"]);

      await channel.unbindQueue("Old", network.deliveryExchange, "#.Sales");
      const mended = await check("--stack-config", file, "--management", url, ...allowed);
      assert.equal(mended.code, 0, mended.output);
      assert.match(mended.output, /^warning {2}queue mt-delay-5000: .*at most once/m);
      assert.match(mended.output, /^0 errors, 3 warnings$/m);
      assert.equal((await check("--stack-config", file, "--management", url, "--fail-on", "warning")).code, 1);
    });

    it("says what is wrong with its input", async () => {
      const file = join(temporaryFolder(), "Pulumi.prod.yaml");
      writeFileSync(file, "config:\n  other:network: [");
      assert.match((await check("--stack-config", file)).output, /is not YAML/);
      writeFileSync(file, "config:\n  shop:endpoints: []\n");
      const none = await check("--stack-config", file);
      assert.deepEqual([none.code, /has no network/.test(none.output)], [2, true]);
      const both = await check("--stack-config", file, "--preset", "celery");
      assert.match(both.output, /cannot be used with option/);
      const away = await check("--preset", "celery", "--management", "http://127.0.0.1:4");
      assert.equal(away.code, 3);
      const vhost = await check("--preset", "celery", "--management", broker().management.url, "--vhost", "nowhere");
      assert.match(vhost.output, /there is no vhost nowhere/);
      assert.equal(vhost.code, 3);
      assert.equal((await check("--management", "--vhost", "nowhere")).code, 2);
      const inEnvironment = await check("--management", "--vhost", "nowhere", {
        RABBITMQ_MANAGEMENT_URL: broker().management.url,
      });
      assert.deepEqual([inEnvironment.code, /there is no vhost nowhere/.test(inEnvironment.output)], [3, true]);
      assert.equal((await check("--preset", "celery", "--allow", "everything")).code, 2);
    });

    // Before, it said "nothing found" and ended with 0: whoever mistyped a path took that for a sound broker.
    it("takes no answer that can't be read for nothing", async () => {
      const replies: [number, unknown][] = [
        [200, []],
        [200, { error: "sign in" }],
        [404, {}],
        [500, {}],
      ];
      for (const [status, body] of replies) {
        const server = createServer((request, response) => {
          const isOverview = request.url === "/api/overview";
          response
            .writeHead(isOverview ? 200 : status)
            .end(JSON.stringify(isOverview ? { rabbitmq_version: "4.3.6" } : body));
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const { port } = server.address() as AddressInfo;
        const end = await check("--preset", "celery", "--management", `http://127.0.0.1:${port}`);
        server.close();
        assert.equal(end.code, 3, `${status} ${JSON.stringify(body)}: ${end.output}`);
      }
      const path = await check("--preset", "celery", "--management", `${broker().management.url}/rabbit`);
      assert.equal(path.code, 3, path.output);
    });

    it("shows no password, however the address is written", async () => {
      for (const address of [
        "http://guest:Wr0ng@127.0.0.1:4",
        "http://guest:Wr0ng/x@127.0.0.1:4",
        "Wr0ng@127.0.0.1",
        "amqp://u:Wr0ng@h",
      ]) {
        const end = await check("--preset", "celery", "--management", address);
        assert.ok(end.code === 2 || end.code === 3, end.output);
        assert.doesNotMatch(end.output, /Wr0ng/);
      }
    });

    it("says which of the broker's own faults may touch a network, until they are allowed", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const expected = faultsOf(await management.version()).map(({ id }) => id);
      assert.equal(expected.length > 0, !isNewest);
      const ids = async (...more: string[]): Promise<string[]> => {
        const { output } = await check("--management", management.url, "--vhost", vhost, "--json", ...more);
        return (JSON.parse(output) as FoundFinding[]).map(({ subject }) => subject);
      };
      assert.deepEqual(await ids(), expected);
      assert.deepEqual(await ids(...allowed), []);
    });

    // 32 such messages stop a level for everybody, and nothing said so: fresh messages were just late, and then later.
    it("finds a level that keeps messages past their time, with their keys and why", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const stalled = delayNetwork({
        preset: "custom",
        prefix: "s",
        radix: 4,
        levels: 3,
        unitMs: 10,
        parking: !isNewest,
      });
      await management.declare(vhost, stalled, ["Sales"]);
      const channel = await openChannel(broker(), vhost);
      const { exchange, routingKey } = encodeDelay(stalled, 50, isNewest ? "Nobody" : "Sales");
      const send = (headers: object = {}): boolean =>
        channel.publish(exchange, routingKey, Buffer.from("x"), { deliveryMode: 2, headers });
      for (let index = 0; index < 40; index++) send();
      await channel.waitForConfirms();
      const level = `${stalled.prefix}.level-0${isNewest ? 0 : 1}-1`;
      if (!isNewest) {
        // Before RabbitMQ 4.0, a message that is published again with the broker's own headers is taken for a loop.
        const receiver = await Receiver.on(channel, ["Sales"]);
        for (const { message } of await receiver.until(40)) send(message.properties.headers as object);
        await channel.waitForConfirms();
      }
      await untilCounted(vhost, level, 40, "messages_dlx");
      const findings = texts(await look(vhost), "stalled");
      assert.equal(findings.length, 1, findings.join("\n"));
      const [text = ""] = findings;
      assert.ok(
        text.startsWith(`queue ${level}: keeps 40 messages past its TTL of ${isNewest ? "10ms" : "40ms"}`),
        text,
      );
      assert.ok(text.includes(`of keys ${isNewest ? "*.*.1.#" : "*.1.#"}`), text);
      assert.match(text, /32 of them stop the queue for all/);
      assert.match(text, isNewest ? /no binding takes their keys/ : /before RabbitMQ 4\.0.*x-death/);
      const { code } = await check("--management", management.url, "--vhost", vhost);
      assert.equal(code, 1);
    });

    it("finds no level that stands still where messages only wait", async () => {
      const vhost = await broker().management.createVhost();
      const long = delayNetwork({ preset: "custom", prefix: "long", radix: 4, levels: 6 });
      await broker().management.declare(vhost, long, ["Sales"]);
      const channel = await openChannel(broker(), vhost);
      const { exchange, routingKey } = encodeDelay(long, 3_600_000, "Sales");
      for (let index = 0; index < 40; index++)
        channel.publish(exchange, routingKey, Buffer.from("x"), { deliveryMode: 2 });
      await channel.waitForConfirms();
      await untilCounted(vhost, `${long.prefix}.level-05-3`, 40);
      assert.deepEqual(texts(await look(vhost), "stalled"), []);
    });

    it("finds a consumer of a queue in which messages wait, and adopt tells of it", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const consumed = delayNetwork({ preset: "nservicebus", parking: false });
      await management.declare(vhost, consumed, ["Sales"]);
      const channel = await openChannel(broker(), vhost);
      await channel.consume("Sales", () => undefined);
      assert.deepEqual(texts(await look(vhost), "consumed"), []);
      const level = "nsb.v2.delay-level-03";
      await channel.consume(level, () => undefined);
      while (
        (await management.get<{ consumers?: number }>(`queues/${vhost}/${level}?columns=consumers`)).consumers !== 1
      )
        await new Promise((resolve) => setTimeout(resolve, 200));
      const told = new RegExp(
        `queue ${level.replaceAll(".", "\\.")} has 1 consumer, which gets its messages before their delay is over`,
      );
      const [text = "", ...others] = texts(await look(vhost), "consumed");
      assert.match(text, told);
      assert.deepEqual(others, []);
      assert.equal((await check("--management", management.url, "--vhost", vhost)).code, 1);
      const adopted = await run("adopt", "--management", management.url, "--vhost", vhost);
      assert.match(adopted.output, told);
    });

    // Parked messages, a filled error queue and networks that nobody owns any more: "nothing found".
    it("finds parked messages, failed ones, and networks that nobody names", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const left = delayNetwork({ preset: "custom", prefix: "left", radix: 4, levels: 2, unitMs: 10 });
      const claimed = delayNetwork({ preset: "custom", prefix: "claimed", radix: 4, levels: 2, unitMs: 10 });
      await management.declare(vhost, network, ["Sales"]);
      await management.declare(vhost, left, []);
      await management.declare(vhost, claimed, ["Billing"]);
      const channel = await openChannel(broker(), vhost);
      await channel.assertExchange("rabbitmq-delay.owner-of-endpoint.Billing", "fanout", {
        alternateExchange: "billing/prod",
      });
      await channel.assertQueue("Sales_error", { durable: true });
      channel.sendToQueue("Sales_error", Buffer.from("x"), { deliveryMode: 2 });
      const { exchange, routingKey } = encodeDelay(left, 10, "Nobody");
      channel.publish(exchange, routingKey, Buffer.from("x"), { deliveryMode: 2 });
      await channel.waitForConfirms();
      await untilCounted(vhost, left.parkingQueue as string, 1);
      await untilCounted(vhost, levelQueueName(left, 0, 1), 0);
      await untilCounted(vhost, "Sales_error", 1);
      const findings = await look(vhost, "--network", fileOf(network), "--endpoint", "Sales");
      assert.match(texts(findings, "parked").join("\n"), /^queue left.*\.parking: holds 1 message that no endpoint/);
      assert.match(texts(findings, "failed-messages").join("\n"), /^queue Sales_error: holds 1 message /);
      assert.match(
        texts(findings, "unknown-network").join("\n"),
        /^network of left\S+: .*0 messages wait in it[^\n]*$/,
      );
      assert.equal(texts(findings, "unknown-network").length, 1);
    });

    it("finds other people's delay queues that lose messages, and bindings that catch another's", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      await management.declare(vhost, network, ["Europe.Sales"]);
      const put = (name: string, args: object): Promise<void> =>
        management.call("PUT", `queues/${vhost}/${name}`, { durable: true, arguments: args });
      const delayed = { "x-message-ttl": 5000, "x-dead-letter-exchange": "amq.direct" };
      // As Symfony and Laravel declare them, where the vhost's default type is quorum.
      await put("delay_5000", { ...delayed, "x-queue-type": "quorum", "x-expires": 15_000 });
      await put("delay_classic", { ...delayed, "x-queue-type": "classic", "x-expires": 15_000 });
      await put("retry_5000", { "x-message-ttl": 5000, "x-dead-letter-exchange": "gone" });
      await put("unbound_5000", { "x-message-ttl": 5000, "x-dead-letter-exchange": "amq.fanout" });
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("Sales", { durable: true });
      await channel.bindQueue("Sales", "amq.direct", "Sales");
      // As NServiceBus's senders and Celery's workers bind.
      await channel.bindQueue("Sales", network.deliveryExchange, "#.Sales");
      const findings = await look(vhost);
      assert.deepEqual(
        findings
          .filter(({ severity }) => severity === "error")
          .map(({ rule, subject }) => `${rule} ${subject}`)
          .sort(),
        [
          "collision queue Sales",
          "expiring-delay-queue queue delay_5000",
          "missing-target queue retry_5000",
          "missing-target queue unbound_5000",
        ],
      );
      assert.match(
        texts(findings, "collision").join(),
        /bound to \S+ with #\.Sales, and so gets what is for Europe\.Sales too/,
      );
      assert.match(texts(findings, "missing-target").join(), /exchange gone, which is not there: each is lost/);
    });

    // Each of these loses or hastens messages, and "nothing found" was said of all but the first and last.
    it("compares all of a network with the plan, and names what is missing, different or added", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const file = configFile({ "rabbitmq-delay:network": shape, "rabbitmq-delay:endpoints": [{ name: "Sales" }] });
      const errors = async (): Promise<string[]> =>
        (await look(vhost, "--stack-config", file))
          .filter(({ severity }) => severity === "error")
          .map(({ rule, message }) => `${rule}: ${message}`);
      const restore = (): Promise<void> => declareAll(management, vhost, ["Sales"]);
      /** Exactly one thing is wrong, and once it is mended, nothing. */
      const finds = async (text: string | RegExp, mend: () => Promise<unknown> = restore): Promise<void> => {
        const found = await errors();
        assert.equal(found.length, 1, found.join("\n") || "nothing found");
        assert.match(found[0] as string, new RegExp(text));
        await mend();
        assert.deepEqual(await errors(), []);
      };
      await restore();
      const channel = await openChannel(broker(), vhost);
      const [level0, level1] = network.entryExchanges as [string, string];
      const queue = `${network.prefix}.level-00-1`;
      assert.deepEqual(await errors(), []);

      await channel.deleteQueue(queue);
      await finds(/^missing-part: queue orders\.\S+\.level-00-1 is not on the broker/);

      await channel.deleteQueue(queue);
      const quorum = { "x-queue-type": "quorum", "x-dead-letter-strategy": "at-least-once" };
      const hasty = { ...quorum, "x-overflow": "reject-publish", "x-dead-letter-exchange": network.deliveryExchange };
      await channel.assertQueue(queue, { durable: true, arguments: { ...hasty, "x-message-ttl": 100 } });
      await channel.bindQueue(queue, level0, "*.1.#");
      await finds(/^changed-part: queue \S+ exists with x-message-ttl 100 \(declared here: 1000\)/, async () => {
        await channel.deleteQueue(queue);
        await restore();
      });

      await channel.unbindExchange(level0, level1, "0.#");
      await finds(/^missing-part: exchange \S+level-01 does not lead to exchange \S+level-00 with the key "0\.#"/);

      await channel.unbindQueue(network.parkingQueue as string, network.parkingExchange as string, "");
      await finds(/^missing-part: exchange \S+ does not lead to queue \S+parking/);

      /** Sets a missing policy as its finding says. */
      const setAsTold = async (): Promise<void> => {
        const [told = ""] = await errors();
        assert.match(told, wayOut("check-set-policy"));
        const said =
          /policy (\S+) is .* pattern (\S+), apply-to (\S+), priority (\d+) and definition (\{.*?\}), or/.exec(told);
        const [, name = "", pattern, applyTo, priority, definition = ""] = said ?? [];
        await management.call("PUT", `policies/${vhost}/${name}`, {
          ...{ pattern, "apply-to": applyTo, priority: Number(priority) },
          definition: JSON.parse(definition) as object,
        });
      };
      const parking = `policies/${vhost}/${network.parkingExchange}`;
      await management.call("DELETE", parking);
      // "See which policy goes before it."
      await finds(
        /^missing-part: policy \S+parking is not on the broker, .* no effect on exchange \S+ and 2 more: a message that no endpoint/,
        setAsTold,
      );

      if (isNewest) {
        await management.call("DELETE", `policies/${vhost}/${network.prefix}.delivery-limit`);
        await finds(
          /^missing-part: policy \S+delivery-limit is not on .* on queue \S+ and 6 more: RabbitMQ 4 drops/,
          setAsTold,
        );
      }

      await channel.bindExchange(network.deliveryExchange, level1, "#");
      await finds(/^shortcut: exchange \S+level-01 also leads to exchange \S+delivery with the key "#"/, () =>
        channel.unbindExchange(network.deliveryExchange, level1, "#"),
      );

      await channel.deleteExchange(network.deliveryExchange);
      const gone = await errors();
      assert.ok(
        gone.some((text) => /^missing-part: exchange \S+delivery is not on the broker/.test(text)),
        gone.join("\n"),
      );
      assert.equal((await check("--stack-config", file, "--management", management.url, "--vhost", vhost)).code, 1);
    });

    it("compares other networks of the vhost, retries and the store as well", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      await management.declare(vhost, network, ["Sales"]);
      const retries = retryIntervals({ intervals: ["5s", "1m"] });
      const plan = planRetry(retries);
      const store = planDelayedStore(delayedStore({}));
      const channel = await openChannel(broker(), vhost);
      await declareOverAmqp(channel, plan);
      await declareOverAmqp(channel, store);
      await channel.deleteQueue(`${network.prefix}.level-00-1`);
      await channel.deleteQueue("mt-delay-60000");
      await channel.unbindQueue("delayed.intake", "delayed", "");
      const config = {
        "rabbitmq-delay:network": { ...shape, prefix: "other" },
        "rabbitmq-delay:retryIntervals": { intervals: ["5s", "1m"] },
        "rabbitmq-delay:delayedStore": { toQueues: true },
      };
      const findings = await look(vhost, "--stack-config", configFile(config));
      const missing = texts(findings, "missing-part").filter((text) => !text.includes("policy"));
      assert.deepEqual(
        missing.map((text) => text.replace(/ (is not on|with the key).*/, "")),
        [
          `network ${network.prefix}: queue ${network.prefix}.level-00-1`,
          "retry intervals mt-delay: queue mt-delay-60000",
          "store delayed: exchange delayed does not lead to queue delayed.intake",
        ],
      );
      assert.deepEqual(texts(findings, "missing-network").length, 1);
    });

    // Nothing was found, and the message was gone.
    it("finds queues that ask for no delivery limit and have one, and they do what it says", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await channel.assertQueue("dead", { durable: true });
      await channel.assertQueue("jobs", {
        durable: true,
        arguments: {
          "x-queue-type": "quorum",
          "x-delivery-limit": -1,
          "x-dead-letter-exchange": "",
          "x-dead-letter-routing-key": "dead",
        },
      });
      const returnsUntilGone = async (): Promise<number> => {
        channel.sendToQueue("jobs", Buffer.from("x"), { persistent: true });
        await channel.waitForConfirms();
        for (let returns = 0; ; returns++) {
          const message = await channel.get("jobs");
          if (message === false) return returns;
          channel.reject(message, true);
          if (returns === 30) return Infinity;
        }
      };
      const found = async (): Promise<string> =>
        texts(await look(vhost), isNewest ? "policy" : "delivery-limit").join();
      if (!isNewest) {
        assert.match(
          await found(),
          /RabbitMQ 3\.10\.8 lets each message of queue jobs leave for the default exchange when it is returned for the first/,
        );
        const [finding] = (await look(vhost)).filter(({ rule }) => rule === "delivery-limit");
        assert.equal(finding?.severity, "error");
        assert.equal(await returnsUntilGone(), 1);
        return;
      }
      assert.equal(await found(), "");
      const policy = { pattern: "^jobs$", "apply-to": "queues", priority: 0, definition: { "delivery-limit": 5 } };
      await management.call("PUT", `policies/${vhost}/teams`, policy);
      assert.match(
        await found(),
        /policy teams .*sets delivery-limit 5 on queue jobs: .*leave for the default exchange after it was given back 5 times/,
      );
    });

    // An 8 s delay arrived after half a second, and neither check said why.
    it("finds policies that would change delays, and they do what it says", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const slow = delayNetwork({ preset: "custom", prefix: "slow", radix: 4, levels: 2 });
      await management.declare(vhost, slow, ["Sales"]);
      const channel = await openChannel(broker(), vhost);
      const put = (kind: string, pattern: string, definition: object): Promise<void> =>
        management.call("PUT", `${kind}/${vhost}/foreign`, { pattern, "apply-to": "queues", priority: 0, definition });
      const takesEffect = async (pattern: RegExp, key: string): Promise<void> => {
        type Effective = { name: string; effective_policy_definition?: Record<string, unknown> };
        const isSet = ({ name, effective_policy_definition: set = {} }: Effective): boolean =>
          !pattern.test(name) || key in set;
        while (!(await management.get<Effective[]>(`queues/${vhost}`)).every(isSet))
          await new Promise((resolve) => setTimeout(resolve, 200));
      };
      const send = async (delayMs: number): Promise<number> => {
        const { exchange, routingKey } = encodeDelay(slow, delayMs, "Sales");
        const startMs = Date.now();
        channel.publish(exchange, routingKey, Buffer.from("x"), { deliveryMode: 2 });
        await channel.waitForConfirms();
        return startMs;
      };
      const receiver = await Receiver.on(channel, ["Sales"]);

      // Arguments come before these.
      const overridden = { "dead-letter-exchange": "amq.fanout", "dead-letter-strategy": "at-most-once" };
      await put("policies", "level", overridden);
      await takesEffect(/level/, "dead-letter-strategy");
      assert.deepEqual(texts(await look(vhost), "policy"), []);
      const onTime = await send(1000);
      const [first] = await receiver.until(1);
      assert.ok((first?.atMs ?? 0) >= onTime + 1000);

      await put("operator-policies", "level", { "message-ttl": 100 });
      await takesEffect(/level/, "message-ttl");
      const early = texts(await look(vhost), "policy");
      assert.match(
        early.join(),
        /operator policy foreign .* sets message-ttl 100 on queue slow\S+ and 5 more: .* instead of 1s, .* early/,
      );
      const startMs = await send(8000);
      const [, second] = await receiver.until(2);
      assert.ok((second?.atMs ?? Infinity) < startMs + 8000, "the policy does what the finding says");
      await management.call("DELETE", `operator-policies/${vhost}/foreign`);

      await put("policies", "level", { overflow: "drop-head" });
      await takesEffect(/level/, "overflow");
      assert.match(
        texts(await look(vhost), "policy").join(),
        /policy foreign .* sets overflow drop-head on queue slow\S+ and 5 more: .* at most once/,
      );

      await put("policies", "level", { "dead-letter-routing-key": "elsewhere" });
      await takesEffect(/level/, "dead-letter-routing-key");
      assert.match(
        texts(await look(vhost), "policy").join(),
        /dead-letter-routing-key elsewhere .* miss its destination/,
      );
      await send(1000);
      await untilCounted(vhost, slow.parkingQueue as string, 1);
    });
  });

  function rulesOf(json: string): string[] {
    return (JSON.parse(json) as { rule: string }[]).map(({ rule }) => rule).sort();
  }

  function fileOf(value: object): string {
    const file = join(temporaryFolder(), "network.json");
    writeFileSync(file, JSON.stringify(value));
    return file;
  }

  /** Flags, and what the environment has beside them. */
  function check(...given: (string | Record<string, string>)[]): Promise<CheckEnd> {
    return run("check", ...given);
  }

  async function run(verb: string, ...given: (string | Record<string, string>)[]): Promise<CheckEnd> {
    const args = given.filter((arg) => typeof arg === "string");
    const { code, out, err } = await runCommand([verb, ...args], {
      RABBITMQ_MANAGEMENT_URL: "",
      ...given.find((arg) => typeof arg === "object"),
    });
    return { code, output: out + err };
  }
});
