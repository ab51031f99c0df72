import { strict as assert } from "node:assert";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createCertificates } from "../../../test/support/certificates";
import { afterThisTest } from "../../../test/support/cleanup";
import { connect } from "../dist/connect";
import { readerOf } from "../dist/managementApi";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

describe("the management API over TLS", () => {
  // The provider declared on the broker by its authority, and no review or check could ask that broker.
  it("is believed by the authority that --ca names, and not without", async () => {
    const folder = temporaryFolder();
    const { key, cert, caCertFile } = createCertificates(folder, ["IP:127.0.0.1"]);
    const server = createServer({ key, cert }, ({ url, headers }, response) => {
      const status = url === "/api/none" ? 404 : url === "/api/refused" ? 401 : 200;
      response.writeHead(status).end(JSON.stringify({ user: headers.authorization }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(async () => void server.close());
    const address = `https://a:b@127.0.0.1:${(server.address() as AddressInfo).port}`;

    await assert.rejects(readerOf(address).get("overview"), /does not answer \(.*certificate/);
    const broker = readerOf(address, caCertFile);
    assert.deepEqual(await broker.get("overview"), { user: `Basic ${Buffer.from("a:b").toString("base64")}` });
    assert.equal(await broker.get("none"), undefined);
    await assert.rejects(broker.get("refused"), /HTTP 401, user or password is wrong/);
    assert.throws(
      () => readerOf(address, "/nowhere/ca.pem"),
      /--ca: \/nowhere\/ca\.pem can't be read: there is no such file/,
    );
    assert.doesNotThrow(() => readerOf("http://h:1", "/nowhere/ca.pem"), "it needs none");
  });
});

describe("the broker over TLS", () => {
  it("is believed by the authority that --ca names, and not without", async () => {
    const folder = temporaryFolder();
    const { key, cert, caCertFile } = createCertificates(folder, ["IP:127.0.0.1"]);
    let sent = "";
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.once("data", (data) => {
        sent = data.toString("latin1");
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(async () => void server.close());
    const address = `amqps://a:b@127.0.0.1:${(server.address() as AddressInfo).port}`;
    await assert.rejects(connect(address), /--amqp: no broker at .*\(.*CERT|LEAF/);
    assert.equal(sent, "", "nothing was said to whom nobody vouches for");
    await assert.rejects(connect(address, caCertFile), /does not answer as a broker does|no broker/);
    assert.match(sent, /^AMQP/);
  });
});
