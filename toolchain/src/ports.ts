import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range from which the system takes ports for outgoing connections, or one of those could come in between. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
}

/** Whether nobody listens on a port of loopback. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
