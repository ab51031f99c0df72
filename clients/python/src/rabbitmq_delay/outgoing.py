"""The properties of a delayed message."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Mapping, Optional

from .errors import DelayError
from .names import shown
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
        headers.setdefault(_NSERVICEBUS_SENT, now.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S:%f Z"))
    return headers


def _milliseconds(time: datetime) -> str:
    utc = time.astimezone(timezone.utc)
    return f"{utc.strftime('%Y-%m-%dT%H:%M:%S')}.{utc.microsecond // 1000:03}Z"
