"""The boundary writes of an attempt: how each is brought about, and what must be known of it when it got no answer."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exports.contracts import Limits
from exports.models import ExportAttemptEvent, ExportJob
from exports.states import Authorization, FailureReason, Status, Written
from exports.worker.spool import ExportFile
from exports.worker.writes import AttemptWrites, Claim, Terminal
from tests.faults.wire_proxy import containing
from tests.faults.world import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.world import World

PATIENCE_SECONDS = 3.0
FILE = ExportFile(Path("/nowhere"), rows=1, bytes=10, sha256=b"\1" * 32)
WORKER_ID = "worker:tests"


@dataclass(frozen=True)
class Situation:
    """A job in the state before a write, and the attempt about to write."""

    world: World
    job: ExportJob
    writes: AttemptWrites

    def status(self) -> str:
        """Return the job's status now."""
        return now(self.job).status

    def events(self, kind: str) -> int:
        """Count the job's events of one kind."""
        return ExportAttemptEvent.objects.filter(job_id=self.job.id, kind=kind).count()


@dataclass(frozen=True)
class Boundary:
    """One write: the state it needs, the call, and what it does to the job.

    `applied` is the answer when it was applied. `refused_once` is the answer after it certainly was not applied,
    once: for claims and authorizations the caller goes on, the attempt's last writes try again by themselves.
    """

    name: str
    statement: str | Callable[[str], bool]
    arrange: Callable[[World], ExportJob]
    write: Callable[[Situation], Any]
    applied: Any
    refused_once: Any
    unknown: Any
    before: Status
    after: Status
    event: str | None

    def situation(self, world: World, using: str) -> Situation:
        """Bring a job to the state before this write; the writes go over `using`."""
        job = self.arrange(world)
        attempt_id = now(job).attempt_id or uuid.uuid4()
        writes = AttemptWrites(job.id, attempt_id, WORKER_ID, lambda: time.monotonic() + PATIENCE_SECONDS, using)
        return Situation(world, job, writes)

    def tries_again(self) -> bool:
        """Whether the write itself tries again after a certain refusal."""
        return bool(self.refused_once == self.applied)


def claim(job: ExportJob, world: World, lease_seconds: float = 60.0) -> None:
    """Claim an export for an attempt of its own."""
    written = ExportJob.objects.db_manager("worker").claim(
        job_id=job.id,
        checked_version=job.version,
        attempt_id=uuid.uuid4(),
        worker_id=WORKER_ID,
        contract_id=world.contract.id,
        lease_seconds=lease_seconds,
    )
    assert written is Written.APPLIED


def running(world: World, lease_seconds: float = 60.0) -> ExportJob:
    """Return a claimed job."""
    job = world.queued()
    claim(job, world, lease_seconds)
    return now(job)


def stop_requested(world: World, lease_seconds: float = 60.0) -> ExportJob:
    """Return a claimed job somebody asked to stop."""
    job = running(world, lease_seconds)
    ExportJob.objects.filter(id=job.id).update(stop_request_id=uuid.uuid4())
    return now(job)


def delivering(world: World, lease_seconds: float = 60.0) -> ExportJob:
    """Return an authorized job."""
    job = running(world, lease_seconds)
    assert job.attempt_id is not None
    word = ExportJob.objects.db_manager("worker").authorize_delivery(
        job_id=job.id,
        attempt_id=job.attempt_id,
        final_name=world.final(job).name,
        file_rows=FILE.rows,
        file_bytes=FILE.bytes,
        file_sha256=FILE.sha256,
    )
    assert word is Authorization.AUTHORIZED
    return now(job)


def _claim(at: Situation) -> Claim:
    return at.writes.claim(at.job, at.world.contract.id, Limits())


def _claim_slot(at: Situation) -> Claim:
    return at.writes.claim(at.job, at.world.contract.id, Limits(max_running=2))


def _authorize(at: Situation) -> Authorization:
    name = at.world.final(at.job).name
    return at.writes.authorize(FILE, name, lease_until=time.monotonic() + PATIENCE_SECONDS)


BOUNDARIES = (
    Boundary(
        "claim",
        "claim",
        lambda world: world.queued(),
        _claim,
        Claim.CLAIMED,
        Claim.UNKNOWN,  # still queued: its message goes back, which is its wake-up
        Claim.UNKNOWN,
        Status.QUEUED,
        Status.RUNNING,
        "Claimed",
    ),
    Boundary(
        "claim under the gate",
        containing("COMMIT"),
        lambda world: world.queued(),
        _claim_slot,
        Claim.CLAIMED,
        Claim.UNKNOWN,
        Claim.UNKNOWN,
        Status.QUEUED,
        Status.RUNNING,
        "Claimed",
    ),
    Boundary(
        "authorize",
        "authorize_delivery",
        running,
        _authorize,
        Authorization.AUTHORIZED,
        Authorization.LEASE_LAPSED,  # nothing refuses it any more: one renewal, one retry
        Authorization.UNKNOWN,
        Status.RUNNING,
        Status.DELIVERING,
        "DeliveryAuthorized",
    ),
    Boundary(
        "stopped",
        "finish_stopped",
        stop_requested,
        lambda at: at.writes.finish_stopped("while building"),
        Terminal.APPLIED,
        Terminal.APPLIED,
        Terminal.UNKNOWN,
        Status.RUNNING,
        Status.STOPPED,
        "Stopped",
    ),
    Boundary(
        "failed",
        "finish_failed",
        running,
        lambda at: at.writes.finish_failed(FailureReason.BUILD_FAILED, "no disk"),
        Terminal.APPLIED,
        Terminal.APPLIED,
        Terminal.UNKNOWN,
        Status.RUNNING,
        Status.FAILED,
        "Failed",
    ),
    Boundary(
        "finished",
        "finish_delivery",
        delivering,
        lambda at: at.writes.finish_delivery(Status.COMPLETED, None, "Completed: seen"),
        Terminal.APPLIED,
        Terminal.APPLIED,
        Terminal.UNKNOWN,
        Status.DELIVERING,
        Status.COMPLETED,
        "Finished",
    ),
    Boundary(
        "returned",
        "return_lease",
        running,
        lambda at: at.writes.return_lease(),
        Terminal.APPLIED,
        Terminal.APPLIED,
        Terminal.UNKNOWN,
        Status.RUNNING,
        Status.RUNNING,
        None,
    ),
    Boundary(
        "evidence",
        "append_evidence",
        delivering,
        lambda at: at.writes.append('{"v":1,"kind":"test"}'),
        True,  # noqa: FBT003 - the answer itself
        True,  # noqa: FBT003 - the answer itself
        False,  # noqa: FBT003 - the answer itself
        Status.DELIVERING,
        Status.DELIVERING,
        "DeliveryEvidence",
    ),
)
"""Every write whose lost answer matters. Cancellation is its own action, with its own tests."""
