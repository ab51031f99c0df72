import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { StackConfig, TestStack } from "../support/stack";
import { startTlsProxy } from "../support/tlsProxy";

const network = { preset: "custom", prefix: "orders", radix: 4, levels: 2, unitMs: 10 };

describe("a production stack", () => {
  onEachBroker((broker, { isNewest }) => {
    // What is looked at is the config, and a count that both brokers give alike.
    if (!isNewest) return;

    it("refuses what no production broker should have, unless its config says so in those words", async () => {
      const { management, node } = broker();
      const { url, caCertFile } = await startTlsProxy(node.managementUrl);
      const vhost = await management.createVhost();
      const username = `topology-${randomUUID()}`;
      await management.call("PUT", `users/${username}`, { password: "guest", tags: "administrator" });
      afterThisTest(() => management.call("DELETE", `users/${username}`));
      const rights = { configure: ".*", write: ".*", read: ".*" };
      await management.call("PUT", `permissions/${vhost}/${username}`, rights);

      const stack = await TestStack.create(broker(), vhost);
      const safe: StackConfig = {
        production: true,
        allow: ["single-node"],
        removal: "retain",
        network,
        broker: { managementUrl: url, caCertFile, username },
      };
      const preview = async (change: Partial<StackConfig>): Promise<{ code: number | null; output: string }> => {
        stack.configure({ ...safe, ...change });
        return stack.run(["preview", "--stack", "test"]);
      };
      const cases: [string, Partial<StackConfig>, RegExp][] = [
        ["removal-delete", { removal: "delete" }, /removal: delete would delete queues with the messages/],
        ["classic-level-queues", { network: { ...network, queueType: "classic" } }, /network: .*custom are classic/],
        ["plain-text", { broker: { username } }, /broker\.managementUrl: http:.* is plain text/],
        [
          "unverified-certificate",
          { broker: { managementUrl: url, insecure: true, username } },
          /broker\.insecure: true takes any certificate/,
        ],
        ["guest-user", { broker: { managementUrl: url, caCertFile } }, /broker\.username: guest is everybody/],
      ];
      for (const [allowance, change, message] of cases) {
        const refused = await preview(change);
        assert.notEqual(refused.code, 0);
        assert.match(refused.output, message);
        assert.match(refused.output, new RegExp(`or add ${allowance} to allow`));
        const allowed = await preview({ ...change, allow: ["single-node", allowance] });
        assert.equal(allowed.code, 0, allowed.output);
      }
      const many = await preview({ removal: "delete", network: { ...network, queueType: "classic" }, broker: {} });
      for (const [allowance] of cases.filter(([name]) => name !== "unverified-certificate"))
        assert.match(many.output, new RegExp(`or add ${allowance} to allow`), "all at once");
      const alone = await preview({ allow: [] });
      assert.match(alone.output, /the broker has 1 node, and a production stack needs 3.*add single-node to allow/);
      const unknown = await preview({ allow: ["everything"] });
      assert.match(unknown.output, /allow\[0\]: "everything" is not allowed/);
      const whole = await preview({});
      assert.equal(whole.code, 0, whole.output);
      assert.deepEqual(await management.queues(vhost), [], "a preview makes nothing");
    });

    it("refuses a cluster that could lose messages or speaks in plain text, and contradictions, before it asks anybody", async () => {
      const stack = await TestStack.create(broker(), "orders");
      const cluster = { namespace: "messaging", storage: { className: "fast" }, tls: { secretName: "certificate" } };
      const safe: StackConfig = { production: true, removal: "retain", network, cluster };
      const cases: [Partial<StackConfig>, RegExp][] = [
        [
          { cluster: { ...cluster, replicas: 1 } },
          /cluster\.replicas: 1 keeps no quorum queue .* or add single-node to allow/,
        ],
        [{ cluster: { ...cluster, tls: undefined } }, /cluster\.tls: without it, .* or add plain-text to allow/],
        [
          { cluster: { ...cluster, managementUrl: "http://localhost:15672" } },
          /cluster\.managementUrl: .* is plain text/,
        ],
        [{ cluster: { ...cluster, replicas: 4 } }, /replicas: 4 is not allowed; it must be 1, 3 or 5/],
        [
          { broker: { managementUrl: "https://elsewhere" } },
          /broker\.managementUrl: .* this stack makes its own cluster/,
        ],
        [{ broker: { insecure: true } }, /broker\.insecure: true .* give cluster\.caCertFile/],
        [
          { createVhost: true, broker: { vhost: "/" } },
          /createVhost: true is not allowed; the vhost \/ is always there/,
        ],
        [
          {
            cluster: { ...cluster, image: "rabbitmq:4.2.4" },
            delayedRetryQueues: [{ queue: "failing", minMs: 1000 }],
          },
          /image: "rabbitmq:4\.2\.4" .* the delayed retry of queue failing needs 4\.3\.0 or newer/,
        ],
      ];
      for (const [change, message] of cases) {
        stack.configure({ ...safe, ...change });
        const refused = await stack.run(["preview", "--stack", "test"]);
        assert.notEqual(refused.code, 0, refused.output);
        assert.match(refused.output, message);
      }
    });
  });
});
