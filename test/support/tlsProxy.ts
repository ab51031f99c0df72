import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "./cleanup";

/** An address with TLS before a broker's management API, and the authority that vouches for it. */
export interface TlsProxy {
  url: string;
  caCertFile: string;
}

/** Ends TLS with a certificate of an authority of its own, and passes requests on; for one test. */
export async function startTlsProxy(managementUrl: string): Promise<TlsProxy> {
  const folder = mkdtempSync(join(tmpdir(), "rabbitmq-delay-tls-"));
  afterThisTest(() => rmSync(folder, { recursive: true, force: true }));
  const { key, cert, caCertFile } = createCertificates(folder);
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

function createCertificates(folder: string): { key: Buffer; cert: Buffer; caCertFile: string } {
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });
  const newKey = ["-newkey", "rsa:2048", "-nodes"];
  openssl(
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    file("ca.key"),
    "-out",
    file("ca.pem"),
    "-days",
    "2",
    "-subj",
    "/CN=test",
  );
  openssl("req", ...newKey, "-keyout", file("server.key"), "-out", file("server.csr"), "-subj", "/CN=127.0.0.1");
  writeFileSync(file("san.txt"), "subjectAltName=IP:127.0.0.1\n");
  const signed = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-CAcreateserial", "-extfile", file("san.txt")];
  openssl("x509", "-req", "-in", file("server.csr"), ...signed, "-out", file("server.pem"), "-days", "2");
  return { key: readFileSync(file("server.key")), cert: readFileSync(file("server.pem")), caCertFile: file("ca.pem") };
}
