"""Delayed messages on plain RabbitMQ, through queues that a stack of rabbitmq-delay declared.

`DelayNetwork` and `RetryIntervals` read what the stack exports, and tell to which exchange and by which key a message is published so that
it arrives after a delay. `rabbitmq_delay.pika` and `rabbitmq_delay.aio_pika` publish.
"""

from .errors import DelayError, DescriptorError, MessageNackedError, MessageReturnedError, PublishError
from .intervals import RetryIntervals
from .network import DelayNetwork, EncodedDelay
from .outgoing import Receipt

__all__ = [
    "DelayError",
    "DelayNetwork",
    "DescriptorError",
    "EncodedDelay",
    "MessageNackedError",
    "MessageReturnedError",
    "PublishError",
    "Receipt",
    "RetryIntervals",
]
