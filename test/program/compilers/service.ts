import { connect } from "amqplib";
import { createDelayPublisher } from "@rabbitmq-delay/publish";

/** Publishes a message that is delivered in a minute. */
export async function remind(url: string, network: string, order: string): Promise<Date> {
  const connection = await connect(url);
  const publisher = createDelayPublisher(await connection.createConfirmChannel(), JSON.parse(network));
  const { dueAt } = await publisher.publish("billing", { order }, { delayMs: 60_000 });
  await connection.close();
  return dueAt;
}
