"""One job whose build ends its process every time, among healthy ones: they arrive, and it alone is exhausted."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports import dispatcher
from exports.models import ExportJob
from exports.states import FailureReason, Status
from exports.worker.alone import ALONE_FROM_ATTEMPTS
from reconciliation import recovery
from tests.faults.observing import until
from tests.faults.processes import Process, a_worker, worker_environment
from tests.faults.sources import POISON
from tests.faults.world import kinds, now

if TYPE_CHECKING:
    from pathlib import Path

    from config.devstack.stack import Stack
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.usefixtures("empty_broker"),
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]

HEALTHY = 20
ATTEMPTS = 4
SLOTS = 4
REST_SECONDS = 120.0


class Supervisor:
    """Starts the worker again whenever it dies, as whatever runs it in production does."""

    def __init__(self, environment: dict[str, str], directory: Path, stack: ExitStack) -> None:
        self._environment = environment
        self._directory = directory
        self._stack = stack
        self.deaths = -1
        self._worker: Process | None = None

    def look(self) -> None:
        """See whether it lives, and keep outbox and expired leases moving as beat and the dispatcher do."""
        if self._worker is None or not self._worker.is_running:
            self.deaths += 1
            log = self._directory / f"worker{self.deaths}.log"
            self._worker = self._stack.enter_context(a_worker(self._environment, log, app="tests.broker.impatient"))
        recovery.run_once(100, time_budget_seconds=10, using="worker")
        dispatcher.run_once(100, "dispatcher")


def told_about(poison: ExportJob) -> dict[str, str]:
    """Return what makes workers die of this job."""
    return {
        "EXPORT_SOURCE": "tests.faults.sources.Poisoned",
        "EXPORT_MAX_ATTEMPTS": str(ATTEMPTS),
        POISON: str(poison.id),
    }


def to_rest(environment: dict[str, str], directory: Path) -> int:
    """Let a deployment go on until every export rests; return how often its worker died."""
    with ExitStack() as processes:
        supervisor = Supervisor(environment, directory, processes)

        def all_at_rest() -> bool:
            supervisor.look()
            return not ExportJob.objects.filter(status__in=["Queued", "Running", "Delivering"]).exists()

        until(all_at_rest, REST_SECONDS)
    return supervisor.deaths


def assert_exhausted(poison: ExportJob) -> None:
    assert now(poison).status == Status.FAILED
    assert now(poison).failure_reason == FailureReason.ATTEMPTS_EXHAUSTED


def test_a_job_that_kills_its_process_runs_out_of_attempts_and_no_healthy_one_does(
    stack: Stack, spool: Path, world: World, settings: Any
) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, max_attempts=ATTEMPTS)
    jobs = [world.queued() for _ in range(HEALTHY)]
    poison = world.queued()

    deaths = to_rest(worker_environment(stack.broker.url(), spool, **told_about(poison)), spool.parent)

    assert_exhausted(poison)
    assert kinds(poison).count("Claimed") == ATTEMPTS
    assert deaths <= ALONE_FROM_ATTEMPTS  # from its third attempt on it died alone
    completed = [job for job in jobs if now(job).status == Status.COMPLETED]
    # A neighbour that was past cutoff 2 when its process died is sent to nobody again: that is for people to settle.
    caught = [job for job in jobs if kinds(job)[-2:] == ["DeliveryAuthorized", "ResolvedByRecovery"]]
    assert {job.id for job in jobs} == {job.id for job in completed} | {job.id for job in caught}
    assert len(set(caught) - set(completed)) <= deaths * (SLOTS - 1)


def test_once_it_is_under_suspicion_every_healthy_neighbour_completes_and_the_worker_lives(
    stack: Stack, spool: Path, world: World, settings: Any
) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, max_attempts=ATTEMPTS)
    poison = world.queued()
    ExportJob.objects.filter(id=poison.id).update(attempt_count=ALONE_FROM_ATTEMPTS)
    jobs = [world.queued() for _ in range(HEALTHY)]

    deaths = to_rest(worker_environment(stack.broker.url(), spool, **told_about(poison)), spool.parent)

    assert deaths == 0
    assert_exhausted(poison)
    assert {now(job).status for job in jobs} == {Status.COMPLETED}
    assert len(world.arrived()) == HEALTHY
