"""A client that asks for too much in a minute is told so, and can still cancel."""

from __future__ import annotations

import uuid
from dataclasses import replace
from threading import Barrier, Thread
from typing import TYPE_CHECKING, Any

import pytest
from django.core.cache import caches
from django.db import connections

from exports.models import ExportJob
from tests.people import Caller, a_caller, a_token, an_export

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.models import Destination, Tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api"])


@pytest.fixture(autouse=True)
def _few(settings: Any) -> Iterator[None]:
    settings.EXPORTS = replace(
        settings.EXPORTS, api_reads_per_minute=3, api_writes_per_minute=2, api_cancels_per_minute=2
    )
    caches["throttles"].clear()
    yield
    caches["throttles"].clear()


@pytest.fixture
def caller(tenant: Tenant) -> Caller:
    return a_caller(tenant, verbs=("add", "view", "cancel"))


def create(caller: Caller, destination: Destination) -> Any:
    return caller.post({"destination_id": str(destination.id)})


def cancel(caller: Caller, job: ExportJob) -> Any:
    return caller.post({"request_id": str(uuid.uuid4())}, f"{job.id}/cancellation-requests/")


def test_what_is_too_much_is_refused_in_the_form_of_every_error_and_does_nothing(
    caller: Caller, destination: Destination
) -> None:
    answers = [create(caller, destination) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [201, 201, 429]
    refused = answers[-1]
    assert refused["Content-Type"] == "application/json"
    assert refused.json() == {
        "code": "Throttled",
        "detail": "Too many requests in a minute. Nothing was done; ask again after Retry-After seconds.",
    }
    assert 1 <= int(refused["Retry-After"]) <= 61
    assert ExportJob.objects.count() == 2


def test_cancelling_is_counted_apart_so_that_nothing_else_uses_it_up(caller: Caller, destination: Destination) -> None:
    job = an_export(destination)
    for _ in range(5):
        create(caller, destination)
        refused = caller.get()
    assert refused.status_code == 429

    assert [cancel(caller, job).status_code for _ in range(3)] == [201, 201, 429]


def test_the_count_is_the_clients_whatever_token_it_uses(caller: Caller) -> None:
    other = replace(caller, token=a_token(caller.user))
    assert [each.get().status_code for each in (caller, other, caller, other)] == [200, 200, 200, 429]


def test_another_client_is_not_touched(caller: Caller, tenant: Tenant) -> None:
    assert [caller.get().status_code for _ in range(4)][-1] == 429
    assert a_caller(tenant).get().status_code == 200


def test_a_wrong_token_uses_up_nobodys_count(caller: Caller) -> None:
    stranger = replace(caller, token="f" * 64)
    assert {stranger.get().status_code for _ in range(5)} == {401}
    assert caller.get().status_code == 200


def test_after_a_minute_there_is_room_again(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr("exports.api.throttles.ClientThrottle.timer", lambda _: now[0])
    assert [caller.get().status_code for _ in range(4)][-1] == 429
    now[0] += 61
    assert caller.get().status_code == 200


def test_requests_at_the_same_moment_are_counted_one_by_one(caller: Caller, settings: Any) -> None:
    settings.EXPORTS = replace(settings.EXPORTS, api_reads_per_minute=5)
    together, found = Barrier(12), []

    def ask() -> None:
        together.wait(timeout=30)
        found.append(caller.get().status_code)
        connections.close_all()

    threads = [Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [200] * 5 + [429] * 7
