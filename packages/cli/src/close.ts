import type { ChannelModel } from "amqplib";

/** How long a broker may take to say goodbye, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Closes a connection, and its socket with it. A broker with an alarm reads nothing from one that publishes: then the library
 * either waits for an answer for ever, which is bounded here, or leaves the socket open, which would keep the process alive.
 */
export async function close(connection: ChannelModel): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
  });
  await Promise.race([connection.close().catch(() => undefined), late]);
  clearTimeout(timer);
  // With an error, so that the library stops its heartbeats.
  socketOf(connection)?.destroy(new Error("closed"));
}

/** The library closes by a handshake alone, and shows its socket to nobody. */
function socketOf({ connection }: ChannelModel): { destroy(error: Error): void } | undefined {
  return (connection as unknown as { stream?: { destroy(error: Error): void } }).stream;
}
