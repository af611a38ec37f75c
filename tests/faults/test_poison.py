"""One job whose build ends its process every time, among healthy ones: they arrive, and it alone is exhausted."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports import dispatcher
from exports.models import ExportJob
from exports.states import FailureReason, Status
from reconciliation import recovery
from tests.faults.observing import until
from tests.faults.processes import Process, a_worker, worker_environment
from tests.faults.sources import POISON
from tests.faults.world import kinds, now

if TYPE_CHECKING:
    from pathlib import Path

    import redis

    from config.devstack.stack import Stack
    from tests.faults.world import World

pytestmark = [
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "dispatcher"]),
]

HEALTHY = 20
ATTEMPTS = 4
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


def test_a_job_that_kills_its_process_takes_no_healthy_one_with_it(
    stack: Stack, spool: Path, world: World, empty_broker: redis.Redis, settings: Any
) -> None:
    del empty_broker
    settings.EXPORTS = replace(settings.EXPORTS, max_attempts=ATTEMPTS)
    jobs = [world.queued() for _ in range(HEALTHY)]
    poison = world.queued()
    told = {
        "EXPORT_SOURCE": "tests.faults.sources.Poisoned",
        "EXPORT_MAX_ATTEMPTS": str(ATTEMPTS),
        POISON: str(poison.id),
    }
    with ExitStack() as processes:
        supervisor = Supervisor(worker_environment(stack.broker.url(), spool, **told), spool.parent, processes)

        def all_at_rest() -> bool:
            supervisor.look()
            return not ExportJob.objects.filter(status__in=["Queued", "Running", "Delivering"]).exists()

        until(all_at_rest, REST_SECONDS)

    assert {now(job).status for job in jobs} == {Status.COMPLETED}
    assert len(world.arrived()) == HEALTHY
    assert now(poison).status == Status.FAILED
    assert now(poison).failure_reason == FailureReason.ATTEMPTS_EXHAUSTED
    assert kinds(poison).count("Claimed") == ATTEMPTS
    assert supervisor.deaths <= 2  # from its third attempt on it died alone
