"""A sender that declares nothing: sends one task at once, and one with a countdown of a second."""

import os

from celery import Celery
from kombu import Exchange, Queue

name = os.environ["QUEUE"]
app = Celery("sender", broker=os.environ["RABBITMQ_URL"])
app.conf.update(
    task_queues=[
        Queue(
            name,
            Exchange(name, type="topic", no_declare=True),
            routing_key=name,
            no_declare=True,
            queue_arguments={"x-queue-type": "quorum"},
        )
    ],
    task_default_queue=name,
    task_ignore_result=True,
    broker_transport_options={"confirm_publish": True},
)
app.send_task("remind", ("at-once",))
app.send_task("remind", ("delayed",), countdown=1)
app.close()
