"""Publishes delayed messages with aio-pika."""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Type

from aio_pika import DeliveryMode, Message
from aio_pika.abc import AbstractChannel, AbstractConnection
from aiormq.exceptions import DeliveryError
from aiormq.exceptions import PublishError as ReturnedError

from .errors import DelayError, MessageNackedError, MessageReturnedError
from .network import DelayNetwork
from .outgoing import Receipt, check_encoded, check_headers, check_properties, delay_headers, delay_of


#: aio-pika's encoder cuts longer names of headers off without a word.
_LONGEST_HEADER_NAME = 128


class _Turn:
    """Who publishes under one message id, and how many wait for that."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0


class DelayPublisher:
    """Publishes through a channel of its own; each message is persistent, mandatory and confirmed.

    Any number of tasks may publish at once. After any other error than those of `publish`, the message may or may not have been taken; on
    a connection of `aio_pika.connect_robust`, the publisher works again once that is there.
    """

    def __init__(
        self, channel: AbstractChannel, network: DelayNetwork, tolerance: float, frame_max: int = 131_072
    ) -> None:
        """See `create`. `frame_max` is what client and broker agreed on, in bytes; default: RabbitMQ's."""
        self._channel = channel
        self._frame_max = frame_max
        self._network = network
        self._tolerance = tolerance
        self._in_flight: Dict[str, _Turn] = {}

    @classmethod
    async def create(
        cls, connection: AbstractConnection, network: DelayNetwork, tolerance: float = 0
    ) -> DelayPublisher:
        """Opens a channel. `tolerance` is the default of `publish`.

        Raises `DelayError` for a tolerance that can't be, and for a network of NServiceBus: its clients read the delay as a 32-bit integer,
        and aio-pika sends small numbers as shorter ones. Publish there with pika.
        """
        network.encode(timedelta(0), "destination", tolerance)
        if network.is_nservicebus:
            raise DelayError("network", "aio-pika can't send the 32-bit integer that NServiceBus reads; use pika")
        channel = await connection.channel(publisher_confirms=True, on_return_raises=True)
        tune = getattr(getattr(await channel.get_underlay_channel(), "connection", None), "connection_tune", None)
        return cls(channel, network, tolerance, int(getattr(tune, "frame_max", 0) or 131_072))

    async def publish(
        self,
        destination: str,
        body: bytes,
        delay: Optional[timedelta] = None,
        *,
        due: Optional[datetime] = None,
        properties: Optional[Mapping[str, Any]] = None,
        tolerance: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> Receipt:
        """Publishes a message that arrives after `delay`, or at the time `due`, and waits for the broker's confirm.

        `delay` is rounded up to the network's unit, never early; a negative one, and a time in the past, are no delay. `properties` are
        named arguments of `aio_pika.Message`; a missing message id is made up. `timeout` is how long to wait for the confirm, in seconds;
        default: as long as it takes. After that, `asyncio.TimeoutError` is raised, and the message may arrive nevertheless.

        Raises `DelayError` before anything is sent; `MessageReturnedError` if no queue takes the message, and `MessageNackedError` if the
        broker refuses it.
        """
        given = dict(properties or {})
        check_properties(given.get("expiration"), given.get("delivery_mode"), given.get("headers"))
        check_headers(given.get("headers") or {}, _LONGEST_HEADER_NAME)
        now = datetime.now(timezone.utc)
        wait = delay_of(delay, due, now)
        encoded = self._network.encode(wait, destination, self._tolerance if tolerance is None else tolerance)
        given["delivery_mode"] = DeliveryMode.PERSISTENT
        # aio-pika makes a text of it, and tells by that which message was returned.
        given["message_id"] = str(given.get("message_id") or uuid.uuid4())
        given["headers"] = delay_headers(self._network, given.get("headers"), encoded.delay, now)
        message = Message(body, **given)
        # aio-pika before 10 counts a message before it fails to write it, and takes the confirm of the next one for its own.
        check_encoded(lambda: len(message.properties.marshal()), "aio-pika", self._frame_max)
        exchange = await self._channel.get_exchange(encoded.exchange, ensure=False)
        to = f"{destination} by exchange {encoded.exchange}"
        try:
            await self._in_turn(
                given["message_id"], lambda: exchange.publish(message, encoded.routing_key, mandatory=True), timeout
            )
        except ReturnedError as error:
            raise MessageReturnedError(f"no queue takes the message for {to}") from error
        except DeliveryError as error:
            raise MessageNackedError(f"the broker refused the message for {to}") from error
        return Receipt(encoded.exchange, encoded.routing_key, encoded.delay, now + encoded.delay, given["message_id"])

    async def _in_turn(self, message_id: str, publish: Callable[[], Awaitable[Any]], timeout: Optional[float]) -> None:
        """Publishes when no other message under the same id is without an answer; also one whose caller has stopped waiting has its turn.

        aio-pika tells by its id which message was returned: of two under one id, it would be the wrong one.
        """
        begun = time.monotonic()
        turn = self._in_flight.setdefault(message_id, _Turn())
        turn.waiting += 1

        def leave() -> None:
            turn.waiting -= 1
            if turn.waiting == 0:
                del self._in_flight[message_id]

        def end(answer: asyncio.Future[Any]) -> None:
            turn.lock.release()
            leave()
            # Read here, because nobody else does so after the caller's time is over.
            if not answer.cancelled():
                answer.exception()

        try:
            await asyncio.wait_for(turn.lock.acquire(), timeout)
        except BaseException:
            leave()
            raise
        answer = asyncio.ensure_future(publish())
        answer.add_done_callback(end)
        left = None if timeout is None else max(0.0, timeout - (time.monotonic() - begun))
        await asyncio.wait_for(asyncio.shield(answer), left)

    async def close(self) -> None:
        """Closes the channel, not the connection."""
        await self._channel.close()

    async def __aenter__(self) -> DelayPublisher:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()
