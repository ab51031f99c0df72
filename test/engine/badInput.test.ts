import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { planEntities, delayNetwork } from "rabbitmq-delay-topology";
import { onEachBroker } from "../support/brokers";
import { StackConfig, TestStack } from "../support/stack";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 3, unitMs: 10 } as const;
const plan = planEntities(delayNetwork(network));

describe("bad input is refused before anything is created", () => {
  onEachBroker((broker) => {
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
        /endpoints: "A" is not allowed; .*bound twice/,
      ],
      [
        "endpoints that suffix matching mixes",
        () => ({
          network: { ...network, matching: "suffix" },
          endpoints: [{ name: "Sales" }, { name: "Europe.Sales" }],
        }),
        /endpoints: "Europe\.Sales" is not allowed; .*Sales/,
      ],
      ["a wildcard name", () => ({ network, endpoints: [{ name: "a.#" }] }), /endpoint\.name: "a\.#" is not allowed/],
      [
        "an unknown config key",
        () => ({ network, endpoints: [{ name: "a", queue: true }] }),
        /endpoints\.0.* is not allowed/,
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
    it("a broker without the management plugin", () =>
      withFakeApi(404, {}, /is not RabbitMQ's management API .*rabbitmq-plugins enable/));

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
