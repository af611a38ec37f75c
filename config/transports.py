"""What each kind of broker must be told so that its waits are bounded and its queues keep what they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kombu import Queue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from exports.conf import Limits

HEARTBEAT_SECONDS = 10.0
"""RabbitMQ and a worker notice within two of these that the other is gone, network cuts included."""

DELIVERIES_OF_ONE_MESSAGE = 1_000_000
"""A message is put back every one to five seconds while the database is away: weeks. RabbitMQ 4 gives up after 20
unless told otherwise."""


def is_amqp(url: str) -> bool:
    """Whether the broker is RabbitMQ."""
    return url.startswith("amqp")


def options(url: str, timing: Limits) -> dict[str, Any]:
    """Return the options of this broker's transport."""
    if is_amqp(url):
        return _GIVE_UP_AT_ONCE | _amqp(timing)
    return _GIVE_UP_AT_ONCE | _redis(timing) if url.startswith("redis") else {}


def queues(url: str, names: Iterable[str]) -> list[Queue]:
    """Return the queues as this broker is to make them.

    On RabbitMQ they are quorum queues: on a cluster they survive the loss of a node, on one node they are as good.
    """
    if not is_amqp(url):
        return [Queue(name) for name in names]
    kept = {"x-queue-type": "quorum", "x-delivery-limit": DELIVERIES_OF_ONE_MESSAGE}
    return [Queue(name, queue_arguments=kept) for name in names]


_GIVE_UP_AT_ONCE = {"max_retries": 1, "interval_start": 0}
"""kombu would try to connect for as long again; the dispatcher holds rows meanwhile, and waits by itself."""


def _redis(timing: Limits) -> dict[str, Any]:
    return {
        "socket_timeout": timing.broker_timeout_seconds,
        "socket_connect_timeout": timing.broker_timeout_seconds,
        # Only unsettled messages wait for this: longer than a statement timeout and a redelivery pause.
        "visibility_timeout": 120,
        # kombu looks every interval x throttle; its defaults make that 100 s.
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
    }


def _amqp(timing: Limits) -> dict[str, Any]:
    # Of one read or write in progress: waiting for the next message is not one.
    return {"read_timeout": timing.broker_timeout_seconds, "write_timeout": timing.broker_timeout_seconds}
