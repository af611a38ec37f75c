"""The test matrix's row "Lost responses": whole attempts against a real partner, with the database's answers lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from exports import boundary
from exports.disposition import Disposition
from exports.states import Status, Written
from reconciliation import recovery
from reconciliation.managers import Takeovers
from tests.faults.relay import Doors
from tests.faults.wire_proxy import Fault
from tests.faults.world import evidence, expire, kinds, now

if TYPE_CHECKING:
    from exports.models import ExportJob
    from tests.faults.waking import Waking
    from tests.faults.wire_proxy import WireProxy
    from tests.faults.world import World

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "api", "worker", "lossy"]),
    pytest.mark.usefixtures("audited"),
]

DELIVERED = ["Claimed", "DeliveryAuthorized", "Finished"]


@pytest.fixture(autouse=True)
def _short_rereads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give an unreachable database up as in production, only sooner."""
    monkeypatch.setattr(boundary, "REREAD_SECONDS", 0.3)


def test_a_connection_lost_after_the_claim_committed_is_found_running_as_its_own_and_goes_on(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("claim", Fault.CUT_REPLY)

    assert waking.run(job, lossy) is Disposition.SETTLED

    laid.wait()
    # The worker reads the row again, finds the expected state with its own attempt, and continues.
    assert kinds(job) == DELIVERED
    assert now(job).status == Status.COMPLETED
    assert now(job).attempt_count == 1
    assert world.arrived() == [world.final(job).name]


def test_a_connection_lost_after_cutoff_2_committed_is_found_delivering_as_its_own_and_goes_on(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("authorize_delivery", Fault.CUT_REPLY)

    assert waking.run(job, lossy) is Disposition.SETTLED

    laid.wait()
    # The same again after cutoff 2: state and ownership agree, and the delivery goes on, once.
    assert proxy.sent("authorize_delivery") == 1
    assert kinds(job) == DELIVERED
    assert now(job).status == Status.COMPLETED
    assert world.arrived_as_recorded(job)


def test_a_claim_lost_before_it_committed_with_a_failed_reread_is_delivered_again_and_runs_once(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("claim", Fault.DROP_REQUEST, then=lambda: proxy.set_doors(Doors.CLOSED))

    # Lost before the claim commits, and the re-read fails: the message stays unsettled.
    assert waking.run(job, lossy) is Disposition.UNSETTLED
    laid.wait()
    assert waking.message.settled == 0
    assert now(job).status == Status.QUEUED

    # It is delivered again, and the next claim runs the job once.
    proxy.set_doors(Doors.OPEN)
    assert waking.run(job, lossy) is Disposition.SETTLED
    assert kinds(job) == DELIVERED
    assert now(job).attempt_count == 1
    assert world.arrived() == [world.final(job).name]


def test_a_claim_lost_after_it_committed_with_a_failed_reread_is_left_to_recovery(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("claim", Fault.CUT_REPLY, then=lambda: proxy.set_doors(Doors.CLOSED))

    assert waking.run(job, lossy) is Disposition.UNSETTLED
    laid.wait()
    proxy.set_doors(Doors.OPEN)

    # The redelivered message finds the job Running and does nothing.
    assert waking.run(job, lossy) is Disposition.SETTLED
    assert kinds(job) == ["Claimed"]
    assert world.arrived() == []

    # Recovery takes the attempt over when its lease expires.
    expire(job)
    assert recovery.run_once(10, time_budget_seconds=10, using="worker").requeued == 1
    assert now(job).status == Status.QUEUED
    assert waking.run(job, lossy) is Disposition.SETTLED
    assert now(job).status == Status.COMPLETED
    assert world.arrived() == [world.final(job).name]


def test_an_attempt_that_recovery_resolved_before_the_reread_does_nothing_further(
    proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("authorize_delivery", Fault.CUT_REPLY, then=lambda: resolve_as_unknown(job))

    assert waking.run(job, lossy) is Disposition.SETTLED

    laid.wait()
    # Recovery moved the attempt to OutcomeUnknown first: the worker sees its own id in the wrong state …
    assert now(job).status == Status.OUTCOME_UNKNOWN
    # … and does nothing further: no write to the row, no evidence of an upload, nothing at the partner.
    assert kinds(job) == ["Claimed", "DeliveryAuthorized", "ResolvedByRecovery"]
    assert evidence(job) == []
    assert world.arrived() == []


def resolve_as_unknown(job: ExportJob) -> None:
    """Let the lease lapse and a recovery run resolve the attempt, from whatever thread this is."""
    expire(job)
    expired = now(job).attempt_id
    assert expired is not None
    written = Takeovers("worker").resolve(
        job_id=job.id,
        expired_attempt_id=expired,
        resolution=Status.OUTCOME_UNKNOWN,
        evidence_summary="nothing was seen",
        recovery_run_id="recovery:test",
    )
    assert written is Written.APPLIED


EVIDENCE = [(fault, nth) for fault in (Fault.CUT_REPLY, Fault.DROP_REQUEST) for nth in range(1, 6)]


@pytest.mark.parametrize("lost", EVIDENCE, ids=[f"{fault.name}-{nth}" for fault, nth in EVIDENCE])
def test_no_lost_answer_to_a_piece_of_evidence_sends_anything_twice(
    lost: tuple[Fault, int], proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    fault, nth = lost
    laid = proxy.ambush("append_evidence", fault, nth=nth)

    waking.run(job, lossy)

    laid.wait()
    assert now(job).status == Status.COMPLETED
    assert kinds(job) == DELIVERED
    assert [each for each in evidence(job) if '"publish_sent"' in each] == evidence(job)[1:2]
    assert len(set(evidence(job))) == len(evidence(job)) == 5
    assert world.arrived_as_recorded(job)


@pytest.mark.parametrize("fault", [Fault.CUT_REPLY, Fault.DROP_REQUEST])
def test_a_lost_answer_to_the_terminal_write_is_asked_of_the_row_and_written_once(
    fault: Fault, proxy: WireProxy, lossy: str, world: World, waking: Waking
) -> None:
    job = world.queued()
    laid = proxy.ambush("finish_delivery", fault)

    waking.run(job, lossy)

    laid.wait()
    assert now(job).status == Status.COMPLETED
    assert kinds(job) == DELIVERED
    assert world.arrived() == [world.final(job).name]
