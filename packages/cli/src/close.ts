import type { ChannelModel } from "amqplib";

/** How long a broker may take to answer the close, in milliseconds. */
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Closes a connection, and its socket with it. During an alarm, a broker reads nothing from a connection that publishes. Then the library
 * either waits for an answer for ever, which is limited here, or leaves the socket open, which would keep the process alive.
 */
export async function close(connection: ChannelModel): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
  });
  await Promise.race([connection.close().catch(() => undefined), late]);
  clearTimeout(timer);
  // Pass an error, so that the library stops its heartbeats.
  socketOf(connection)?.destroy(new Error("closed"));
}

/** The library closes only by a handshake, and exposes its socket to nobody. */
function socketOf({ connection }: ChannelModel): { destroy(error: Error): void } | undefined {
  return (connection as unknown as { stream?: { destroy(error: Error): void } }).stream;
}
