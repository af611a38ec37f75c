"""A pause at full size: a crowd that waits costs nobody else anything, and resumes at its slots' pace."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from django.db import connections

from exports import dispatcher, sweeper
from exports.contracts import Limits
from exports.holds import waking as waker
from exports.models import ExportJob, Hold, OutboxMessage
from exports.models.base import ClockTimestamp
from exports.states import HoldCause, Status
from tests.broker.wire import queued
from tests.faults.fixtures import empty_broker
from tests.faults.world import a_world
from tests.holds.crowding import crowd

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    import redis

    from config.devstack.partner import PartnerAccount
    from tests.faults.waking import Waking

__all__ = ["empty_broker"]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"])

FREE = 4
RESUMES_SECONDS = 2.0
TICK_SECONDS = 1.0
"""The waker runs this often, so this much of the two seconds may pass before it looks."""


def tick() -> None:
    """Do what beat has done: one sweep, one look of the waker, and everything published that may be."""
    sweeper.run_once(500, time_budget_seconds=60, using="worker")
    waker.run_once(500, "worker")
    publish()


def publish() -> None:
    while dispatcher.run_once(500, "dispatcher").published:
        pass


def woken(broker: redis.Redis) -> set[UUID]:
    return {message.job_id for message in queued(broker)}


def forget(broker: redis.Redis) -> None:
    """Lose what was published, and let every wake-up lie two hours back."""
    publish()
    broker.flushdb()
    with connections["default"].cursor() as cursor:
        cursor.execute("UPDATE export_jobs SET woken_at = woken_at - interval '2 hours'")


@pytest.mark.parametrize("size", [(3_000, 10), pytest.param((100_000, 500), marks=pytest.mark.soak)])
def test_what_is_due_elsewhere_goes_while_a_paused_crowd_stays_and_then_resumes_as_slots_are_free(
    size: tuple[int, int],
    partner: PartnerAccount,
    waking: Waking,
    empty_broker: redis.Redis,
    spool: Path,
) -> None:
    waiting, due = size
    paused, free = a_world(partner, limits=Limits(max_running=FREE)), a_world(partner)
    jobs = {(job := free.queued()).id: job for _ in range(due)}
    forget(empty_broker)
    crowd(paused.destination, waiting)
    pause = Hold.objects.using("api").create(
        cause=HoldCause.PAUSED, reason="pause", created_by="user:ada", destination=paused.destination
    )

    for _ in range(3):
        tick()
        assert woken(empty_broker) == jobs.keys(), "the due ones, and nobody of the crowd"
    for job in jobs.values():
        waking.run(job)
    done = ExportJob.objects.filter(destination=free.destination, status=Status.COMPLETED)
    assert done.count() == due
    crowded = ExportJob.objects.filter(destination=paused.destination)
    assert not OutboxMessage.objects.filter(job_id__in=crowded.values("id")).exists()

    empty_broker.flushdb()
    Hold.objects.using("api").filter(id=pause.id).update(ended_at=ClockTimestamp(), ended_by="user:ada")
    began = time.monotonic()
    waker.run_once(500, "worker")
    publish()
    first = woken(empty_broker)
    assert len(first) == FREE, "as many as there are slots"
    next_up = crowded.get(id=first.pop())
    waking.run(next_up)
    assert time.monotonic() - began < RESUMES_SECONDS - TICK_SECONDS
    assert ExportJob.objects.get(id=next_up.id).status == Status.COMPLETED

    publish()
    assert len(first) < len(woken(empty_broker)) <= 2 * FREE, "an attempt that ends feeds the slots free by then"
    assert crowded.filter(sweep_count__gt=0).count() == 0
    assert list(spool.iterdir()) == []
