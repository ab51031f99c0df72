import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificates } from "../../../test/support/certificates";
import { afterThisTest } from "../../../test/support/cleanup";
import { get, parseBrokerUrl } from "../dist/managementApi";

describe("the management API over TLS", () => {
  // The provider declared on the broker by its authority, and no review or check could ask that broker.
  it("is believed by the authority that RABBITMQ_CACERT names, and not without", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-cli-"));
    afterThisTest(() => rmSync(folder, { recursive: true, force: true }));
    const { key, cert, caCertFile } = createCertificates(folder, ["IP:127.0.0.1"]);
    const server = createServer({ key, cert }, ({ url, headers }, response) => {
      const status = url === "/api/none" ? 404 : url === "/api/refused" ? 401 : 200;
      response.writeHead(status).end(JSON.stringify({ user: headers.authorization }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    afterThisTest(async () => void server.close());
    const address = `https://a:b@127.0.0.1:${(server.address() as AddressInfo).port}`;

    await assert.rejects(get(parseBrokerUrl(address, {}), "overview"), /does not answer \(.*certificate/);
    const broker = parseBrokerUrl(address, { RABBITMQ_CACERT: caCertFile });
    assert.deepEqual(await get(broker, "overview"), { user: `Basic ${Buffer.from("a:b").toString("base64")}` });
    assert.equal(await get(broker, "none"), undefined);
    await assert.rejects(get(broker, "refused"), /HTTP 401, user or password is wrong/);
    assert.throws(
      () => parseBrokerUrl(address, { RABBITMQ_CACERT: "/nowhere/ca.pem" }),
      /RABBITMQ_CACERT: \/nowhere\/ca\.pem can't be read/,
    );
    assert.equal(parseBrokerUrl("http://h:1", { RABBITMQ_CACERT: "/nowhere/ca.pem" }).ca, undefined, "it needs none");
  });
});
