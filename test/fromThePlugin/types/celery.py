"""Sends x-delay in each type in which kombu writes a whole number, and as text; each body is `TYPE MILLISECONDS`."""

import os

from kombu import Connection, Exchange

with Connection(os.environ["RABBITMQ_URL"], transport_options={"confirm_publish": True}) as connection:
    channel = connection.channel()
    shop = Exchange("shop", type="headers", channel=channel)
    shop.declare()
    for kind, delay in [("int32", 300), ("int64", 5 * 10**9), ("text", "300"), ("int32", 301), ("negative", -300)]:
        message = shop.Message(f"{kind} {delay}", headers={"x-delay": delay}, content_type="text/plain")
        shop.publish(message, routing_key="paid")
        print(f"{kind} {delay}")
