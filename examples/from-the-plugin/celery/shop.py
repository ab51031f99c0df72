"""A worker whose queue is bound to the delivery exchange: celery --app shop worker"""

import os
import time

from celery import Celery
from kombu import Exchange, Queue

app = Celery("shop", broker=os.environ["RABBITMQ_URL"])
# before: delivery = Exchange("shop", type="x-delayed-message", arguments={"x-delayed-type": "direct"})
delivery = Exchange("shop.delivery", type="direct")
app.conf.update(
    task_queues=[Queue("bills", delivery, routing_key="paid")],
    task_default_queue="bills",
    task_ignore_result=True,
    worker_enable_remote_control=False,
    broker_connection_retry_on_startup=False,
    broker_transport_options={"confirm_publish": True},
)


def now():
    return int(time.time() * 1000)


@app.task(name="remind", bind=True)
def remind(self, sent_at_ms, delay_ms):
    key = self.request.delivery_info["routing_key"]
    print(f"{key} after {now() - sent_at_ms} ms, x-delay {delay_ms}", flush=True)
