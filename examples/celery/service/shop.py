"""A service that runs Celery on a stack's network; only what is set below differs from Celery's defaults."""

import os
import time

from celery import Celery

app = Celery("shop", broker=os.environ["RABBITMQ_URL"])
app.conf.update(
    task_default_queue=os.environ.get("QUEUE", "orders"),
    # A quorum queue behind a topic exchange of its name: only these get native delayed delivery.
    task_default_queue_type="quorum",
    task_default_exchange_type="topic",
    # The exchanges of remote control are shared by all workers, and EndpointUser grants no rights on them.
    worker_enable_remote_control=False,
    task_ignore_result=True,
    broker_connection_retry_on_startup=False,
    # A sender waits until the broker has confirmed each task.
    broker_transport_options={"confirm_publish": True},
)


@app.task(name="remind")
def remind(order):
    print(f"reminded {order} at {time.time():.3f}", flush=True)
