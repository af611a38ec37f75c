"""Celery's way into the exports app: a delegating line a task. Arguments are ids only."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from celery import shared_task

from exports import broker, scavenger, sweeper
from exports.holds import waking
from exports.observability import canary as canaries
from exports.worker import runner


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


@shared_task(name="exports.canary", ignore_result=True)
def canary(queue: str) -> None:
    """Show that somebody listens to this queue."""
    canaries.arrive(queue)
