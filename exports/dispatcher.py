"""From the outbox to the broker: publish a batch, then mark it (I5).

A failed publish is ambiguous, so it marks nothing and the rows are published again; duplicates are harmless.
Rows are found by published_at alone, so one that commits late is never skipped. Two dispatchers pass over each
other's locked rows. Batches go round the tenants, and no further than the broker's queue is deep: a tenant with one
export waits neither in the outbox nor in the broker for all of another's ten thousand.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError, InterfaceError, close_old_connections, connections, transaction
from kombu.exceptions import KombuError, OperationalError

from exports import broker
from exports.conf import limits
from exports.crashpoints import reach
from exports.models import OutboxMessage
from exports.models.outbox import NOBODYS
from exports.observability import counters
from exports.observability.heartbeats import Progress

if TYPE_CHECKING:
    from uuid import UUID

    from exports.worker.drain import Drain

logger = logging.getLogger(__name__)

BACKOFF_SECONDS = (0.2, 10.0)
"""First and longest pause while the database or the broker does not answer."""

progress = Progress()
"""Of this process's loop: a dispatcher that gets nothing through soon stops counting as seen."""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What one batch did; `held_back`: the broker's queue was deep enough, and nothing was taken."""

    published: int
    held_back: bool = False


@dataclass(slots=True)
class Rounds:
    """Whose turn it is: the tenant served last, by id. Each dispatcher goes round by itself."""

    after_tenant: UUID = NOBODYS


def run_once(limit: int, using: str = "default", rounds: Rounds | None = None) -> Dispatched:
    """Publish and mark up to `limit` wake-ups; database and broker errors pass through and mark nothing.

    Never deeper than EXPORT_DISPATCH_DEPTH: what the broker holds is served first come, first served, so whoever
    comes next waits for no more than that. Dispatchers that look at the same time may each add a batch.
    """
    if not OutboxMessage.objects.db_manager(using).waits():
        return Dispatched(published=0)
    with broker.open_producer() as producer:
        room = min(limit, limits().dispatch_depth - broker.waiting(producer))
        if room <= 0:
            return Dispatched(published=0, held_back=True)
        return _publish(room, using, rounds or Rounds(), producer)


def _publish(room: int, using: str, rounds: Rounds, producer: Any) -> Dispatched:
    outbox = OutboxMessage.objects.db_manager(using)
    with transaction.atomic(using=using):
        wake_ups = outbox.take(batch=room, after_tenant=rounds.after_tenant)
        if wake_ups:
            reach("dispatch.publish.before")
            broker.publish(wake_ups, producer)
            reach("dispatch.publish.after")
            outbox.mark_published(message_ids=[wake_up.message_id for wake_up in wake_ups])
            rounds.after_tenant = wake_ups[-1].tenant_id
        reach("dispatch.commit.before")
    reach("dispatch.commit.after")
    counters.dispatched.inc(len(wake_ups))
    return Dispatched(published=len(wake_ups))


def run(drain: Drain, using: str = "default") -> None:
    """Dispatch until told to go; an outage of database or broker is waited out with a growing pause."""
    pause, rounds = BACKOFF_SECONDS[0], Rounds()
    while not drain.has_begun:
        try:
            close_old_connections()
            done = run_once(limits().dispatch_batch, using, rounds)
        except UNREACHABLE as error:
            _give_up(error, using)
            drain.wait_begun(pause)
            pause = min(pause * 2, BACKOFF_SECONDS[1])
            continue
        progress.made()
        pause = BACKOFF_SECONDS[0]
        counters.dispatch_held_back.inc(done.held_back)
        if done.published == 0:
            drain.wait_begun(limits().dispatch_poll_ms / 1000)


def _give_up(error: Exception, using: str) -> None:
    """Say what does not answer, and let the next try begin with new connections."""
    logger.warning("dispatching_waits", extra={"error": type(error).__name__, "words": str(error)})
    counters.dispatch_failures.inc()
    connections[using].close()
    broker.hang_up()


UNREACHABLE: tuple[type[Exception], ...] = (
    DatabaseError,
    InterfaceError,
    KombuError,
    OperationalError,
    *broker.CONNECTION_ERRORS,
    OSError,
)
"""What a database or a broker that is down, slow or lying shows; anything else is a bug and ends the process."""
