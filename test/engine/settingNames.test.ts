import { strict as assert } from "node:assert";
import { join } from "node:path";
import { onEachBroker } from "../support/brokers";
import { TestStack } from "../support/stack";

// The messages named settings of the stack program, which nothing reads in a program of one's own.
describe("messages about the broker in a program of one's own", () => {
  onEachBroker((broker) => {
    it("name the provider's settings, and what they say leads to an update", async () => {
      const { management } = broker();
      const vhost = await management.createVhost();
      const stack = await TestStack.create(broker(), vhost, join(__dirname, "programs", "ownSettings"));
      stack.configure({ network: { preset: "custom", prefix: "orders", radix: 4, levels: 2 } });
      const set = async (...args: string[]): Promise<void> => {
        const { code, output } = await stack.run([
          ...["config", "set", "--config-file", stack.configFile, "--stack", "test"],
          ...args,
        ]);
        assert.equal(code, 0, output);
      };
      const refused = async (message: RegExp): Promise<void> => {
        const { code, output } = await stack.run(["up", "--yes", "--skip-preview", "--stack", "test"]);
        assert.notEqual(code, 0, output);
        assert.match(output.replaceAll(/\s+/g, " "), message);
        assert.doesNotMatch(output, /broker\.(managementUrl|username)|RABBITMQ_|brokerPassword|make up/);
      };
      await set("rabbitmq:endpoint", "http://127.0.0.1:4");
      await set("rabbitmq:username", "guest");
      await set("rabbitmq:password", "wrong", "--secret");
      await refused(
        /rabbitmq:endpoint: no broker answers at \S+ .*; pulumi config set rabbitmq:endpoint, or endpoint of/,
      );
      await set("rabbitmq:endpoint", `${management.url}/api`);
      await refused(
        /rabbitmq:endpoint: \S+ does not answer as RabbitMQ's management API .*; the address ends before \/api/,
      );
      await set("rabbitmq:endpoint", management.url);
      await refused(/rabbitmq:username: the broker at \S+ refuses user \S+ or its password \(rabbitmq:password\)/);
      await set("rabbitmq:password", "guest", "--secret");
      await stack.up();
      assert.deepEqual(await stack.preview(), []);
    });
  });
});
