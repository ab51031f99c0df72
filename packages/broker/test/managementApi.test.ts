import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, ProxyAgent } from "undici";
import { ManagementApi } from "@rabbitmq-delay/broker";
import { readBindings } from "../dist/api/bindings";
import { dispatcherFor } from "../dist/api/dispatcher";
import { queueLimitOf } from "../dist/preflight/checkLimits";
import { checkUsers } from "../dist/preflight/users";

const tls = { ca: undefined, rejectUnauthorized: true };

describe("the look's way to a broker", () => {
  // The provider goes through the environment's proxy, and so declared what the look before it had refused: no broker answered.
  it("goes through the proxy of the environment, as the provider's does", async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url);
      response.end('{"rabbitmq_version": "4.3.6"}');
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const managementUrl = "http://rabbit.corp.example:15672";
      const api = new ManagementApi({ managementUrl, username: "guest", password: "guest" });
      assert.deepEqual(await api.get("overview"), { rabbitmq_version: "4.3.6" });
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
      proxy.closeAllConnections();
      proxy.close();
    }
    assert.deepEqual(asked, ["http://rabbit.corp.example:15672/api/overview"]);
  });

  const proxies = { HTTP_PROXY: "http://proxy:3128", https_proxy: "proxy:3129" };
  const ways: [string, NodeJS.ProcessEnv, typeof Agent | typeof ProxyAgent][] = [
    ["https://rabbit.example.com", proxies, ProxyAgent],
    ["http://127.0.0.1:15672", proxies, Agent],
    ["http://localhost:15672", proxies, Agent],
    ["https://rabbit.example.com", { HTTP_PROXY: "http://proxy:3128" }, Agent],
    ["http://rabbit.example.com", { ...proxies, NO_PROXY: "other, example.com" }, Agent],
    ["http://myexample.com", { ...proxies, NO_PROXY: "example.com" }, ProxyAgent],
    ["http://example.com", { ...proxies, no_proxy: ".example.com" }, ProxyAgent],
    ["http://rabbit.example.com:15672", { ...proxies, NO_PROXY: "*.example.com:15672" }, Agent],
    ["http://rabbit.example.com:15672", { ...proxies, NO_PROXY: "rabbit.example.com:80" }, ProxyAgent],
    ["http://10.1.2.3:15672", { ...proxies, NO_PROXY: "10.0.0.0/8" }, Agent],
    ["http://11.1.2.3:15672", { ...proxies, NO_PROXY: "10.0.0.0/8" }, ProxyAgent],
    ["http://rabbit.example.com", { ...proxies, NO_PROXY: "*" }, Agent],
    ["http://rabbit.example.com", {}, Agent],
  ];
  for (const [address, environment, kind] of ways) {
    it(`${address} with ${JSON.stringify(environment)}: ${kind.name}`, async () => {
      assert.equal((await dispatcherFor(address, tls, environment)).constructor, kind);
    });
  }

  // A busy broker closed connections under looks, and the command said that no broker answered.
  for (const [method, sent] of [
    ["GET", 2],
    ["PUT", 1],
  ] as const) {
    it(`a connection that ends before the answer to a ${method}: the request is sent ${sent === 2 ? "again" : "once"}`, async () => {
      let asked = 0;
      const broker = createServer((request, response) => {
        if (++asked === 1) request.socket.destroy();
        else response.end('{"rabbitmq_version": "4.3.6"}');
      });
      await new Promise<void>((resolve) => broker.listen(0, "127.0.0.1", resolve));
      const managementUrl = `http://127.0.0.1:${(broker.address() as AddressInfo).port}`;
      const api = new ManagementApi({ managementUrl, username: "guest", password: "guest" });
      try {
        if (method === "GET") assert.deepEqual(await api.get("overview"), { rabbitmq_version: "4.3.6" });
        else await assert.rejects(api.attempt(method, "vhosts/x", {}), /closed|reset|socket/i);
      } finally {
        broker.closeAllConnections();
        broker.close();
      }
      assert.equal(asked, sent);
    });
  }

  // "HTTP 0" was said of it.
  it("a broker that goes away between two questions is said to be gone", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const broker = { managementUrl: `http://127.0.0.1:${port}`, username: "guest", password: "guest" };
    const api = new ManagementApi(broker);
    const wanted = { users: ["orders-app"], claims: [] };
    for (const ask of [
      () => readBindings(api, "orders"),
      () => queueLimitOf(api, "orders"),
      () => checkUsers({} as never, api, broker, "orders", wanted, []),
    ])
      await assert.rejects(ask(), /can't be read: no broker answers \(.*ECONNREFUSED/);
  });

  it("a proxy that is no address is refused, and not shown", async () => {
    await assert.rejects(
      dispatcherFor("http://rabbit.example.com", tls, { HTTP_PROXY: "socks://user:hunter2@proxy" }),
      (error: Error) => /^HTTP_PROXY, HTTPS_PROXY: /.test(error.message) && !error.message.includes("hunter2"),
    );
  });

  // What was refused as a user's name was printed: with its password, where somebody had set RABBITMQ_USERNAME to a whole address.
  for (const username of ["guest:hunter2", "amqp://guest:hunter2@rabbit"]) {
    it(`a name with a colon is refused, and not shown: ${username.replace("hunter2", "…")}`, () => {
      assert.throws(
        () => new ManagementApi({ managementUrl: "http://127.0.0.1:15672", username, password: "x" }),
        (error: Error) => /^broker\.username: .* colon/.test(error.message) && !error.message.includes("hunter2"),
      );
    });
  }
});
