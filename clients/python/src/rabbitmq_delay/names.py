"""What the broker and the stacks allow as names."""

from __future__ import annotations

import re
from typing import Optional

#: Bytes of UTF-8 that a name or a routing key may have (AMQP 0-9-1, 4.2.5.3).
SHORT_STRING_BYTES = 255


def why_no_entity(name: str, maximum_bytes: int = SHORT_STRING_BYTES) -> Optional[str]:
    """Why a text can't name an exchange or a queue; None if it can."""
    if name == "":
        return "it must be a non-empty text"
    if "@" in name or "/" in name:
        return "it must not contain @ or /"
    if any(character < " " or character == "\x7f" for character in name):
        return "it must not contain control characters"
    if name.startswith("amq."):
        return "names that start with amq. belong to the broker"
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "it must not contain lone surrogates"
    if length > maximum_bytes:
        return f"it has {length} bytes, at most {maximum_bytes} bytes are allowed"
    return None


def why_no_destination(name: str, maximum_bytes: int) -> Optional[str]:
    """Why a text can't be a destination in a topic's routing key; None if it can."""
    reason = why_no_entity(name, maximum_bytes)
    if reason is None and any(word in ("*", "#") for word in name.split(".")):
        return "no word between dots may be * or #, which are wildcards in a binding"
    return reason


#: A plain word, as names and choices are. An address, a login, and what is in PEM have other characters.
_PLAIN_WORD = re.compile(r"(?!.*://)[\w.:/#*+-]*")


def shown(value: object) -> str:
    """A value for a message: not megabytes of it, and no text that could be an address with a password in it, or a key."""
    if isinstance(value, str) and not _PLAIN_WORD.fullmatch(value):
        return "this text"
    text = repr(value)
    return text if len(text) <= 320 else f"{text[:300]}… ({len(text)} characters)"
