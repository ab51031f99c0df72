import { strict as assert } from "node:assert";
import { join } from "node:path";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { generations, installEndpoint } from "../support/nserviceBus";
import { StackConfig, TestStack } from "../support/stack";

const network = { preset: "nservicebus" };
const endpoint = (name: string): object => ({ name, client: "nservicebus", errorQueue: "error" });
const endpoints = ["Sales", "Billing"].map(endpoint);

describe("error queues that a stack declares for all services", () => {
  onEachBroker((broker, { isNewest }) => {
    it("are there once, as NServiceBus's installers declare them, with the policy of an endpoint's error queue", async () => {
      const stack = await TestStack.inNewVhost(broker());
      stack.configure({ network, endpoints, errorQueues: ["error", "audit"] });
      await stack.up();
      const queues = (await stack.resources()).filter(({ type }) => type === "rabbitmq:index/queue:Queue");
      const own = queues.filter(({ inputs }) => ["error", "audit"].includes(String(inputs.name)));
      assert.deepEqual(own.map(({ urn }) => urn.split("::").pop()).sort(), ["errors-audit", "errors-error"]);
      assert.deepEqual((await stack.outputs()).errorQueues, ["error", "audit"]);
      const channel = await openChannel(broker(), stack.vhost);
      // An entity with other arguments closes the channel.
      for (const name of ["error", "audit"]) await installEndpoint(channel, generations.v2, name);
      assert.deepEqual(await stack.preview("--refresh"), []);
      const policies = await broker().management.get<{ name: string }[]>(`policies/${stack.vhost}`);
      const limited = policies.map(({ name }) => name).filter((name) => /^(error|audit)\./.test(name));
      assert.deepEqual(limited.sort(), isNewest ? ["audit.delivery-limit", "error.delivery-limit"] : []);
      await stack.destroy();
      const left = (await broker().management.queues(stack.vhost)).map(({ name }) => name);
      assert.ok(!left.includes("error") && !left.includes("audit"), "under removal: delete they go with the stack");
    });

    it("are refused in a program in which an endpoint or another component declares them, too", async () => {
      const vhost = await broker().management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "parts"));
      const errors = (name: string): object => ({ type: "ErrorQueues", name, args: { names: ["error"] } });
      const joined = delayNetwork({ preset: "nservicebus", vhost });
      const sales = { endpoint: "Sales", client: "nservicebus", network: joined, errorQueue: "error" };
      for (const [other, component] of [
        [{ type: "EndpointDelayBinding", name: "sales", args: sales }, "EndpointDelayBinding"],
        [errors("others"), "ErrorQueues"],
      ] as const) {
        stack.configure({ network: { parts: [errors("errors"), other] } });
        const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(code, 0, output);
        const twice = new RegExp(
          `"error" is declared by two components of this program, .*${component}.* nothing was made`,
        );
        assert.match(output.replaceAll(/\s+/g, " "), twice);
        assert.deepEqual(await broker().management.queues(vhost), []);
      }
    });

    it("are not deleted when an endpoint's error queue takes the place of one that was to be deleted", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "parts"));
      const args = { names: ["error"], removal: "delete" };
      const joined = delayNetwork({ preset: "nservicebus", vhost });
      stack.configure({ network: { parts: [{ type: "ErrorQueues", name: "errors", args }] } });
      await stack.up();
      const before = await management.queues(vhost);
      const delivery = { type: "topic", durable: true, auto_delete: false, arguments: {} };
      await management.call("PUT", `exchanges/${vhost}/${joined.bindingExchange}`, delivery);
      const sales = { endpoint: "Sales", client: "nservicebus", network: joined, errorQueue: "error" };
      stack.configure({ network: { parts: [{ type: "EndpointDelayBinding", name: "sales", args: sales }] } });
      const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
      assert.notEqual(code, 0, output);
      assert.match(
        output.replaceAll(/\s+/g, " "),
        /"error" is another component's in this stack's state; nothing was made/,
      );
      assert.deepEqual(
        (await management.queues(vhost)).map(({ name }) => name),
        before.map(({ name }) => name),
      );
    });

    // It warned, and from the update on all that was rejected there was dropped.
    it("are refused where a team's policy leads what is rejected there on, unless that policy goes first and lifts the limit", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const channel = await openChannel(broker(), vhost);
      const joined = delayNetwork({ preset: "nservicebus", vhost });
      await channel.assertExchange(joined.bindingExchange, "topic");
      await channel.assertExchange("dlx", "fanout");
      const put = (priority: number, more: object): Promise<unknown> =>
        management.call("PUT", `policies/${vhost}/team`, {
          pattern: "^(error|audit)$",
          "apply-to": "queues",
          priority,
          definition: { "dead-letter-exchange": "dlx", ...more },
        });
      const parts = await TestStack.create(broker(), vhost, join(__dirname, "programs", "parts"));
      const args = { names: ["error", "audit"] };
      const sales = { endpoint: "Sales", client: "nservicebus", network: joined, errorQueue: "error" };
      const whole = await TestStack.create(broker(), vhost);
      whole.configure({ network: { preset: "celery" }, errorQueues: ["error", "audit"], removal: "retain" });
      const programs: [stack: TestStack, configure: () => void, isCounted: boolean][] = [
        [parts, () => parts.configure({ network: { parts: [{ type: "ErrorQueues", name: "errors", args }] } }), true],
        [
          parts,
          () => parts.configure({ network: { parts: [{ type: "EndpointDelayBinding", name: "sales", args: sales }] } }),
          true,
        ],
        // A program of its own asks for the broker's version, and an older broker counts nothing.
        [whole, () => undefined, isNewest],
      ];
      await put(5, {});
      for (const [stack, configure, isCounted] of programs) {
        configure();
        const { code, output } = await stack.run(["preview", "--stack", "test"]);
        assert.equal(code !== 0, isCounted, output);
        const lost =
          /policy team does not apply to queue error.* beside error\.delivery-limit, .* would be dropped, .* Give it a priority above 100, and give it the same: .*; or narrow its pattern/;
        if (isCounted) assert.match(output.replaceAll(/\s+/g, " "), lost);
      }
      const limit = 2_147_483_647;
      await put(101, { "delivery-limit": limit });
      for (const [stack, configure] of programs) {
        configure();
        const { code, output } = await stack.run(["preview", "--stack", "test"]);
        assert.equal(code, 0, output);
      }
    });

    // Each preview failed, although nothing of this stack's changed.
    it("are previewed beside a team's policy of later, which theirs outrank already", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "parts"));
      const declare = (names: string[]): void =>
        stack.configure({ network: { parts: [{ type: "ErrorQueues", name: "errors", args: { names } }] } });
      declare(["error"]);
      await stack.up();
      const definition = { "dead-letter-exchange": "dlx" };
      await (await openChannel(broker(), vhost)).assertExchange("dlx", "fanout");
      const team = { pattern: ".*", "apply-to": "queues", priority: 0, definition };
      await management.call("PUT", `policies/${vhost}/team`, team);
      const preview = async (): Promise<[number | null, string]> => {
        const { code, output } = await stack.run(["preview", "--stack", "test"]);
        return [code, output.replaceAll(/\s+/g, " ")];
      };
      const [code, output] = await preview();
      assert.equal(code, 0, output);
      assert.match(
        output,
        /warning: rabbitmq-delay: policy team does not apply to queue error beside error\.delivery-limit/,
      );
      declare(["error", "failed"]);
      const [more, refused] = await preview();
      assert.notEqual(more, 0, refused);
      assert.match(refused, /error: policy team does not apply to queue failed /);
    });

    it("may be endpoints, which are bound once they are there", async () => {
      const stack = await TestStack.inNewVhost(broker());
      stack.configure({ network, endpoints: [{ name: "error" }], errorQueues: ["error"] });
      await stack.up();
      const binding = (await stack.resources()).find(
        ({ type, inputs }) => type === "rabbitmq:index/binding:Binding" && /delivery/.test(String(inputs.source)),
      );
      assert.ok(binding);
      const { dependencies = [] } = binding as { dependencies?: string[] };
      assert.ok(
        dependencies.some((urn) => urn.endsWith("::errors-error")),
        dependencies.join(),
      );
      assert.deepEqual(await stack.preview("--refresh"), []);
    });

    it("take over an endpoint's error queue with what is in it; under removal: delete that is refused, either way", async () => {
      const stack = await TestStack.inNewVhost(broker());
      const whole: StackConfig = { network, endpoints, errorQueues: ["error", "audit"] };
      await stack.bringUp({ network, endpoints });
      const channel = await openChannel(broker(), stack.vhost);
      channel.publish("error", "", Buffer.from("failed"), { persistent: true });
      await channel.waitForConfirms();
      const inQueue = async (): Promise<number> => (await channel.checkQueue("error")).messageCount;
      assert.equal(await inQueue(), 1);
      const refused = async (config: StackConfig, message: RegExp): Promise<void> => {
        stack.configure(config);
        const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(code, 0, output);
        assert.match(output.replaceAll(/\s+/g, " "), message);
        assert.equal(await inQueue(), 1);
      };
      await refused(whole, /queue: "error" is another component's in this stack's state; nothing was made/);

      stack.configure({ ...whole, removal: "retain" });
      await stack.up();
      assert.equal(await inQueue(), 1);
      assert.deepEqual(await stack.preview("--refresh"), []);
      const resources = (await stack.resources()).filter(({ inputs }) => inputs?.name === "error");
      assert.deepEqual(resources.map(({ urn }) => urn.split("::").pop()).sort(), ["errors-error", "errors-error"]);

      stack.configure(whole);
      await stack.up();
      assert.equal(await inQueue(), 1);
      // The queue would be made for the endpoint, and then deleted under its old name.
      await refused(
        { network, endpoints, errorQueues: ["audit"] },
        /"error" is another component's .* nothing was made/,
      );
      for (const errorQueues of [whole.errorQueues, ["audit"]]) {
        stack.configure({ network, endpoints, errorQueues, removal: "retain" } as StackConfig);
        await stack.up();
        assert.equal(await inQueue(), 1);
      }
      assert.deepEqual(await stack.preview("--refresh"), []);
      assert.ok(await channel.get("error", { noAck: true }));
    });
  });
});
