import { randomInt } from "node:crypto";
import { createServer, Server } from "node:net";

/** Below the range from which the system takes ports for outgoing connections, which could otherwise take one in between. */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_000];

const SLICES = 24;
const SLICE_SIZE = (LAST_PORT - FIRST_PORT) / SLICES;

/** The last port that this process assigned; undefined before the first. */
let lastPort: Promise<number> | undefined;

/**
 * A port of loopback on which nobody listens. Each process on the machine has a slice of the ports to itself, and assigns them in turn: a
 * port that is free for the moment, because its server is down, may be one that the server wants back.
 */
export function freePort(): Promise<number> {
  lastPort = nextFree(lastPort ?? claimSlice());
  return lastPort;
}

/** Whether nobody listens on a port of loopback. */
export async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

async function nextFree(last: Promise<number>): Promise<number> {
  const start = await last;
  const first = start - ((start - FIRST_PORT) % SLICE_SIZE);
  for (let step = 1; step < SLICE_SIZE; step++) {
    const port = first + ((start - first + step) % SLICE_SIZE);
    // The slice's first port marks it as claimed.
    if (port !== first && (await isFree(port))) return port;
  }
  throw new Error(`no port of loopback is free from ${first} to ${first + SLICE_SIZE - 1}`);
}

/** Claims a slice by listening on its first port, for as long as this process lives. */
async function claimSlice(): Promise<number> {
  const offset = randomInt(SLICES);
  for (let step = 0; step < SLICES; step++) {
    const port = FIRST_PORT + ((offset + step) % SLICES) * SLICE_SIZE;
    const server = await listenOn(port);
    if (server === undefined) continue;
    server.unref();
    return port;
  }
  throw new Error(`no slice of the ports of loopback is free: ${SLICES} processes hold one each`);
}

function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
