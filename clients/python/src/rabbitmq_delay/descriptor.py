"""Reads the parts of a descriptor; each refusal names the property."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from .errors import DescriptorError
from .names import shown, why_no_entity

#: The largest `x-message-ttl` of RabbitMQ, in milliseconds: ten years.
LONGEST_TTL_MS = 315_360_000_000

_MISSING = object()

#: What is allowed where no text, and no number, can stand.
_NO_TEXT = re.compile(r"it must be (a whole number|true or false|a list|one of \d|the \d+ exchanges)|each must be|for this shape")
_NO_NUMBER = re.compile(r"it must be (a (non-empty )?text|true or false|a list|one of \D|the \d+ exchanges)")


def _shown(value: Any, allowed: str) -> str:
    """A value for a message, unless it may hold a password that was mistyped: what is of another kind, and what is no plain word."""
    if isinstance(value, (list, Mapping)):
        return "this list" if isinstance(value, list) else "this object"
    if isinstance(value, str) and _NO_TEXT.match(allowed):
        return "this text"
    if isinstance(value, (int, float)) and not isinstance(value, bool) and _NO_NUMBER.match(allowed):
        return "this number"
    return shown(value)


class Descriptor:
    """A descriptor of which the kind and the version are checked."""

    def __init__(self, given: Union[str, bytes, Mapping[str, Any]], kind: str, name: str, newest: int) -> None:
        if isinstance(given, (str, bytes)):
            try:
                given = json.loads(given)
            except ValueError as error:
                raise DescriptorError(name, f"it must be JSON: {error}") from None
        if not isinstance(given, Mapping):
            raise DescriptorError(name, f"it must be an object with kind: {kind}")
        self._values: Dict[str, Any] = dict(given)
        self._name = name
        self.one_of("kind", (kind,))
        self.integer("version", 1, newest)

    def refuse(self, property: str, allowed: str) -> DescriptorError:
        """The error for a property, which says what it must be."""
        value = self._values.get(property, _MISSING)
        given = "a missing value" if value is _MISSING else _shown(value, allowed)
        return DescriptorError(f"{self._name}.{property}", f"{given} is not allowed; {allowed}")

    def has(self, property: str) -> bool:
        return property in self._values

    def text(self, property: str) -> str:
        value = self._values.get(property)
        if not isinstance(value, str):
            raise self.refuse(property, "it must be a text")
        return value

    def one_of(self, property: str, allowed: Tuple[str, ...]) -> str:
        value = self._values.get(property)
        if not isinstance(value, str) or value not in allowed:
            raise self.refuse(property, f"it must be one of {', '.join(allowed)}")
        return value

    def entity(self, property: str) -> str:
        text = self.text(property)
        reason = why_no_entity(text)
        if reason is not None:
            raise self.refuse(property, reason)
        return text

    def optional_entity(self, property: str) -> Optional[str]:
        return self.entity(property) if self.has(property) else None

    def flag(self, property: str, otherwise: bool) -> bool:
        value = self._values.get(property, otherwise)
        if not isinstance(value, bool):
            raise self.refuse(property, "it must be true or false")
        return value

    def integer(self, property: str, minimum: int, maximum: int) -> int:
        value = _integer(self._values.get(property), minimum, maximum)
        if value is None:
            raise self.refuse(property, f"it must be a whole number from {minimum} to {maximum}")
        return value

    def integers(self, property: str, minimum: int, maximum: int) -> List[int]:
        found = []
        for given in self._list(property):
            value = _integer(given, minimum, maximum)
            if value is None:
                raise self.refuse(property, f"each must be a whole number from {minimum} to {maximum}")
            found.append(value)
        return found

    def texts(self, property: str) -> List[str]:
        values = self._list(property)
        if not all(isinstance(value, str) for value in values):
            raise self.refuse(property, "it must be a list of texts")
        return values

    def _list(self, property: str) -> List[Any]:
        value = self._values.get(property)
        if not isinstance(value, list) or not value:
            raise self.refuse(property, "it must be a list of at least one")
        return value


def _integer(value: Any, minimum: int, maximum: int) -> Optional[int]:
    """JSON has one kind of number: 1000, 1000.0 and 1e3 are the same."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and (not math.isfinite(value) or value != math.floor(value)):
        return None
    return int(value) if minimum <= value <= maximum else None
