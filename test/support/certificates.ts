import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A server's certificate, and the authority that vouches for it; all in PEM. */
export interface Certificates {
  key: Buffer;
  cert: Buffer;
  caCertFile: string;
}

/**
 * Makes an authority and a server's certificate in a folder.
 * @param names as openssl takes them, e.g. `DNS:localhost`, `IP:127.0.0.1`
 */
export function createCertificates(folder: string, names: string[]): Certificates {
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
  openssl("req", ...newKey, "-keyout", file("server.key"), "-out", file("server.csr"), "-subj", "/CN=test-server");
  writeFileSync(file("san.txt"), `subjectAltName=${names.join(",")}\n`);
  const signed = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-CAcreateserial", "-extfile", file("san.txt")];
  openssl("x509", "-req", "-in", file("server.csr"), ...signed, "-out", file("server.pem"), "-days", "2");
  return { key: readFileSync(file("server.key")), cert: readFileSync(file("server.pem")), caCertFile: file("ca.pem") };
}
