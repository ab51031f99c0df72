import { strict as assert } from "node:assert";
import { onEachBroker } from "../support/brokers";
import { StackConfig, TestStack } from "../support/stack";
import { startTlsProxy } from "../support/tlsProxy";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 };

describe("a broker over TLS", () => {
  onEachBroker((broker, { isNewest }) => {
    // The way to the broker is the same on both.
    if (!isNewest) return;

    it("is declared on with its authority, refused without, and accepted unverified only when told to", async () => {
      const { url, caCertFile } = await startTlsProxy(broker().node.managementUrl);
      const stack = await TestStack.create(broker(), await broker().management.createVhost());
      const configure = (more: Record<string, unknown>): void => {
        const config: StackConfig = { network, broker: { managementUrl: url, ...more } };
        stack.configure(config);
      };
      configure({});
      const refused = await stack.run(["preview", "--stack", "test"]);
      assert.notEqual(refused.code, 0);
      assert.match(refused.output, /no broker answers at https:.*certificate/);
      configure({ caCertFile: "/nowhere/ca.pem" });
      const missing = await stack.run(["preview", "--stack", "test"]);
      assert.match(missing.output, /broker\.caCertFile: \/nowhere\/ca\.pem can't be read/);

      configure({ caCertFile });
      await stack.up();
      assert.deepEqual(await stack.preview("--refresh"), []);
      configure({ insecure: true });
      const steps = await stack.preview("--refresh");
      assert.deepEqual(
        steps.map(({ op, urn }) => `${op} ${urn.split("::").slice(2).join("::")}`),
        ["update pulumi:providers:rabbitmq::broker"],
        "another way to the same broker replaces nothing",
      );
      await stack.up();
      await stack.destroy();
    });
  });
});
