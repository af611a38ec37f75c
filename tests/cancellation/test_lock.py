"""The matrix row "The request record": one click, one record, decided under one lock.

Each test quotes its sentence of the row in our own words. Who waits for whom is read from the server.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.db import connections, transaction

from exports import crashpoints
from exports.actions import request_cancellation as action
from exports.actions.request_cancellation import Busy, BusyCause, ChangedUnderLock, Recorded, RequestIdReused
from exports.models import CancellationRequest, ExportJob
from exports.sql import STATEMENTS
from exports.states import CancellationOutcome, Status, Written
from tests.cancellation.clicking import a_click, record_of, recorded, submit
from tests.recovery.lives import ALIASES, a_place, now, queued, running
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

LOCK = "lock_for_cancellation"


@pytest.fixture
def place() -> Place:
    return a_place()


@pytest.fixture
def holder() -> Iterator[psycopg.Connection[Any]]:
    """Give a cancellation's session, in a transaction that the test ends."""
    with session("api") as connection:
        connection.autocommit = False
        yield connection
        connection.rollback()


def hold(connection: psycopg.Connection[Any], job: ExportJob) -> None:
    assert run(connection, LOCK, tenant_id=job.tenant_id, job_id=job.id)


def test_two_simultaneous_submissions_of_one_click_make_one_record_and_get_the_same_answer(
    place: Place, holder: psycopg.Connection[Any]
) -> None:
    """Two submissions of one request id at the same time: one record, one answer."""
    job = queued(place)
    click = a_click(job)
    hold(holder, job)

    submissions = [Background(lambda: submit(click)) for _ in range(2)]
    for _ in submissions:
        wait_until_blocked_by(holder)
    holder.commit()
    answers = [submission.result() for submission in submissions]

    assert CancellationRequest.objects.count() == 1
    assert [recorded(answer).outcome for answer in answers] == [CancellationOutcome.CANCELED_WHILE_QUEUED] * 2
    assert sorted(answer.repeated for answer in answers) == [False, True]


def test_an_id_committed_under_another_jobs_lock_meanwhile_is_reused_not_an_error(
    place: Place, holder: psycopg.Connection[Any]
) -> None:
    """A request id used for another job is refused as reused, also when two locks let both get as far as the insert."""
    job, other = queued(place), queued(place)
    click = a_click(job)
    hold(holder, other)
    theirs = replace(click, job_id=other.id)
    found = CancellationOutcome.CANCELED_WHILE_QUEUED
    run(holder, "cancel_queued", tenant_id=other.tenant_id, job_id=other.id, request_id=click.request_id)
    run(holder, "record_cancellation", **record_of(theirs, found, other))

    second = Background(lambda: submit(click))
    wait_until_blocked_by(holder)
    holder.commit()

    assert second.result() == RequestIdReused(click.request_id)
    assert now(job.id).status == Status.QUEUED


def test_the_same_click_committed_elsewhere_meanwhile_is_answered_from_its_record(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unique violation by the same click: the recorded outcome is read on a fresh connection."""
    job = queued(place)
    click = a_click(job)
    first = submit(click)
    lookups = iter([None])  # the lookup under the lock comes too early to see the record
    find = action._find
    monkeypatch.setattr(action, "_find", lambda *asked: next(lookups, find(*asked)))
    monkeypatch.setattr(action, "_apply", lambda *_: Written.APPLIED)

    again = submit(click)

    assert isinstance(again, Recorded)
    assert again.repeated
    assert again.request.recorded_at == recorded(first).recorded_at


def test_a_click_that_waits_longer_than_the_lock_timeout_is_busy_and_succeeds_with_the_same_id(
    place: Place, holder: psycopg.Connection[Any], settings: Any
) -> None:
    """Waiting beyond lock_timeout: Busy, nothing recorded, and the retry with the same id succeeds."""
    settings.EXPORTS = replace(settings.EXPORTS, cancel_lock_timeout_ms=100)
    job = queued(place)
    click = a_click(job)
    hold(holder, job)

    busy = submit(click)
    found_while_busy = CancellationRequest.objects.count(), now(job.id).status
    holder.rollback()
    later = submit(click)

    assert busy == Busy(click.request_id, BusyCause.REFUSED)
    assert found_while_busy == (0, Status.QUEUED)
    assert recorded(later).outcome == CancellationOutcome.CANCELED_WHILE_QUEUED
    assert isinstance(later, Recorded)
    assert not later.repeated


def lock_timeout() -> str:
    with connections["api"].cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        return str(cursor.fetchone()[0])


def test_the_lock_timeout_is_the_setting_s_within_the_transaction_and_the_role_s_after_it(
    place: Place, settings: Any
) -> None:
    """A lock timeout set for this transaction alone; the role's own would let a click wait as long as it says."""
    settings.EXPORTS = replace(settings.EXPORTS, cancel_lock_timeout_ms=123)
    of_the_role = lock_timeout()
    within: list[str] = []
    crashpoints.arm("cancel.commit.before", lambda: within.append(lock_timeout()))

    try:
        submit(a_click(queued(place)))
    finally:
        crashpoints.disarm()

    assert within == ["123ms"]
    assert lock_timeout() == of_the_role != "123ms"


def test_a_click_inside_somebody_elses_transaction_is_refused_before_it_locks_anything(place: Place) -> None:
    """One short transaction of its own: in a caller's, the row would stay locked until that one ends."""
    job = queued(place)

    with transaction.atomic(using="api"), pytest.raises(RuntimeError, match="durable"):
        submit(a_click(job))

    assert (CancellationRequest.objects.count(), now(job.id).status) == (0, Status.QUEUED)


def test_a_claim_waits_for_the_locking_read_until_the_cancellation_commits(
    place: Place, holder: psycopg.Connection[Any]
) -> None:
    """The locking read is proven by a claim that waits on it."""
    job = queued(place)
    hold(holder, job)

    claiming = Background(lambda: claim_of(job, place))
    wait_until_blocked_by(holder)
    assert claiming.is_running
    holder.commit()

    assert claiming.result() is Written.APPLIED


def claim_of(job: ExportJob, place: Place) -> Written:
    return ExportJob.objects.db_manager("worker").claim(
        job_id=job.id,
        checked_version=job.version,
        attempt_id=job.id,
        worker_id="worker:test",
        contract_id=place.contract_id,
        lease_seconds=60,
    )


def test_without_the_lock_a_claim_runs_past_the_reader_and_the_decision_would_be_false(
    place: Place, holder: psycopg.Connection[Any]
) -> None:
    """Negative control: the same schedule with the locking clause removed; Queued was read, Running is true."""
    job = queued(place)
    read = STATEMENTS[LOCK].text.replace("FOR NO KEY UPDATE", "")
    row = holder.execute(read.encode(), {"tenant_id": job.tenant_id, "job_id": job.id}).fetchone()

    assert claim_of(job, place) is Written.APPLIED
    assert row is not None
    assert Status.QUEUED.value in row
    assert now(job.id).status == Status.RUNNING


def test_evidence_never_waits_for_a_held_cancellation_lock(place: Place, holder: psycopg.Connection[Any]) -> None:
    """The lock leaves the job's key alone, so the foreign key check of an evidence insert passes it."""
    job = running(place)
    hold(holder, job)

    with session("worker") as worker:
        worker.execute("SET lock_timeout = 1")
        appended = run(worker, "append_evidence", **_evidence(job))

    assert len(appended) == 1


def test_with_for_update_evidence_would_wait_for_the_click(place: Place, holder: psycopg.Connection[Any]) -> None:
    """Negative control: the stronger lock makes the insert wait for the holder."""
    job = running(place)
    read = STATEMENTS[LOCK].text.replace("FOR NO KEY UPDATE", "FOR UPDATE")
    holder.execute(read.encode(), {"tenant_id": job.tenant_id, "job_id": job.id})

    with session("worker") as worker:
        inserting = Background(lambda: run(worker, "append_evidence", **_evidence(job)))
        wait_until_blocked_by(holder)
        holder.rollback()
        assert len(inserting.result()) == 1


def _evidence(job: ExportJob) -> dict[str, Any]:
    return {"job_id": job.id, "attempt_id": job.attempt_id, "observed_by": "worker:test", "detail": "{}"}


@pytest.mark.parametrize("status", ["Queued", "Running"])
def test_a_row_that_changed_under_its_lock_is_critical_and_nothing_is_recorded(
    place: Place, status: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A write that finds no row although it is locked: the outcome would not be true, so it is not recorded."""
    job = queued(place) if status == "Queued" else running(place)
    lock = action._lock

    def lock_that_does_not_hold(click: action.Click, using: str) -> ExportJob | None:
        found = lock(click, using)
        # Inside the same transaction, so that the lock is passed: what a lock that failed would let happen.
        other = "Rejected" if status == "Queued" else "Failed', failure_reason = 'BuildFailed"
        with connections["default"].cursor() as cursor:
            cursor.execute(f"UPDATE export_jobs SET status = '{other}' WHERE id = %s", [click.job_id])
        return found

    monkeypatch.setattr(action, "_lock", lock_that_does_not_hold)
    with pytest.raises(ChangedUnderLock), caplog.at_level(logging.CRITICAL):
        action.request_cancellation(a_click(job), using="default")

    assert CancellationRequest.objects.count() == 0
    assert now(job.id).status == status
    assert [record.levelname for record in caplog.records] == ["CRITICAL"]


@pytest.mark.parametrize(
    "refusal",
    ["lock timeout", "statement cancelled"],
)
def test_every_definite_refusal_is_busy_with_nothing_recorded(
    holder: psycopg.Connection[Any], refusal: str, admin_url: str, settings: Any
) -> None:
    """Lock timeout and cancelled statement, as the server itself gives them, both mean: not applied."""
    limit = 100 if refusal == "lock timeout" else 60_000
    settings.EXPORTS = replace(settings.EXPORTS, cancel_lock_timeout_ms=limit)
    job = queued(a_place())
    click = a_click(job)
    hold(holder, job)

    submission = Background(lambda: submit(click))
    waiting = wait_until_blocked_by(holder)
    if refusal == "statement cancelled":
        with psycopg.connect(admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_cancel_backend(%s)", [waiting])

    assert submission.result() == Busy(click.request_id, BusyCause.REFUSED)
    assert CancellationRequest.objects.count() == 0
