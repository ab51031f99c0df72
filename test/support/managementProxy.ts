import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterThisTest } from "./cleanup";

/** A request to the management API, and whether the broker did what it asks. */
export interface ProxiedRequest {
  method: string;
  /** Its path, without what follows the question mark. */
  path: string;
  isDone: boolean;
}

/**
 * Opens a way to a broker's management API until the end of the test.
 * @param pass gets each request with the broker's answer, and returns the answer for the client
 * @returns the address of the way
 */
export async function managementProxy(
  target: string,
  pass: (request: ProxiedRequest, answer: string) => string,
): Promise<string> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const { method = "GET", url = "/", headers } = request;
      const sent = await buffer(request);
      const found = await fetch(target + url, {
        method,
        headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
        ...(sent.length === 0 ? {} : { body: sent }),
      });
      const [path = ""] = url.split("?");
      response.writeHead(found.status).end(pass({ method, path, isDone: found.ok }, await found.text()));
    };
    answer().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
