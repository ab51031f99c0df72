import { AddressInfo, createServer, connect } from "node:net";
import { afterThisTest } from "./cleanup";

/** A connection to a broker on loopback that records what a client sends. */
export interface Tap {
  port: number;
  /** All bytes from clients so far. */
  sent: () => Buffer;
}

/** Opens a tap in front of a port, until the end of the test. */
export async function tapOf(target: number): Promise<Tap> {
  const chunks: Buffer[] = [];
  const server = createServer((incoming) => {
    const outgoing = connect(target, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterThisTest(() => void server.close());
  return { port: (server.address() as AddressInfo).port, sent: () => Buffer.concat(chunks) };
}

/** The bytes of each header of that name in the recorded data: its type, and this many bytes of its value. */
export function headersNamed(sent: Buffer, name: string, valueBytes: number): Buffer[] {
  const key = Buffer.from(name);
  const start = Buffer.concat([Buffer.from([key.length]), key]);
  const found: Buffer[] = [];
  for (let at = sent.indexOf(start); at >= 0; at = sent.indexOf(start, at + 1)) {
    found.push(sent.subarray(at + start.length, at + start.length + 1 + valueBytes));
  }
  return found;
}
