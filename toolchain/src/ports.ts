import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range from which the system takes ports for outgoing connections, or one of those could come in between. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

const SLICES = 8;

/**
 * A port of loopback that nobody listens on. Processes that start servers side by side take them from slices of their own, by
 * RABBITMQ_DELAY_PORT_SLICE (0 to 7, default 7): what is free for one would else be another's a moment later.
 */
export async function freePort(): Promise<number> {
  const slice = Number(process.env.RABBITMQ_DELAY_PORT_SLICE ?? SLICES - 1) % SLICES;
  const size = Math.floor((LAST_PORT - FIRST_PORT) / SLICES);
  for (;;) {
    const port = FIRST_PORT + slice * size + randomInt(size);
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
