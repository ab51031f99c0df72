import * as amqp from "amqplib";
import type { Round, RunningPart } from "../workload/part";

/** Does something on a channel of its own in a part's vhost. */
export async function onChannel<T>(
  { broker }: Round,
  { vhost }: Pick<RunningPart, "vhost">,
  work: (channel: amqp.Channel) => Promise<T>,
): Promise<T> {
  const connection = await amqp.connect(broker.amqpUrl(vhost));
  connection.on("error", () => undefined);
  try {
    const channel = await connection.createChannel();
    channel.on("error", () => undefined);
    return await work(channel);
  } finally {
    await connection.close().catch(() => undefined);
  }
}
