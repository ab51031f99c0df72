import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brokerFaultIds, faultsOf } from "@rabbitmq-delay/broker";
import { delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { StackConfig, TestStack } from "../support/stack";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 } as const;
const plan = planEntities(delayNetwork(network));

describe("bad input is refused before anything is created", () => {
  onEachBroker((broker, { isNewest }) => {
    let vhost: string;
    let stack: TestStack;

    beforeEach(async () => {
      stack = await TestStack.inNewVhost(broker());
      ({ vhost } = stack);
    });

    /** Expects one line of explanation, and that the broker holds what it held before. */
    async function refuses(config: StackConfig, message: RegExp): Promise<void> {
      const before = await broker().management.get<unknown[]>(`exchanges/${vhost}`);
      stack.configure(config);
      const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      const line = output.split("\n").find((text) => message.test(text));
      assert.ok(line, `no line matches ${message}:\n${output}`);
      assert.equal((await broker().management.get<unknown[]>(`exchanges/${vhost}`)).length, before.length);
    }

    const cases: [string, () => StackConfig, RegExp][] = [
      ["an unknown preset", () => ({ network: { preset: "nsb" } }), /preset: "nsb" is not allowed; it must be one of/],
      [
        "an unknown radix",
        () => ({ network: { ...network, radix: 5 } }),
        /radix: 5 is not allowed; it must be one of 2, 4, 8, 16/,
      ],
      [
        "an overflowing TTL",
        () => ({ network: { ...network, radix: 16, levels: 12 } }),
        /levels: 12 is not allowed; .*315360000000/,
      ],
      [
        "a duplicate endpoint",
        () => ({ network, endpoints: [{ name: "A" }, { name: "A" }] }),
        /endpoints\[1\]\.name: "A" is not allowed; endpoints\[0\] has this name/,
      ],
      [
        "endpoints that suffix matching mixes",
        () => ({
          network: { ...network, matching: "suffix" },
          endpoints: [{ name: "Sales" }, { name: "Europe.Sales" }],
        }),
        /endpoints: "Europe\.Sales" is not allowed; .*Sales/,
      ],
      [
        "a wildcard name",
        () => ({ network, endpoints: [{ name: "a.#" }] }),
        /endpoints\[0\]\.name: "a\.#" is not allowed/,
      ],
      [
        "an unknown config key",
        () => ({ network, endpoints: [{ name: "a", queue: true }] }),
        /endpoints\[0\]\.queue: unknown property; known/,
      ],
      [
        "an endpoint without a queue",
        () => ({ network, endpoints: [{ name: "Missing" }] }),
        /endpoints: there is no queue Missing .* createQueue/,
      ],
      [
        "an unreachable broker",
        () => ({ network, broker: { managementUrl: "http://127.0.0.1:1" } }),
        /broker\.managementUrl: no broker answers at http:\/\/127\.0\.0\.1:1 .*make up/,
      ],
      [
        "a broker's address with /api",
        () => ({ network, broker: { managementUrl: `${broker().management.url}/api` } }),
        /broker\.managementUrl: \S+\/api does not answer as .*; the address ends before \/api/,
      ],
      [
        "wrong credentials",
        () => ({ network, broker: { username: "nobody" } }),
        /broker\.username: .*refuses user nobody/,
      ],
      [
        "an unknown vhost",
        () => ({ network, broker: { vhost: "nowhere" } }),
        /broker\.vhost: there is no vhost nowhere/,
      ],
    ];
    for (const [what, config, message] of cases) it(what, () => refuses(config(), message));

    it("a broker that is too old", () =>
      withFakeApi(200, { rabbitmq_version: "3.9.29" }, /RabbitMQ 3\.9\.29; 3\.10 or newer/));
    it("another service's address", () =>
      withFakeApi(404, {}, /does not answer as RabbitMQ's management API .*give its address, without a path/));

    it("an existing entity with other arguments", async () => {
      const queue = plan.queues.at(-1)?.name as string;
      await broker().management.call("PUT", `queues/${vhost}/${queue}`, {
        durable: true,
        arguments: { "x-queue-type": "quorum" },
      });
      await refuses(
        { network },
        new RegExp(
          `queue ${queue.replaceAll(".", "\\.")} exists with .*x-message-ttl nothing \\(declared here: 480\\)`,
        ),
      );
    });

    it("a policy in conflict", async () => {
      const policy = { pattern: "^orders", "apply-to": "all", priority: 200, definition: { "max-length": 5 } };
      await broker().management.call("PUT", `policies/${vhost}/limits`, {
        ...policy,
        definition: { "alternate-exchange": "x" },
      });
      await refuses({ network }, /policy limits \(pattern \^orders, priority 200\)/);
    });

    // Each of these would have been taken without a word, and an 8 s delay arrived after 0.5 s, or a level's messages went with it.
    const policies: [string, string, Record<string, unknown>, RegExp][] = [
      [
        "a policy that makes delays end early",
        "policies",
        { pattern: "level", definition: { "message-ttl": 20 } },
        /policy foreign \(pattern level, priority 200\) sets message-ttl 20 on queue .* after 20ms instead of .* early/,
      ],
      [
        "an operator policy that makes delays end early",
        "operator-policies",
        { pattern: "\\Aorders", definition: { "message-ttl": 20 } },
        /operator policy foreign .* sets message-ttl 20 .*early; .*administrator/,
      ],
      [
        "a policy that deletes levels with their messages",
        "policies",
        { pattern: ".*", definition: { expires: 60_000 } },
        /policy foreign .* sets expires 60000 on queue .* delete it with the messages in it/,
      ],
      [
        "a policy that makes a level refuse messages",
        "policies",
        { pattern: "level", definition: { "max-length": 10 } },
        /policy foreign .* sets max-length 10 .* refuse messages once it holds 10 messages/,
      ],
      [
        "a policy that sends what is due elsewhere",
        "policies",
        { pattern: "level", definition: { "dead-letter-routing-key": "elsewhere" } },
        /policy foreign .* sets dead-letter-routing-key elsewhere .* miss its destination/,
      ],
      [
        "a policy that drops parked messages",
        "policies",
        { pattern: "parking", definition: { "delivery-limit": 3 } },
        /policy foreign .* sets delivery-limit 3 on queue .*parking: .* dropped after it was given back 3 times/,
      ],
    ];
    for (const [what, kind, policy, message] of policies) {
      it(what, async () => {
        // Stronger than our own, which would keep a weaker one from applying.
        const body = { "apply-to": "queues", priority: 200, ...policy };
        await broker().management.call("PUT", `${kind}/${vhost}/foreign`, body);
        await refuses({ network }, message);
      });
    }

    it("not a policy that changes nothing, nor one that another keeps away; a service's own queue is warned of", async () => {
      const put = (name: string, priority: number, pattern: string, definition: object): Promise<void> =>
        broker().management.call("PUT", `policies/${vhost}/${name}`, {
          pattern,
          "apply-to": "queues",
          priority,
          definition,
        });
      await put("long", 0, ".*", { "message-ttl": 3_600_000, "max-length": 5 });
      await put("shield", 1, "^orders", { "message-ttl": 86_400_000, "dead-letter-exchange": "elsewhere" });
      await put("parking", 2, "parking$", { "dead-letter-exchange": "elsewhere" });
      stack.configure({ network, endpoints: [{ name: "Sales", createQueue: true }] });
      const { code, output } = await stack.run(["preview", "--stack", "test"]);
      assert.equal(code, 0, output);
      if (isNewest) {
        // From 4.0 on our own policies, which lift delivery limits, go before all of these.
        assert.match(output, /policy long no longer applies to queue Sales: .* so that its max-length 5, .* no effect/);
        // The shield keeps it from the network's queues.
        assert.doesNotMatch(output, /policy long no longer applies to queue orders/);
        assert.doesNotMatch(output, /policy \w+ \(.*sets /);
        return;
      }
      assert.match(output, /policy long .* sets max-length 5 on queue Sales: its oldest messages would be dropped/);
      assert.doesNotMatch(output, /policy .*(level-|shield|parking)/);
    });

    it("warns of the broker's own faults until they are allowed", async () => {
      const expected = faultsOf(await broker().management.version()).map(({ id }) => id);
      const warned = async (allow: string[]): Promise<string[]> => {
        stack.configure({ network, allow });
        const { code, output } = await stack.run(["preview", "--stack", "test"]);
        assert.equal(code, 0, output);
        return brokerFaultIds.filter((id) => output.includes(`allow: [${id}]`));
      };
      assert.deepEqual(await warned([]), expected);
      assert.equal(expected.length > 0, !isNewest);
      assert.deepEqual(await warned(expected.slice(1)), expected.slice(0, 1));
    });

    it("an address with a password in it, which is not shown", async () => {
      stack.configure({ network, broker: { managementUrl: "http://guest:pl@nted-secret@127.0.0.1:15672" } });
      const { code, output } = await stack.run(["preview", "--stack", "test"]);
      assert.notEqual(code, 0);
      assert.match(output, /broker\.managementUrl: it must not hold a user or a password .*RABBITMQ_PASSWORD/);
      assert.doesNotMatch(output, /nted|secret@|pl@/);
    });

    it("an answer that is no list", () =>
      withFakeApi(
        200,
        { rabbitmq_version: "4.3.6" },
        /GET (exchanges|queues|policies|operator-policies)\/.* is not a list/,
      ));
    it("an answer without a version", () => withFakeApi(200, [], /names no version of RabbitMQ/));

    it("a vhost that is there and that its user may not look into", async () => {
      const { management } = broker();
      await management.call("PUT", "users/outsider", { password: "outside", tags: "management" });
      afterThisTest(() => management.call("DELETE", "users/outsider"));
      const config = { network, createVhost: true, broker: { username: "outsider" }, brokerPassword: "outside" };
      await refuses(config, /broker\.vhost: .* createVhost: true needs a user with the tag administrator/);
    });

    /** No broker of that age is to be had, so a small HTTP server stands in for its first answer. */
    async function withFakeApi(status: number, body: object, message: RegExp): Promise<void> {
      const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      try {
        await refuses({ network, broker: { managementUrl: `http://127.0.0.1:${port}` } }, message);
      } finally {
        server.close();
      }
    }
  });
});
