"""Sends x-delay in each type in which pika writes a whole number, and as text; each body is `TYPE MILLISECONDS`."""

import os

import pika
from pika.compat import long

connection = pika.BlockingConnection(pika.URLParameters(os.environ["RABBITMQ_URL"]))
channel = connection.channel()
channel.exchange_declare("shop", "headers", durable=True)
channel.confirm_delivery()
delays = {"int32 300": 300, "int64 300": long(300), "text 300": "300", "int32 301": 301, "negative -300": -300}
for body, delay in delays.items():
    channel.basic_publish("shop", "paid", body.encode(), pika.BasicProperties(headers={"x-delay": delay}), mandatory=True)
    print(body)
connection.close()
