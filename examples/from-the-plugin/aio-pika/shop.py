"""Sends a message with each delay, in milliseconds, and prints what arrives: python shop.py 0 5000 60000"""

import asyncio
import os
import sys
import time

import aio_pika


def now():
    return int(time.time() * 1000)


async def main():
    connection = await aio_pika.connect_robust(os.environ["RABBITMQ_URL"])
    channel = await connection.channel()
    # before: shop = await channel.declare_exchange("shop", "x-delayed-message", durable=True, arguments={"x-delayed-type": "direct"})
    shop = await channel.get_exchange("shop")
    bills = await channel.declare_queue("bills", durable=True)
    # before: await bills.bind(shop, "paid")
    await bills.bind("shop.delivery", "paid")

    for delay_ms in map(int, sys.argv[1:]):
        message = aio_pika.Message(str(now()).encode(), headers={"x-delay": delay_ms}, delivery_mode=2)
        await shop.publish(message, "paid")

    async with bills.iterator() as messages:
        async for message in messages:
            async with message.process():
                after_ms = now() - int(message.body)
                print(f"{message.routing_key} after {after_ms} ms, x-delay {message.headers['x-delay']}", flush=True)


asyncio.run(main())
