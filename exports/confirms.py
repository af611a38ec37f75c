"""When a message has arrived: at the end of a pipeline for Redis, after a confirmation for RabbitMQ (I5).

RabbitMQ takes what is written to it without a word, and throws away what no queue is bound for. So a batch is sent
without waiting, on a channel that confirms, and then every one of its messages must have been confirmed; one that
came back because it has no queue, or that the node could not keep, makes the whole batch ambiguous. Waiting for
each message in turn would cost a round trip and a write to the node's disk each.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from kombu.exceptions import OperationalError

from exports.conf import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

_published: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""How many messages were published on a channel that confirms: it numbers them from one, over many batches."""


@contextmanager
def confirmed(producer: Any, messages: int) -> Iterator[None]:
    """Publish exactly so many messages in the block; it ends well only when the broker has taken all of them.

    OperationalError when one was refused, came back or was not confirmed in time: each may have arrived.
    """
    with producer.batch():
        if not hasattr(producer.channel, "confirm_select"):
            yield  # a pipeline's answer says that all of it was carried out
            return
        try:
            with _counting(producer.channel, messages) as waiting:
                yield
                waiting.out(limits().broker_timeout_seconds)
        except BaseException as error:
            # What is still confirmed on this connection would be taken for the next batch's.
            producer.connection.collect()
            if isinstance(error, (*producer.connection.connection_errors, *producer.connection.channel_errors)):
                raise OperationalError(f"not confirmed: {error or type(error).__name__}") from error
            raise


@contextmanager
def _counting(channel: Any, messages: int) -> Iterator[_Waiting]:
    """Count what the node confirms on this channel while the block lasts."""
    if channel not in _published:
        channel.confirm_select()
    first = _published.get(channel, 0) + 1
    _published[channel] = first - 1 + messages
    waiting = _Waiting(channel, first, messages)
    listeners = {"basic_ack": waiting.on_ack, "basic_nack": waiting.on_nack, "basic_return": waiting.on_return}
    for event, listener in listeners.items():
        channel.events[event].add(listener)
    try:
        yield waiting
    finally:
        for event, listener in listeners.items():
            channel.events[event].discard(listener)


class _Waiting:
    """The messages of one batch that the node has not confirmed yet."""

    def __init__(self, channel: Any, first: int, messages: int) -> None:
        self._channel = channel
        self._missing = set(range(first, first + messages))
        self._trouble = ""

    def on_ack(self, tag: int, multiple: bool) -> None:  # noqa: FBT001 - the library calls it so
        """Note one message, or all up to it."""
        self._missing -= {each for each in self._missing if each <= tag} if multiple else {tag}

    def on_nack(self, tag: int, multiple: bool) -> None:  # noqa: FBT001 - the same
        """Note that the node could not keep a message."""
        self._trouble = "the node refused a message"
        self.on_ack(tag, multiple)

    def on_return(self, error: Exception, *_: Any) -> None:
        """Note that a message has no queue; its confirmation follows all the same."""
        self._trouble = f"a message came back: {error}"

    def out(self, seconds: float) -> None:
        """Wait until everything of the batch is confirmed; OperationalError when that did not come."""
        until = time.monotonic() + seconds
        while self._missing:
            left = until - time.monotonic()
            if left <= 0:
                raise OperationalError("the node did not answer in time")
            self._channel.connection.drain_events(timeout=left)
        if self._trouble:
            raise OperationalError(self._trouble)
