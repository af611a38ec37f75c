"""`POST exports/{id}/cancellation-requests/`: what a client system is told about a click, in HTTP's words."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from exports.models import CancellationRequest
from exports.states import Status
from tests.people import Caller, a_caller
from tests.recovery.lives import ALIASES, Place, a_place, authorize, now, queued, running
from tests.recovery.sessions import session
from tests.web import web_process

if TYPE_CHECKING:
    from exports.models import ExportJob

__all__ = ["web_process"]

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


@pytest.fixture
def place() -> Place:
    return a_place()


@pytest.fixture
def caller(place: Place) -> Caller:
    """Return a client that may see and cancel the tenant's exports."""
    return a_caller(place.tenant, verbs=("view", "cancel"))


def click(caller: Caller, job_id: Any, **body: Any) -> Any:
    body.setdefault("request_id", str(uuid.uuid4()))
    return caller.post(body, f"{job_id}/cancellation-requests/")


def test_a_first_click_is_201_with_what_was_recorded(place: Place, caller: Caller) -> None:
    job = queued(place)
    request_id = str(uuid.uuid4())

    answer = click(caller, job.id, request_id=request_id, reason="wrong list")

    body = answer.json()
    assert answer.status_code == 201
    assert (body["request_id"], body["outcome"], body["found_status"]) == (request_id, "CanceledWhileQueued", "Queued")
    assert (body["requested_by"], body["reason"]) == (f"client:{caller.name}", "wrong list")
    assert body["recorded_at"]
    assert now(job.id).status == Status.CANCELED


def test_a_repeat_of_the_click_is_200_with_the_same_record(place: Place, caller: Caller) -> None:
    job = queued(place)
    request_id = str(uuid.uuid4())
    first = click(caller, job.id, request_id=request_id)

    again = click(caller, job.id, request_id=request_id, reason="another reason")

    assert again.status_code == 200
    assert again.json() == first.json()


def test_a_click_on_a_running_export_records_the_stop_request(place: Place, caller: Caller) -> None:
    job = running(place)

    assert click(caller, job.id).json()["outcome"] == "StopRequested"
    assert click(caller, job.id).json()["outcome"] == "StopAlreadyRequested"
    assert authorize(job, place) == "StopRecorded"


def test_an_id_used_for_another_export_is_409_and_nothing_is_done(place: Place, caller: Caller) -> None:
    request_id = str(uuid.uuid4())
    click(caller, queued(place).id, request_id=request_id)
    other = queued(place)

    answer = click(caller, other.id, request_id=request_id)

    assert (answer.status_code, answer.json()["code"]) == (409, "RequestIdReused")
    assert now(other.id).status == Status.QUEUED


@pytest.mark.parametrize("whose", ["nobody's", "another tenant's", "malformed"])
def test_an_export_out_of_reach_is_404_and_nothing_is_recorded(caller: Caller, whose: str) -> None:
    foreign: ExportJob = queued(a_place())
    asked_for = {"nobody's": uuid.uuid4(), "another tenant's": foreign.id, "malformed": "x"}[whose]

    answer = click(caller, asked_for)

    assert (answer.status_code, answer.json()["code"]) == (404, "NotFound")
    assert (CancellationRequest.objects.count(), now(foreign.id).status) == (0, Status.QUEUED)


def test_a_held_row_is_503_with_retry_after_and_the_same_click_succeeds_later(
    place: Place, caller: Caller, settings: Any
) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, cancel_lock_timeout_ms=100)
    job = queued(place)
    request_id = str(uuid.uuid4())
    with session("worker") as holder, holder.transaction():
        holder.execute("SELECT FROM export_jobs WHERE id = %s FOR NO KEY UPDATE", [job.id])
        busy = click(caller, job.id, request_id=request_id)

    assert (busy.status_code, busy.json()["code"], busy["Retry-After"]) == (503, "Busy", "1")
    assert CancellationRequest.objects.count() == 0
    assert click(caller, job.id, request_id=request_id).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        {"request_id": "x"},
        {"request_id": None},
        {"reason": "none given"},
        {"request_id": str(uuid.uuid4()), "reason": "x" * 2001},
        {"request_id": str(uuid.uuid4()), "reason": "nul\u0000"},
    ],
)
def test_wrong_fields_are_400_by_name(place: Place, caller: Caller, body: dict[str, Any]) -> None:
    job = queued(place)

    answer = caller.post(body, f"{job.id}/cancellation-requests/")

    assert (answer.status_code, answer.json()["code"]) == (400, "Invalid")
    assert set(answer.json()["fields"]) <= {"request_id", "reason"}
    assert now(job.id).status == Status.QUEUED


def test_a_client_without_the_verb_is_403(place: Place) -> None:
    viewer = a_caller(place.tenant, verbs=("view",))
    job = queued(place)

    assert click(viewer, job.id).status_code == 403
    assert now(job.id).status == Status.QUEUED


def test_a_reason_is_optional_and_an_empty_one_is_none(place: Place, caller: Caller) -> None:
    click(caller, queued(place).id, reason="")

    assert CancellationRequest.objects.get().reason is None


def test_the_list_shows_every_click_oldest_first(place: Place, caller: Caller) -> None:
    job = queued(place)
    asked = [click(caller, job.id).json()["request_id"] for _ in range(3)]

    listed = caller.get(f"{job.id}/cancellation-requests/").json()["results"]

    assert [row["request_id"] for row in listed] == asked
    assert [row["outcome"] for row in listed] == ["CanceledWhileQueued", "AlreadyCanceled", "AlreadyCanceled"]
