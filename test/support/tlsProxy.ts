import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createCertificates } from "./certificates";
import { afterThisTest } from "./cleanup";
import { temporaryFolder } from "./temporaryFolder";

/** An address with TLS in front of a broker's management API, and the authority that vouches for it. */
export interface TlsProxy {
  url: string;
  caCertFile: string;
}

/** Terminates TLS with a certificate of its own authority, and passes requests on; for one test. */
export async function startTlsProxy(managementUrl: string): Promise<TlsProxy> {
  const folder = temporaryFolder();
  const { key, cert, caCertFile } = createCertificates(folder, ["IP:127.0.0.1"]);
  const target = new URL(managementUrl);
  const server = createServer({ key, cert }, (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = request({ host: target.hostname, port: target.port, method, path, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, caCertFile };
}
