"""Sends a message with each delay, in milliseconds, and prints what arrives: python shop.py 0 5000 60000"""

import os
import sys
import time

import pika


def now():
    return int(time.time() * 1000)


def arrived(channel, method, properties, body):
    print(f"{method.routing_key} after {now() - int(body)} ms, x-delay {properties.headers['x-delay']}", flush=True)
    channel.basic_ack(method.delivery_tag)


connection = pika.BlockingConnection(pika.URLParameters(os.environ["RABBITMQ_URL"]))
channel = connection.channel()
# before: channel.exchange_declare("shop", "x-delayed-message", durable=True, arguments={"x-delayed-type": "direct"})
channel.exchange_declare("shop", passive=True)
channel.queue_declare("bills", durable=True)
# before: channel.queue_bind("bills", "shop", "paid")
channel.queue_bind("bills", "shop.delivery", "paid")
channel.confirm_delivery()

for delay_ms in map(int, sys.argv[1:]):
    properties = pika.BasicProperties(headers={"x-delay": delay_ms}, delivery_mode=2)
    channel.basic_publish("shop", "paid", str(now()).encode(), properties, mandatory=True)

channel.basic_consume("bills", arrived)
channel.start_consuming()
