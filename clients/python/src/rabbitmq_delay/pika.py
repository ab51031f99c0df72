"""Publishes delayed messages with pika's blocking connection."""

from __future__ import annotations

import copy
import uuid
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Optional, Type

import pika
from pika.adapters.blocking_connection import BlockingConnection
from pika.exceptions import NackError, UnroutableError

from .errors import MessageNackedError, MessageReturnedError
from .network import DelayNetwork
from .outgoing import Receipt, check_encoded, check_headers, check_properties, delay_headers, delay_of


class DelayPublisher:
    """Publishes through a channel of its own; each message is persistent, mandatory and confirmed.

    As the connection that it is on, it belongs to one thread. After an error of pika's own (`AMQPError`), the message may or may not have
    been taken; make a new publisher then, on a new connection where that is closed.

    A broker without memory or disk space takes no messages, and pika waits as long as that lasts: set `blocked_connection_timeout` in the
    connection's parameters, after which it closes the connection with an error.
    """

    def __init__(self, connection: BlockingConnection, network: DelayNetwork, tolerance: float = 0) -> None:
        """`tolerance` is the default of `publish`. Raises `DelayError` for one that can't be."""
        network.encode(timedelta(0), "destination", tolerance)
        self._network = network
        self._tolerance = tolerance
        self._connection = connection
        self._channel = connection.channel()
        self._channel.confirm_delivery()

    def publish(
        self,
        destination: str,
        body: bytes,
        delay: Optional[timedelta] = None,
        *,
        due: Optional[datetime] = None,
        properties: Optional[pika.BasicProperties] = None,
        tolerance: Optional[float] = None,
    ) -> Receipt:
        """Publishes a message that arrives after `delay`, or at the time `due`, and waits for the broker's confirm.

        `delay` is rounded up to the network's unit, never early; a negative one, and a time in the past, are no delay. `properties` are
        copied; a missing message id is made up.

        Raises `DelayError` before anything is sent; `MessageReturnedError` if no queue takes the message, and `MessageNackedError` if the
        broker refuses it.
        """
        given = properties or pika.BasicProperties()
        check_properties(given.expiration, given.delivery_mode, given.headers)
        check_headers(given.headers or {})
        now = datetime.now(timezone.utc)
        wait = delay_of(delay, due, now)
        encoded = self._network.encode(wait, destination, self._tolerance if tolerance is None else tolerance)
        sent = copy.copy(given)
        sent.delivery_mode = 2
        sent.message_id = given.message_id or str(uuid.uuid4())
        sent.headers = delay_headers(self._network, given.headers, encoded.delay, now)
        check_encoded(lambda: sum(len(piece) for piece in sent.encode()), "pika", self._frame_max())
        to = f"{destination} by exchange {encoded.exchange}"
        try:
            self._channel.basic_publish(encoded.exchange, encoded.routing_key, body, sent, mandatory=True)
        except UnroutableError as error:
            raise MessageReturnedError(f"no queue takes the message for {to}") from error
        except NackError as error:
            raise MessageNackedError(f"the broker refused the message for {to}") from error
        return Receipt(encoded.exchange, encoded.routing_key, encoded.delay, now + encoded.delay, sent.message_id)

    def _frame_max(self) -> int:
        """What client and broker agreed on; pika's own default where it does not tell."""
        parameters = getattr(getattr(self._connection, "_impl", None), "params", None)
        return int(getattr(parameters, "frame_max", pika.ConnectionParameters.DEFAULT_FRAME_MAX))

    def close(self) -> None:
        """Closes the channel, not the connection."""
        if self._channel.is_open:
            self._channel.close()

    def __enter__(self) -> DelayPublisher:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
