import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "../../bench/statistics";
import { LEVELS, networkDashboard } from "pulumi-rabbitmq-delay/testing";
import { afterThisTest } from "../support/cleanup";
import { rounds } from "../support/length";
import { PodCluster, manage, metricsOf, ordinals, startPodCluster, withPods } from "../support/pods/cluster";
import { DelayTraffic } from "../support/pods/delayTraffic";
import { killedNodes, minorityCutOff, rollingRestart } from "../support/pods/faults";

const MESSAGES = rounds(5000, 20_000);

describe("three nodes of the generated manifests", () => {
  withPods(() => {
    let folder: string;
    let cluster: PodCluster;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-"));
      cluster = await startPodCluster(folder);
    });
    after(() => rmSync(folder, { recursive: true }));
    after(() => cluster.pods.remove());

    it("listen with TLS alone, answer their probes, and measure what the dashboard asks for", async () => {
      const { container } = cluster.pods.spec;
      for (const ordinal of ordinals(cluster)) {
        const listeners = await cluster.pods.exec(ordinal, ["rabbitmq-diagnostics", "-q", "listeners"]);
        const ports = [...listeners.matchAll(/port: (\d+)/g)].map(([, port]) => Number(port));
        assert.deepEqual(ports.sort(), [15671, 15691, 25672, 5671]);
        await cluster.pods.exec(ordinal, container.livenessProbe?.exec?.command as string[]);
        // The root file system is the image's, and nobody's to write.
        await assert.rejects(cluster.pods.exec(ordinal, ["touch", "/etc/rabbitmq/written"]), /Read-only file system/);
        await assert.rejects(cluster.pods.exec(ordinal, ["cat", "/etc/shadow"]), /Permission denied/);
      }
      const traffic = await DelayTraffic.start(cluster);
      afterThisTest(() => traffic.stop());
      await traffic.publish(200, { fromMs: 100, toMs: 1000 });
      await traffic.settle(240_000);
      assert.equal(traffic.take().lost, 0);
      const measure = async (): Promise<string> => {
        const paths = ["metrics", "metrics/detailed?family=queue_coarse_metrics"];
        const pages = ordinals(cluster).flatMap((ordinal) => paths.map((path) => metricsOf(cluster, ordinal, path)));
        return (await Promise.all(pages)).join("\n");
      };
      let measured = await measure();
      const dashboard = JSON.stringify(networkDashboard());
      const asked = new Set(dashboard.match(/rabbitmq_[a-z_]+/g));
      assert.ok(asked.size >= 7);
      for (const name of asked) assert.match(measured, new RegExp(`^${name}[ {]`, "m"), name);
      // What the panel “late now” shows is none once all have arrived.
      const sum = (event: string): number =>
        [...measured.matchAll(new RegExp(`_dead_lettered_${event}_total\\{.*at_least_once.*\\} (\\d+)`, "g"))].reduce(
          (total, [, count]) => total + Number(count),
          0,
        );
      assert.ok(sum("expired") >= 200);
      // A message is there before it is counted as confirmed.
      while (sum("expired") !== sum("confirmed")) measured = await measure();
      const level = new RegExp(`^rabbitmq_detailed_queue_messages\\{[^}]*queue="(${LEVELS})"`, "m");
      assert.match(measured, level);
    });

    it(`${MESSAGES} messages wait while nodes are killed, restarted and cut off: none is lost, none early, each at its endpoint`, async function () {
      const traffic = await DelayTraffic.start(cluster);
      afterThisTest(() => traffic.stop());
      await traffic.publish(MESSAGES, { fromMs: 5000, toMs: 150_000 });
      for (const fault of [killedNodes, rollingRestart, minorityCutOff]) {
        const start = Date.now();
        await fault.inject(cluster);
        console.log(`      ${fault.name}: ${((Date.now() - start) / 1000).toFixed(0)} s`);
      }
      await traffic.settle(400_000);
      const { latenessMs, ...counts } = traffic.take();
      const { messages, lost, early, misdelivered } = counts;
      assert.deepEqual(
        { messages, lost, early, misdelivered },
        { messages: MESSAGES, lost: 0, early: 0, misdelivered: 0 },
      );
      const [median, late, latest] = [0.5, 0.99, 1].map((share) => Math.round(percentile(latenessMs, share)));
      console.log(
        `      ${counts.duplicates} came twice; late by ${median} ms (half), ${late} ms (99 %), ${latest} ms (at most)`,
      );
    });

    // Nodes that went before they were forgotten left one that could declare nothing.
    it("become one, as docs/kubernetes-operations.md says, while messages wait: none is lost, and the node goes on to declare", async () => {
      const { pods } = cluster;
      const names = (await manage<{ name: string }[]>(cluster, 0, "GET", "nodes?columns=name")).map(({ name }) => name);
      const traffic = await DelayTraffic.start(cluster);
      afterThisTest(() => traffic.stop());
      await traffic.publish(300, { fromMs: 10_000, toMs: 60_000 });
      const leaving = ordinals(cluster).slice(1).reverse();
      for (const ordinal of leaving) {
        const node = names.find((name) => name.includes(`-${ordinal}.`)) as string;
        await pods.exec(0, ["rabbitmq-queues", "-q", "shrink", node]);
        await pods.exec(ordinal, ["rabbitmqctl", "-q", "stop_app"]);
        await pods.exec(0, ["rabbitmqctl", "-q", "forget_cluster_node", node]);
      }
      for (const ordinal of leaving) await pods.stop(ordinal);
      const quorum = { durable: true, arguments: { "x-queue-type": "quorum" } };
      await manage(cluster, 0, "PUT", "queues/%2F/declared-by-one", quorum);
      await traffic.settle(240_000);
      const { messages, lost, early } = traffic.take();
      assert.deepEqual({ messages, lost, early }, { messages: 300, lost: 0, early: 0 });
    });
  });
});
