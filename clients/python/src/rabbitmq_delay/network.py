"""A delay network: any delay up to the longest, in multiples of its unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Mapping, Optional, Tuple, Union

from .descriptor import LONGEST_TTL_MS, Descriptor
from .errors import DelayError
from .names import SHORT_STRING_BYTES, shown, why_no_destination, why_no_entity

_MICROSECOND = timedelta(microseconds=1)
_DIGITS = "0123456789abcdef"
_NSERVICEBUS = ("nservicebus", "nservicebus-v1")


@dataclass(frozen=True)
class EncodedDelay:
    """Where and by which key a message is published so that it arrives after its delay."""

    #: The exchange of the highest level that delays the message.
    exchange: str
    routing_key: str
    #: The level of that exchange; 0 for no delay.
    level: int
    #: The delay that the network will keep: the one asked for, rounded up.
    delay: timedelta
    #: In how many queues the message waits, one after another.
    hops: int


class DelayNetwork:
    """A delay network on a broker, as its stack exports it. It never changes, so threads may share it."""

    def __init__(self, given: Union[str, bytes, Mapping[str, Any]]) -> None:
        """Reads a descriptor of kind `delay-network`, version 1 or 2: JSON, or what it was parsed to.

        Raises `DescriptorError` for another kind or version, or a part that is missing, malformed, or does not fit the others.
        """
        read = Descriptor(given, "delay-network", "network", newest=2)
        #: Whose names and arguments the network has: `nservicebus`, `nservicebus-v1`, `celery` or `custom`.
        self.preset = read.one_of("preset", (*_NSERVICEBUS, "celery", "custom"))
        #: `quorum` or `classic`.
        self.queue_type = read.one_of("queueType", ("quorum", "classic"))
        #: `exact`, `suffix` or `enforced`: how endpoints are bound.
        self.matching = read.one_of("matching", ("exact", "suffix", "enforced"))
        is_version_2 = read.integer("version", 1, 2) == 2
        if self.matching == "enforced" and self.preset not in _NSERVICEBUS:
            raise read.refuse("matching", "it is for the presets nservicebus and nservicebus-v1")
        if self.matching == "enforced" and not is_version_2:
            raise read.refuse("version", "a network whose matching is enforced has version 2")
        #: Base of the digits.
        self.radix = read.integer("radix", 2, 16)
        if self.radix not in (2, 4, 8, 16):
            raise read.refuse("radix", "it must be one of 2, 4, 8, 16")
        self._unit_ms = read.integer("unitMs", 1, LONGEST_TTL_MS)
        # A routing key needs two bytes for each level and at least one for the destination.
        #: Number of digits; a routing key has one word for each.
        self.levels = read.integer("levels", 1, (SHORT_STRING_BYTES - 1) // 2)
        if (self.radix - 1) * self.radix ** (self.levels - 1) * self._unit_ms > LONGEST_TTL_MS:
            raise read.refuse("levels", "with this radix and unitMs, a queue's TTL would be over the broker's limit")
        self._maximum_units = self.radix**self.levels - 1
        maximum_ms = self._maximum_units * self._unit_ms
        if read.integer("maximumDelayMs", 0, 2**53) != maximum_ms:
            raise read.refuse("maximumDelayMs", f"for this shape it must be {maximum_ms}")
        #: What the network's names start with.
        self.prefix = read.entity("prefix")
        #: The topic exchange that messages reach when their delay is over.
        self.delivery_exchange = read.entity("deliveryExchange")
        #: The topic exchange that endpoints are bound to.
        self.binding_exchange = f"{self.prefix}-exact" if self.matching == "enforced" else self.delivery_exchange
        if is_version_2 and read.text("bindingExchange") != self.binding_exchange:
            raise read.refuse("bindingExchange", f"for this network it must be {self.binding_exchange}")
        #: The exchange of each level; the index is the level.
        self.entry_exchanges: Tuple[str, ...] = tuple(self._level_exchange(level) for level in range(self.levels))
        if tuple(read.texts("entryExchanges")) != self.entry_exchanges:
            raise read.refuse("entryExchanges", f"it must be the {self.levels} exchanges {self.entry_exchanges[0]} …")
        last = self.entry_exchanges[-1]
        reason = why_no_entity(f"{last}-{self.radix - 1}" if self.preset == "custom" else last)
        if reason is not None:
            raise read.refuse("prefix", f"of {last}, {reason}")
        #: The exchange and the queue that get what no binding takes; None where the network has none.
        self.parking_exchange = read.optional_entity("parkingExchange")
        self.parking_queue = read.optional_entity("parkingQueue")
        if (self.parking_exchange is None) != (self.parking_queue is None):
            raise read.refuse("parkingQueue", "parkingExchange and parkingQueue go together")
        #: The virtual host that the network is in; None in descriptors of version 1.
        self.vhost: Optional[str] = read.text("vhost") if is_version_2 else None
        if self.vhost == "":
            raise read.refuse("vhost", "it must be a non-empty text")

    @property
    def unit(self) -> timedelta:
        """The smallest delay but zero; all delays are multiples of it."""
        return timedelta(milliseconds=self._unit_ms)

    @property
    def maximum_delay(self) -> timedelta:
        """The longest delay."""
        return self._maximum_units * self.unit

    @property
    def maximum_destination_bytes(self) -> int:
        """Bytes of UTF-8 that a destination may have: 255 less two for each level."""
        return SHORT_STRING_BYTES - 2 * self.levels

    @property
    def is_nservicebus(self) -> bool:
        """Whether NServiceBus's clients use the network."""
        return self.preset in _NSERVICEBUS

    def encode(self, delay: timedelta, destination: str, tolerance: float = 0) -> EncodedDelay:
        """Turns a delay and a destination into an exchange and a routing key.

        `delay` is rounded up to the network's unit, never early; a negative one is zero. `destination` is an endpoint's name, or a key
        that one of its patterns matches. `tolerance` says how much longer the delay may be for fewer hops, as a fraction of it: the delay
        with the fewest hops from `delay` to `delay * (1 + tolerance)` is taken.

        Raises `DelayError` naming `delay`, `destination` or `tolerance`.
        """
        units = self._fewest_digits(self._units(delay), delay, tolerance)
        if not isinstance(destination, str):
            raise DelayError("destination", f"{shown(destination)} is not allowed; it must be a text")
        reason = why_no_destination(destination, self.maximum_destination_bytes)
        if reason is not None:
            raise DelayError("destination", f"{shown(destination)} is not allowed; {reason}")
        digits = self._digits(units)
        level = max((place for place, digit in enumerate(digits) if digit), default=0)
        key = ".".join(_DIGITS[digit] for digit in reversed(digits))
        return EncodedDelay(
            exchange=self.entry_exchanges[level],
            routing_key=f"{key}.{destination}",
            level=level,
            delay=units * self.unit,
            hops=_non_zero(digits),
        )

    def _units(self, delay: timedelta) -> int:
        """Whole units, rounded up: in integers, so that no binary fraction makes a message early."""
        if not isinstance(delay, timedelta):
            raise DelayError("delay", f"{shown(delay)} is not allowed; it must be a timedelta")
        microseconds, unit = delay // _MICROSECOND, self._unit_ms * 1000
        units = max(0, -(-microseconds // unit))
        if units > self._maximum_units:
            raise DelayError("delay", f"{delay} is not allowed; the network's maximum is {self.maximum_delay}")
        return units

    def _fewest_digits(self, units: int, delay: timedelta, tolerance: float) -> int:
        """The number with the fewest non-zero digits from `units` to the tolerated end.

        It is `units` or one of its roundings up to a power of the radix: any other in between has at least as many non-zero digits as one
        of those.
        """
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 <= tolerance <= 1e300:
            allowed = "it must be a fraction from 0, e.g. 0.01 for one percent"
            raise DelayError("tolerance", f"{shown(tolerance)} is not allowed; {allowed}")
        delay_ms = (delay // _MICROSECOND) / 1000
        last = min(math.floor(min(delay_ms * (1 + tolerance) / self._unit_ms, 2.0**60)), self._maximum_units)
        best, power = units, self.radix
        while power <= last:
            rounded = -(-units // power) * power
            if rounded <= last and _non_zero(self._digits(rounded)) < _non_zero(self._digits(best)):
                best = rounded
            power *= self.radix
        return best

    def _digits(self, units: int) -> Tuple[int, ...]:
        """The digit of each level, the shortest delay's first."""
        digits = []
        for _ in range(self.levels):
            units, digit = divmod(units, self.radix)
            digits.append(digit)
        return tuple(digits)

    def _level_exchange(self, level: int) -> str:
        if self.preset == "celery":
            return f"{self.prefix}_{level}"
        return f"{self.prefix}{'.' if self.preset == 'custom' else '-'}level-{level:02}"


def _non_zero(digits: Tuple[int, ...]) -> int:
    return sum(1 for digit in digits if digit)
