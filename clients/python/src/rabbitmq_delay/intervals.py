"""Interval queues: some exact delays, after which a message goes to the queue whose name is its routing key."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Mapping, Tuple, Union

from .descriptor import LONGEST_TTL_MS, Descriptor
from .errors import DelayError
from .names import shown, why_no_entity


class RetryIntervals:
    """Interval queues on a broker, as their stack exports them. They never change, so threads may share them."""

    def __init__(self, given: Union[str, bytes, Mapping[str, Any]]) -> None:
        """Reads a descriptor of kind `retry-intervals`: JSON, or what it was parsed to.

        Raises `DescriptorError` for another kind or version, or a part that is missing or malformed.
        """
        read = Descriptor(given, "retry-intervals", "retryIntervals", newest=1)
        #: What all names start with, e.g. `mt-delay`.
        self.prefix = read.entity("prefix")
        #: The direct exchange to which each endpoint's queue is bound by its own name.
        self.return_exchange = f"{self.prefix}-return"
        if read.text("returnExchange") != self.return_exchange:
            raise read.refuse("returnExchange", f"for this prefix it must be {self.return_exchange}")
        #: `quorum` or `classic`.
        self.queue_type = read.one_of("queueType", ("quorum", "classic"))
        #: Whether a message leaves an interval only when the next queue has confirmed it.
        self.at_least_once = read.flag("atLeastOnce", self.queue_type == "quorum")
        if self.at_least_once and self.queue_type == "classic":
            raise read.refuse("atLeastOnce", "classic queues can't")
        intervals_ms = read.integers("intervalsMs", 1, LONGEST_TTL_MS)
        if len(set(intervals_ms)) < len(intervals_ms):
            raise read.refuse("intervalsMs", "each interval stands once")
        #: The delays that there are, ascending.
        self.intervals: Tuple[timedelta, ...] = tuple(timedelta(milliseconds=ms) for ms in sorted(intervals_ms))
        for name in (self.return_exchange, self._exchange(self.intervals[-1])):
            reason = why_no_entity(name)
            if reason is not None:
                raise read.refuse("prefix", f"of {name}, {reason}")

    def exchange_of(self, delay: timedelta) -> str:
        """The exchange to publish to, under the queue's name as the routing key.

        Raises `DelayError` naming `delay` for one that there is no queue for; nothing is rounded.
        """
        if delay not in self.intervals:
            there = ", ".join(str(interval) for interval in self.intervals)
            raise DelayError("delay", f"{shown(delay)} is not allowed; there are queues for {there}")
        return self._exchange(delay)

    def _exchange(self, interval: timedelta) -> str:
        return f"{self.prefix}-{interval // timedelta(milliseconds=1)}"
