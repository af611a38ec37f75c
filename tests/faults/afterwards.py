"""What a deployment does after a crash, and what must be true when it has come to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connections

from exports.audit.run import audit
from exports.models import ExportJob
from exports.states import TERMINAL, Status
from reconciliation import recovery
from tests.faults.scenarios import wake
from tests.faults.world import evidence, expire

if TYPE_CHECKING:
    import uuid
    from pathlib import Path

    from tests.faults.scenarios import Scenario
    from tests.faults.world import World

ROUNDS = 6
"""More than an export needs from any crash to its end."""
LIVE = {Status.RUNNING, Status.DELIVERING}
NOTHING_SENT = {Status.QUEUED, Status.CANCELED, Status.REJECTED, Status.STOPPED, Status.FAILED}


def come_to_rest(scenario: Scenario, job_id: uuid.UUID) -> ExportJob:
    """Go on as beat, other workers and a client that got no answer do, until the export rests."""
    job: ExportJob | None = None
    for _ in range(ROUNDS):
        job = ExportJob.objects.filter(id=job_id).first()
        if job is not None and (job.status in scenario.ends or (job.status in TERMINAL and not asks_again(scenario))):
            rested: ExportJob = job
            return rested
        go_on(scenario, job_id)
    raise AssertionError(f"export {job_id} does not come to rest: {job and job.status}")


def go_on(scenario: Scenario, job_id: uuid.UUID) -> None:
    """Do the next thing that a deployment does by itself for this export, or that its client does."""
    for connection in connections.all(initialized_only=True):
        connection.close()  # whoever goes on is another process
    job = ExportJob.objects.filter(id=job_id).first()
    if asks_again(scenario):
        scenario.act(job_id, scenario.role)
    if job is not None and job.status == Status.QUEUED:
        wake(job_id, "worker")
    elif job is not None and job.status in LIVE:
        expire(job)
        recovery.run_once(10, time_budget_seconds=20, using="worker")


def asks_again(scenario: Scenario) -> bool:
    """Whether whoever got no answer does the same again: a client or person, or the collector at its next run."""
    return scenario.role in {"api", "acknowledger"}


def assert_promises_hold(world: World, job: ExportJob) -> None:
    """Audit the whole database, and compare the partner's directory and the spool with the record."""
    connections["auditor"].close()
    assert [str(finding) for finding in audit("auditor") if finding.rule.is_violation] == []
    assert sum('"publish_sent"' in each for each in evidence(job)) <= 1
    assert [name for name in world.arrived() if name.endswith(".csv")] in ([], [world.final(job).name])
    if job.status in NOTHING_SENT:
        assert world.arrived() == []
    elif world.final(job).exists() or job.status == Status.COMPLETED:
        assert world.arrived_as_recorded(job)
    assert spooled(job.id, settings.EXPORTS.spool_dir) == []


def spooled(job_id: uuid.UUID, spool: Path) -> list[Path]:
    """Return the local files of an export that nobody took away."""
    return list(spool.glob(f"{job_id}.*"))
