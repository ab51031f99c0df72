import { strict as assert } from "node:assert";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { delayNetwork } from "@rabbitmq-delay/topology";
import { onEachBroker } from "../support/brokers";
import { afterThisTest } from "../support/cleanup";
import { openChannel } from "../support/connect";
import { declareAsNServiceBus, generations, installEndpoint } from "../support/nserviceBus";
import { runCommand } from "../support/command";
import { differencesOf } from "../support/differences";

/** A way to a management API that ends a moment after each policy is set through it for the first time; it says for which. */
async function cutAtPolicies(target: number): Promise<{ port: number; cut: string[] }> {
  const cut: string[] = [];
  const server = createServer((incoming) => {
    const outgoing = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
    incoming.on("data", (data: Buffer) => {
      const [, name] = /^PUT \/api\/policies\/[^/]+\/(\S+)/.exec(data.toString("latin1")) ?? [];
      if (name === undefined || cut.includes(name)) return;
      cut.push(name);
      setTimeout(() => outgoing.resetAndDestroy(), 1 + (cut.length % 3));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => void server.close());
  return { port: (server.address() as AddressInfo).port, cut };
}

describe("rabbitmq-delay enforce over a connection that ends whenever it sets a policy", function () {
  onEachBroker((broker) => {
    it("is done when it is run again, although the broker has policies that it does not apply", async () => {
      const vhost = await broker().management.createVhost();
      const channel = await openChannel(broker(), vhost);
      await declareAsNServiceBus(channel, generations.v2);
      await installEndpoint(channel, generations.v2, "Sales");
      const { port, cut } = await cutAtPolicies(Number(new URL(broker().node.managementUrl).port));
      const management = ["--management", `http://guest:guest@127.0.0.1:${port}`, "--vhost", vhost];
      let end = { code: 3 as number | null, err: "" };
      for (let run = 0; run < 10 && end.code !== 0; run++) {
        end = await runCommand(["enforce", ...management, "--preset", "nservicebus"]);
        assert.ok(end.code === 0 || /PUT policies\/.* failed/.test(end.err), end.err);
      }
      assert.equal(end.code, 0, end.err);
      const wanted = delayNetwork({ preset: "nservicebus", parking: false, matching: "enforced" });
      assert.deepEqual(await differencesOf(broker(), vhost, wanted), []);
      assert.ok(cut.length >= 2, `only ${cut.join(", ")} were cut`);
    });
  });
});
