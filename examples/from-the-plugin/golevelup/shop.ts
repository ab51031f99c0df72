// Sends a message with each delay, in milliseconds, and prints what arrives: node shop.js 0 5000 60000
import "reflect-metadata";
import { AmqpConnection, RabbitMQModule, RabbitSubscribe } from "@golevelup/nestjs-rabbitmq";
import { Injectable, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { ConsumeMessage } from "amqplib";

@Injectable()
class Bills {
  // before: @RabbitSubscribe({ exchange: "shop", routingKey: "paid", queue: "bills" })
  @RabbitSubscribe({ exchange: "shop.delivery", routingKey: "paid", queue: "bills" })
  arrived(sentAtMs: number, { fields, properties }: ConsumeMessage): void {
    console.log(`${fields.routingKey} after ${Date.now() - sentAtMs} ms, x-delay ${properties.headers?.["x-delay"]}`);
  }
}

@Module({
  imports: [
    RabbitMQModule.forRoot({
      uri: process.env.RABBITMQ_URL ?? "amqp://localhost",
      exchanges: [
        // before: { name: "shop", type: "x-delayed-message", options: { arguments: { "x-delayed-type": "direct" } } },
        { name: "shop", createExchangeIfNotExists: false },
      ],
    }),
  ],
  providers: [Bills],
})
class Shop {}

async function main(): Promise<void> {
  const shop = await NestFactory.createApplicationContext(Shop);
  const connection = shop.get(AmqpConnection);
  for (const delay of process.argv.slice(2))
    await connection.publish("shop", "paid", Date.now(), { headers: { "x-delay": Number(delay) }, persistent: true });
}

void main();
