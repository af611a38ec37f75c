"""A worker that stands still for three leases in each phase, and then goes on as if nothing had happened."""

from __future__ import annotations

import signal
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from exports import dispatcher
from exports.models import ExportJob
from exports.models.base import ClockTimestamp
from exports.states import Status
from reconciliation import recovery
from tests.faults.processes import a_worker, is_stopped, worker_environment
from tests.faults.world import evidence, kinds, now

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.stack import Stack
    from tests.faults.processes import Process
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker", "audited"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]

LEASE = {"EXPORT_LEASE_SECONDS": "0.8", "EXPORT_RENEW_SECONDS": "0.25"}
BEFORE_CUTOFF_2 = ["settle.after", "build.before", "build.after", "connect.after", "authorize.before"]
AFTER_CUTOFF_2 = [
    "authorize.after",
    "delivery.after_baseline",
    "delivery.after_upload",
    "delivery.after_announce",
    "delivery.after_publish",
    "finished.before",
]


def stand_still(worker: Process, job: ExportJob) -> None:
    """Wait until the worker stands at its point, and its lease has been over for two more leases."""
    worker.until(lambda: is_stopped(worker.pid))
    long_over = ClockTimestamp() - timedelta(seconds=2 * float(LEASE["EXPORT_LEASE_SECONDS"]))
    worker.until(lambda: ExportJob.objects.filter(id=job.id, lease_expires_at__lt=long_over).exists())


def go_on_to_the_end(worker: Process) -> None:
    """Let it go on, and end when what it had begun is over."""
    worker.send(signal.SIGCONT)
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0


@pytest.mark.parametrize("point", BEFORE_CUTOFF_2)
def test_before_cutoff_2_it_authorizes_nothing_that_recovery_took_over(
    point: str, stack: Stack, spool: Path, world: World
) -> None:
    environment = worker_environment(stack.broker.url(), spool, EXPORT_CRASH_POINTS=f"{point}=stop", **LEASE)
    with a_worker(environment, spool.parent / "worker.log") as worker:
        job = world.queued()
        dispatcher.run_once(10, "dispatcher")
        stand_still(worker, job)
        assert recovery.run_once(10, time_budget_seconds=10, using="worker").requeued == 1
        go_on_to_the_end(worker)

    assert kinds(job) == ["Claimed", "RequeuedByRecovery"]
    assert now(job).status == Status.QUEUED
    assert evidence(job) == []
    assert world.arrived() == []
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize("point", AFTER_CUTOFF_2)
def test_after_cutoff_2_an_upload_that_was_under_way_is_kept_as_evidence(
    point: str, stack: Stack, spool: Path, world: World
) -> None:
    environment = worker_environment(stack.broker.url(), spool, EXPORT_CRASH_POINTS=f"{point}=stop", **LEASE)
    with a_worker(environment, spool.parent / "worker.log") as worker:
        job = world.queued()
        dispatcher.run_once(10, "dispatcher")
        stand_still(worker, job)
        recovered = recovery.run_once(10, time_budget_seconds=10, using="worker")
        assert recovered.completed + recovered.outcome_unknown == 1
        go_on_to_the_end(worker)

    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "ResolvedByRecovery"]
    assert '"outcome"' in evidence(job)[-1]
    assert world.arrived_as_recorded(job)


@pytest.mark.parametrize("point", ["settle.after", "build.after", "delivery.after_upload"])
def test_when_nobody_took_over_it_renews_and_delivers(point: str, stack: Stack, spool: Path, world: World) -> None:
    environment = worker_environment(stack.broker.url(), spool, EXPORT_CRASH_POINTS=f"{point}=stop", **LEASE)
    with a_worker(environment, spool.parent / "worker.log") as worker:
        job = world.queued()
        dispatcher.run_once(10, "dispatcher")
        stand_still(worker, job)
        go_on_to_the_end(worker)

    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "Finished"]
    assert now(job).status == Status.COMPLETED
