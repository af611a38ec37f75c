"""Two creations with one id, and a creation whose answer is lost."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections, transaction

from exports.models import ExportJob, OutboxMessage
from tests.faults.observing import wait_until_one_is_blocked_by
from tests.faults.wire_proxy import Fault, WireProxy
from tests.routing import role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.devstack.stack import Stack
    from exports.models import Destination
    from tests.people import Caller

LOSSY = "lossy_api"
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", LOSSY])


@pytest.fixture
def proxy(stack: Stack) -> Iterator[WireProxy]:
    with WireProxy("127.0.0.1", stack.postgres.port) as relay:
        connections.databases[LOSSY] |= {"HOST": "127.0.0.1", "PORT": relay.port}
        yield relay
        connections[LOSSY].close()


def post_in_its_own_thread(caller: Caller, body: dict[str, str], ready: Barrier | None = None) -> Any:
    try:
        if ready is not None:
            ready.wait(timeout=20)
        return caller.post(body)
    finally:
        connections.close_all()


@pytest.mark.parametrize("_round", range(5))
def test_two_simultaneous_requests_with_one_id_create_one_export(
    caller: Caller, destination: Destination, _round: int
) -> None:
    body = {"id": str(uuid.uuid4()), "destination_id": str(destination.id)}
    ready = Barrier(2)

    with ThreadPoolExecutor(2) as threads:
        sent = [threads.submit(post_in_its_own_thread, caller, body, ready) for _ in range(2)]
        answers = [each.result(timeout=60) for each in sent]

    assert sorted(answer.status_code for answer in answers) == [200, 201]
    assert answers[0].json() == answers[1].json()
    assert ExportJob.objects.count() == OutboxMessage.objects.count() == 1


def uncommitted(caller: Caller, destination: Destination, request_id: uuid.UUID) -> int:
    """Create an export in this thread's open transaction; return its session."""
    ExportJob.objects.db_manager("api").create_export(
        job_id=request_id,
        tenant_id=destination.tenant_id,
        destination_id=destination.id,
        delivery_key=str(uuid.uuid4()),
        created_by=f"client:{caller.name}",
    )
    with connections["api"].cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize(("first_commits", "status"), [(True, 200), (False, 201)])
def test_the_second_waits_for_the_first_and_answers_by_what_became_of_it(
    caller: Caller, destination: Destination, *, first_commits: bool, status: int
) -> None:
    request_id = uuid.uuid4()
    body = {"id": str(request_id), "destination_id": str(destination.id)}

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic(using="api"):
            holder = uncommitted(caller, destination, request_id)
            sent = thread.submit(post_in_its_own_thread, caller, body)
            wait_until_one_is_blocked_by(holder)
            transaction.set_rollback(not first_commits, using="api")
        answer = sent.result(timeout=60)

    assert answer.status_code == status
    assert ExportJob.objects.count() == 1


def test_an_answer_lost_after_the_commit_is_read_back_from_the_row(
    caller: Caller, destination: Destination, proxy: WireProxy
) -> None:
    proxy.ambush("create_export", Fault.CUT_REPLY)

    answer = caller.post({"destination_id": str(destination.id)}, alias=LOSSY)

    assert answer.status_code == 201
    assert answer.json()["id"] == str(ExportJob.objects.get().id)


def test_a_request_lost_before_the_server_saw_it_is_unsettled_and_its_id_makes_the_retry_safe(
    caller: Caller, destination: Destination, proxy: WireProxy
) -> None:
    proxy.ambush("create_export", Fault.DROP_REQUEST)

    lost = caller.post({"destination_id": str(destination.id)}, alias=LOSSY)

    assert (lost.status_code, lost.json()["code"]) == (503, "Busy")
    assert int(lost["Retry-After"]) > 0
    assert not ExportJob.objects.exists()
    again = [caller.post({"destination_id": str(destination.id), "id": lost.json()["id"]}) for _ in range(2)]
    assert [answer.status_code for answer in again] == [201, 200]


def test_a_lost_answer_of_a_repeat_is_still_a_repeat(
    caller: Caller, destination: Destination, proxy: WireProxy
) -> None:
    body = {"id": str(uuid.uuid4()), "destination_id": str(destination.id)}
    caller.post(body)
    proxy.ambush("create_export", Fault.CUT_REPLY)

    assert caller.post(body, alias=LOSSY).status_code == 200


def test_the_routing_of_these_tests_reaches_the_database_as_the_web_process_does() -> None:
    with role("api"), connections["api"].cursor() as cursor:
        cursor.execute("SELECT current_user")

        assert cursor.fetchone() == ("exports_api",)
