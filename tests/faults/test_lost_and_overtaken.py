"""A boundary write that got no answer, while something else was done to the row: the row is believed, wholly.

State and ownership are read together: another attempt's Running or Delivering is not this one's, and what refuses
cutoff 2 by now is found although the write itself never arrived (I3, I6).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from exports.actions.request_cancellation import Click, request_cancellation
from exports.models import ExportJob
from exports.states import Authorization, Status
from exports.worker.writes import Claim, Terminal
from reconciliation import recovery
from tests.faults.boundaries import BOUNDARIES, FILE, Situation, claim
from tests.faults.replacing import a_replacement, complete_original_of
from tests.faults.wire_proxy import Fault
from tests.faults.world import BY, expire, now

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "reconciliation", "lossy"]),
    pytest.mark.usefixtures("audited"),
]

WRITES = {write.name: write for write in BOUNDARIES}


def is_stopped_by_a_click(at: Situation) -> None:
    job = now(at.job)
    click = Click(tenant_id=job.tenant_id, job_id=job.id, request_id=uuid.uuid4(), requested_by=BY)
    request_cancellation(click, using="api")


def is_taken_over(at: Situation) -> None:
    expire(at.job)
    recovered = recovery.run_once(10, time_budget_seconds=10, using="worker")
    assert recovered.requeued + recovered.completed + recovered.outcome_unknown == 1


def is_claimed_by_another(at: Situation) -> None:
    claim(at.job, at.world)


def is_built_by_another(at: Situation) -> None:
    is_taken_over(at)
    is_claimed_by_another(at)


def is_delivered_by_another(at: Situation) -> None:
    is_built_by_another(at)
    attempt_id = now(at.job).attempt_id
    assert attempt_id is not None
    word = ExportJob.objects.db_manager("worker").authorize_delivery(
        job_id=at.job.id,
        attempt_id=attempt_id,
        final_name=at.world.final(at.job).name,
        file_rows=FILE.rows,
        file_bytes=FILE.bytes,
        file_sha256=FILE.sha256,
    )
    assert word is Authorization.AUTHORIZED


def has_its_original_completed(at: Situation) -> None:
    complete_original_of(at.job)


def a_running_replacement(world: World) -> ExportJob:
    job = a_replacement(world)
    claim(job, world)
    return now(job)


@dataclass(frozen=True)
class Overtaken:
    """A write that never arrives, what somebody else does meanwhile, and what the writer then knows."""

    write: str
    by: Callable[[Situation], None]
    answer: object
    status: Status
    arrange: Callable[[World], ExportJob] | None = None
    still_owned: bool = False

    def __str__(self) -> str:
        return f"{self.write}, {self.by.__name__.replace('_', ' ')}"


CASES = (
    Overtaken("claim", is_stopped_by_a_click, Claim.LOST, Status.CANCELED),
    Overtaken("claim", is_claimed_by_another, Claim.LOST, Status.RUNNING),
    Overtaken("authorize", is_stopped_by_a_click, Authorization.STOP_RECORDED, Status.RUNNING, still_owned=True),
    Overtaken("authorize", is_taken_over, Authorization.NOT_OWNER, Status.QUEUED),
    Overtaken("authorize", is_built_by_another, Authorization.NOT_OWNER, Status.RUNNING),
    Overtaken("authorize", is_delivered_by_another, Authorization.NOT_OWNER, Status.DELIVERING),
    Overtaken(
        "authorize",
        has_its_original_completed,
        Authorization.ORIGINAL_COMPLETED,
        Status.RUNNING,
        a_running_replacement,
        still_owned=True,
    ),
    Overtaken("failed", is_taken_over, Terminal.REFUSED, Status.QUEUED),
    Overtaken("failed", is_built_by_another, Terminal.REFUSED, Status.RUNNING),
    Overtaken("returned", is_built_by_another, Terminal.REFUSED, Status.RUNNING),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_was_done_to_the_row_meanwhile_is_the_answer(
    case: Overtaken, proxy: WireProxy, lossy: str, world: World
) -> None:
    write, at = WRITES[case.write], situation(case, world, lossy)
    laid = proxy.ambush(write.statement, Fault.DROP_REQUEST, then=lambda: case.by(at))

    assert write.write(at) == case.answer

    laid.wait()
    row = now(at.job)
    assert row.status == case.status
    assert (row.attempt_id == at.writes.attempt_id) == case.still_owned


def situation(case: Overtaken, world: World, using: str) -> Situation:
    """Bring an export to the state before the write, or to a state of its own."""
    at = WRITES[case.write].situation(world, using)
    if case.arrange is None:
        return at
    job = case.arrange(world)
    assert job.attempt_id is not None
    at.writes.job_id, at.writes.attempt_id = job.id, job.attempt_id
    return Situation(world, job, at.writes)
