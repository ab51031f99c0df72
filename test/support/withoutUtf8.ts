import type { Channel } from "amqplib";
import type { Socket } from "node:net";

/** Stand-in for bytes that are not UTF-8: amqplib sends UTF-8 alone. */
export const MARK = "@~@~";

/** Replaces each {@link MARK} by as many bytes that are not UTF-8. */
export function withoutUtf8(bytes: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(bytes).toString("latin1").replaceAll(MARK, "\xfc".repeat(MARK.length)), "latin1");
}

/** Has the connection of a channel send such bytes for each {@link MARK} from now on. */
export function sendWithoutUtf8(channel: Channel): void {
  const stream = socketOf(channel);
  const write = stream.write.bind(stream);
  stream.write = (chunk: Uint8Array) => write(withoutUtf8(chunk));
}

/** Returns the chunks of bytes that the connection of a channel gets from now on. */
export function receivedBytes(channel: Channel): Buffer[] {
  const stream = socketOf(channel);
  const [read, seen] = [stream.read.bind(stream), [] as Buffer[]];
  stream.read = (size?: number) => {
    const chunk = read(size) as Buffer | null;
    if (chunk !== null) seen.push(chunk);
    return chunk;
  };
  return seen;
}

function socketOf(channel: Channel): Socket {
  return (channel as unknown as { connection: { stream: Socket } }).connection.stream;
}
