"""The properties of a delayed message."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, Mapping, Optional

from .errors import DelayError
from .names import SHORT_STRING_BYTES, shown
from .network import DelayNetwork

DUE_HEADER = "rabbitmq-delay.due-at"
_NSERVICEBUS_DELAY = "NServiceBus.Transport.RabbitMQ.DelayInSeconds"
_NSERVICEBUS_SENT = "NServiceBus.TimeSent"

#: The broker's record of the waits before. RabbitMQ before 4 reads it back, takes a second wait in one queue for a loop, and drops the message.
_DEATH_HEADERS = (
    "x-death",
    "x-first-death-exchange",
    "x-first-death-queue",
    "x-first-death-reason",
    "x-last-death-exchange",
    "x-last-death-queue",
    "x-last-death-reason",
    "x-delivery-count",
    "x-acquired-count",
)


@dataclass(frozen=True)
class Receipt:
    """What became of a message that the broker has confirmed."""

    exchange: str
    routing_key: str
    #: The delay that the network keeps.
    delay: timedelta
    #: When the message is due, in UTC.
    due_at: datetime
    message_id: str


def check_properties(expiration: Any, delivery_mode: Any, headers: Optional[Mapping[str, Any]]) -> None:
    """Raises `DelayError` for what would make a message early, lead copies past its delay, or lose it in a restart."""
    if expiration is not None:
        raise DelayError(
            "properties.expiration",
            "the lower of it and a queue's TTL wins, so it would make the message early; give a delay only",
        )
    if delivery_mode is not None and getattr(delivery_mode, "value", delivery_mode) != 2:
        raise DelayError(
            "properties.delivery_mode", "every message is persistent; a transient one would be lost in a restart"
        )
    for copies in ("CC", "BCC"):
        if copies in (headers or {}):
            raise DelayError(
                f"properties.headers.{copies}",
                "copies would be routed past the delay; publish one message for each destination",
            )


#: The most levels of tables and lists in headers; anything deeper is circular or useless.
_DEEPEST_TABLE = 50

#: What a frame has beside the properties: its own head and end, and the head of the content (AMQP 0-9-1, 4.2.3 and 4.2.6.1).
_FRAME_BYTES = 20


def check_headers(headers: Mapping[str, Any], longest_name: int = SHORT_STRING_BYTES) -> None:
    """Raises `DelayError` for what a library would cut off, and for numbers for which the broker closes the connection; shows no value."""
    _check_table(headers, "properties.headers", longest_name, 1)


def _check_table(table: Mapping[str, Any], path: str, longest_name: int, depth: int) -> None:
    for name, value in table.items():
        if not isinstance(name, str):
            raise DelayError(path, "each name must be a text")
        length = len(name.encode("utf-8", "surrogatepass"))
        if length > longest_name:
            raise DelayError(path, f"a name has {length} bytes, at most {longest_name} bytes are allowed")
        _check_field(value, f"{path}.{name}", longest_name, depth)


def _check_field(value: Any, path: str, longest_name: int, depth: int) -> None:
    if depth > _DEEPEST_TABLE:
        raise DelayError("properties.headers", "tables may not be nested so deeply, nor in a circle")
    if isinstance(value, float) and not math.isfinite(value):
        raise DelayError(path, "numbers must be finite")
    if isinstance(value, Mapping):
        _check_table(value, path, longest_name, depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check_field(item, f"{path}.{index}", longest_name, depth + 1)


def check_encoded(encode: Callable[[], int], library: str, frame_max: int) -> None:
    """Raises `DelayError` for properties that can't be written, before the library counts the message or the broker closes the connection.

    `encode` writes them, and returns how many bytes they have. What it raises is not shown, because it quotes the value.
    """
    try:
        length = encode() + _FRAME_BYTES
    except Exception as error:
        reason = f"{library} can't write them ({type(error).__name__}): one has another type, or is too long or too large"
        raise DelayError("properties", reason) from None
    if 0 < frame_max < length:
        raise DelayError("properties", f"with the frame they have {length} bytes, at most {frame_max} bytes are allowed")


def delay_of(delay: Optional[timedelta], due: Optional[datetime], now: datetime) -> timedelta:
    """The delay that a caller gave, as one or as a time."""
    if (delay is None) == (due is None):
        raise DelayError("delay", "give one of delay and due")
    if due is None:
        assert delay is not None
        return delay
    if not isinstance(due, datetime) or due.utcoffset() is None:
        raise DelayError("due", f"{shown(due)} is not allowed; it must be a datetime with a time zone")
    return due - now


def delay_headers(
    network: DelayNetwork, given: Optional[Mapping[str, Any]], delay: timedelta, now: datetime
) -> Dict[str, Any]:
    """The headers of a message, with what tells of its delay."""
    headers = {name: value for name, value in (given or {}).items() if name not in _DEATH_HEADERS}
    headers[DUE_HEADER] = _milliseconds(now + delay)
    if network.is_nservicebus:
        headers.pop(_NSERVICEBUS_DELAY, None)
        if delay > timedelta(0):
            headers[_NSERVICEBUS_DELAY] = math.ceil(delay / timedelta(seconds=1))
        # The time of an earlier publish would make the message early when NServiceBus's own tool moves it.
        headers[_NSERVICEBUS_SENT] = now.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S:%f Z")
    return headers


def _milliseconds(time: datetime) -> str:
    utc = time.astimezone(timezone.utc)
    return f"{utc.strftime('%Y-%m-%dT%H:%M:%S')}.{utc.microsecond // 1000:03}Z"
