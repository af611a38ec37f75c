"""Reading: one export, pages of many, and the history of one."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from exports.actions.request_cancellation import Click, request_cancellation
from exports.models import DestinationContract, ExportAttemptEvent, ExportJob, Hold
from exports.states import Written
from tests.people import a_caller, a_destination, a_tenant, an_export

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.people import Caller

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()["results"]]


def claimed(job: ExportJob) -> uuid.UUID:
    attempt_id = uuid.uuid4()
    contract = DestinationContract.objects.create(
        destination_id=job.destination_id, version=1, terms={}, reason="first", created_by="user:ann"
    )
    written = ExportJob.objects.db_manager("worker").claim(
        job_id=job.id,
        checked_version=1,
        attempt_id=attempt_id,
        worker_id="worker-1",
        contract_id=contract.id,
        lease_seconds=60,
    )
    assert written is Written.APPLIED
    return attempt_id


def test_exports_are_listed_newest_first(caller: Caller, destination: Destination) -> None:
    made = [str(an_export(destination).id) for _ in range(3)]

    assert ids(caller.get()) == made[::-1]


def test_pages_together_hold_every_export_once_though_others_arrive_meanwhile(
    caller: Caller, destination: Destination
) -> None:
    made = [str(an_export(destination).id) for _ in range(7)]

    seen, page = [], caller.get(page_size=3)
    while True:
        seen += ids(page)
        an_export(destination)
        if page.json()["next"] is None:
            break
        page = caller.get("?" + page.json()["next"].partition("?")[2])

    assert seen == made[::-1]


def test_the_previous_page_is_the_one_that_was_left(caller: Caller, destination: Destination) -> None:
    for _ in range(5):
        an_export(destination)
    first = caller.get(page_size=2)
    second = caller.get("?" + first.json()["next"].partition("?")[2])

    back = caller.get("?" + second.json()["previous"].partition("?")[2])

    assert first.json()["previous"] is None
    assert ids(back) == ids(first)


def test_exports_of_one_instant_are_parted_by_id(caller: Caller, destination: Destination) -> None:
    made = [an_export(destination) for _ in range(4)]
    ExportJob.objects.update(created_at=made[0].created_at)

    first = caller.get(page_size=2)
    second = caller.get("?" + first.json()["next"].partition("?")[2])

    assert ids(first) + ids(second) == sorted((str(job.id) for job in made), reverse=True)


def test_each_filter_keeps_what_it_names(caller: Caller, destination: Destination, tenant: Tenant) -> None:
    mine = an_export(destination, created_by="client:crm")
    other = an_export(a_destination(tenant), created_by="client:erp")
    claimed(other)

    assert ids(caller.get(status="Queued")) == [str(mine.id)]
    assert ids(caller.get(destination=str(other.destination_id))) == [str(other.id)]
    assert ids(caller.get(delivery_key=mine.delivery_key)) == [str(mine.id)]
    assert ids(caller.get(created_by="client:erp")) == [str(other.id)]
    assert ids(caller.get(since=other.created_at.isoformat())) == [str(other.id)]
    assert ids(caller.get(since=(other.created_at + timedelta(seconds=1)).isoformat())) == []
    assert ids(caller.get(status="Queued", created_by="client:erp")) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "Lost"}, "status"),
        ({"destination": "x"}, "destination"),
        ({"since": "yesterday"}, "since"),
        ({"since": "0001-01-01T00:00:00+23:59"}, "since"),
        ({"created_by": "a\0b"}, "created_by"),
        ({"cursor": "x"}, "cursor"),
        ({"page_size": "0"}, "page_size"),
        ({"page_size": "100000"}, "page_size"),
    ],
)
def test_a_wrong_filter_is_named(caller: Caller, query: dict[str, str], field: str) -> None:
    answer = caller.get(**query)

    assert (answer.status_code, answer.json()["code"]) == (400, "Invalid")
    assert list(answer.json()["fields"]) == [field]


def test_a_cursor_of_another_list_is_none_of_this_one(caller: Caller, destination: Destination) -> None:
    for _ in range(2):
        job = an_export(destination)
    cursor = caller.get(page_size=1).json()["next"].partition("cursor=")[2].partition("&")[0]

    assert caller.get(f"{job.id}/events/", cursor=cursor).status_code == 400


def test_nobody_sees_another_tenants_exports(caller: Caller) -> None:
    an_export(a_destination(a_tenant()))

    assert ids(caller.get()) == []


def test_one_export_shows_every_column_of_its_row(caller: Caller, destination: Destination) -> None:
    job = an_export(destination)

    body = caller.get(f"{job.id}/").json()

    columns = {field.attname for field in ExportJob._meta.concrete_fields}
    assert columns - set(body) == set()


def test_an_id_in_capitals_is_the_same_id(caller: Caller, destination: Destination) -> None:
    job = an_export(destination)

    assert caller.get(f"{str(job.id).upper()}/").json()["id"] == str(job.id)


def test_what_a_cancel_would_most_likely_find_follows_the_state(
    caller: Caller, destination: Destination, tenant: Tenant
) -> None:
    job = an_export(destination)
    before = caller.get(f"{job.id}/").json()["cancellable"]
    claimed(job)
    running = caller.get(f"{job.id}/").json()["cancellable"]
    request_cancellation(
        Click(tenant_id=tenant.id, job_id=job.id, request_id=uuid.uuid4(), requested_by="user:ann"), using="api"
    )

    asked = caller.get(f"{job.id}/").json()["cancellable"]

    assert (before, running, asked) == ("CanceledWhileQueued", "StopRequested", "StopAlreadyRequested")


def test_a_held_export_says_why_until_the_hold_ends(caller: Caller, destination: Destination) -> None:
    job = an_export(destination)
    hold = Hold.objects.create(destination=destination, reason="The partner moves.", created_by="user:ann")
    held = caller.get(f"{job.id}/").json()["held"]
    Hold.objects.filter(id=hold.id).update(ended_at=hold.created_at, ended_by="user:ann")

    assert (held["scope"], held["reason"]) == ("destination", "The partner moves.")
    assert caller.get(f"{job.id}/").json()["held"] is None


def test_the_reason_of_a_hold_on_everything_is_not_told_to_clients(caller: Caller, destination: Destination) -> None:
    job = an_export(destination)
    Hold.objects.create(reason="An incident at another tenant.", created_by="user:ann")

    assert caller.get(f"{job.id}/").json()["held"] | {"since": None} == {
        "scope": "everything",
        "reason": None,
        "since": None,
        "until": None,
    }


def test_another_tenants_hold_holds_nothing_here(caller: Caller, destination: Destination) -> None:
    job = an_export(destination)
    Hold.objects.create(tenant=a_tenant(), reason="Theirs.", created_by="user:ann")

    assert caller.get(f"{job.id}/").json()["held"] is None


def test_events_are_listed_oldest_first_and_only_of_this_export(
    caller: Caller, destination: Destination, tenant: Tenant
) -> None:
    job, other = an_export(destination), an_export(a_destination(tenant))
    attempt_id = claimed(job)
    claimed(other)
    ExportAttemptEvent.objects.db_manager("worker").append_evidence(
        job_id=job.id, attempt_id=attempt_id, observed_by="worker-1", detail='{"v": 1}'
    )

    events = caller.get(f"{job.id}/events/").json()["results"]

    assert [(event["kind"], event["attempt_id"]) for event in events] == [
        ("Claimed", str(attempt_id)),
        ("DeliveryEvidence", str(attempt_id)),
    ]


def test_clicks_on_cancel_are_listed_oldest_first_with_their_outcomes(
    caller: Caller, destination: Destination, tenant: Tenant
) -> None:
    job = an_export(destination)
    for _ in range(2):
        click = Click(tenant_id=tenant.id, job_id=job.id, request_id=uuid.uuid4(), requested_by="user:ann")
        request_cancellation(click, using="api")

    clicks = caller.get(f"{job.id}/cancellation-requests/").json()["results"]

    assert [click["outcome"] for click in clicks] == ["CanceledWhileQueued", "AlreadyCanceled"]
    assert {click["job_id"] for click in clicks} == {str(job.id)}


def test_a_longer_page_asks_the_database_no_more_questions(caller: Caller, destination: Destination) -> None:
    Hold.objects.create(destination=destination, reason="A pause.", created_by="user:ann")
    caller.get()  # that it called is noted once a minute
    counts = []
    for wanted in (1, 20):
        while ExportJob.objects.count() < wanted:
            an_export(destination)
        with CaptureQueriesContext(connections["api"]) as asked:
            assert len(ids(caller.get())) == wanted
        counts.append(len(asked))

    assert counts[0] == counts[1]


def test_a_client_without_the_verb_to_look_sees_nothing(tenant: Tenant, destination: Destination) -> None:
    job = an_export(destination)
    caller = a_caller(tenant, verbs=("add",))

    assert caller.get().status_code == caller.get(f"{job.id}/").status_code == 403
