import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "../../toolchain/dist/paths";
import { onEachBroker } from "../support/brokers";
import { isFullLength } from "../support/length";
import { RunEnd, TestStack } from "../support/stack";

/** An example's timeline: the tries of the broken message, and the queue where it ends. */
interface Example {
  broken: number;
  errorQueue: string;
  isNew?: boolean;
  more?: RegExp;
}

const examples: Record<string, Example> = {
  "interval-queues": { broken: 6, errorQueue: "example-billing_error" },
  "work-queue": { broken: 4, errorQueue: "example-invoices.dead", more: /key invoice\.created/ },
  "delay-network": { broken: 4, errorQueue: "example-shipping_error" },
  "hold-queues": { broken: 3, errorQueue: "example-reminders_error", more: /try 2, key reminder\.first: succeeds/ },
  "delayed-retry": { broken: 4, errorQueue: "example-payments.dead", isNew: true },
};

/** Examples for RabbitMQ 3.10: a working one and the refused one. The tests of retries try the others' mechanisms on both brokers. */
const onOldest = isFullLength ? Object.keys(examples) : ["interval-queues", "delayed-retry"];

describe("the examples of retries", () => {
  onEachBroker((broker, { isNewest }) => {
    it("show their tries, and leave nothing of their own on the broker", async function () {
      const stack = await TestStack.create(broker(), "/");
      stack.configure({ network: { preset: "nservicebus" } });
      await stack.up();
      for (const name of isNewest ? Object.keys(examples) : onOldest) {
        const { broken, errorQueue, isNew, more } = examples[name] as Example;
        const { code, output } = await runExample(stack, name);
        if (isNew && !isNewest) {
          assert.notEqual(code, 0);
          assert.match(output, /4\.3\.0 or newer is needed for the delayed retry of queue example-payments/);
          continue;
        }
        assert.equal(code, 0, output);
        const triesOf = (message: string): number =>
          output.split("\n").filter((line) => new RegExp(`s {2}${message} .*try \\d`).test(line)).length;
        assert.deepEqual([triesOf("flaky"), triesOf("broken")], [3, broken], output);
        assert.ok(output.includes(`goes to ${errorQueue}`), output);
        if (more !== undefined) assert.match(output, more);
      }
      await stack.destroy();
      const left = (await broker().management.queues("%2F")).map(({ name }) => name);
      assert.deepEqual(
        left.filter((name) => name.startsWith("example-")).filter((name) => !/^hold\./.test(name)),
        // What keeps messages that come back to no queue stays with the exchange by which they come back: others use both.
        ["example-retry-parking"],
      );
    });

    function runExample(stack: TestStack, name: string): Promise<RunEnd> {
      const { node } = broker();
      const env = {
        ...stack.environment,
        RABBITMQ_URL: node.amqpUrl,
        RABBITMQ_MANAGEMENT_URL: node.managementUrl,
        DELAY_STACK: "organization/rabbitmq-delay/test",
      };
      return new Promise((resolve, reject) => {
        const script = join(root, "examples", "retries", "run.sh");
        const child = spawn(script, [name], { env, stdio: ["ignore", "pipe", "pipe"] });
        let output = "";
        for (const stream of [child.stdout, child.stderr])
          stream.on("data", (data: Buffer) => (output += data.toString()));
        child.on("error", reject);
        child.on("close", (code) => resolve({ code, output }));
      });
    }
  });
});
