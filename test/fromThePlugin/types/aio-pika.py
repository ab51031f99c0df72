"""Sends x-delay in each type in which aio-pika writes a whole number, and as text; each body is `TYPE MILLISECONDS`."""

import asyncio
import os

import aio_pika


async def main():
    async with await aio_pika.connect(os.environ["RABBITMQ_URL"]) as connection:
        channel = await connection.channel()
        shop = await channel.declare_exchange("shop", "headers", durable=True)
        kinds = {"int8": 100, "int16": 300, "uint16": 40000, "int32": 70000, "uint32": 3 * 10**9, "int64": 5 * 10**9}
        delays = [*kinds.items(), ("text", "300"), ("int16", 301), ("negative", -300)]
        for kind, delay in delays:
            message = aio_pika.Message(f"{kind} {delay}".encode(), headers={"x-delay": delay})
            await shop.publish(message, "paid")
            print(f"{kind} {delay}")


asyncio.run(main())
