"""What a click finds, does and is told, over every status an export can have (I9)."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

import pytest

from exports.actions.request_cancellation import NotFound, Recorded, RequestIdReused
from exports.models import CancellationRequest
from exports.states import CancellationOutcome, Status
from tests.cancellation.clicking import a_click, recorded, submit
from tests.recovery.lives import (
    ALIASES,
    a_place,
    authorize,
    claim,
    delivering,
    events_of,
    finish,
    now,
    queued,
    running,
)

if TYPE_CHECKING:
    from exports.models import ExportJob

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


def columns_of(job: ExportJob) -> dict[str, object]:
    return {field.attname: getattr(now(job.id), field.attname) for field in type(job)._meta.concrete_fields}


def test_a_queued_export_is_cancelled_in_the_name_of_the_click() -> None:
    job = queued(a_place())
    click = a_click(job)

    request = recorded(submit(click))

    assert (request.outcome, request.found_status) == ("CanceledWhileQueued", "Queued")
    assert (now(job.id).status, now(job.id).cancellation_request_id) == ("Canceled", click.request_id)
    assert events_of(job) == []


def test_a_running_export_keeps_running_with_the_first_stop_request_recorded() -> None:
    job = running(a_place())
    first, second = a_click(job), a_click(job, requested_by="user:bob")

    assert recorded(submit(first)).outcome == CancellationOutcome.STOP_REQUESTED
    assert recorded(submit(second)).outcome == CancellationOutcome.STOP_ALREADY_REQUESTED
    assert (now(job.id).status, now(job.id).stop_request_id) == ("Running", first.request_id)


@pytest.mark.parametrize("outcome", [None, Status.COMPLETED, Status.OUTCOME_UNKNOWN])
def test_after_cutoff_2_a_click_is_too_late_and_changes_nothing(outcome: Status | None) -> None:
    job = delivering(a_place())
    job = finish(job, outcome) if outcome else job
    before = columns_of(job)

    request = recorded(submit(a_click(job)))

    assert request.outcome == CancellationOutcome.TOO_LATE
    assert request.found_delivery_authorized_at == job.delivery_authorized_at
    assert columns_of(job) == before


def test_a_second_click_on_a_cancelled_export_is_told_so_and_recorded_beside_the_first() -> None:
    job = queued(a_place())
    first = a_click(job)
    submit(first)

    request = recorded(submit(a_click(job)))

    assert request.outcome == CancellationOutcome.ALREADY_CANCELED
    assert now(job.id).cancellation_request_id == first.request_id
    assert CancellationRequest.objects.filter(job_id=job.id).count() == 2


def test_a_click_records_which_attempt_it_found() -> None:
    job = running(a_place())

    request = recorded(submit(a_click(job)))

    assert (request.found_attempt_id, request.found_attempt_count) == (job.attempt_id, 1)
    assert request.found_delivery_authorized_at is None


def test_the_same_click_again_gets_the_recorded_answer_whatever_happened_since() -> None:
    place = a_place()
    job = running(place)
    click = a_click(job)
    first = submit(click)

    again = submit(click)

    assert isinstance(again, Recorded)
    assert again.repeated
    assert recorded(again).recorded_at == recorded(first).recorded_at
    assert authorize(job, place) == "StopRecorded"


def test_a_retry_with_another_reason_is_the_same_click_and_the_first_reason_stands() -> None:
    job = queued(a_place())
    click = a_click(job, reason="first")
    submit(click)

    again = recorded(submit(a_click(job, request_id=click.request_id, reason="second")))

    assert again.reason == "first"
    assert CancellationRequest.objects.get().reason == "first"


def test_a_request_id_used_for_another_job_is_refused_and_does_nothing() -> None:
    place = a_place()
    job, other = queued(place), queued(place)
    click = a_click(job)
    submit(click)

    answer = submit(a_click(other, request_id=click.request_id))

    assert answer == RequestIdReused(click.request_id)
    assert now(other.id).status == Status.QUEUED
    assert CancellationRequest.objects.count() == 1


def test_a_request_id_used_by_another_person_is_refused() -> None:
    job = queued(a_place())
    click = a_click(job)
    submit(click)

    answer = submit(a_click(job, request_id=click.request_id, requested_by="user:bob"))

    assert answer == RequestIdReused(click.request_id)


def test_the_same_id_in_another_tenant_is_simply_a_different_request() -> None:
    job, elsewhere = queued(a_place()), queued(a_place())
    click = a_click(job)
    submit(click)

    request = recorded(submit(a_click(elsewhere, request_id=click.request_id)))

    assert request.outcome == CancellationOutcome.CANCELED_WHILE_QUEUED
    assert now(elsewhere.id).status == Status.CANCELED


@pytest.mark.parametrize("whose", ["nobody's", "another tenant's"])
def test_an_export_outside_the_tenant_is_not_found_logged_and_not_recorded(
    whose: str, caplog: pytest.LogCaptureFixture
) -> None:
    job, foreign = queued(a_place()), queued(a_place())
    asked_for = uuid.uuid4() if whose == "nobody's" else foreign.id
    click = a_click(job, job_id=asked_for)

    with caplog.at_level(logging.INFO, "exports.access"):
        answer = submit(click)

    assert answer == NotFound(click.request_id)
    assert CancellationRequest.objects.count() == 0
    assert now(foreign.id).status == Status.QUEUED
    (told,) = (record for record in caplog.records if record.name == "exports.access")
    assert (told.getMessage(), told.__dict__["job_id"]) == ("export_to_cancel_not_found", str(asked_for))


def test_a_job_that_was_requeued_is_cancelled_with_the_attempts_it_had() -> None:
    place = a_place()
    job = queued(place)
    claim(job, place)

    assert recorded(submit(a_click(job))).found_attempt_count == 1
