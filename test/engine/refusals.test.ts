import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { delayNetwork, planEntities } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { StackConfig, TestStack } from "../support/stack";

const shape = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 } as const;
const network = delayNetwork(shape);

/** What a deployer lacks shows before the first resource is made: half a network without its parking would lose messages. */
describe("what the broker would refuse half-way is refused before anything is made", () => {
  onEachBroker((broker, { isNewest }) => {
    let vhost: string;

    beforeEach(async () => {
      vhost = await broker().management.createVhost();
    });

    const allOn = async (): Promise<string[]> => {
      const { management } = broker();
      const [exchanges, queues, policies] = await Promise.all(
        ["exchanges", "queues", "policies"].map((kind) => management.get<{ name: string }[]>(`${kind}/${vhost}`)),
      );
      const bindings = await management.get<object[]>(`bindings/${vhost}`);
      return [...(exchanges ?? []), ...(queues ?? []), ...(policies ?? [])]
        .map(({ name }) => name)
        .concat(bindings.map((binding) => JSON.stringify(binding)))
        .sort();
    };

    /** A user with these tags and rights. */
    async function deployer(
      tags: string,
      rights: Partial<Record<"configure" | "write" | "read", string>> = {},
    ): Promise<string> {
      const { management } = broker();
      const user = `deployer-${randomUUID().slice(0, 8)}`;
      await management.call("PUT", `users/${user}`, { password: user, tags });
      await management.call("PUT", `permissions/${vhost}/${user}`, {
        configure: ".*",
        write: ".*",
        read: ".*",
        ...rights,
      });
      afterThisTest(() => management.call("DELETE", `users/${user}`));
      return user;
    }

    /** Both the preview and an update without one end with the message, and leave the broker as it was. */
    async function refuses(stack: TestStack, message: RegExp): Promise<void> {
      const before = await allOn();
      for (const args of [["preview"], ["up", "--yes", "--skip-preview"]]) {
        const { code, output } = await stack.run([...args, "--stack", "test"]);
        assert.notEqual(code, 0, output);
        assert.match(output.replaceAll(/\s+/g, " "), message);
        assert.deepEqual(await allOn(), before);
      }
    }

    /** A network and an endpoint, as the program "edits" takes them. */
    const partsOf = (endpoint: object): object[] => [
      { type: "DelayLevelTopology", name: "net", args: { ...shape } },
      { type: "EndpointDelayBinding", name: "sales", args: { network: "$net", ...endpoint } },
    ];

    const as = (user: string, config: StackConfig): StackConfig => ({
      ...config,
      broker: { username: user },
      brokerPassword: user,
    });

    it("a deployer without the tag policymaker; with it, all goes through", async () => {
      const stack = await TestStack.create(broker(), vhost);
      const config = { network: shape, endpoints: [{ name: "Sales", createQueue: true }] };
      const user = await deployer("management");
      stack.configure(as(user, config));
      await refuses(stack, /user deployer-\w+ lacks the tag policymaker \(it has: management\).*nothing was made/);
      await broker().management.call("PUT", `users/${user}`, { password: user, tags: "policymaker" });
      await stack.up();
      assert.deepEqual(await stack.preview(), []);
      // What is there already needs no right to make it.
      await broker().management.call("PUT", `users/${user}`, { password: user, tags: "management" });
      assert.deepEqual(await stack.preview(), []);
    });

    it("a deployer whose permissions leave something out, an administrator too", async () => {
      const stack = await TestStack.create(broker(), vhost);
      const config = { network: shape, endpoints: [{ name: "Sales", createQueue: true }] };
      for (const tags of ["policymaker", "administrator"]) {
        stack.configure(as(await deployer(tags, { configure: "^(orders|rabbitmq-delay)\\." }), config));
        await refuses(stack, /user deployer-\w+ may not configure Sales in vhost .*nothing was made/);
        stack.configure(as(await deployer(tags, { read: "^Sales$" }), config));
        await refuses(stack, /user deployer-\w+ may not read orders\..*nothing was made/);
      }
    });

    it("a deployer who may not read or write what is bound, where both ends are there, and who may not make claims", async () => {
      const { management } = broker();
      const brokerStack = await TestStack.create(broker(), vhost);
      await brokerStack.bringUp({ network: shape });
      for (const name of ["Billing", "Sales2"]) {
        await management.call("PUT", `queues/${vhost}/${name}`, {
          durable: true,
          arguments: { "x-queue-type": "quorum" },
        });
      }
      const config = { network: shape, endpoints: [{ name: "Sales2" }, { name: "Billing" }] };
      const forbidding = {
        "may not read orders\\S+ and write Billing": { read: "^(?!orders)" },
        "may not read orders\\S+ and write Sales2": { write: "^(?!Sales2$)" },
        "may not read rabbitmq-delay\\S+ and write rabbitmq-delay/test": { write: "^(Billing|Sales2)$" },
      };
      for (const [message, rights] of Object.entries(forbidding)) {
        brokerStack.configure(as(await deployer("policymaker", rights), config));
        await refuses(brokerStack, new RegExp(message.replace("Billing", "(Billing|Sales2)")));
      }
    });

    it("a deployer who may make one of two endpoints that differ by their number", async () => {
      const stack = await TestStack.create(broker(), vhost);
      const endpoints = ["billing1", "billing2"].map((name) => ({ name, createQueue: true }));
      const user = await deployer("policymaker", { configure: "^(orders\\.|rabbitmq-delay|billing2$)" });
      stack.configure(as(user, { network: shape, endpoints }));
      await refuses(stack, /may not configure billing1 .*nothing was made/);
    });

    it("another's queue with an endpoint's name and other arguments, under removal: delete too", async () => {
      const stack = await TestStack.create(broker(), vhost);
      await stack.bringUp({ network: shape });
      const values = { "x-queue-type": "quorum", "x-max-length": 1000 };
      await broker().management.call("PUT", `queues/${vhost}/Sales`, { durable: true, arguments: values });
      stack.configure({ network: shape, endpoints: [{ name: "Sales", createQueue: true }] });
      await refuses(
        stack,
        /queue Sales exists with x-max-length 1000.* Leave out createQueue or client to bind the queue as it is; .*choose another name/,
      );
      stack.configure({ network: shape, endpoints: [{ name: "Sales" }] });
      await stack.up();
      stack.configure({ network: shape, endpoints: [{ name: "Sales2", createQueue: true }] });
      await stack.up();
      const own = await TestStack.create(broker(), vhost, join(__dirname, "programs", "edits"));
      const asThere = { endpoint: "Sales", createQueue: true, queueArguments: { "x-max-length": 1000 } };
      own.configure({ network: { parts: partsOf(asThere) } });
      await own.up();
    });

    // The way out was another prefix of the network, which changes no queue of an endpoint.
    it("another's queue of another type, until the endpoint has its type, or the queue is gone", async () => {
      const { management } = broker();
      const stack = await TestStack.create(broker(), vhost);
      await stack.bringUp({ network: shape });
      await management.call("PUT", `queues/${vhost}/Sales`, { durable: true });
      const sales = { name: "Sales", createQueue: true };
      stack.configure({ network: shape, endpoints: [sales] });
      await refuses(
        stack,
        /queue Sales exists with x-queue-type .*: an entity can't change its arguments\. Leave out createQueue .*or give its queueType .*drain and delete the queue/,
      );
      const classic = { network: shape, endpoints: [{ ...sales, queueType: "classic" }] };
      stack.configure(classic);
      await stack.up();
      await stack.destroy();
      stack.configure({ network: shape, endpoints: [sales] });
      await stack.up();
    });

    // On 3.10 a message was gone at its first return; on 4.3 at the sixth, and nothing was said.
    it("a queue that asks for no delivery limit, and would have one", async () => {
      const { management } = broker();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "edits"));
      const sales = { endpoint: "Sales", createQueue: true };
      stack.configure({ network: { parts: partsOf({ ...sales, queueArguments: { "x-delivery-limit": -1 } }) } });
      if (!isNewest) {
        await refuses(
          stack,
          /queueArguments: x-delivery-limit: -1 means no limit from RabbitMQ 4\.0 on; RabbitMQ 3\.10\.8 lets each message of queue Sales be dropped .*nothing was made/,
        );
        stack.configure({ network: { parts: partsOf(sales) } });
        await stack.up();
        return;
      }
      const limit = { pattern: "^Sales$", "apply-to": "queues", priority: 200, definition: { "delivery-limit": 5 } };
      await management.call("PUT", `policies/${vhost}/teams`, limit);
      await refuses(
        stack,
        /policy teams .*sets delivery-limit 5 on queue Sales: .*be dropped after it was given back 5 times/,
      );
      await management.call("PUT", `policies/${vhost}/teams`, { ...limit, pattern: "^Sales2$" });
      await stack.up();
    });

    // The update ended half-way with "cluster_not_formed".
    it("a quorum queue whose name within the broker another vhost's queue has, or is too long", async () => {
      const { management } = broker();
      const inner = `${vhost}_eu`;
      const long = `${vhost}-${"x".repeat(230 - vhost.length)}`;
      for (const name of [inner, long]) {
        await management.putVhost(name);
        afterThisTest(() => management.call("DELETE", `vhosts/${name}`));
      }
      const [level = ""] = planEntities(network).queues?.map(({ name }) => name) ?? [];
      const quorum = { durable: true, arguments: { "x-queue-type": "quorum" } };
      await management.call("PUT", `queues/${vhost}/eu_${level}`, quorum);
      await assert.rejects(management.call("PUT", `queues/${inner}/${level}`, quorum), "the broker refuses it");
      const stack = await TestStack.create(broker(), inner);
      stack.configure({ network: shape });
      const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0, output);
      assert.match(
        output.replaceAll(/\s+/g, " "),
        new RegExp(`as queue eu_\\S+ of vhost ${vhost}, and the broker refuses the second one; nothing was made`),
      );
      assert.deepEqual(await management.queues(inner), []);
      const other = await TestStack.create(broker(), long);
      other.configure({ network: shape });
      const tooLong = await other.run(["preview", "--stack", "test"]);
      assert.match(
        tooLong.output.replaceAll(/\s+/g, " "),
        /have 2\d\d bytes together.*fail from 256 on; nothing was made/,
      );
      stack.configure({ network: { ...shape, prefix: "invoices" } });
      await stack.up();
    });

    // A delay of 120 s ended after half a second, and an update under which the policy stayed so had said nothing.
    it("a policy of this stack's own that somebody gave a TTL", async () => {
      const { management } = broker();
      const stack = await TestStack.create(broker(), vhost);
      await stack.bringUp({ network: shape });
      const name = network.parkingExchange as string;
      const [parking] = await management
        .get<object[]>(`policies/${vhost}`)
        .then((all) => (all as { name: string; definition: object }[]).filter((policy) => policy.name === name));
      assert.ok(parking);
      const { definition } = parking as { definition: object };
      const edited = {
        ...parking,
        pattern: "^orders",
        "apply-to": "all",
        definition: { ...definition, "message-ttl": 5 },
      };
      await management.call("PUT", `policies/${vhost}/${name}`, edited);
      await refuses(
        stack,
        /policy \S+parking .* arrive early; it has the name of this stack's own policy: give it back/,
      );
    });

    // A stack with interval queues could never be updated again, and an NServiceBus network stopped half-way.
    if (isNewest) {
      it("a queue without a type that has to be classic, where the vhost's default is quorum", async () => {
        const { management } = broker();
        await management.call("PUT", `vhosts/${vhost}`, { default_queue_type: "quorum" });
        const stack = await TestStack.create(broker(), vhost);
        stack.configure({ network: { preset: "nservicebus-v1" } });
        await refuses(stack, /makes a quorum queue of each .* has to be classic \(x-queue-mode\); nothing was made/);
        stack.configure({ network: shape, retryIntervals: { intervals: ["5s"] } });
        await stack.up();
        await stack.up();
      });
    }

    it("a deployer who may not make the vhost, or the store's user", async () => {
      const stack = await TestStack.create(broker(), vhost);
      const user = await deployer("policymaker");
      const delayedStore = { user: `store-${randomUUID()}` };
      stack.configure(as(user, { network: shape, delayedStore, storePassword: "the secret of the store" }));
      await refuses(stack, /lacks the tag administrator .*can't make users/);
    });

    it("a service's stack that takes an endpoint of the broker's stack, whose binding would go with it", async () => {
      const brokerStack = await TestStack.create(broker(), vhost);
      await brokerStack.bringUp({ network: shape, endpoints: [{ name: "Billing", createQueue: true }] });
      const service = await serviceStack(brokerStack);
      await refuses(
        service,
        /endpoint: "Billing" belongs to rabbitmq-delay\/test, and \S+\/test wants it too; nothing was made/,
      );

      brokerStack.configure({ network: shape });
      await brokerStack.up();
      await service.up();
      assert.deepEqual(await service.preview(), []);
      brokerStack.configure({ network: shape, endpoints: [{ name: "Billing", createQueue: true }] });
      await refuses(brokerStack, /endpoint: "Billing" belongs to \S+\/test, and rabbitmq-delay\/test wants it too/);
    });

    it("a service's stack that takes a name which a stack without claims has bound", async () => {
      const brokerStack = await TestStack.create(broker(), vhost);
      await brokerStack.bringUp({ network: shape });
      const { management } = broker();
      await management.call("PUT", `queues/${vhost}/Billing`, {
        durable: true,
        arguments: { "x-queue-type": "quorum" },
      });
      const path = `bindings/${vhost}/e/${network.deliveryExchange}/q/Billing`;
      await management.call("POST", path, { routing_key: "*.*.Billing" });
      await refuses(
        await serviceStack(brokerStack),
        /endpoint: "Billing" is bound to orders\.\S+ already, by a stack that/,
      );
    });

    it("a service's deployer without rights, in the service's own stack", async () => {
      const brokerStack = await TestStack.create(broker(), vhost);
      await brokerStack.bringUp({ network: shape });
      const user = await deployer("management");
      const service = await serviceStack(brokerStack, as(user, { network: shape }));
      await refuses(service, /user deployer-\w+ lacks the tag policymaker/);
    });

    // A service's own stack was not protected: its messages came early or were dropped, or half of it was made.
    it("a service's own stack whose queue is there with other arguments, meets a foreign policy, or finds no room", async () => {
      const brokerStack = await TestStack.create(broker(), vhost);
      await brokerStack.bringUp({ network: shape });
      const { management } = broker();
      const service = await serviceStack(brokerStack);
      const queue = `queues/${vhost}/Billing`;
      await management.call("PUT", queue, {
        durable: true,
        arguments: { "x-queue-type": "quorum", "x-max-length": 5 },
      });
      await refuses(service, /queue Billing exists with x-max-length 5 \(declared here: nothing\)/);
      await management.call("DELETE", queue);

      const count = (await management.queues(vhost)).length;
      await management.call("PUT", `vhost-limits/${vhost}/max-queues`, { value: count });
      await refuses(service, /may have \d+ queues \(max-queues\), has \d+, and 2 are to be made; nothing was made/);
      await management.call("DELETE", `vhost-limits/${vhost}/max-queues`);

      const foreign = { pattern: "^Billing$", "apply-to": "queues", priority: 200, definition: { "max-length": 5 } };
      await management.call("PUT", `policies/${vhost}/foreign`, foreign);
      await refuses(
        service,
        /policy foreign \(pattern \^Billing\$, priority 200\) applies to queue Billing and would keep \S+limit/,
      );
      await management.call("DELETE", `policies/${vhost}/foreign`);

      // What it declared itself is no other's.
      await service.up();
      assert.equal((await management.queues(vhost)).length, count + 2);
      assert.deepEqual(await service.preview(), []);
    });

    async function serviceStack(beside: TestStack, config: StackConfig = { network: shape }): Promise<TestStack> {
      const service = await TestStack.create(broker(), vhost, join(__dirname, "programs", "billing"), beside);
      service.configure(config);
      return service;
    }
  });
});
