import { strict as assert } from "node:assert";
import { percentile } from "../../bench/statistics";
import { afterThisTest } from "../support/cleanup";
import { temporaryFolder } from "../support/databases";
import { startPodCluster } from "../support/pods/cluster";
import { DelayTraffic } from "../support/pods/delayTraffic";
import { killedNodes, minorityCutOff, rollingRestart } from "../support/pods/faults";

const MESSAGES = 20_000;

describe("three nodes of the generated manifests", () => {
  it(`${MESSAGES} messages that wait while nodes are killed, restarted and cut off come once each, in time`, async function () {
    this.timeout(600_000);
    const cluster = await startPodCluster(temporaryFolder());
    afterThisTest(() => cluster.pods.remove());
    const traffic = await DelayTraffic.start(cluster);
    afterThisTest(() => traffic.stop());
    await traffic.publish(MESSAGES, { fromMs: 5000, toMs: 150_000 });
    for (const fault of [killedNodes, rollingRestart, minorityCutOff]) {
      const start = Date.now();
      await fault.inject(cluster);
      console.log(`      ${fault.name}: ${((Date.now() - start) / 1000).toFixed(0)} s`);
    }
    await traffic.settle(240_000);
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
});
