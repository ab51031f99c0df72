import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Encrypts a test's stack with a key from a key server, because deriving one from a passphrase takes the engine more than half a second of
 * processor time in each run. The server implements the part of Vault that the engine uses.
 */
export const keyServer = {
  url: "hashivault://tests",
  /** The data key as that server would have encrypted it, in base64. */
  encryptedKey: Buffer.from("vault:v1:tests").toString("base64"),
};

let environment: Promise<Record<string, string>> | undefined;

/** The address of this process's key server, which ends with the process; the token is not a word, because reviews blank tokens out. */
export function keyServerEnvironment(): Promise<Record<string, string>> {
  environment ??= start();
  return environment;
}

async function start(): Promise<Record<string, string>> {
  const body = JSON.stringify({ data: { plaintext: Buffer.alloc(32, "tests").toString("base64") } });
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return { VAULT_SERVER_URL: `http://127.0.0.1:${port}`, VAULT_SERVER_TOKEN: randomUUID() };
}
