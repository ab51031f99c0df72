import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Review } from "@rabbitmq-delay/review";
import { afterThisTest } from "../../../test/support/cleanup";
import { runCommand } from "../../../test/support/command";
import { temporaryFolder } from "../../../test/support/temporaryFolder";
import { countingOver } from "../dist/countNow";

/** An address at which nobody listens. */
const NOWHERE = "amqp://user:hunter2@127.0.0.1:1";

describe("counting queues over AMQP", () => {
  // A failed connection shows that the function takes the vhost for the address's own.
  it("reads the address's vhost as the client does, and leaves other vhosts alone", async () => {
    for (const [path, vhost] of [
      ["", "/"],
      ["/", "/"],
      ["/%2F", "/"],
      ["/shop", "shop"],
      ["/shop%2Feu", "shop/eu"],
      ["/%C3%BC", "ü"],
    ] as const) {
      const count = countingOver(`${NOWHERE}${path}`, undefined);
      await assert.rejects(count(vhost, ["orders"]), /^Error: --amqp: no broker at 127\.0\.0\.1:1/, path);
      for (const other of ["other", encodeURIComponent(vhost)].filter((one) => one !== vhost))
        assert.deepEqual(await count(other, ["orders"]), new Map(), other);
    }
  });

  // A broker out of reach ended the review without a report.
  it("keeps a review's report where the broker is out of reach, and ends it with 3", async () => {
    const queue = {
      name: "orders",
      messages: 0,
      consumers: 1,
      state: "running",
      durable: true,
      auto_delete: false,
      arguments: {},
    };
    const server = createServer(({ url = "" }, response) => {
      const path = url.split("?")[0];
      const answer =
        path === "/api/overview" ? { rabbitmq_version: "4.3.6" } : path === "/api/queues/%2F" ? [queue] : [];
      response.end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(() => void server.close());
    const type = "rabbitmq:index/queue:Queue";
    const urn = `urn:pulumi:prod::shop::${type}::orders`;
    const oldState = { urn, type, custom: true, inputs: { name: "orders", vhost: "/", settings: {} } };
    const management = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const output = join(temporaryFolder(), "review.json");
    const args = ["review", "-", "--json", "--management", management, "--amqp", NOWHERE, "--output", output];
    const { code, err } = await runCommand(args, {}, JSON.stringify({ steps: [{ op: "delete", urn, oldState }] }));
    assert.equal(code, 3, err);
    assert.match(err, /^error: --amqp: no broker at 127\.0\.0\.1:1 .*; the counts are the management API's$/m);
    assert.doesNotMatch(err, /hunter2/);
    const { verdict, findings } = JSON.parse(readFileSync(output, "utf8")) as Review;
    assert.deepEqual([verdict, findings[0]?.rule], ["care", "queue-deleted"]);
    assert.match(findings[0]?.found ?? "", /^empty at the last count/);
  });
});
