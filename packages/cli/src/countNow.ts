import type { ChannelModel } from "amqplib";
import { vhostOf } from "@rabbitmq-delay/publish/parts";
import { close } from "./close";
import { connect } from "./connect";

/**
 * Returns a function that counts the messages of queues in an address's vhost by passive declarations, which the broker answers by itself and not
 * from its statistics. A queue that the user may not see, or of another vhost, is left out.
 * @throws CommandError for a broker out of reach
 */
export function countingOver(
  url: string,
  caFile: string | undefined,
): (vhost: string, queues: readonly string[]) => Promise<Map<string, number>> {
  return async (vhost, queues) => {
    const counts = new Map<string, number>();
    if (vhost !== vhostOf(url)) return counts;
    const connection = await connect(url, caFile);
    connection.on("error", () => undefined);
    try {
      for (const queue of queues) {
        const count = await countOf(connection, queue);
        if (count !== undefined) counts.set(queue, count);
      }
    } finally {
      await close(connection);
    }
    return counts;
  };
}

/** Counts on a channel of its own, because the broker closes the channel of a refusal. */
async function countOf(connection: ChannelModel, queue: string): Promise<number | undefined> {
  const channel = await connection.createChannel();
  channel.on("error", () => undefined);
  try {
    const { messageCount } = await channel.checkQueue(queue);
    await channel.close();
    return messageCount;
  } catch {
    return undefined;
  }
}
