"""Celery's way into the exports app: a delegating line a task. Arguments are ids only."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from celery import shared_task

from exports import broker, scavenger, sums, sweeper
from exports.holds import waking
from exports.observability import canary as canaries
from exports.worker import probes, runner


@shared_task(base=broker.WakeUpTask, name=broker.RUN_EXPORT)
def run_export(job_id: str) -> None:
    """Take a wake-up for one export as far as it goes."""
    broker.handle(partial(runner.run_wake_up, UUID(job_id), drain=broker.process_drain))


@shared_task(name="exports.sweep", ignore_result=True)
def sweep() -> None:
    """Wake queued exports whose last wake-up is old."""
    sweeper.run()


@shared_task(name="exports.wake_held", ignore_result=True)
def wake_held() -> None:
    """Wake queued exports whose hold has ended or whose destination has a free slot."""
    waking.run()


@shared_task(name="exports.scavenge", ignore_result=True)
def scavenge() -> None:
    """Remove local files whose attempt is no longer live."""
    scavenger.run()


@shared_task(name="exports.probe_requested", ignore_result=True)
def probe_requested() -> None:
    """Send requested probes of destinations to whoever listens; one that is sent twice is run once."""
    for request_id in probes.due():
        probe_destination.apply_async((str(request_id),), expires=probes.SENT_FOR_SECONDS, retry=False)


@shared_task(name="exports.probe_destination", ignore_result=True)
def probe_destination(request_id: str) -> None:
    """Try the destination that this request is about, and record what was found."""
    probes.run(UUID(request_id))


@shared_task(name="exports.count_hours", ignore_result=True)
def count_hours() -> None:
    """Sum up what happened in each hour."""
    sums.run()


@shared_task(name=broker.CANARY, ignore_result=True)
def canary(queue: str) -> None:
    """Show that somebody listens to this queue."""
    canaries.arrive(queue)
