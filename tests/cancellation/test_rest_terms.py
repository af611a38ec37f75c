"""`POST exports/{id}/terms/`: another destination for a queued export, in HTTP's words."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from tests.people import Caller, a_caller
from tests.recovery.lives import ALIASES, Place, a_place, now, queued, running
from tests.web import web_process

if TYPE_CHECKING:
    from exports.models import ExportJob

__all__ = ["web_process"]

pytestmark = pytest.mark.django_db(transaction=True, databases=ALIASES)


@pytest.fixture
def place() -> Place:
    return a_place()


@pytest.fixture
def elsewhere(place: Place) -> Place:
    """Give another destination of the same tenant."""
    return a_place(tenant=place.tenant)


@pytest.fixture
def caller(place: Place) -> Caller:
    """Return a client that may see the tenant's exports and change their terms."""
    return a_caller(place.tenant, verbs=("view", "change_terms"))


def edit(caller: Caller, job: ExportJob, to: Place, **body: Any) -> Any:
    body = {"destination_id": str(to.destination.id), "expected_version": 1, **body}
    return caller.post(body, f"{job.id}/terms/")


def test_an_edit_is_200_with_the_new_version(place: Place, elsewhere: Place, caller: Caller) -> None:
    job = queued(place)

    answer = edit(caller, job, elsewhere, reason="wrong partner")

    assert answer.status_code == 200
    assert (answer.json()["version"], answer.json()["destination_id"]) == (2, str(elsewhere.destination.id))
    assert now(job.id).version == 2


def test_an_edit_of_a_version_that_has_passed_is_409_with_the_current_row(
    place: Place, elsewhere: Place, caller: Caller
) -> None:
    job = queued(place)
    edit(caller, job, elsewhere)

    answer = edit(caller, job, place)

    assert (answer.status_code, answer.json()["code"]) == (409, "NotChanged")
    assert answer.json()["export"]["version"] == 2
    assert answer.json()["export"]["destination_id"] == str(elsewhere.destination.id)


def test_an_edit_of_an_export_that_started_is_409_with_the_current_row(
    place: Place, elsewhere: Place, caller: Caller
) -> None:
    job = running(place)

    answer = edit(caller, job, elsewhere)

    assert (answer.status_code, answer.json()["export"]["status"]) == (409, "Running")


def test_a_foreign_and_an_unknown_destination_are_refused_alike(place: Place, caller: Caller) -> None:
    job, foreign = queued(place), a_place()

    answers = [
        edit(caller, job, foreign),
        edit(caller, job, foreign, destination_id=str(uuid.uuid4())),
    ]

    assert [answer.status_code for answer in answers] == [409, 409]
    assert answers[0].json() == answers[1].json()


def test_an_export_out_of_reach_is_404(elsewhere: Place, caller: Caller) -> None:
    foreign = queued(a_place())

    assert edit(caller, foreign, elsewhere).status_code == 404
    assert now(foreign.id).version == 1


@pytest.mark.parametrize(
    "body",
    [{"destination_id": "x"}, {"expected_version": 0}, {"expected_version": 2**31}, {"expected_version": None}],
)
def test_wrong_fields_are_400_by_name(place: Place, elsewhere: Place, caller: Caller, body: dict[str, Any]) -> None:
    answer = edit(caller, queued(place), elsewhere, **body)

    assert (answer.status_code, set(answer.json()["fields"])) == (400, set(body))


def test_a_client_without_the_verb_is_403(place: Place, elsewhere: Place) -> None:
    viewer = a_caller(place.tenant, verbs=("view", "cancel"))

    assert edit(viewer, queued(place), elsewhere).status_code == 403
