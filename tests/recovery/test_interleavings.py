"""The matrix row "Recovery interleavings": a test a sentence, quoted in our own words.

Takeovers and the worker's own writes meet on real sessions; who waits for whom is read from the server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from exports import crashpoints
from exports.evidence import Accepted, Present, PublishAnswered, ReadBack
from exports.models import ExportAttemptEvent, ExportJob
from exports.states import Authorization, CancellationOutcome, EventKind, FailureReason, Status, Written
from tests.cancellation.clicking import a_click, recorded, submit
from tests.recovery.lives import (
    ALIASES,
    CONTENT,
    LEASE_SECONDS,
    SHA256,
    append,
    attempt_of,
    authorize,
    claim,
    delivering,
    events_of,
    expire,
    now,
    queued,
    running,
    wake_ups_of,
)
from tests.recovery.running import RUN_ID, recover, requeue
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from config.devstack.partner import PartnerAccount
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


def renew(job: ExportJob, attempt_id: UUID | None = None) -> Written:
    return ExportJob.objects.db_manager("worker").renew_lease(
        job_id=job.id, attempt_id=attempt_id or attempt_of(job), lease_seconds=LEASE_SECONDS
    )


def requeue_params(job: ExportJob) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "expired_attempt_id": job.attempt_id,
        "max_attempts": 5,
        "recovery_run_id": RUN_ID,
    }


def authorize_params(job: ExportJob, place: Place) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "attempt_id": job.attempt_id,
        "final_name": place.final_name(job),
        "file_rows": 1,
        "file_bytes": len(CONTENT),
        "file_sha256": SHA256,
    }


def test_a_cancellation_after_recovery_returned_the_job_finds_it_queued_with_its_attempts(place: Place) -> None:
    """A cancellation that finds Queued after a requeue: CanceledWhileQueued, attempt count not zero."""
    job = running(place)
    expire(job)
    recover()

    request = recorded(submit(a_click(job)))

    assert (request.outcome, request.found_status) == (CancellationOutcome.CANCELED_WHILE_QUEUED, Status.QUEUED)
    assert (request.found_attempt_count, request.found_attempt_id) == (1, None)
    assert events_of(job) == ["Claimed", "RequeuedByRecovery"]


def test_an_authorization_that_waits_for_a_requeue_finds_that_it_owns_nothing(place: Place) -> None:
    """The return to Queued and a late authorization cannot both commit: here the return is first."""
    job = running(place)
    expire(job)
    with session("worker") as recovery:
        with recovery.transaction():
            assert run(recovery, "requeue", **requeue_params(job)) == [(job.id,)]
            authorizing = Background(lambda: authorize(job, place))
            wait_until_blocked_by(recovery)
        word = authorizing.result()

    assert word is Authorization.NOT_OWNER
    assert (now(job.id).status, events_of(job)) == (Status.QUEUED, ["Claimed", "RequeuedByRecovery"])


def test_a_requeue_that_rolls_back_leaves_the_late_authorization_a_lapsed_lease(place: Place) -> None:
    """The return to Queued and a late authorization cannot both commit: here neither does."""
    job = running(place)
    expire(job)
    with session("worker") as recovery:
        recovery.autocommit = False
        run(recovery, "requeue", **requeue_params(job))
        authorizing = Background(lambda: authorize(job, place))
        wait_until_blocked_by(recovery)
        recovery.rollback()
        word = authorizing.result()

    assert word is Authorization.LEASE_LAPSED
    assert (now(job.id).status, events_of(job)) == (Status.RUNNING, ["Claimed"])


@pytest.mark.parametrize("commits", [True, False])
def test_a_requeue_that_waits_for_a_late_authorization_matches_only_if_that_is_undone(
    place: Place, *, commits: bool
) -> None:
    """The return to Queued and a late authorization cannot both commit: here the authorization is first."""
    job = running(place)
    lapse_soon(job)
    with session("worker") as worker:
        worker.autocommit = False
        assert run(worker, "authorize_delivery", **authorize_params(job, place)) == [("Authorized",)]
        wait_for_lapse(job)
        returning = Background(lambda: requeue(job))
        wait_until_blocked_by(worker)
        worker.commit() if commits else worker.rollback()
        written = returning.result()

    assert written is (Written.REFUSED if commits else Written.APPLIED)
    assert now(job.id).status == (Status.DELIVERING if commits else Status.QUEUED)


def lapse_soon(job: ExportJob) -> None:
    """Leave the lease current for the next statement, and for no longer than a second."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "UPDATE export_jobs SET lease_expires_at = clock_timestamp() + interval '0.5 s' WHERE id = %s", [job.id]
        )


def wait_for_lapse(job: ExportJob) -> None:
    """Wait in the database for the row's own lease to end; the committed row is read, nothing is locked."""
    with session("default") as owner:
        owner.execute(
            "SELECT pg_sleep_until(lease_expires_at + interval '1 ms') FROM export_jobs WHERE id = %s", [job.id]
        )


def before_the_takeover(point: str, action: Callable[[], object]) -> None:
    """Do something between recovery's scan and its statement, once."""

    def once() -> None:
        crashpoints.disarm(point)
        action()

    crashpoints.arm(point, once)


@pytest.mark.parametrize("stage", [running, delivering])
def test_a_lease_renewed_after_the_scan_prevents_the_takeover(
    place: Place, stage: Callable[[Place], ExportJob]
) -> None:
    """A renewal between recovery's scan and its statement: no takeover."""
    job = stage(place)
    expire(job, seconds=10_000)
    point = "recover.requeued.before" if job.status == Status.RUNNING else "recover.resolved.before"
    before_the_takeover(point, lambda: Background(lambda: renew(job)).result())
    before = events_of(job)

    recovered = recover()

    assert recovered.moved_on == 1
    assert (now(job.id).status, now(job.id).attempt_id) == (job.status, job.attempt_id)
    assert [kind for kind in events_of(job) if kind != EventKind.DELIVERY_EVIDENCE] == before


def test_an_uncommitted_renewal_makes_the_takeover_wait_and_then_match_nothing(place: Place) -> None:
    """A renewal still uncommitted when the takeover arrives: the takeover waits, looks again, and matches nothing."""
    job = running(place)
    expire(job)
    with session("worker") as worker:
        with worker.transaction():
            run(worker, "renew_lease", job_id=job.id, attempt_id=job.attempt_id, lease_seconds=LEASE_SECONDS)
            returning = Background(lambda: requeue(job))
            wait_until_blocked_by(worker)
        assert returning.result() is Written.REFUSED

    assert events_of(job) == ["Claimed"]


def test_a_crash_between_cutoff_2_and_the_upload_ends_unknown_and_uploads_nothing(
    reachable: Place, partner: PartnerAccount
) -> None:
    """Crashed after cutoff 2, before the upload: OutcomeUnknown, and never a second upload."""
    job = delivering(reachable)
    expire(job)

    recovered = recover()

    assert (recovered.outcome_unknown, now(job.id).status) == (1, Status.OUTCOME_UNKNOWN)
    assert list(partner.directory.iterdir()) == []
    assert recover().outcome_unknown == 0
    assert len(wake_ups_of(job)) == 1


@pytest.mark.parametrize("stage", [running, delivering])
def test_a_worker_whose_lease_merely_expired_renews_as_long_as_no_takeover_committed(
    place: Place, stage: Callable[[Place], ExportJob]
) -> None:
    """An expired lease can be renewed until a takeover commits, in Running and in Delivering."""
    job = stage(place)
    expire(job, seconds=10_000)

    assert renew(job) is Written.APPLIED
    assert recover().moved_on == 0
    assert now(job.id).status == job.status


@pytest.mark.parametrize("stage", [running, delivering])
def test_a_worker_that_resumes_after_a_takeover_cannot_renew(place: Place, stage: Callable[[Place], ExportJob]) -> None:
    """After a takeover the old attempt cannot renew, in Running and in Delivering."""
    job = stage(place)
    expire(job, seconds=10_000)
    recover()
    after = now(job.id)

    assert after.status in {Status.QUEUED, Status.OUTCOME_UNKNOWN}
    assert renew(job) is Written.REFUSED
    assert now(job.id).lease_expires_at is None


def test_a_worker_with_an_expired_lease_is_refused_at_cutoff_2_until_it_renews(place: Place) -> None:
    """Expired at cutoff 2: refused; renewed: authorized."""
    job = running(place)
    expire(job)

    refused = authorize(job, place)
    renewed = renew(job)
    allowed = authorize(job, place)

    assert (refused, renewed, allowed) == (
        Authorization.LEASE_LAPSED,
        Written.APPLIED,
        Authorization.AUTHORIZED,
    )


def test_an_expired_attempt_with_a_stop_request_ends_stopped_with_its_event(place: Place) -> None:
    """Expired with a recorded stop request: Stopped, with its event."""
    job = running(place)
    submit(a_click(job))
    expire(job)

    assert recover().stopped == 1
    assert (now(job.id).status, now(job.id).attempt_id) == (Status.STOPPED, job.attempt_id)
    assert events_of(job) == ["Claimed", "StoppedByRecovery"]


def test_an_expired_attempt_at_the_cap_ends_failed_with_its_event(place: Place) -> None:
    """Expired at the attempt cap: Failed with AttemptsExhausted, with its event."""
    job = queued(place)
    for _ in range(4):
        claim(now(job.id), place)
        expire(job)
        assert recover().requeued == 1
    claim(now(job.id), place)
    expire(job)

    assert recover().exhausted == 1
    assert (now(job.id).status, now(job.id).failure_reason) == (Status.FAILED, FailureReason.ATTEMPTS_EXHAUSTED)
    assert events_of(job)[-2:] == ["Claimed", "AttemptsExhausted"]


def test_a_job_that_crashes_its_worker_each_time_ends_failed_at_the_cap_and_no_later(place: Place) -> None:
    """A job that crashes its worker on every attempt ends Failed at the cap."""
    job = queued(place)
    attempts = 0
    while now(job.id).status == Status.QUEUED:
        claim(now(job.id), place)
        attempts += 1
        expire(job)
        recover()

    assert attempts == 5
    assert (now(job.id).status, now(job.id).attempt_count) == (Status.FAILED, 5)
    assert len(wake_ups_of(job)) == 5  # its birth's and one for each of four requeues


def test_an_attempt_that_was_given_back_does_not_count_against_the_cap(place: Place) -> None:
    job = queued(place)
    for _ in range(7):
        attempt_id = claim(now(job.id), place)
        ExportJob.objects.db_manager("worker").return_lease(job_id=job.id, attempt_id=attempt_id)
        assert recover().requeued == 1

    returned = ExportAttemptEvent.objects.filter(job_id=job.id, kind=EventKind.REQUEUED_BY_RECOVERY)
    assert {event.detail for event in returned} == {"returned"}
    assert (now(job.id).status, now(job.id).attempt_count) == (Status.QUEUED, 7)


def test_ten_times_the_cap_ends_any_job_whatever_its_attempts_came_to(place: Place) -> None:
    job = queued(place)
    for _ in range(50):
        attempt_id = claim(now(job.id), place)
        ExportJob.objects.db_manager("worker").return_lease(job_id=job.id, attempt_id=attempt_id)
        recover()

    assert (now(job.id).failure_reason, now(job.id).attempt_count) == (FailureReason.ATTEMPTS_EXHAUSTED, 50)


def test_a_late_receipt_of_a_superseded_attempt_is_kept_and_changes_nothing(place: Place) -> None:
    """A late receipt from a superseded attempt is kept as evidence and does not change the state."""
    job = running(place)
    expire(job)
    recover()
    claim(now(job.id), place)
    before = now(job.id)

    append(job, PublishAnswered(Accepted()), ReadBack(Present(len(CONTENT), SHA256.hex())))

    evidence = ExportAttemptEvent.objects.filter(job_id=job.id, kind=EventKind.DELIVERY_EVIDENCE)
    assert {event.attempt_id for event in evidence} == {job.attempt_id}
    assert evidence.count() == 2
    assert (now(job.id).status, now(job.id).attempt_id) == (before.status, before.attempt_id)


def test_after_a_takeover_the_old_attempts_writes_match_nothing(place: Place) -> None:
    """A paused attempt: authorization and completion of the original worker match nothing after a takeover."""
    jobs = ExportJob.objects.db_manager("worker")
    job, sent = running(place), delivering(place)
    expire(job, sent, seconds=10_000)
    recover()

    assert authorize(job, place) is Authorization.NOT_OWNER
    finished = jobs.finish_delivery(
        job_id=sent.id,
        attempt_id=attempt_of(sent),
        worker_id="worker:test",
        outcome=Status.COMPLETED,
        reason=None,
        detail="Completed: late",
    )
    failed = jobs.finish_failed(
        job_id=job.id,
        attempt_id=attempt_of(job),
        worker_id="worker:test",
        reason=FailureReason.BUILD_FAILED,
        detail=None,
    )
    assert (finished, failed) == (Written.REFUSED, Written.REFUSED)
    assert (now(job.id).status, now(sent.id).status) == (Status.QUEUED, Status.OUTCOME_UNKNOWN)
