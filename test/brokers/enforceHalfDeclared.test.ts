import { strict as assert } from "node:assert";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { openChannel } from "../support/connect";
import { differencesOf } from "../support/differences";
import { managementProxy } from "../support/managementProxy";
import { declareAsNServiceBus, generations, installEndpoint } from "../support/nserviceBus";
import { runCommand } from "../support/command";

/**
 * A way to a broker's management API that shows a queue as a broker does which was cut off while it declared it: with no state and no count,
 * until it is deleted. A real one can't be had at will; all else is the broker's own.
 */
async function hidingState(target: string, queue: string): Promise<{ url: string; deleted: () => number }> {
  let deleted = 0;
  const url = await managementProxy(target, ({ method, path, isDone }, answer) => {
    const isQueue = path.endsWith(`/${queue}`) && path.startsWith("/api/queues/");
    if (isQueue && method === "DELETE" && isDone) deleted++;
    if (!isQueue || method !== "GET" || !isDone || deleted > 0) return answer;
    const { name, arguments: values, durable } = JSON.parse(answer) as Record<string, unknown>;
    return JSON.stringify({ name, arguments: values, durable, leader: null, online: [] });
  });
  return { url, deleted: () => deleted };
}

describe("rabbitmq-delay enforce, with a queue that the broker half declared", function () {
  onEachBroker((broker) => {
    it("declares it anew once it has shown no state for a while", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await installEndpoint(channel, generations.v2, "Sales");
      const detour = "nsb.v2.delay-level-00-detour-to-exact";
      const { url, deleted } = await hidingState(broker().node.managementUrl, detour);
      const management = ["--management", url.replace("://", "://guest:guest@"), "--vhost", vhost];
      const { code, err } = await runCommand(["enforce", ...management, "--preset", "nservicebus"]);
      assert.equal(code, 0, err);
      // Once when it showed no state, and once when the change was over.
      assert.equal(deleted(), 2);
      const wanted = delayNetwork({ preset: "nservicebus", parking: false, matching: "enforced" });
      assert.deepEqual(await differencesOf(broker(), vhost, wanted), []);
    });
  });
});
