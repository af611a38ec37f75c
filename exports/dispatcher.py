"""From the outbox to the broker: publish a batch, then mark it (I5).

A failed publish is ambiguous, so it marks nothing and the rows are published again; duplicates are harmless.
Rows are found by published_at alone, so one that commits late is never skipped. Two dispatchers pass over each
other's locked rows.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError, close_old_connections, connections, transaction
from kombu.exceptions import KombuError, OperationalError

from exports import broker
from exports.conf import limits
from exports.crashpoints import reach
from exports.models import OutboxMessage
from exports.observability import counters
from exports.observability.heartbeats import Progress

if TYPE_CHECKING:
    from exports.worker.drain import Drain

logger = logging.getLogger(__name__)

BACKOFF_SECONDS = (0.2, 10.0)
"""First and longest pause while the database or the broker does not answer."""

progress = Progress()
"""Of this process's loop: a dispatcher that gets nothing through soon stops counting as seen."""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What one round did."""

    published: int


def run_once(limit: int, using: str = "default") -> Dispatched:
    """Publish and mark up to `limit` wake-ups; database and broker errors pass through and mark nothing."""
    outbox = OutboxMessage.objects.db_manager(using)
    with transaction.atomic(using=using):
        wake_ups = outbox.take(batch=limit)
        if wake_ups:
            reach("dispatch.publish.before")
            with broker.open_producer() as producer:
                broker.publish(wake_ups, producer)
            reach("dispatch.publish.after")
            outbox.mark_published(message_ids=[message_id for message_id, _ in wake_ups])
        reach("dispatch.commit.before")
    reach("dispatch.commit.after")
    counters.dispatched.inc(len(wake_ups))
    return Dispatched(published=len(wake_ups))


def run(drain: Drain, using: str = "default") -> None:
    """Dispatch until told to go; an outage of database or broker is waited out with a growing pause."""
    pause = BACKOFF_SECONDS[0]
    while not drain.has_begun:
        try:
            close_old_connections()
            done = run_once(limits().dispatch_batch, using)
        except UNREACHABLE as error:
            logger.warning("dispatching_waits", extra={"error": type(error).__name__, "words": str(error)})
            counters.dispatch_failures.inc()
            connections[using].close()
            drain.wait_begun(pause)
            pause = min(pause * 2, BACKOFF_SECONDS[1])
            continue
        progress.made()
        pause = BACKOFF_SECONDS[0]
        if done.published == 0:
            drain.wait_begun(limits().dispatch_poll_ms / 1000)


UNREACHABLE: tuple[type[Exception], ...] = (
    DatabaseError,
    InterfaceError,
    KombuError,
    OperationalError,
    ConnectionError,
    OSError,
)
"""What a database or a broker that is down, slow or lying shows; anything else is a bug and ends the process."""
