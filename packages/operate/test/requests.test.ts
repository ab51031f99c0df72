import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ManagementApi } from "@rabbitmq-delay/broker";
import { Requests } from "../src/enforce/requests";

/** What a stand-in for the management API does with each request, in turn: a status, or the end of the connection. */
type Answer = number | "hang up";

async function withApi(answers: Answer[], use: (requests: Requests) => Promise<void>): Promise<number> {
  let count = 0;
  const server = createServer((request, response) => {
    const answer = answers[count++] ?? 500;
    if (answer === "hang up") request.socket.destroy();
    else response.writeHead(answer).end(answer < 400 && request.method === "GET" ? '{"messages":0}' : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const broker = { managementUrl: `http://127.0.0.1:${port}`, username: "guest", password: "guest" };
    await use(new Requests(new ManagementApi(broker)));
  } finally {
    server.close();
  }
  return count;
}

describe("requests of a change of a live network", () => {
  it("are sent again when nothing answers", async () => {
    const count = await withApi(["hang up", "hang up", 204], (requests) =>
      requests.send("PUT", "policies/%2F/one", {}),
    );
    assert.equal(count, 3);
  });

  it("are sent again when the broker fails at them, as a busy one does", async () => {
    const count = await withApi([500, 503, 200], async (requests) => {
      assert.deepEqual(await requests.get("queues/%2F/one"), { messages: 0 });
    });
    assert.equal(count, 3);
  });

  it("are told of once no try had an answer", async () => {
    const answers = Array<Answer>(20).fill("hang up");
    const count = await withApi(answers, (requests) =>
      assert.rejects(requests.send("POST", "bindings/%2F/e/one/q/two"), {
        name: "EnforceError",
        message: /^POST bindings\/\/\/e\/one\/q\/two failed: no broker answers \(/,
      }),
    );
    assert.equal(count, 4);
  });

  it("are not sent again after a refusal, which names what is missing", async () => {
    const count = await withApi([403], (requests) =>
      assert.rejects(requests.send("DELETE", "queues/%2F/one"), {
        name: "EnforceError",
        message: /the user lacks the right to configure one/,
      }),
    );
    assert.equal(count, 1);
  });

  it("delete what is gone already", async () => {
    assert.equal(await withApi(["hang up", 404], (requests) => requests.send("DELETE", "queues/%2F/one")), 2);
    await withApi([404], (requests) =>
      assert.rejects(requests.send("PUT", "queues/%2F/one", {}), { name: "EnforceError", message: /HTTP 404/ }),
    );
  });

  it("tell what is not there from what can't be read", async () => {
    await withApi([404, 200, 500], async (requests) => {
      assert.equal(await requests.find("queues/%2F/one"), undefined);
      assert.deepEqual(await requests.find("queues/%2F/one"), { messages: 0 });
      await assert.rejects(requests.find("queues/%2F/one"), { status: 500 });
    });
  });
});
