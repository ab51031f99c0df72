"""What Celery does with its delayed delivery at start-up and on publish, by its own library."""

import sys

from kombu import Connection, Exchange, Queue
from kombu.transport.native_delayed_delivery import (
    bind_queue_to_native_delayed_delivery_exchange,
    calculate_routing_key,
    declare_native_delayed_delivery_exchanges_and_queues,
    level_name,
)

url, queue_type, prefix, *messages = sys.argv[1:]
with Connection(url) as connection:
    declare_native_delayed_delivery_exchanges_and_queues(connection, queue_type, prefix)
    tasks = Exchange("tasks", type="topic")
    queue = Queue("tasks", tasks, routing_key="tasks", queue_arguments={"x-queue-type": "quorum"})
    queue.bind(connection.channel()).declare()
    bind_queue_to_native_delayed_delivery_exchange(connection, queue, prefix)
    producer = connection.Producer()
    for countdown in map(int, messages):
        key = calculate_routing_key(countdown, "tasks")
        producer.publish(str(countdown), exchange=level_name(27, prefix), routing_key=key, delivery_mode=2)
        print(key)
