import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { differencesOf } from "../support/differences";
import { declareAsNServiceBus, generations, installEndpoint } from "../support/nserviceBus";
import { runCommand } from "../support/command";

/**
 * A way to a broker's management API that shows a queue as a broker does which was cut off while it declared it: with no state and no count,
 * until it is deleted. A real one can't be had at will; all else is the broker's own.
 */
async function hidingState(target: string, queue: string): Promise<{ port: number; deleted: () => number }> {
  let deleted = 0;
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const { method = "GET", url = "/", headers } = request;
      const sent = await buffer(request);
      const found = await fetch(target + url, {
        method,
        headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
        ...(sent.length === 0 ? {} : { body: sent }),
      });
      const isQueue = url.split("?")[0]?.endsWith(`/${queue}`) === true && url.startsWith("/api/queues/");
      if (isQueue && method === "DELETE" && found.ok) deleted++;
      let body = await found.text();
      if (isQueue && method === "GET" && found.ok && deleted === 0) {
        const { name, arguments: values, durable } = JSON.parse(body) as Record<string, unknown>;
        body = JSON.stringify({ name, arguments: values, durable, leader: null, online: [] });
      }
      response.writeHead(found.status).end(body);
    };
    answer().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => void server.close());
  return { port: (server.address() as AddressInfo).port, deleted: () => deleted };
}

describe("rabbitmq-delay enforce, with a queue that the broker half declared", function () {
  onEachBroker((broker) => {
    it("declares it anew once it has shown no state for a while", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await installEndpoint(channel, generations.v2, "Sales");
      const detour = "nsb.v2.delay-level-00-detour-to-exact";
      const { port, deleted } = await hidingState(broker().node.managementUrl, detour);
      const management = ["--management", `http://guest:guest@127.0.0.1:${port}`, "--vhost", vhost];
      const { code, err } = await runCommand(["enforce", ...management, "--preset", "nservicebus"]);
      assert.equal(code, 0, err);
      // Once when it showed no state, and once when the change was over.
      assert.equal(deleted(), 2);
      const wanted = delayNetwork({ preset: "nservicebus", parking: false, matching: "enforced" });
      assert.deepEqual(await differencesOf(broker(), vhost, wanted), []);
    });
  });
});
