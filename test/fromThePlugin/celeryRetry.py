"""A worker of Celery that sends itself, once it is ready, tasks with each of Celery's own ways to delay."""

import os
import time

from celery import Celery
from celery.signals import worker_ready
from kombu import Exchange, Queue

app = Celery("shop", broker=os.environ["RABBITMQ_URL"])
app.conf.update(
    task_queues=[Queue("bills", Exchange("shop.delivery", type="direct"), routing_key="paid")],
    task_default_queue="bills",
    task_ignore_result=True,
    worker_enable_remote_control=False,
    broker_connection_retry_on_startup=False,
)


def now():
    return int(time.time() * 1000)


def report(task, sent_at_ms, way):
    print(f"{task.request.delivery_info['routing_key']} after {now() - sent_at_ms} ms, x-delay {way}", flush=True)


@app.task(name="by-header", bind=True)
def by_header(self, sent_at_ms):
    if self.request.retries == 0:
        # Without a countdown of 0, Celery takes its default of three minutes.
        raise self.retry((now(),), countdown=0, exchange="shop", headers={"x-delay": 300})
    report(self, sent_at_ms, "300")


@app.task(name="by-countdown", bind=True)
def by_countdown(self, sent_at_ms):
    if self.request.retries == 0:
        raise self.retry((now(),), countdown=1)
    report(self, sent_at_ms, "none")


@worker_ready.connect
def send(**_):
    for task in (by_header, by_countdown):
        task.apply_async((now(),), exchange="shop", routing_key="paid", headers={"x-delay": 100})
    # The exchange knows nothing of a countdown.
    by_header.apply_async((now(),), exchange="shop", routing_key="paid", countdown=1)
