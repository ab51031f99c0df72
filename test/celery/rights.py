"""For each line that it reads: what a worker does when it starts, and what a sender does, by the library's own code, each on a new connection.
Answers `ok`, or what failed. A worker only logs some of these failures and goes on; here they are raised."""

import sys
from types import SimpleNamespace

from celery.worker.consumer.delayed_delivery import DelayedDelivery

from shop import app, remind

role, *countdowns = sys.argv[1:]


def start_worker():
    with app.connection_for_read() as connection:
        with app.amqp.TaskConsumer(connection):
            pass
    delivery = DelayedDelivery.__new__(DelayedDelivery)
    delivery._setup_delayed_delivery(SimpleNamespace(app=app), app.conf.broker_url)


for _ in sys.stdin:
    try:
        if role == "worker":
            start_worker()
        for countdown in map(int, countdowns):
            with app.connection_for_write() as connection:
                remind.apply_async(("an order",), countdown=countdown or None, connection=connection)
        print("ok", flush=True)
    except Exception as error:
        text = " ".join(map(str, getattr(error, "exceptions", [error])))
        print("refused" if "ACCESS_REFUSED" in text else f"failed: {error!r}", flush=True)
