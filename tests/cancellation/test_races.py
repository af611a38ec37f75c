"""The race itself: two writers contending for one row, before and after each cutoff.

The first schedule is the incident that the whole design answers: a cancel between a worker's read and its claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from exports.models import ExportJob
from exports.states import Authorization, CancellationOutcome, Status, Written
from tests.cancellation.clicking import a_click, record_of, recorded, submit
from tests.recovery.lives import ALIASES, LEASE_SECONDS, a_place, authorize, claim, events_of, now, queued, running
from tests.recovery.sessions import Background, run, session, wait_until_blocked_by

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    import psycopg

    from tests.recovery.lives import Place

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


@pytest.fixture
def place() -> Place:
    return a_place()


@pytest.fixture
def worker() -> Iterator[psycopg.Connection[Any]]:
    """Give a worker's session, in a transaction that the test ends."""
    with session("worker") as connection:
        connection.autocommit = False
        yield connection
        connection.rollback()


def claim_params(job: ExportJob, place: Place) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "checked_version": job.version,
        "attempt_id": job.id,
        "worker_id": "worker:test",
        "contract_id": str(place.contract_id),
        "lease_seconds": LEASE_SECONDS,
    }


def authorize_params(job: ExportJob, attempt_id: UUID, place: Place) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "attempt_id": attempt_id,
        "final_name": place.final_name(job),
        "file_rows": 1,
        "file_bytes": 1,
        "file_sha256": b"x" * 32,
    }


def test_a_cancel_between_a_workers_read_and_its_claim_wins_and_the_claim_builds_nothing(place: Place) -> None:
    job = queued(place)
    read = ExportJob.objects.using("worker").get(id=job.id)

    request = recorded(submit(a_click(job)))
    claimed = ExportJob.objects.db_manager("worker").claim(
        job_id=read.id,
        checked_version=read.version,
        attempt_id=read.id,
        worker_id="worker:test",
        contract_id=place.contract_id,
        lease_seconds=LEASE_SECONDS,
    )

    assert read.status == Status.QUEUED
    assert request.outcome == CancellationOutcome.CANCELED_WHILE_QUEUED
    assert claimed is Written.REFUSED
    assert (now(job.id).status, events_of(job)) == (Status.CANCELED, [])


def test_a_claim_that_trusts_its_earlier_read_would_run_a_cancelled_export(place: Place) -> None:
    """Negative control: the claim without its condition on the status."""
    job = queued(place)
    submit(a_click(job))

    with session("default") as owner:
        ran = owner.execute("UPDATE export_jobs SET status = 'Running' WHERE id = %s RETURNING id", [job.id]).fetchall()

    assert len(ran) == 1


def test_of_a_claim_and_a_cancel_at_once_the_claim_that_commits_first_leaves_a_stop_request(
    place: Place, worker: psycopg.Connection[Any]
) -> None:
    job = queued(place)
    run(worker, "claim", **claim_params(job, place))

    clicking = Background(lambda: submit(a_click(job)))
    wait_until_blocked_by(worker)
    worker.commit()
    request = recorded(clicking.result())

    assert (request.outcome, request.found_status) == ("StopRequested", "Running")
    assert (now(job.id).status, now(job.id).stop_request_id) == (Status.RUNNING, request.id)


def test_of_a_claim_and_a_cancel_at_once_a_claim_that_rolls_back_leaves_a_cancelled_export(
    place: Place, worker: psycopg.Connection[Any]
) -> None:
    job = queued(place)
    run(worker, "claim", **claim_params(job, place))

    clicking = Background(lambda: submit(a_click(job)))
    wait_until_blocked_by(worker)
    worker.rollback()

    assert recorded(clicking.result()).outcome == CancellationOutcome.CANCELED_WHILE_QUEUED
    assert (now(job.id).status, events_of(job)) == (Status.CANCELED, [])


def test_of_a_cancel_and_a_claim_at_once_the_cancel_that_commits_first_leaves_nothing_to_claim(place: Place) -> None:
    job = queued(place)
    click = a_click(job)
    with session("api") as api:
        with api.transaction():
            run(api, "lock_for_cancellation", tenant_id=job.tenant_id, job_id=job.id)
            run(api, "cancel_queued", tenant_id=job.tenant_id, job_id=job.id, request_id=click.request_id)
            run(api, "record_cancellation", **record_of(click, CancellationOutcome.CANCELED_WHILE_QUEUED, job))
            claiming = Background(lambda: _claimed(job, place))
            wait_until_blocked_by(api)
        claimed = claiming.result()

    assert claimed == []
    assert (now(job.id).status, events_of(job)) == (Status.CANCELED, [])


def _claimed(job: ExportJob, place: Place) -> list[tuple[Any, ...]]:
    with session("worker") as connection:
        return run(connection, "claim", **claim_params(job, place))


def test_a_stop_request_before_cutoff_2_keeps_the_export_from_being_delivered(place: Place) -> None:
    job = running(place)

    request = recorded(submit(a_click(job)))
    word = authorize(job, place)

    assert request.outcome == CancellationOutcome.STOP_REQUESTED
    assert word is Authorization.STOP_RECORDED
    assert (now(job.id).status, now(job.id).delivery_authorized_at) == (Status.RUNNING, None)


def test_a_stop_request_that_commits_while_cutoff_2_waits_for_the_row_still_refuses_it(place: Place) -> None:
    job = running(place)
    click = a_click(job)
    with session("api") as api:
        with api.transaction():
            run(api, "lock_for_cancellation", tenant_id=job.tenant_id, job_id=job.id)
            run(api, "request_stop", tenant_id=job.tenant_id, job_id=job.id, request_id=click.request_id)
            run(api, "record_cancellation", **record_of(click, CancellationOutcome.STOP_REQUESTED, job))
            authorizing = Background(lambda: authorize(job, place))
            wait_until_blocked_by(api)
        word = authorizing.result()

    assert word is Authorization.STOP_RECORDED
    assert events_of(job) == ["Claimed"]


def test_a_cancellation_after_cutoff_2_is_told_that_it_is_too_late(
    place: Place, worker: psycopg.Connection[Any]
) -> None:
    job = queued(place)
    attempt_id = claim(job, place)
    assert run(worker, "authorize_delivery", **authorize_params(job, attempt_id, place)) == [("Authorized",)]

    clicking = Background(lambda: submit(a_click(job)))
    wait_until_blocked_by(worker)
    worker.commit()
    request = recorded(clicking.result())

    assert (request.outcome, request.found_status) == ("TooLate", "Delivering")
    assert request.found_delivery_authorized_at == now(job.id).delivery_authorized_at
    assert now(job.id).stop_request_id is None
