import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { createConnection, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { DelayNetwork, delayNetwork } from "@rabbitmq-delay/topology";
import { freePort } from "../../toolchain/dist/ports";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { StackConfig, TestStack } from "../support/stack";
import { TcpProxy } from "../support/tcpProxy";
import { wayOut } from "../support/waysOut";

const shape = { preset: "custom", prefix: "orders", radix: 2, levels: 2, unitMs: 10 } as const;
const UP = ["up", "--yes", "--skip-preview", "--stack", "test"];

interface Part {
  type: string;
  name: string;
  args: Record<string, unknown>;
}

describe("whose endpoints, users and queues are", () => {
  onEachBroker((broker, { isNewest }) => {
    let vhost: string;
    let network: DelayNetwork;

    beforeEach(async () => {
      vhost = await broker().management.createVhost();
      network = delayNetwork({ ...shape, vhost });
    });

    async function brokerStack(config: Partial<StackConfig> = {}): Promise<TestStack> {
      const stack = await TestStack.create(broker(), vhost);
      await stack.bringUp({ network: shape, ...config });
      return stack;
    }

    async function partsStack(beside?: TestStack): Promise<TestStack & { declare(...parts: Part[]): void }> {
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "parts"), beside);
      return Object.assign(stack, { declare: (...parts: Part[]) => stack.configure({ network: { parts } }) });
    }

    const billing = (args: object = {}): Part => ({
      type: "EndpointDelayBinding",
      name: "billing",
      args: { endpoint: "Billing", network: "$broker", createQueue: true, ...args },
    });

    async function refused(stack: TestStack, message: RegExp, args = UP): Promise<void> {
      const { code, output } = await stack.run(args);
      assert.notEqual(code, 0, output);
      assert.match(output.replaceAll(/\s+/g, " "), message);
      assert.doesNotMatch(output, /error serializing property/, "the reason comes first");
    }

    const keysOf = async (queue: string): Promise<string[]> =>
      (await broker().management.get<{ source: string; routing_key: string }[]>(`queues/${vhost}/${queue}/bindings`))
        .filter(({ source }) => source !== "")
        .map(({ routing_key: key }) => key)
        .sort();

    /** A user that somebody else made, for one test. */
    async function administrator(): Promise<{ boss: string; readUser: () => Promise<unknown> }> {
      const { management } = broker();
      const boss = `boss-${randomUUID().slice(0, 8)}`;
      await management.call("PUT", `users/${boss}`, { password: "the boss's password", tags: "administrator" });
      afterThisTest(async () => {
        await management.call("DELETE", `users/${boss}`).catch(() => undefined);
      });
      return { boss, readUser: () => management.get(`users/${boss}`) };
    }

    it("a service adds a pattern to its endpoint, and mends a claim that was lost", async () => {
      const service = await partsStack(await brokerStack());
      service.declare(billing());
      await service.up();
      service.declare(billing({ patterns: ["Billing", "Invoices"] }));
      await service.up();
      assert.deepEqual(await keysOf("Billing"), ["*.*.Billing", "*.*.Invoices"]);

      const { management } = broker();
      for (const name of ["Billing", "Invoices"]) {
        await management.call("DELETE", `exchanges/${vhost}/rabbitmq-delay.owner-of-endpoint.${name}`);
      }
      const { output } = await service.run(["preview", "--stack", "test"]);
      const lost =
        /owner-of-endpoint\.Billing and 1 more are in this stack's state, and not on the broker: .*up --refresh/;
      assert.match(output.replaceAll(/\s+/g, " "), lost);
      await service.up("--refresh");
      assert.deepEqual(await service.preview("--refresh"), []);
    });

    it("an endpoint is claimed whichever way its network is given, and needs adopt: true for a binding without a claim", async () => {
      const { management } = broker();
      const service = await partsStack(await brokerStack({ endpoints: [{ name: "Sales", createQueue: true }] }));
      service.declare(billing({ network, endpoint: "Sales" }));
      await refused(service, /"Sales" belongs to rabbitmq-delay\/test, and parts\/test wants it too/);
      service.declare(billing({ network }));
      await service.up();
      service.declare(billing());
      assert.deepEqual(await service.preview(), [], "a descriptor out of a stack is the same");

      await service.destroy();
      await management.call("PUT", `queues/${vhost}/Billing`, {
        durable: true,
        arguments: { "x-queue-type": "quorum" },
      });
      const byHand = { routing_key: "*.*.Billing", arguments: {} };
      await management.call("POST", `bindings/${vhost}/e/${network.deliveryExchange}/q/Billing`, byHand);
      service.declare(billing());
      await refused(service, /set adopt: true/);
      service.declare(billing({ adopt: true }));
      await service.up();
      service.declare(billing());
      assert.deepEqual(await service.preview(), []);
    });

    it("a stack that was renamed, and an owner that was, keep what they claimed by formerOwners", async () => {
      const stack = await brokerStack({ endpoints: [{ name: "Sales", createQueue: true }] });
      const { code, output } = await stack.run([
        "stack",
        "rename",
        "organization/rabbitmq-delay/new",
        "--stack",
        "test",
      ]);
      assert.equal(code, 0, output);
      const up = ["up", "--yes", "--skip-preview", "--stack", "new"];
      await refused(
        stack,
        /"Sales" belongs to rabbitmq-delay\/test, and rabbitmq-delay\/new .* add it to formerOwners/,
        up,
      );
      const formerOwners = ["rabbitmq-delay/test"];
      stack.configure({ network: shape, endpoints: [{ name: "Sales", createQueue: true }], formerOwners });
      assert.equal((await stack.run(up)).code, 0);
      stack.configure({ network: shape, endpoints: [{ name: "Sales", createQueue: true }] });
      assert.equal((await stack.run(up)).code, 0, "once the claim is in the new name");
      assert.deepEqual(await keysOf("Sales"), ["*.*.Sales"]);
      await stack.run(["destroy", "--yes", "--skip-preview", "--stack", "new"]);
    });

    it("a stack gives an endpoint up that another one has, without unbinding or deleting it", async () => {
      const first = await brokerStack();
      const service = await partsStack(first);
      service.declare(billing());
      await service.up();
      // As a stack's state looks that brought the endpoint up before endpoints were claimed.
      const { management } = broker();
      await management.call("DELETE", `exchanges/${vhost}/rabbitmq-delay.owner-of-endpoint.Billing`);
      first.configure({ network: shape, endpoints: [{ name: "Billing", createQueue: true }] });
      await first.up();
      await management.call("DELETE", `exchanges/${vhost}/rabbitmq-delay.owner-of-endpoint.Billing`);
      service.declare(billing({ adopt: true }));
      await service.up("--refresh");

      await refused(first, /before it leaves the program, by pulumi state delete --target-dependents 'URN'/);
      const urn = (await first.resources()).find(
        ({ type }) => type === "rabbitmq-delay:index:EndpointDelayBinding",
      )?.urn;
      const args = ["state", "delete", "--target-dependents", "--yes", "--stack", "test", urn as string];
      const { code, output } = await first.run(args);
      assert.equal(code, 0, output);
      first.configure({ network: shape });
      await first.up();
      assert.deepEqual(await keysOf("Billing"), ["*.*.Billing"]);
      assert.deepEqual(await service.preview("--refresh"), []);
    });

    it("a user that somebody else made keeps its password and its tags, and is taken over by adopt: true alone", async () => {
      const { boss, readUser } = await administrator();
      const before = await readUser();
      const credentials = [{ password: "the service's password" }];
      const of = (args: object): Part[] => [
        { type: "EndpointUser", name: "user", args: { user: boss, credentials, consumes: ["Billing"], ...args } },
      ];
      const store = { user: boss, credentials: [{ password: "the store's password" }] };
      const service = await partsStack();
      for (const parts of [of({ network }), of({}), [{ type: "DelayedMessageStore", name: "store", args: store }]]) {
        service.declare(...parts);
        await refused(service, /user: "boss-\w+" is on the broker already.*set adopt: true/);
      }
      const program = await TestStack.create(broker(), vhost);
      program.configure({ network: shape, delayedStore: { user: boss }, storePassword: "the store's password" });
      await refused(program, /user: "boss-\w+" is on the broker already/);
      assert.deepEqual(await readUser(), before);

      service.declare(...of({ network, adopt: true }));
      await refused(service, /user: "boss-\w+" has the tag administrator on the broker, which no process needs/);
      const { username } = new URL(broker().node.amqpUrl);
      program.configure({
        ...{ network: shape, delayedStore: { user: username, adopt: true }, storePassword: "the store's password" },
        broker: { username },
      });
      await refused(program, /user: "\w+" is who declares this stack; nothing was made/);
      assert.deepEqual(await readUser(), before);

      await broker().management.call("PUT", `users/${boss}`, { password: "the boss's password", tags: "" });
      await service.up();
      service.declare(...of({ network }));
      assert.deepEqual(await service.preview(), []);
    });

    // A password of team EU's was changed by team Orders, and its user went with the other stack: all its pods were locked out.
    it("a login is claimed by itself, whoever has the start of its name, in this vhost and in another", async () => {
      const { management } = broker();
      const start = `u${randomUUID().slice(0, 8)}`;
      afterThisTest(async () => {
        for (const suffix of ["eu", "us"])
          await management.call("DELETE", `users/${start}-${suffix}`).catch(() => undefined);
      });
      const eu = { user: `${start}-eu`, owner: "team-eu/prod", credentials: [{ password: "the password of team EU" }] };
      const theirs = await partsStack();
      theirs.declare({ type: "EndpointUser", name: "eu", args: { ...eu, consumes: ["Eu"] } });
      await theirs.up();
      const before = await management.get(`users/${start}-eu`);
      const ours = (...suffixes: string[]): Part => ({
        type: "EndpointUser",
        name: "orders",
        args: {
          user: start,
          owner: "team-orders/prod",
          credentials: suffixes.map((suffix) => ({ suffix, password: `the password of ${suffix}` })),
          consumes: ["Orders"],
        },
      });
      const service = await partsStack();
      service.declare(ours("us"));
      await service.up();
      service.declare(ours("us", "eu"));
      await refused(service, /user: "u\w+-eu" belongs to team-eu\/prod, and team-orders\/prod wants it too/);
      const here = vhost;
      vhost = await management.createVhost();
      const elsewhere = await partsStack();
      elsewhere.declare(ours("eu"));
      await refused(elsewhere, /user: "u\w+-eu" is on the broker already.* set adopt: true/);
      // Adopted, it got another password, and went with that stack.
      const adopting = ours("eu");
      elsewhere.declare({ ...adopting, args: { ...adopting.args, adopt: true } });
      await refused(
        elsewhere,
        /user: "u\w+-eu" belongs to team-eu\/prod, which claims it in vhost \S+, and team-orders\/prod wants it too/,
      );
      assert.deepEqual(await management.get(`users/${start}-eu`), before);

      // As a stack looks that was made before each login was claimed: its state alone says that the user is its own.
      await management.call("DELETE", `exchanges/${here}/rabbitmq-delay.owner-of-user.${start}-us`);
      service.declare(ours("us"));
      await service.up("--refresh");
      assert.deepEqual(await service.preview("--refresh"), []);
    });

    // The state has what is only read, too: an administrator got a service's password, lost his tags, and went with the service's stack.
    it("a user that the program only reads is not its own", async () => {
      const { boss, readUser } = await administrator();
      const before = await readUser();
      const service = await partsStack();
      const read = { type: "read", name: "boss", args: { user: boss } };
      service.declare(read);
      await service.up();
      const credentials = [{ password: "the service's password" }];
      service.declare(read, { type: "EndpointUser", name: "user", args: { user: boss, credentials, consumes: ["B"] } });
      await refused(service, /user: "boss-\w+" is on the broker already/);
      assert.deepEqual(await readUser(), before);
    });

    // What a stack had on one broker counted as its own on another one: users there were taken over, and a vhost deleted with all queues.
    it("what the state has elsewhere is somebody else's on the broker at another address", async () => {
      const { management, node } = broker();
      const port = Number(new URL(node.managementUrl).port);
      const other = await TcpProxy.to(port, await freePort());
      const elsewhere = { managementUrl: `http://127.0.0.1:${other.port}` };
      const user = `u${randomUUID().slice(0, 8)}`;
      const service = await partsStack();
      const args = { user, credentials: [{ password: "the service's password" }], consumes: ["Billing"] };
      const parts = [{ type: "EndpointUser", name: "user", args }];
      service.declare(...parts);
      await service.up();
      await management.call("DELETE", `exchanges/${vhost}/rabbitmq-delay.owner-of-user.${user}`);
      service.configure({ network: { parts }, broker: elsewhere });
      await refused(service, /user: "u\w+" is on the broker already/);
      service.declare(...parts);
      await service.destroy();

      await management.call("DELETE", `vhosts/${vhost}`);
      const stack = await TestStack.create(broker(), vhost);
      stack.configure({ network: shape, createVhost: true });
      await stack.up();
      stack.configure({ network: shape, createVhost: true, broker: elsewhere });
      await refused(stack, /state is of a broker at another address than \S+, whose vhost \S+ nothing shows to be/);
      const endpoints = [{ name: "Sales", createQueue: true }];
      stack.configure({ network: shape, createVhost: true, endpoints });
      await stack.up();
      stack.configure({ network: shape, createVhost: true, endpoints, broker: elsewhere });
      await stack.up();
      assert.deepEqual(await stack.preview(), [], "its claim shows that it is the same broker");
      await stack.destroy();
      await management.call("PUT", `vhosts/${vhost}`);
    });

    it("a vhost that was at another address stays with what waits in it, once its stack forgets it, and other stacks are let in", async () => {
      const { management, node } = broker();
      const proxy = await TcpProxy.to(Number(new URL(node.managementUrl).port), await freePort());
      const elsewhere = { managementUrl: `http://127.0.0.1:${proxy.port}` };
      await management.call("DELETE", `vhosts/${vhost}`);
      const stack = await TestStack.create(broker(), vhost);
      stack.configure({ network: shape, createVhost: true });
      await stack.up();
      const { parkingQueue = "" } = network;
      const channel = await openChannel(broker(), vhost);
      channel.sendToQueue(parkingQueue, Buffer.from("waits"), { persistent: true });
      await channel.waitForConfirms();

      stack.configure({ network: shape, createVhost: true, broker: elsewhere });
      await refused(stack, wayOut("preflight-other-broker"), ["preview", "--stack", "test"]);
      await refused(stack, wayOut("preflight-forget-vhost"), ["preview", "--stack", "test"]);
      const other = await TestStack.create(broker(), vhost);
      other.configure({ network: { ...shape, prefix: "others" }, broker: elsewhere });
      await other.up();

      const [{ urn } = { urn: "" }] = (await stack.resources()).filter(({ type }) => type.endsWith(":VHost"));
      const { code, output } = await stack.run([
        "state",
        "delete",
        "--target-dependents",
        "--yes",
        "--stack",
        "test",
        urn,
      ]);
      assert.equal(code, 0, output);
      stack.configure({ network: shape, createVhost: false, broker: elsewhere });
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      const message = await channel.get(parkingQueue, { noAck: true });
      assert.equal(message && message.content.toString(), "waits");
      await stack.destroy();
      assert.deepEqual(await other.preview("--refresh"), []);
    });

    // An update of a stack that was pointed at another broker ended well, and none of its queues was there.
    it("a broker that has nothing of what the state has is warned of: an update would declare nothing", async () => {
      const { management } = broker();
      const stack = await brokerStack();
      await management.call("DELETE", `vhosts/${vhost}`);
      await management.call("PUT", `vhosts/${vhost}`);
      await management.call("PUT", `permissions/${vhost}/guest`, { configure: ".*", write: ".*", read: ".*" });
      const { output } = await stack.run(["preview", "--stack", "test"]);
      assert.match(
        output.replaceAll(/\s+/g, " "),
        /has none of the 3 queues and 4 exchanges that this stack's state has in vhost \S+\. Without --refresh, an update takes/,
      );
      assert.match(output, wayOut("refusal-stack-per-broker"));
      const other = await TestStack.create(broker(), vhost);
      other.configure({ network: { ...shape, prefix: "others" } });
      await other.up();
      await management.get(`queues/${vhost}/${delayNetwork({ ...shape, prefix: "others" }).parkingQueue}`);
      await stack.up("--refresh");
      assert.deepEqual(await stack.preview(), []);
    });

    // Only a program that makes the network itself compared its endpoints: Sales got the messages of Europe.Sales, and a queue that was
    // declared twice was deleted, with its messages, when one of the two left.
    it("endpoints of one program are told apart on a network out of another stack, too", async () => {
      const service = await partsStack(await brokerStack({ network: { preset: "celery" } }));
      const part = (name: string, args: object = {}): Part => ({ ...billing({ endpoint: name, ...args }), name });
      service.declare(part("Sales"), part("Europe.Sales"));
      await refused(service, /clients bind #\.Sales, which takes the messages for Europe\.Sales too.*nothing was made/);
      service.declare(part("Sales"), part("Other", { patterns: ["Sales"] }));
      await refused(service, /its pattern Sales and \w+'s Sales would both get some messages.*nothing was made/);
      service.declare(part("Sales"), { ...part("Sales"), name: "again" });
      await refused(service, /"Sales" is not allowed; its pattern Sales is bound twice; nothing was made/);
      const user = (name: string): Part => ({
        type: "EndpointUser",
        name,
        args: { user: `u${vhost.slice(-8)}`, credentials: [{}], consumes: [name] },
      });
      service.declare(user("a"), user("b"));
      await refused(service, /user: "u\w+" is made by two components of this program; nothing was made/);
      service.declare(part("Sales"), part("Europe.Sales", { allow: ["Sales with Europe.Sales"] }));
      await service.up();
    });

    // The endpoint's claim went with the network that it left: each later preview was refused, and another stack could take the name.
    it("an endpoint moves from one network to another, and keeps its claim by up --refresh", async () => {
      const next = delayNetwork({ ...shape, prefix: "next", vhost });
      await brokerStack();
      await broker().management.declare(vhost, next, []);
      const service = await partsStack();
      const owner = "billing/prod";
      const [first, second] = [network, next].map((to, index) => ({
        ...billing({ network: to, owner, createQueue: index === 0 }),
        name: to.prefix,
      })) as [Part, Part];
      service.declare(first);
      await service.up();
      service.declare(first, second);
      const twice =
        /owner-of-endpoint\.Billing is declared by two components of this program.* Run pulumi up --refresh then/;
      assert.match((await service.up()).output.replaceAll(/\s+/g, " "), twice);
      service.declare(second);
      await service.up();
      const { output } = await service.run(["preview", "--stack", "test"]);
      assert.match(
        output.replaceAll(/\s+/g, " "),
        /owner-of-endpoint\.Billing is in this stack's state, and not on the/,
      );
      await service.up("--refresh");
      assert.deepEqual(await service.preview("--refresh"), []);
      await broker().management.get(`exchanges/${vhost}/rabbitmq-delay.owner-of-endpoint.Billing`);
    });

    // With removal: delete, the destroy of a stack that had only been given a vhost's name deleted all queues of all others in it.
    it("a vhost that is there is not made again, and so not deleted; one that this stack made is its own", async () => {
      const { management } = broker();
      const stack = await TestStack.create(broker(), vhost);
      stack.configure({ network: shape, createVhost: true });
      const there = /broker\.vhost: \S+ is there already, and not in this stack's state.* Set createVhost: false/;
      await refused(stack, there, ["preview", "--stack", "test"]);
      await refused(stack, there);
      await management.call("DELETE", `vhosts/${vhost}`);
      await stack.up();
      assert.deepEqual(await stack.preview(), []);
      await stack.destroy();
      await management.call("PUT", `vhosts/${vhost}`);
    });

    // The look asked for a binding of the endpoint's name, not of the queue's: another's was taken, and went with this stack.
    it("a binding is looked for at the queue that the program declares, and a queue that nobody declares is refused", async () => {
      const { management } = broker();
      const service = await partsStack(await brokerStack());
      service.declare(billing({ createQueue: undefined }));
      await refused(service, /endpoint: there is no queue Billing in vhost \S+; nothing was made.*createQueue: true/);

      await management.call("PUT", `queues/${vhost}/bills`, { durable: true, arguments: { "x-queue-type": "quorum" } });
      const path = `bindings/${vhost}/e/${network.deliveryExchange}/q/bills`;
      await management.call("POST", path, { routing_key: "*.*.Billing" });
      service.declare(billing({ createQueue: undefined, destination: "$bills" }));
      await refused(service, /endpoint: "bills" is bound to orders\S+ already/);
      await service.destroy();
      assert.deepEqual(await keysOf("bills"), ["*.*.Billing"]);
      await management.call("DELETE", `${path}/*.*.Billing`);
      await service.up();
      assert.deepEqual(await service.preview(), []);
    });

    // The refusal itself advised formerOwners, and the broker then refused the claim when half of the stack was made.
    it("formerOwners is for a renamed stack: one made anew is refused before anything is made", async () => {
      const first = await brokerStack({ endpoints: [{ name: "Billing", createQueue: true }] });
      const service = await partsStack(first);
      service.declare(billing({ formerOwners: ["rabbitmq-delay/test"] }));
      await refused(
        service,
        /"Billing" belongs to rabbitmq-delay\/test, one of formerOwners, .* is not in this stack's state/,
      );
    });

    // "It will be replaced" was said of another's queue, and the broker refused it half-way; a second stack said nothing at all.
    it("another's work queue is never replaced, and a network that another stack has is warned of", async () => {
      const { management } = broker();
      const queue = { durable: true, arguments: { "x-queue-type": "quorum", "x-max-length": 5 } };
      await management.call("PUT", `queues/${vhost}/work`, queue);
      const second = await partsStack(await brokerStack());
      const args = { queue: "work", delays: ["1h"], removal: "delete" };
      second.declare({ type: "WorkRetryQueues", name: "work", args });
      await refused(second, /queue work exists with .*x-max-length 5/);
      const delay = { type: "DelayLevelTopology", name: "delay", args: { ...shape, removal: "delete" } };
      second.declare(delay);
      const { code, output } = await second.run(["preview", "--stack", "test"]);
      assert.equal(code, 0, output);
      assert.match(
        output.replaceAll(/\s+/g, " "),
        /queue orders\S+ and \d+ more are on the broker already, and not in this stack's state: .* keep removal: retain/,
      );
    });

    // The engine declared the work queue over the endpoint's, and then deleted it for the endpoint, with its messages.
    it("an endpoint's queue does not become a work queue under removal: delete before the stack has forgotten it", async () => {
      const stack = await brokerStack({ endpoints: [{ name: "work", createQueue: true }], removal: "delete" });
      const workQueues = [{ queue: "work", delays: ["1h"], rejected: "dead" }];
      stack.configure({ network: shape, workQueues, removal: "delete" });
      await refused(
        stack,
        /queue: "work" is another component's in this stack's state; .* by pulumi state delete .*::work-work/,
      );
    });

    it("a service's error queue stays, because another service's failed messages may be in it", async () => {
      const one = await partsStack(await brokerStack());
      one.declare(billing({ errorQueue: "errors", removal: "delete" }));
      await one.up();
      await one.destroy();
      const names = (await broker().management.queues(vhost)).map(({ name }) => name);
      assert.ok(names.includes("errors") && !names.includes("Billing"), names.join());
    });

    it("a version that is not the broker's is refused, where delivery limits would be left or refused half-way", async () => {
      const stack = await partsStack();
      const delay = { type: "DelayLevelTopology", name: "delay" };
      stack.declare({ ...delay, args: { ...shape, brokerVersion: isNewest ? "3.13.7" : "4.3.6" } });
      await refused(stack, /brokerVersion: [34]\.\d+\.\d+ is not what the broker is, RabbitMQ [34]\.\d+/);
    });

    it("a broker that takes the connection and says nothing fails the preview as long as it does: it may be there", async () => {
      const open: Socket[] = [];
      const { port: managementPort } = new URL(broker().node.managementUrl);
      let isSilent = true;
      const server = createServer((socket) => {
        open.push(socket.on("error", () => undefined));
        if (!isSilent) socket.pipe(createConnection(Number(managementPort), "127.0.0.1")).pipe(socket);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      afterThisTest(() => {
        for (const socket of open) socket.destroy();
        server.close();
      });
      const managementUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const stack = await partsStack();
      const parts = [{ type: "DelayLevelTopology", name: "delay", args: { ...shape } }];
      stack.configure({ broker: { managementUrl }, network: { parts } });
      const preview = ["preview", "--stack", "test"];
      const advice = wayOut("preflight-overloaded").source;
      await refused(stack, new RegExp(`did not answer in time \\(nothing for 10 s\\).*${advice}`), preview);
      isSilent = false;
      const { code, output } = await stack.run(preview);
      assert.equal(code, 0, output);
    });
  });
});
