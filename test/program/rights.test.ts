import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ManagementApi, checkRights } from "@rabbitmq-delay/broker";
import { checkQueueLimit, queueLimitOf } from "@rabbitmq-delay/broker/testing";
import { afterThisTest } from "../support/cleanup";

/** A management API that gives these answers, and 404 to all else; what is asked of it is noted. */
async function apiWith(answers: Record<string, [number, unknown]>): Promise<{ api: ManagementApi; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url as string).slice("/api/".length);
    asked.push(`${request.method} ${path}`);
    const [status, body] = answers[`${request.method} ${path}`] ?? [404, { error: "Object Not Found" }];
    response.writeHead(status).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(async () => void server.close());
  const { port } = server.address() as AddressInfo;
  const api = new ManagementApi({ managementUrl: `http://127.0.0.1:${port}`, username: "cn=ops", password: "x" });
  return { api, asked };
}

describe("what a deployer may do", () => {
  const need = {
    vhost: "orders",
    missing: { exchanges: [{ name: "a" }], queues: [], bindings: [] },
    policies: [],
  };

  // The broker says 404 of the permissions of a user that it does not keep; such a deployer could never deploy.
  it("is tried where LDAP, OAuth 2 or HTTP vouches for an administrator, whom the broker does not keep", async () => {
    const { api, asked } = await apiWith({ "PUT exchanges/orders/a": [400, {}] });
    await checkRights(api, "cn=ops", need, ["administrator"]);
    assert.deepEqual(asked, ["GET users/cn%3Dops", "PUT exchanges/orders/a"]);
    const refused = await apiWith({ "PUT exchanges/orders/a": [401, {}] });
    await assert.rejects(checkRights(refused.api, "cn=ops", need, ["administrator"]), /may not configure a in vhost/);
  });

  it("is none where the broker keeps the user and no permissions of it", async () => {
    const { api } = await apiWith({ "GET users/cn%3Dops": [200, { name: "cn=ops" }] });
    await assert.rejects(checkRights(api, "cn=ops", need, ["administrator"]), /may not configure a in vhost/);
  });

  // An endpoint called support.level-1 was taken for a network's level and not tried: the broker refused it half-way.
  it("is tried once for a network's levels, and for each endpoint whatever it is called", async () => {
    const level = (name: string): object => ({ name, arguments: { "x-message-ttl": 10 } });
    const queues = [level("orders.level-0-1"), level("orders.level-1-1")] as never[];
    const exchanges = ["orders.level-0", "orders.level-1", "support.level-1", "support.level-2"].map((name) => ({
      name,
    }));
    const { api, asked } = await apiWith({});
    await checkRights(api, "cn=ops", { ...need, missing: { exchanges, queues, bindings: [] } }, ["policymaker"]);
    const names = asked.map((request) => decodeURIComponent(request.split("/")[2] as string));
    assert.equal(names.filter((name) => name.startsWith("orders.")).length, 1, names.join());
    assert.deepEqual(
      names.filter((name) => name.startsWith("support.")),
      ["support.level-1", "support.level-2"],
    );
  });

  it("is refused where the broker does not say whether it keeps the user", async () => {
    const { api } = await apiWith({ "GET users/cn%3Dops": [500, {}] });
    await assert.rejects(checkRights(api, "cn=ops", need, ["administrator"]), /permissions can't be read: HTTP 500/);
  });
});

describe("a vhost's limit on queues", () => {
  it("is read as the broker tells it; one that can't be read is no consent", async () => {
    const limits = (status: number, body: unknown): Promise<unknown> =>
      apiWith({ "GET vhost-limits/orders": [status, body] }).then(({ api }) => queueLimitOf(api, "orders"));
    assert.equal(await limits(200, [{ vhost: "orders", value: { "max-queues": 5, "max-connections": 1 } }]), 5);
    assert.equal(await limits(200, [{ vhost: "orders", value: { "max-queues": -1 } }]), undefined);
    assert.equal(await limits(200, []), undefined);
    assert.equal(await limits(401, {}), "unknown");
    await assert.rejects(limits(500, {}), /limits of orders can't be read: HTTP 500/);
    await assert.rejects(limits(200, {}), /is not a list/);
  });

  it("refuses what does not fit as a whole", () => {
    assert.deepEqual(checkQueueLimit("orders", 5, 2, 3), []);
    assert.throws(
      () => checkQueueLimit("orders", 5, 2, 4),
      /may have 5 queues \(max-queues\), has 2, and 4 are to be made/,
    );
    assert.deepEqual(checkQueueLimit("orders", 1, 2, 0), []);
    assert.equal(checkQueueLimit("orders", "unknown", 2, 1).length, 1);
  });
});
