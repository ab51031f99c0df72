import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { BrokerConnection } from "@rabbitmq-delay/store/testing";
import { delayedStore, planDelayedStore } from "@rabbitmq-delay/topology";
import { createCertificates } from "../../../test/support/certificates";
import { liftDeliveryLimits } from "../dist/broker/deliveryLimit";
import { readCertificate } from "../dist/service/certificate";

describe("a store's broker over TLS", () => {
  let folder: string;
  let files: ReturnType<typeof createCertificates>;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-store-"));
    files = createCertificates(folder, ["IP:127.0.0.1"]);
  });
  after(() => rmSync(folder, { recursive: true }));

  it("is believed by the authority that was named, over AMQP", async () => {
    let sent = "";
    const server = createServer(files, (socket) => {
      socket.once("data", (data) => {
        sent = data.toString("latin1");
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `amqps://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      await assert.rejects(new BrokerConnection(address, "test").channel(), /certificate/);
      assert.equal(sent, "");
      const ca = readCertificate(files.caCertFile);
      await assert.rejects(new BrokerConnection(address, "test", {}, ca).channel());
      assert.match(sent, /^AMQP/);
    } finally {
      server.close();
    }
  });

  it("is believed by the authority that was named, by the management API, too", async () => {
    const asked: string[] = [];
    const server = createHttpsServer(files, (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.method === "PUT") response.writeHead(204).end();
      else response.end("[]");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const plan = planDelayedStore(delayedStore({ name: "delayed" }));
    try {
      await assert.rejects(liftDeliveryLimits(plan, address, "amqp://h"), /does not answer/);
      assert.equal(asked.length, 0);
      assert.deepEqual(await liftDeliveryLimits(plan, address, "amqp://h", readCertificate(files.caCertFile)), []);
      assert.ok(asked.includes("PUT /api/policies/%2F/delayed.intake.delivery-limit"), asked.join("\n"));
    } finally {
      server.close();
    }
  });
});
