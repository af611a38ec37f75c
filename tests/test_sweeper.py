"""The matrix row "The sweeper": a test a sentence, quoted in our own words."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections

from exports import crashpoints, sweeper
from exports.models import ExportJob
from exports.states import Status, Written
from tests.recovery.lives import ALIASES, LEASE_SECONDS, Place, a_place, age, now, queued, wake_ups_of
from tests.recovery.sessions import Background, run, session

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)

MINUTE = 60.0


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crashpoints.disarm()


@pytest.fixture
def place() -> Place:
    return a_place()


def sweep(batch: int = 500, *, seconds: float = 30.0) -> sweeper.Swept:
    return sweeper.run_once(batch, time_budget_seconds=seconds, using="worker")


def claim_in(worker: psycopg.Connection[Any], job: ExportJob, place: Place) -> None:
    run(
        worker,
        "claim",
        job_id=job.id,
        checked_version=1,
        attempt_id=job.id,
        worker_id="worker:test",
        contract_id=str(place.contract_id),
        lease_seconds=LEASE_SECONDS,
    )


def test_a_job_woken_31_minutes_ago_is_republished_and_one_of_29_minutes_is_not(place: Place) -> None:
    """The only message lost and woken_at 31 minutes old: republished; the control at 29 minutes is not."""
    lost, control = queued(place), queued(place)
    age(lost, seconds=31 * MINUTE)
    age(control, seconds=29 * MINUTE)

    assert sweep() == sweeper.Swept(woken=1, batches=1)
    assert [len(wake_ups_of(lost)), len(wake_ups_of(control))] == [2, 1]
    assert now(lost.id).woken_at > lost.woken_at
    assert [now(lost.id).sweep_count, now(control.id).sweep_count] == [1, 0]


def test_the_new_wake_up_has_an_id_of_its_own(place: Place) -> None:
    job = queued(place)
    age(job, seconds=31 * MINUTE)
    sweep()

    first, second = wake_ups_of(job)
    assert first != second
    assert job.id not in {first, second}


def test_a_job_that_leaves_queued_while_the_sweep_runs_gets_no_outbox_row(place: Place) -> None:
    """A job leaving Queued during the sweep gets no wake-up."""
    job = queued(place)
    age(job, seconds=31 * MINUTE)
    with session("worker") as worker:
        worker.autocommit = False
        claim_in(worker, job, place)
        swept = sweep()
        worker.commit()

    assert (swept.woken, sweep().woken) == (0, 0)
    assert (now(job.id).status, len(wake_ups_of(job))) == (Status.RUNNING, 1)


def test_a_job_that_left_queued_just_before_the_statement_gets_no_outbox_row(place: Place) -> None:
    job = queued(place)
    age(job, seconds=31 * MINUTE)

    def claimed_meanwhile() -> None:
        with session("worker") as worker:
            claim_in(worker, job, place)

    crashpoints.arm("sweep.before", claimed_meanwhile)

    assert sweep().woken == 0
    assert len(wake_ups_of(job)) == 1


def test_a_row_locked_by_a_cancellation_is_skipped_and_taken_by_the_next_sweep(place: Place) -> None:
    """A row that a cancellation holds is skipped, and picked up by the next sweep."""
    held, free = queued(place), queued(place)
    age(held, free, seconds=31 * MINUTE)
    with session("api") as api, api.transaction():
        run(api, "lock_for_cancellation", tenant_id=held.tenant_id, job_id=held.id)
        first = Background(sweep).result()

    assert (first.woken, len(wake_ups_of(held)), len(wake_ups_of(free))) == (1, 1, 2)
    assert sweep().woken == 1
    assert len(wake_ups_of(held)) == 2


def test_each_republication_raises_sweep_count(place: Place) -> None:
    """Each republication increments sweep_count."""
    job = queued(place)
    for republished in range(1, 4):
        age(job, seconds=31 * MINUTE)
        sweep()
        assert now(job.id).sweep_count == republished


def test_a_count_that_keeps_rising_is_a_warning_that_names_the_job(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    job = queued(place)
    with caplog.at_level(logging.WARNING, "exports.sweeper"):
        often = []
        for _ in range(sweeper.SWEPT_OFTEN):
            age(job, seconds=31 * MINUTE)
            often.append(sweep().swept_often)

    assert often == [0] * (sweeper.SWEPT_OFTEN - 1) + [1]
    assert [record.__dict__["job_id"] for record in caplog.records] == [str(job.id)]


def test_a_sweep_goes_on_batch_after_batch_until_nothing_is_due(place: Place) -> None:
    jobs = [queued(place) for _ in range(7)]
    age(*jobs, seconds=31 * MINUTE)

    assert sweep(batch=3) == sweeper.Swept(woken=7, batches=3)
    assert {len(wake_ups_of(job)) for job in jobs} == {2}


def test_a_sweep_out_of_time_ends_after_the_batch_in_hand_and_says_so(place: Place) -> None:
    jobs = [queued(place) for _ in range(5)]
    age(*jobs, seconds=31 * MINUTE)

    assert sweep(batch=2, seconds=0) == sweeper.Swept(woken=2, batches=1, finished=False)
    assert sweep(batch=2).woken == 3


def test_two_sweeps_at_once_wake_each_job_once(place: Place) -> None:
    jobs = [queued(place) for _ in range(40)]
    age(*jobs, seconds=31 * MINUTE)

    sweeps = [Background(lambda: sweep(batch=5)) for _ in range(2)]

    assert sum(each.result().woken for each in sweeps) == len(jobs)
    assert {len(wake_ups_of(job)) for job in jobs} == {2}


def test_a_lost_connection_ends_the_sweep_and_the_next_one_finishes_it(place: Place, admin_url: str) -> None:
    jobs = [queued(place) for _ in range(4)]
    age(*jobs, seconds=31 * MINUTE)

    def lose() -> None:
        crashpoints.disarm()
        pid = connections["worker"].connection.info.backend_pid
        with psycopg.connect(admin_url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

    crashpoints.arm("sweep.after", lose)
    first = sweep(batch=2)
    second = sweep(batch=2)

    assert first.finished is False
    assert second.finished is True
    assert {len(wake_ups_of(job)) for job in jobs} == {2}


def test_a_swept_job_is_still_claimed_only_once(place: Place) -> None:
    job = queued(place)
    age(job, seconds=31 * MINUTE)
    sweep()
    jobs = ExportJob.objects.db_manager("worker")
    claims = [
        jobs.claim(
            job_id=job.id,
            checked_version=1,
            attempt_id=message_id,
            worker_id="worker:test",
            contract_id=place.contract_id,
            lease_seconds=LEASE_SECONDS,
        )
        for message_id in wake_ups_of(job)
    ]

    assert claims == [Written.APPLIED, Written.REFUSED]


def test_sweep_once_prints_its_counts(place: Place, settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, sweep_after_seconds=60.0)
    age(queued(place), seconds=61)
    out = StringIO()

    call_command("sweep", "--once", stdout=out)

    assert json.loads(out.getvalue()) == {"woken": 1, "batches": 1, "swept_often": 0, "finished": True}
