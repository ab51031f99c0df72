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
  changeSent(channel, withoutUtf8);
}

const DEEP = "so deep";

/** Headers with lists in so many levels that amqplib writes them only as bytes; see {@link sendDeepLists}. */
export function deepLists(levels: number): Record<string, Buffer> {
  const lists = Buffer.alloc(5 * levels);
  for (let at = 0; at < lists.length; at += 5) {
    lists.write("A", at);
    lists.writeUInt32BE(lists.length - at - 5, at + 1);
  }
  return { [DEEP]: lists };
}

/** Has the connection of a channel send {@link deepLists} as lists from now on. */
export function sendDeepLists(channel: Channel): void {
  const toList = (text: string): string => text.replaceAll(`${DEEP}x`, `${DEEP}A`);
  changeSent(channel, (bytes) => Buffer.from(toList(Buffer.from(bytes).toString("latin1")), "latin1"));
}

function changeSent(channel: Channel, change: (bytes: Uint8Array) => Uint8Array): void {
  const stream = socketOf(channel);
  const write = stream.write.bind(stream);
  stream.write = (chunk: Uint8Array) => write(change(chunk));
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
