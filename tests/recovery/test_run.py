"""A recovery run: bounded, starved by nobody, safe beside another, and stopped by nothing but a lost database."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections, transaction

from exports import crashpoints
from exports.states import Status
from reconciliation import recovery
from reconciliation.candidates import expired
from reconciliation.managers import Takeovers
from tests.recovery.lives import ALIASES, delivering, events_of, expire, now, running, wake_ups_of
from tests.recovery.running import recover
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from exports.models import ExportJob
    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


def hold(connection: psycopg.Connection[Any], job: ExportJob) -> None:
    run(connection, "lock_for_cancellation", tenant_id=job.tenant_id, job_id=job.id)


def statuses(jobs: list[ExportJob]) -> list[str]:
    return [now(job.id).status for job in jobs]


def test_rows_that_must_be_skipped_do_not_starve_those_behind_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, free = [running(place) for _ in range(3)], [running(place) for _ in range(3)]
    expire(*held, seconds=60)
    expire(*free, seconds=1)
    monkeypatch.setattr(recovery, "LOCK_TIMEOUT_MS", 50)
    with session("api") as api, api.transaction():
        for job in held:
            hold(api, job)
        recovered = recover(limit=3)

    assert (recovered.skipped, recovered.requeued) == (3, 3)
    assert statuses(held) == [Status.RUNNING] * 3
    assert statuses(free) == [Status.QUEUED] * 3
    assert recover().requeued == 3


def test_a_crowd_of_held_rows_does_not_use_up_the_time_of_those_behind_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, behind = [running(place) for _ in range(30)], running(place)
    expire(*held, seconds=60)
    expire(behind, seconds=1)
    monkeypatch.setattr(recovery, "MOST_WAITS", 3)
    with session("api") as api, api.transaction():
        for job in held:
            hold(api, job)
        # To wait for each of them would take fifteen seconds.
        recovered = recover(seconds=7.5)

    assert (recovered.skipped, recovered.requeued, recovered.finished) == (30, 1, True)
    assert now(behind.id).status == Status.QUEUED


def test_pages_visit_every_row_once_also_where_many_leases_end_at_the_same_time(place: Place) -> None:
    jobs = [running(place) for _ in range(7)]
    expire(*jobs, seconds=5)  # one statement, but a clock reading a row
    with connections["default"].cursor() as cursor:
        cursor.execute("UPDATE export_jobs SET lease_expires_at = date_trunc('hour', lease_expires_at)")

    visited = [candidate.job.id for candidate in expired(Status.RUNNING, "worker", page=2)]

    assert sorted(visited) == sorted(job.id for job in jobs)


def test_a_run_ends_at_its_limit_and_the_next_takes_the_rest(place: Place) -> None:
    jobs = [running(place) for _ in range(5)]
    expire(*jobs)

    first, second = recover(limit=3), recover(limit=3)

    assert (first.requeued, first.finished) == (3, False)
    assert (second.requeued, second.finished) == (2, True)


def test_a_run_without_time_left_visits_nothing_and_says_so(place: Place) -> None:
    expire(running(place))

    recovered = recover(seconds=0)

    assert (recovered.requeued, recovered.finished) == (0, False)


def test_two_runs_at_once_take_each_row_over_once(place: Place) -> None:
    jobs = [running(place) for _ in range(60)]
    expire(*jobs)

    runs = [Background(recover) for _ in range(2)]
    recovered = [each.result() for each in runs]

    assert sum(each.requeued for each in recovered) == len(jobs)
    assert {tuple(events_of(job)) for job in jobs} == {("Claimed", "RequeuedByRecovery")}
    assert {len(wake_ups_of(job)) for job in jobs} == {2}


@pytest.mark.parametrize("refusal", ["lock timeout", "statement cancelled", "serialization failure"])
def test_a_definite_refusal_skips_that_job_until_the_next_run_and_stops_nothing(
    place: Place, refusal: str, admin_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, free = running(place), running(place)
    expire(stuck, seconds=60)
    expire(free)
    if refusal != "lock timeout":
        monkeypatch.setattr(recovery, "LOCK_TIMEOUT_MS", 60_000)
    if refusal == "serialization failure":
        crashpoints.arm("recover.requeued.before", _repeatable_read)
    with session("worker") as worker:
        worker.autocommit = False
        renewal = {"job_id": stuck.id, "attempt_id": stuck.attempt_id, "lease_seconds": 60.0}
        run(worker, "renew_lease", **renewal)
        recovering = Background(recover)
        waiting = wait_until_blocked_by(worker)
        if refusal == "statement cancelled":
            with psycopg.connect(admin_url, autocommit=True) as admin:
                admin.execute("SELECT pg_cancel_backend(%s)", [waiting])
        if refusal == "serialization failure":
            worker.commit()
        recovered = recovering.result()
        worker.rollback()

    assert (recovered.skipped, recovered.requeued, recovered.failed) == (1, 1, 0)
    assert statuses([stuck, free]) == [Status.RUNNING, Status.QUEUED]


def _repeatable_read() -> None:
    with connections["worker"].cursor() as cursor:
        cursor.execute("SET default_transaction_isolation = 'repeatable read'")


def test_a_deadlock_skips_one_job_and_stops_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run holds a row in a transaction of the test's making, and is the victim of the cycle."""
    stuck, free = running(place), running(place)
    expire(stuck, seconds=60)
    expire(free)
    monkeypatch.setattr(recovery, "LOCK_TIMEOUT_MS", 60_000)

    def refused(*_: object, **__: object) -> None:
        monkeypatch.undo()
        raise_deadlock()

    monkeypatch.setattr(Takeovers, "requeue", refused)
    recovered = recover()

    assert (recovered.skipped, recovered.requeued) == (1, 1)
    assert statuses([stuck, free]) == [Status.RUNNING, Status.QUEUED]


def raise_deadlock() -> None:
    """Have the server itself say 40P01 about a statement of the worker's session."""
    with connections["worker"].cursor() as cursor:
        cursor.execute("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$")


def test_a_refusal_that_will_not_pass_is_logged_and_stops_nothing_else(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, free = running(place), running(place)
    expire(broken, seconds=60)
    expire(free)
    requeue = Takeovers.requeue

    def refuse_one(self: Any, **params: Any) -> Any:
        params["max_attempts"] = "none" if params["job_id"] == broken.id else params["max_attempts"]
        return requeue(self, **params)

    monkeypatch.setattr(Takeovers, "requeue", refuse_one)
    recovered = recover()

    assert (recovered.failed, recovered.requeued, recovered.finished) == (1, 1, True)
    assert "takeover_refused" in caplog.text


def end_own_session(admin_url: str, times: int) -> Callable[[], None]:
    """Return an action that ends the session it runs on, so many times."""
    left = [times]

    def end() -> None:
        if left[0]:
            left[0] -= 1
            pid = connections["worker"].connection.info.backend_pid
            with psycopg.connect(admin_url, autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    return end


def test_a_lost_connection_costs_one_job_and_the_run_goes_on(place: Place, admin_url: str) -> None:
    jobs = [running(place) for _ in range(3)]
    expire(*jobs)
    crashpoints.arm("recover.requeued.before", end_own_session(admin_url, times=1))

    recovered = recover()

    assert (recovered.unanswered, recovered.requeued, recovered.finished) == (1, 2, True)
    assert recover().requeued == 1


def test_a_takeover_whose_answer_was_lost_is_found_done_by_the_next_run(place: Place, admin_url: str) -> None:
    job = running(place)
    expire(job)
    crashpoints.arm("recover.requeued.after", end_own_session(admin_url, times=1))

    recover()
    again = recover()

    assert again == recovery.Recovered()
    assert events_of(job) == ["Claimed", "RequeuedByRecovery"]


def test_a_database_that_is_lost_again_and_again_ends_the_run(place: Place, admin_url: str) -> None:
    jobs = [running(place) for _ in range(recovery.MOST_LOSSES + 1)]
    expire(*jobs)
    crashpoints.arm("recover.requeued.before", end_own_session(admin_url, times=recovery.MOST_LOSSES))

    recovered = recover()

    assert (recovered.finished, recovered.requeued) == (False, 0)
    assert recover().requeued == len(jobs)


def test_a_run_leaves_no_lock_timeout_behind() -> None:
    recover()

    with connections["worker"].cursor() as cursor:
        cursor.execute("SELECT source FROM pg_settings WHERE name = 'lock_timeout'")
        assert cursor.fetchone() != ("session",)


def test_a_run_inside_a_transaction_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="outside any transaction"), transaction.atomic("worker"):
        recover()


def test_recover_once_prints_its_counts(place: Place) -> None:
    expire(running(place), delivering(place))
    out = StringIO()

    call_command("recover", "--once", stdout=out)

    counts = json.loads(out.getvalue())
    assert (counts["requeued"], counts["waiting"], counts["finished"]) == (1, 1, True)
