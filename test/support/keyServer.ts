import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * What encrypts a test's stack: a key out of a key server, since the engine derives one of a passphrase in more than half a
 * second of a processor, in each run. The server speaks as much of Vault as the engine asks.
 */
export const keyServer = {
  url: "hashivault://tests",
  /** The data key as that server would have encrypted it, in base64. */
  encryptedKey: Buffer.from("vault:v1:tests").toString("base64"),
};

let environment: Promise<Record<string, string>> | undefined;

/** Where this process has its key server, which ends with it; the token is no word, since reviews blank tokens out. */
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
