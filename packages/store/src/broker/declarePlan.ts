import type { Channel } from "amqplib";
import type { EntityPlan } from "@rabbitmq-delay/topology";

/** Declares a plan over AMQP, like any client: an entity that exists with other arguments is an error. */
export async function declarePlan(channel: Channel, { exchanges, queues, bindings }: EntityPlan): Promise<void> {
  for (const { name, type } of exchanges) await channel.assertExchange(name, type, { durable: true });
  for (const { name, arguments: values } of queues)
    await channel.assertQueue(name, { durable: true, arguments: values });
  for (const { source, destination, destinationType, routingKey, arguments: values } of bindings) {
    if (destinationType === "queue") await channel.bindQueue(destination, source, routingKey, values);
    else await channel.bindExchange(destination, source, routingKey, values);
  }
}
