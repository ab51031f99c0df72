"""What can go wrong, before and after a message was sent."""

from __future__ import annotations


class DelayError(ValueError):
    """An argument that is not allowed; nothing was sent.

    `argument` names it, as `delay`, `destination` or `properties.expiration`.
    """

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument}: {reason}")
        self.argument = argument


class DescriptorError(ValueError):
    """A descriptor that is not one of its kind. `property` names the part, as `network.radix`."""

    def __init__(self, property: str, reason: str) -> None:
        super().__init__(f"{property}: {reason}")
        self.property = property


class PublishError(Exception):
    """The broker did not take a message that was sent to it."""


class MessageReturnedError(PublishError):
    """No queue takes the message: nothing is bound. (Where the exchange is not there, the library's own error says so.)"""


class MessageNackedError(PublishError):
    """The broker refused the message, e.g. because a queue is full."""
